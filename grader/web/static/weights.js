"use strict";
// Tables of weights: a query that is pointed at, focused or pressed lights its keys, and says how much each weighs.
(() => {
  const HOW = "Point at a query, or tap it, to light its keys.";

  function light(table, row) {
    const keys = [...table.querySelectorAll("thead th")];
    for (const each of table.tBodies[0].rows) each.classList.toggle("lit", each === row);
    table.classList.toggle("lights", Boolean(row));
    keys.forEach((key, place) => { key.className = row ? row.cells[place + 1].className : ""; });
    const reads = table.closest("figure").querySelector(".reads");
    if (!row) { reads.textContent = HOW; return; }
    const found = keys.map((key, place) => [key.textContent, row.cells[place + 1].textContent]);
    found.sort((one, other) => Number(other[1]) - Number(one[1]));
    const all = found.slice(0, 6).map((pair) => pair.join(" ")).join(", ") + (found.length > 6 ? ", …" : "");
    reads.textContent = `“${row.cells[0].textContent}” attends to ${all}.`;
  }

  // Lights what is pointed at; where nothing is, the row of the focus, and else the one that was pressed.
  function rest(table) {
    const here = ["tr:hover", "tr:focus-within", "tr:has([aria-pressed=true])"];
    light(table, here.map((each) => table.tBodies[0].querySelector(each)).find(Boolean));
  }

  const row = (event) => event.target.closest?.(".weights tbody tr");
  document.addEventListener("pointerover", (event) => { if (row(event)) light(row(event).closest("table"), row(event)); });
  document.addEventListener("focusin", (event) => { if (row(event)) light(row(event).closest("table"), row(event)); });
  for (const kind of ["pointerout", "focusout"]) {
    document.addEventListener(kind, (event) => {
      const from = row(event);
      if (from && !from.contains(event.relatedTarget)) setTimeout(() => rest(from.closest("table")));
    });
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".weights button");
    if (!button) return;
    const isPressed = button.getAttribute("aria-pressed") !== "true";
    const table = button.closest("table");
    for (const each of table.querySelectorAll("button")) each.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(isPressed));
    light(table, isPressed ? button.closest("tr") : null);
  });
})();
