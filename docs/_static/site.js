// A figure opens over the page, as large as it was drawn; on a phone it scrolls there.
addEventListener("click", event => {
  const figure = event.target.closest("img.sphx-glr-single-img, a.kept");
  if (!figure || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const open = figure.closest("dialog.figure");
  if (open) return open.close();
  const dialog = document.createElement("dialog");
  dialog.className = "figure";
  dialog.append(figure.cloneNode(true));
  dialog.addEventListener("close", () => dialog.remove());
  document.querySelector(".bd-content").append(dialog);
  dialog.showModal();
});
