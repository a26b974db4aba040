// Softmax under two sliders: the width of queries and keys, and what the scores are divided by.

function render({ model, el }) {
  const { widths, keys, num_queries: T } = model.get("facts");
  const S = keys.length;
  const products = floats(model.get("products")); // of queries and keys: (widths, T, S)
  let pinned = null; // {step, power}

  const frame = makeFrame(el, "Softmax view");
  const slider = (label, max, step, change) => {
    const input = element("input", {
      type: "range",
      min: 0,
      max,
      step,
      oninput: () => change(Number(input.value)),
    });
    const output = element("output", {});
    return {
      input,
      output,
      node: element(
        "label",
        { class: "tutor-chooser tutor-slider" },
        element("span", {}, label),
        input,
        output,
      ),
    };
  };
  const width = slider("d_k", widths.length - 1, 1, (step) => assign(model, { step }));
  const power = slider("divide the scores by d_k to the power of", 1, 0.05, (power) =>
    assign(model, { power }),
  );
  const pin = element("button", { type: "button", onclick: togglePin }, "Pin");
  const readout = element("p", { class: "tutor-readout", "aria-live": "polite" });
  const bars = keys.map((key) => ({
    name: element("th", { scope: "row" }, key),
    score: element("td", {}),
    scaled: element("td", {}),
    fill: element("span", { class: "tutor-fill" }),
    mark: element("span", { class: "tutor-mark" }),
    weight: element("td", {}),
  }));
  const header = ["key", "q · k", "divided", "weight", ""].map((text) =>
    element(text ? "th" : "td", text ? { scope: "col" } : {}, text),
  );
  const body = bars.map((bar) =>
    element(
      "tr",
      {},
      bar.name,
      bar.score,
      bar.scaled,
      bar.weight,
      element("td", { class: "tutor-track" }, bar.fill, bar.mark),
    ),
  );
  const weights = element(
    "table",
    {},
    element("caption", {}, "One query"),
    element("thead", {}, element("tr", {}, ...header)),
    element("tbody", {}, ...body),
  );
  const columns = widths.map(() => ({
    text: element("td", {}),
    fill: element("span", { class: "tutor-fill" }),
    mark: element("span", { class: "tutor-mark" }),
  }));
  const entropies = element(
    "table",
    {},
    element("caption", {}, `Mean entropy of ${T} queries`),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...["d_k", "bits", ""].map((text) =>
          element(text ? "th" : "td", text ? { scope: "col" } : {}, text),
        ),
      ),
    ),
    element(
      "tbody",
      {},
      ...columns.map((column, i) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, String(widths[i])),
          column.text,
          element("td", { class: "tutor-track" }, column.fill, column.mark),
        ),
      ),
    ),
  );
  frame.append(
    element("div", { class: "tutor-choosers" }, width.node, power.node, pin),
    readout,
    element("div", { class: "tutor-matrices tutor-tables" }, weights, entropies),
    makeHelp(
      "Tab goes to the sliders, and the arrow keys move them. Enter on a slider pins what is shown: " +
        "thin marks keep its place. Escape leaves.",
    ),
  );

  // ---- numbers

  const entropy = (A) => -A.reduce((sum, a) => sum + (a > 0 ? a * Math.log2(a) : 0), 0);

  /** Products of one query with all keys, at one of the widths. */
  const row = (step, t) => [...products.subarray((step * T + t) * S, (step * T + t + 1) * S)];

  const weightsOf = (step, power, t = 0) =>
    softmax(row(step, t).map((x) => x / widths[step] ** power));

  function meanEntropy(step, power) {
    let sum = 0;
    for (let t = 0; t < T; t++) sum += entropy(weightsOf(step, power, t));
    return sum / T;
  }

  // ---- drawing

  const most = Math.log2(S); // the entropy of equal weights

  function show() {
    const [step, p] = [model.get("step"), model.get("power")];
    const name =
      p === 0
        ? "1"
        : p === 0.5
          ? `√${widths[step]} = ${write(Math.sqrt(widths[step]))}`
          : p === 1
            ? String(widths[step])
            : `${widths[step]}^${write(p)} = ${write(widths[step] ** p)}`;
    width.input.value = step;
    width.output.textContent = String(widths[step]);
    width.input.setAttribute("aria-valuetext", `d_k = ${widths[step]}`);
    power.input.value = p;
    power.output.textContent = `${write(p)}: by ${name}`;
    power.input.setAttribute("aria-valuetext", `power ${write(p)}, divided by ${name}`);
    const scores = row(step, 0);
    const A = weightsOf(step, p);
    const kept = pinned && weightsOf(pinned.step, pinned.power);
    bars.forEach((bar, s) => {
      bar.score.textContent = write(scores[s]);
      bar.scaled.textContent = write(scores[s] / widths[step] ** p);
      bar.weight.textContent = A[s].toFixed(3);
      bar.fill.style.background = colour(A[s]);
      paint(bar, A[s], kept && kept[s]);
    });
    columns.forEach((column, i) => {
      const bits = meanEntropy(i, p);
      column.text.textContent = bits.toFixed(2);
      column.text.parentNode.classList.toggle("tutor-chosen", i === step);
      column.text.parentNode.setAttribute("aria-current", i === step);
      paint(column, bits / most, pinned && meanEntropy(i, pinned.power) / most);
    });
    pin.textContent = pinned ? "Unpin" : "Pin";
    const say = (at) => {
      const A = weightsOf(at.step, at.power);
      return (
        `d_k = ${widths[at.step]}, power ${write(at.power)}: ` +
        `largest weight ${Math.max(...A).toFixed(3)}, ` +
        `entropy ${entropy(A).toFixed(2)} bits of at most ${most.toFixed(2)}.`
      );
    };
    readout.textContent = say({ step, power: p }) + (pinned ? ` Pinned: ${say(pinned)}` : "");
  }

  function paint({ fill, mark }, share, kept) {
    fill.style.width = `${100 * share}%`;
    mark.hidden = kept === null;
    mark.style.left = `${100 * kept}%`;
  }

  function togglePin() {
    pinned = pinned ? null : { step: model.get("step"), power: model.get("power") };
    show();
  }
  for (const { input } of [width, power])
    input.addEventListener(
      "keydown",
      (event) => event.key === "Enter" && !event.shiftKey && togglePin(),
    );

  show();
  return listen(model, ["step", "power"], show);
}
