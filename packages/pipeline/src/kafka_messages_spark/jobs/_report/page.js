
"use strict";
// A click (or Enter) on a column title sorts the table; a second click reverses the order.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], titles = [...table.tHead.rows[0].cells];
  const key = (row, at) => {
    const cell = row.cells[at];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent === "-" ? null : cell.textContent;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  titles.forEach((title, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const sign = title.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      titles.forEach(each => each.removeAttribute("aria-sort"));
      title.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [key(row, at), row]);
      // Cells without a value come last in both orders.
      rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
