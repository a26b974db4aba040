// Softmax under two sliders: the width of queries and keys, and what the scores are divided by.
import { colour } from "./colours.js";
import {
  assign,
  floats,
  listen,
  makeFrame,
  makeHeader,
  makeHelp,
  makeReadout,
  range,
  softmax,
  tag,
  write,
} from "./common.js";
import { makeView } from "./widget.js";

function render({ model, el }) {
  const { widths, keys, num_queries: T } = model.get("facts");
  const S = keys.length;
  const products = floats(model.get("products")); // of queries and keys: (widths, T, S)
  let pinned = null; // {step, power}

  const frame = makeFrame(el, "Softmax view");
  const makeSlider = (label, max, step, change) => {
    const oninput = () => change(Number(input.value));
    const input = tag("input", { type: "range", min: 0, max, step, oninput });
    const output = tag("output");
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) togglePin();
    });
    const node = tag("label.tutor-chooser.tutor-slider", tag("span", label), input, output);
    const show = (value, text, said) => {
      input.value = value;
      output.textContent = text;
      input.setAttribute("aria-valuetext", said);
    };
    return { node, show };
  };
  const width = makeSlider("d_k", widths.length - 1, 1, (step) => assign(model, { step }));
  const power = makeSlider("divide the scores by d_k to the power of", 1, 0.05, (power) =>
    assign(model, { power }),
  );
  const pin = tag("button", { onclick: togglePin }, "Pin");
  const readout = makeReadout();
  /** A line of a table: its name, `texts` cells of text, and a bar with a mark. */
  const makeBar = (name, texts) => {
    const [fill, mark] = [tag("span.tutor-fill"), tag("span.tutor-mark")];
    const cells = range(texts).map(() => tag("td"));
    const track = tag("td.tutor-track", fill, mark);
    return {
      node: tag("tr", tag("th", { scope: "row" }, name), ...cells, track),
      cells,
      fill,
      mark,
    };
  };
  const bars = keys.map((key) => makeBar(key, 3));
  const columns = widths.map((width) => makeBar(String(width), 1));
  const makeBars = (caption, names, lines) =>
    tag(
      "table",
      tag("caption", caption),
      tag("thead", makeHeader([...names, ""])),
      tag("tbody", ...lines.map(({ node }) => node)),
    );
  frame.append(
    tag("div.tutor-choosers", width.node, power.node, pin),
    readout,
    tag(
      "div.tutor-matrices.tutor-tables",
      makeBars("One query", ["key", "q · k", "divided", "weight"], bars),
      makeBars(`Mean entropy of ${T} queries`, ["d_k", "bits"], columns),
    ),
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

  const meanEntropy = (step, power) =>
    range(T).reduce((sum, t) => sum + entropy(weightsOf(step, power, t)), 0) / T;

  // ---- drawing

  const most = Math.log2(S); // the entropy of equal weights

  /** What the scores are divided by. */
  function nameDivisor(d_k, power) {
    if (power === 0) return "1";
    if (power === 0.5) return `√${d_k} = ${write(Math.sqrt(d_k))}`;
    return power === 1 ? String(d_k) : `${d_k}^${write(power)} = ${write(d_k ** power)}`;
  }

  function show() {
    const [step, p] = [model.get("step"), model.get("power")];
    const d_k = widths[step];
    const name = nameDivisor(d_k, p);
    width.show(step, String(d_k), `d_k = ${d_k}`);
    power.show(p, `${write(p)}: by ${name}`, `power ${write(p)}, divided by ${name}`);
    const scores = row(step, 0);
    const A = weightsOf(step, p);
    const kept = pinned && weightsOf(pinned.step, pinned.power);
    bars.forEach((bar, s) => {
      const texts = [write(scores[s]), write(scores[s] / d_k ** p), A[s].toFixed(3)];
      bar.cells.forEach((cell, i) => (cell.textContent = texts[i]));
      bar.fill.style.background = colour(A[s]);
      paint(bar, A[s], kept ? kept[s] : null);
    });
    columns.forEach((column, i) => {
      const bits = meanEntropy(i, p);
      column.cells[0].textContent = bits.toFixed(2);
      column.node.classList.toggle("tutor-chosen", i === step);
      column.node.setAttribute("aria-current", String(i === step));
      paint(column, bits / most, pinned && meanEntropy(i, pinned.power) / most);
    });
    pin.textContent = pinned ? "Unpin" : "Pin";
    const say = ({ step, power }) => {
      const A = weightsOf(step, power);
      return (
        `d_k = ${widths[step]}, power ${write(power)}: ` +
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

  show();
  return listen(model, { step: show, power: show });
}

export default makeView(render);
