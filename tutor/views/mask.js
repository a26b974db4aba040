// Scores, mask and weights side by side: hide cells, and see where their weight goes.
import { colour, isBright, makeScale } from "./colours.js";
import {
  assign,
  listen,
  makeArea,
  makeFrame,
  makeHelp,
  makeMatrix,
  makeReadout,
  makeTable,
  makeWalk,
  softmax,
  stepInGrid,
  tag,
  write,
} from "./common.js";
import { makeView } from "./widget.js";

function render({ model, el }) {
  const { E, rows, columns } = model.get("facts");
  const [T, S] = [rows.length, columns.length];
  const padding = columns.map((name) => name === "[PAD]");
  const makeMask = (hides) => rows.map((_, t) => columns.map((_, s) => hides(t, s)));

  const frame = makeFrame(el, "Mask view");
  const masks = {
    nothing: makeMask(() => false),
    causal: makeMask((t, s) => s > t),
    ...(padding.some(Boolean) && {
      padding: makeMask((_, s) => padding[s]),
      "causal or padding": makeMask((t, s) => s > t || padding[s]),
    }),
  };
  const choices = Object.entries(masks).map(([name, mask]) =>
    tag("button", { onclick: () => assign(model, { mask }) }, name),
  );
  const readout = makeReadout();
  const scores = makeMatrix("scores E", rows, columns);
  const mask = makeMatrix("mask: ✕ may not be looked at", rows, columns);
  const weights = makeMatrix("weights A = softmax(E)", rows, columns);
  const notes = rows.map(() => tag("span.tutor-name.tutor-note"));
  notes.forEach((note, t) => weights.boxes[t].at(-1).after(note));
  weights.node.querySelector(".tutor-grid").style.gridTemplateColumns = `repeat(${S + 2}, auto)`;
  weights.node.querySelectorAll(".tutor-top")[S - 1].after(tag("span"));
  const many = Math.max(T, S) > 8;
  const label =
    `Scores, mask and weights, ${T} rows and ${S} columns each. ` +
    "Arrow keys walk, Enter hides or shows a cell, Escape leaves.";
  const all = makeArea(
    "div.tutor-matrices",
    "matrices",
    { "aria-label": label },
    scores.node,
    mask.node,
    weights.node,
  );
  all.classList.toggle("tutor-many", many);
  const table = makeTable();
  frame.append(
    tag(
      "div.tutor-choosers",
      { role: "group", "aria-label": "Hide" },
      tag("span", "Hide:"),
      ...choices,
    ),
    readout,
    all,
    tag("p.tutor-legend", makeScale()),
    table,
    makeHelp(
      "Tab goes to the buttons and to the matrices, which share one cursor: the arrow keys walk, " +
        "Enter or a click hides a cell or shows it again. Escape leaves.",
    ),
  );
  for (const box of mask.boxes.flat()) box.classList.add("tutor-mask");
  for (const box of weights.boxes.flat()) box.classList.add("tutor-weight");

  let A;

  function show() {
    const M = model.get("mask");
    A = E.map((line, t) => softmax(line, M[t]));
    choices.forEach((button, i) => {
      const is = String(Object.values(masks)[i]) === String(M);
      button.setAttribute("aria-pressed", String(is));
    });
    M.forEach((line, t) => {
      line.forEach((hidden, s) => {
        const [score, seen, box] = [scores, mask, weights].map(({ boxes }) => boxes[t][s]);
        score.textContent = many ? write(Number(E[t][s].toFixed(1)), 1) : write(E[t][s]);
        score.classList.toggle("tutor-hidden", hidden);
        seen.textContent = hidden ? "✕" : "·";
        seen.dataset.hidden = hidden;
        box.textContent = many ? A[t][s].toFixed(2).replace(/^0/, "") : A[t][s].toFixed(2);
        box.style.background = colour(A[t][s]);
        box.style.color = isBright(A[t][s]) ? "black" : "white";
      });
      notes[t].textContent = line.every(Boolean) ? "nothing left: zeros" : "";
    });
    table.fill(() => [
      ["weights", ...columns],
      rows.map((name, t) => [name, ...A[t].map((a, s) => (M[t][s] ? "✕ " : "") + a.toFixed(2))]),
    ]);
    showCursor();
  }

  function showCursor() {
    const at = walk.cursor;
    for (const matrix of [scores, mask, weights]) matrix.light(at);
    readout.textContent = at
      ? describe(at)
      : "Point at a cell, or press Tab and then the arrow keys. Enter or a click hides it.";
  }

  function describe({ row, column }) {
    const hidden = model.get("mask")[row];
    const left = hidden.filter((x) => !x).length;
    const score = `score ${write(E[row][column])}, ${hidden[column] ? "hidden" : "seen"}`;
    const weight = `weight A[${row}, ${column}] = ${A[row][column].toFixed(3)}`;
    const cell = `${rows[row]} and ${columns[column]}: ${score}, ${weight}.`;
    if (!left)
      return `${cell} ${rows[row]} has nothing to look at: its weights are all 0, and sum to 0.`;
    return `${cell} The row's ${left} seen weight${left === 1 ? " is" : "s sum to"} 1.`;
  }

  const walk = makeWalk(all, {
    next: (key, from) => stepInGrid(key, from, T, S),
    show: showCursor,
    act({ row, column }) {
      const M = model.get("mask").map((line) => [...line]);
      M[row][column] = !M[row][column];
      assign(model, { mask: M });
    },
    nodeAt: ({ row, column }) => mask.boxes[row][column],
  });
  show();
  return listen(model, { mask: show });
}

export default makeView(render);
