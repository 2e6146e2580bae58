// A figure of the gallery opens by itself, as large as it was drawn.
addEventListener("click", event => {
  const image = event.target.closest("img.sphx-glr-single-img");
  if (image) location.href = image.src;
});
