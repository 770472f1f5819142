// Sorting, searching, and the trial under the pointer. Text only ever becomes text (textContent).
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  function cellValue(row, column) {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent;
    const value = Number(text);
    return text.trim() === "" || Number.isNaN(value) ? text : value;
  }

  // Numbers before words; what is missing comes last in either direction.
  function compare(a, b, sign) {
    const missing = (v) => v === "" || v === "\u2013";
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b));
  }

  function sortBy(table, column, order) {
    const sign = order === "descending" ? -1 : 1;
    const rows = [...table.tBodies[0].rows].map((row) => [cellValue(row, column), row]);
    rows.sort((a, b) => compare(a[0], b[0], sign));
    table.tBodies[0].append(...rows.map((pair) => pair[1]));
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      if (i === column) cell.setAttribute("aria-sort", order);
      else cell.removeAttribute("aria-sort");
    });
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const up = cell.getAttribute("aria-sort") === "ascending";
        sortBy(table, column, up ? "descending" : "ascending");
      });
    });
  }

  function search(table, words, status) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = [...row.cells].map((cell) => cell.textContent).join("\u0001").toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    status.textContent = `${shown} of ${table.tBodies[0].rows.length} trials`;
  }

  // Every point of a path begins with "M x,y".
  function pointsOf(svg) {
    return [...svg.querySelectorAll("path[data-t]")].flatMap((path) => {
      const names = path.dataset.t.split(" ");
      return path.getAttribute("d").split("M").slice(1).map((piece, i) => {
        const [x, y] = piece.match(/-?[\d.]+(?:e-?\d+)?/g).map(Number);
        return { x, y, name: names[i] };
      });
    });
  }

  function describe(name) {
    const row = document.getElementById(`t${name}`);
    if (!row) return [`Trial ${name}`];
    const heads = [...row.closest("table").tHead.rows[0].cells];
    const lines = [...row.cells].slice(1).map((cell, i) => {
      return cell.textContent === "" ? "" : `${heads[i + 1].textContent} ${cell.textContent}`;
    });
    return [`Trial ${name}`, ...lines.filter(Boolean)];
  }

  function makeReadable(plot) {
    const svg = plot.querySelector("svg");
    const points = pointsOf(svg);
    if (!points.length) return;
    const order = [...points].sort((a, b) => a.x - b.x);
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    tip.hidden = true;
    const ring = document.createElementNS(SVG, "circle");
    ring.setAttribute("class", "sw-focus");
    ring.setAttribute("r", "7");
    let at = -1;

    function hide() {
      tip.hidden = true;
      ring.remove();
    }

    function show(point) {
      const lines = describe(point.name);
      tip.replaceChildren(...lines.map((line) => {
        const p = document.createElement("p");
        p.textContent = line;
        return p;
      }));
      tip.classList.toggle("long", lines.length > 9);
      ring.setAttribute("cx", point.x);
      ring.setAttribute("cy", point.y);
      svg.append(ring);
      tip.hidden = false;
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const [x, y] = [point.x * scale, point.y * scale];
      const left = Math.min(Math.max(x - tip.offsetWidth / 2, 0), plot.clientWidth - tip.offsetWidth);
      tip.style.left = `${Math.max(left, 0)}px`;
      // Below the point, unless there is more room above it.
      const above = plot.getBoundingClientRect().top + y;
      const below = window.innerHeight - above;
      const flip = tip.offsetHeight + 14 > below && above > below;
      tip.style.top = `${flip ? y - 14 - tip.offsetHeight : y + 14}px`;
    }

    function nearest(event) {
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
      const far = (p) => (p.x - x) ** 2 + (p.y - y) ** 2;
      const best = order.reduce((a, b) => (far(b) < far(a) ? b : a));
      return far(best) * scale ** 2 < 28 ** 2 ? best : null;
    }

    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${plot.dataset.title}; arrow keys walk through the trials`);
    plot.append(tip);
    for (const kind of ["pointermove", "pointerdown"]) {
      plot.addEventListener(kind, (event) => {
        const point = nearest(event);
        if (point) show(point);
        else hide();
      });
    }
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
      if (event.key === "Escape") hide();
      if (step === undefined) return;
      event.preventDefault();
      at = Math.min(Math.max(at + step, 0), order.length - 1);
      show(order[at]);
    });
  }

  function start() {
    document.querySelectorAll(".plot").forEach(makeReadable);
    const table = document.getElementById("trials");
    if (!table) return;
    makeSortable(table);
    const field = document.getElementById("search");
    const status = document.getElementById("found");
    field.closest(".tools").hidden = false;
    field.addEventListener("input", () => search(table, field.value, status));
    search(table, field.value, status);
  }

  window.stopwise = { start, sortBy };
  start();
})();
