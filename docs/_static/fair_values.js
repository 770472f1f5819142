// The figure of explanation/fair-values: three boxes, their fair values, what to open, when to stop.
// Plain script: no library, no network. window.stopwiseFairValue is what the tests compare with stopwise.math.
(() => {
  // The upper tail of the standard normal; fractional error below 1.2e-7 (Press et al. 2007, erfc).
  const upperTail = (z) => {
    const x = Math.abs(z) / Math.SQRT2, t = 1 / (1 + 0.5 * x);
    const poly = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807,
      -1.13520398, 1.48851587, -0.82215223, 0.17087277].reduceRight((sum, c) => sum * t + c, 0);
    const tail = 0.5 * t * Math.exp(-x * x + poly);
    return z >= 0 ? tail : 1 - tail;
  };
  const density = (z) => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
  // What a prize is expected to bring beyond what is in hand.
  const gain = (mean, std, hand) => {
    const z = (hand - mean) / std;
    return std * (density(z) - z * upperTail(z));
  };
  // The prize in hand at which looking just pays: gain(mean, std, g) = price. It falls in g: bisection.
  const fairValue = (mean, std, price) => {
    let low = mean - price - 10 * std, high = mean + 10 * std;
    for (let i = 0; i < 200; i += 1) {
      const middle = (low + high) / 2;
      if (gain(mean, std, middle) > price) low = middle; else high = middle;
    }
    return (low + high) / 2;
  };
  window.stopwiseFairValue = fairValue;
  window.stopwiseGain = gain;

  const boxes = [
    { name: "A", mean: 5, std: 1, price: 0.5 },
    { name: "B", mean: 4, std: 3, price: 1 },
    { name: "C", mean: 6, std: 0.5, price: 1.5 },
  ];
  let hand = 4;
  let WIDTH = 640;  // of the picture, in its own units; narrower where the screen is
  const LOW = -2, HIGH = 14, ROW = 84, LEFT = 34, TOP = 26;
  const at = (value) => LEFT + (WIDTH - LEFT - 10) * (value - LOW) / (HIGH - LOW);

  const slider = (id, label, min, max, step, value) =>
    `<label for="${id}">${label} <output id="${id}-now">${value}</output></label>
     <input id="${id}" type="range" min="${min}" max="${max}" step="${step}" value="${value}">`;

  const controls = () => `<div class="sw-boxes">${boxes.map((b, i) => `<fieldset><legend>Box ${b.name}</legend>
      ${slider(`sw-price-${i}`, "price of looking", 0.05, 4, 0.05, b.price)}
      ${slider(`sw-std-${i}`, "uncertainty of the prize", 0.1, 4, 0.1, b.std)}
      ${slider(`sw-mean-${i}`, "expected prize", 0, 9, 0.1, b.mean)}</fieldset>`).join("")}</div>
      ${slider("sw-hand", "best prize in hand", 0, 12, 0.1, hand)}`;

  const curve = (b, base) => {
    const tall = Math.min(58, 40 / b.std ** 0.5);
    const points = [];
    for (let x = LOW; x <= HIGH; x += 0.1) {
      points.push(`${at(x).toFixed(1)},${(base - tall * density((x - b.mean) / b.std) / density(0)).toFixed(1)}`);
    }
    return `<polyline points="${points.join(" ")}" fill="var(--color-brand-primary)" fill-opacity="0.18"
      stroke="var(--color-brand-primary)" stroke-width="1.5"/>`;
  };

  const picture = (fair, best) => {
    const rows = boxes.map((b, i) => {
      const base = TOP + ROW * (i + 1) - 16, x = at(Math.max(LOW, Math.min(HIGH, fair[i])));
      const worth = fair[i] > hand;
      return `<text x="4" y="${base - 20}" font-weight="bold">${b.name}</text>
        <line x1="${LEFT}" x2="${WIDTH - 10}" y1="${base}" y2="${base}" stroke="var(--color-foreground-border)"/>
        ${curve(b, base)}
        <path d="M${x},${base + 2} l-7,13 h14 z" fill="${worth ? "var(--color-brand-primary)" : "none"}"
          stroke="var(--color-foreground-primary)" stroke-width="${i === best && worth ? 2.5 : 1}"/>
        <text x="${Math.min(x + 11, WIDTH - 150)}" y="${base + 14}">fair value ${fair[i].toFixed(2)}${i === best && worth ? ": open it" : ""}</text>`;
    });
    const x = at(hand);
    return `<svg viewBox="0 0 ${WIDTH} ${TOP + ROW * 3 + 4}" role="img" aria-labelledby="sw-answer">
      ${rows.join("")}
      <line x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${TOP + ROW * 3}" stroke="var(--color-foreground-primary)" stroke-dasharray="5 4" stroke-width="1.5"/>
      <text x="${Math.min(x + 4, WIDTH - 110)}" y="14">in hand: ${hand.toFixed(1)}</text></svg>`;
  };

  const answer = (fair, best) => {
    const b = boxes[best];
    const now = gain(b.mean, b.std, hand);
    return fair[best] > hand
      ? `<b>Open ${b.name}.</b> Its fair value, ${fair[best].toFixed(2)}, is the highest and above what is in hand.
         Looking is expected to gain ${now.toFixed(2)} and costs ${b.price.toFixed(2)}.`
      : `<b>Stop.</b> No fair value is above the ${hand.toFixed(2)} in hand. Even the best box, ${b.name}, is expected
         to gain only ${now.toFixed(2)}, and looking costs ${b.price.toFixed(2)}.`;
  };

  const draw = (place) => {
    WIDTH = Math.max(320, Math.min(640, place.clientWidth - 34));
    const fair = boxes.map((b) => fairValue(b.mean, b.std, b.price));
    const best = fair.indexOf(Math.max(...fair));
    place.querySelector("#sw-picture").innerHTML = picture(fair, best);
    place.querySelector("#sw-answer").innerHTML = answer(fair, best);
  };

  document.addEventListener("DOMContentLoaded", () => {
    const place = document.getElementById("fair-values-figure");
    if (!place) return;
    place.innerHTML = `<div class="sw-panel"><div id="sw-picture"></div>
      <p id="sw-answer" aria-live="polite"></p>${controls()}
      <button type="button" id="sw-look">Look into the best box</button>
      <button type="button" id="sw-again">Begin again</button> <span id="sw-told" aria-live="polite"></span></div>`;
    const initial = JSON.stringify({ boxes, hand });
    const set = (id, value) => {
      document.getElementById(id).value = value;
      document.getElementById(`${id}-now`).textContent = Number(value).toFixed(2).replace(/\.?0+$/, "");
    };
    const sync = () => {
      boxes.forEach((b, i) => ["price", "std", "mean"].forEach((what) => set(`sw-${what}-${i}`, b[what])));
      set("sw-hand", hand);
      draw(place);
    };
    place.addEventListener("input", (event) => {
      const [, what, which] = event.target.id.split("-");
      const value = parseFloat(event.target.value);
      if (what === "hand") hand = value; else boxes[Number(which)][what] = value;
      sync();
    });
    place.querySelector("#sw-look").addEventListener("click", () => {
      const fair = boxes.map((b) => fairValue(b.mean, b.std, b.price));
      const best = fair.indexOf(Math.max(...fair)), b = boxes[best];
      const told = place.querySelector("#sw-told");
      if (fair[best] <= hand) { told.textContent = "No box is worth its price."; return; }
      const prize = b.mean + b.std * Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
      told.textContent = `Box ${b.name} held ${prize.toFixed(2)}; you paid ${b.price.toFixed(2)}.`;
      hand = Math.min(12, Math.max(hand, Math.round(prize * 10) / 10));
      Object.assign(b, { mean: Math.max(0, Math.min(9, prize)), std: 0.1 });  // known now
      sync();
    });
    place.querySelector("#sw-again").addEventListener("click", () => {
      const start = JSON.parse(initial);
      start.boxes.forEach((b, i) => Object.assign(boxes[i], b));
      hand = start.hand;
      place.querySelector("#sw-told").textContent = "";
      sync();
    });
    window.addEventListener("resize", () => draw(place));
    sync();
  });
})();
