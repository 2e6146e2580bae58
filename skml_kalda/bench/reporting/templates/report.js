"use strict";
// Tables sort by a click on the head of a column; without this script the page is complete.
const value = (row, column) => {
  const text = (row.cells[column].firstElementChild?.tagName === "B"
    ? row.cells[column].firstElementChild : row.cells[column].firstChild)?.textContent ?? "";
  const number = parseFloat(text.replace("−", "-").replace("+", ""));
  return Number.isNaN(number) ? text : number;
};
const compare = (a, b) => {
  if (a === "" || b === "") return (a === "") - (b === "");
  if (typeof a === typeof b && typeof a === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
};
const sort = (table, column, head) => {
  const down = head.getAttribute("aria-sort") !== "descending" && column > 0
    || head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map(row => [value(row, column), row]);
  // What is empty stays at the end.
  rows.sort(([a], [b]) => (down && a !== "" && b !== "" ? compare(b, a) : compare(a, b)));
  body.append(...rows.map(([, row]) => row));
};
for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, head));
    head.append(button);
  });
}
const parts = document.querySelectorAll("details.part");
for (const button of document.querySelectorAll("button[data-fold]")) {
  button.addEventListener("click", () => {
    for (const part of parts) part.open = button.dataset.fold === "open";
  });
}
const unfold = () => {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part && part.tagName === "DETAILS") part.open = true;
};
addEventListener("hashchange", unfold);
unfold();
// Paper does not unfold.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...parts].filter(part => !part.open);
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => { for (const part of folded) part.open = false; });
// On a phone the contents would fill the first screen.
if (matchMedia("(max-width: 64rem)").matches) document.querySelector("nav details").open = false;
