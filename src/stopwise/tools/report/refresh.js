// Only in a page that is served: look whether the journal has grown, and show what is new.
"use strict";
(() => {
  const every = 2000;
  let version = document.documentElement.dataset.version;

  function sorting() {
    const cell = document.querySelector("#trials th[aria-sort]");
    return cell && [cell.cellIndex, cell.getAttribute("aria-sort")];
  }

  async function refresh() {
    const page = await (await fetch("/", { cache: "no-store" })).text();
    const next = new DOMParser().parseFromString(page, "text/html");
    const open = [...document.querySelectorAll("details[open]")].map((d) => d.id);
    const words = document.getElementById("search")?.value ?? "";
    const sorted = sorting();
    const typing = document.activeElement?.id === "search";
    const kept = window.scrollY;
    document.querySelector("main").replaceWith(next.querySelector("main"));
    document.title = next.title;
    version = next.documentElement.dataset.version;
    open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    const field = document.getElementById("search");
    if (field) field.value = words;
    window.stopwise.start();
    if (field && typing) field.focus({ preventScroll: true });
    if (sorted) window.stopwise.sortBy(document.getElementById("trials"), ...sorted);
    window.scrollTo(0, kept);
  }

  async function look() {
    try {
      const answer = await fetch("/version", { cache: "no-store" });
      if (answer.ok && (await answer.text()) !== version) await refresh();
    } catch {
      // The server has ended; what is shown stays.
    }
    setTimeout(look, every);
  }

  setTimeout(look, every);
})();
