// The calculator of how-to/lam: a trade in, lam and what it means out. No network, no library.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("lam-calculator");
  if (!place) return;
  place.innerHTML = `
    <form class="sw-panel" aria-label="Calculator of lam">
      <p><b>Calculator.</b> I would just pay
        <input id="sw-cost" type="number" value="12" min="0" step="any" size="7" aria-label="cost">
        <input id="sw-unit" type="text" value="hours" size="9" aria-label="unit of cost">
        for an improvement of
        <input id="sw-gain" type="number" value="0.01" min="0" step="any" size="7" aria-label="improvement">.
        One evaluation costs about
        <input id="sw-each" type="number" value="0.5" min="0" step="any" size="7" aria-label="cost of one evaluation">.
      </p>
      <output id="sw-out" aria-live="polite"></output>
    </form>`;
  const number = (id) => parseFloat(document.getElementById(id).value);
  const short = (x) => String(Number(x.toPrecision(3)));
  const show = () => {
    const [gain, cost, each] = ["sw-gain", "sw-cost", "sw-each"].map(number);
    const unit = document.getElementById("sw-unit").value.trim() || "units";
    const out = document.getElementById("sw-out");
    if (!(gain > 0 && cost > 0 && each > 0)) {
      out.textContent = "Give three positive numbers.";
      return;
    }
    const lam = gain / cost;
    out.innerHTML = `<code>lam = ${short(lam)}</code>, with the cost in ${unit.replace(/[<>&]/g, "")}.
      The next evaluation must promise a gain of at least <b>${short(lam * each)}</b>.
      An improvement of ${short(gain)} pays for <b>${short(cost / each)}</b> evaluations;
      if no more than ${short(gain)} can be gained in all, more than that many are never worth it, whatever they bring.`;
  };
  place.addEventListener("input", show);
  place.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  show();
});
