// How the columns of Q = X W_Q are cut into heads, stacked, and joined again, entry by entry.
import {
  assign,
  cellOf,
  clamp,
  listen,
  makeArea,
  makeFrame,
  makeHelp,
  makeMatrix,
  makeReadout,
  makeSteps,
  makeTable,
  makeWalk,
  range,
  stepInGrid,
  tag,
  write,
} from "./common.js";
import { makeView } from "./widget.js";

function render({ model, el }) {
  const { X, W, Q, words, num_heads: h } = model.get("facts");
  const [T, D, width] = [X.length, W.length, W[0].length / h];
  const longest = Math.max(...[...X, ...W, ...Q].flat().map((x) => write(x).length));
  const BOX = Math.max(42, 8 * longest + 14); // width of a box that holds every number, and
  const [HEIGHT, GAP] = [42, 22]; // its height, and the space between slices, in CSS pixels

  const count = (n) => range(n).map(String);
  const frame = makeFrame(el, "Slicing view");
  const buttons = makeSteps((by) =>
    assign(model, { step: clamp(model.get("step") + by, 0, STEPS.length - 1) }),
  );
  const heading = tag("p.tutor-caption", { role: "status" });
  const onchange = () => assign(model, { mistake: wrong.checked });
  const wrong = tag("input", { type: "checkbox", onchange });
  const readout = makeReadout();
  const left = makeMatrix(`X: (T=${T}, d_model=${D})`, words, count(D));
  const right = makeMatrix(`W_Q: (d_model=${D}, h * d_k=${h * width})`, count(D), count(h * width));
  left.boxes.forEach((line, t) => line.forEach((box, d) => box.append(write(X[t][d]))));
  right.boxes.forEach((line, d) => line.forEach((box, c) => box.append(write(W[d][c]))));
  // The entries of Q, each a box that keeps its number and moves to where it stands.
  const entries = Q.map((row, t) =>
    row.map((q, c) =>
      tag("span.tutor-box.tutor-moving", { "data-row": t, "data-column": c }, write(q)),
    ),
  );
  for (const box of [...right.boxes, ...entries].flat()) {
    const { column } = cellOf(box);
    const head = Math.floor(column / width); // whose it is
    box.dataset.head = String(head);
    box.style.setProperty("--head", String(head % 4));
    box.classList.toggle("tutor-first", column % width === 0);
  }
  const signs = tag("div"); // names of rows and slices
  const stage = makeArea("div.tutor-stage", "matrix", {}, signs, ...entries.flat());
  const operator = (text) => tag("span.tutor-operator", text);
  const code = tag("code");
  const table = makeTable();
  frame.append(
    tag(
      "div.tutor-choosers",
      buttons.back,
      buttons.forth,
      tag(
        "label.tutor-chooser",
        wrong,
        tag("span", "A mistake: Q.view(h, T, d_k) instead of two steps"),
      ),
    ),
    heading,
    readout,
    tag(
      "div.tutor-matrices",
      { style: `--box: ${BOX}px` },
      left.node,
      operator("@"),
      right.node,
      operator("="),
      tag("div.tutor-matrix", tag("p", code), tag("div.tutor-scroll", stage)),
    ),
    table,
    makeHelp(
      "Tab goes to the buttons and to the moving matrix. There the arrow keys walk through the rows " +
        "and columns of Q. Enter pins an entry: it stays marked from step to step. Escape leaves.",
    ),
  );

  // ---- where an entry stands

  const STEPS = [
    {
      name: "multiply",
      code: `Q = X @ W_Q  # (${T}, ${h * width})`,
      says: "One product gives the queries of all heads, side by side.",
    },
    {
      name: "cut",
      code: `Q.unflatten(-1, (${h}, ${width}))  # (${T}, ${h}, ${width})`,
      says: "Each row is cut into pieces, one a head. No entry has moved in memory.",
    },
    {
      name: "stack",
      code: `.transpose(-3, -2)  # (${h}, ${T}, ${width})`,
      says: "Heads come first: each has a matrix of its own, with a row for every word.",
    },
    {
      name: "swap back",
      code: `.transpose(-3, -2)  # (${T}, ${h}, ${width})`,
      says: "The way back begins: word by word again.",
    },
    {
      name: "join",
      code: `.flatten(-2)  # (${T}, ${h * width})`,
      says: "The pieces are one row again. It is the Q we began with.",
    },
  ];
  const MISTAKE = {
    name: "mistake",
    code: `Q.view(${h}, ${T}, ${width})  # (${h}, ${T}, ${width})`,
    says: "The shape is right, but a slice holds the numbers of the wrong words and columns.",
  };
  const now = () => (model.get("mistake") ? MISTAKE : STEPS[model.get("step")]);

  /** [slice, row, column] of entry (t, c); one slice before the cut and after the join. */
  function position(t, c) {
    const { name } = now();
    if (name === "mistake") {
      const i = t * h * width + c; // its number in memory
      return [Math.floor(i / (T * width)), Math.floor(i / width) % T, i % width];
    }
    return isWhole() ? [0, t, c] : [Math.floor(c / width), t, c % width];
  }

  /** Its index in the tensor of this step, as one would write it. */
  function index(t, c) {
    const [slice, row, column] = position(t, c);
    const { name } = now();
    if (isWhole()) return `[${t}, ${c}]`;
    return name === "cut" || name === "swap back"
      ? `[${row}, ${slice}, ${column}]`
      : `[${slice}, ${row}, ${column}]`;
  }

  /** Is Q one matrix, not cut? */
  const isWhole = () => now().name === "multiply" || now().name === "join";
  const stacked = () => now().name === "stack" || now().name === "mistake";
  const NAMES = 64; // room for the names of rows

  /** Left and top of a slice, in CSS pixels. */
  function corner(slice) {
    return stacked()
      ? [NAMES, slice * (T * HEIGHT + GAP) + GAP]
      : [NAMES + slice * (width * BOX + GAP), GAP];
  }

  // ---- drawing

  function show() {
    const { name, says } = now();
    const step = model.get("step");
    const mistake = name === "mistake";
    heading.textContent = mistake ? says : `Step ${step + 1} of ${STEPS.length}, ${name}. ${says}`;
    buttons.limit(step, STEPS.length - 1);
    if (mistake) buttons.back.disabled = buttons.forth.disabled = true;
    wrong.checked = mistake;
    code.textContent = now().code;
    stage.setAttribute(
      "aria-label",
      `${name}: ${now().code.replace("#", "shape")}. ` +
        "Arrow keys walk through Q, Enter pins, Escape leaves.",
    );
    const held = {}; // the words whose numbers a row of a slice holds
    let [right, bottom] = [0, 0];
    entries.forEach((line, t) =>
      line.forEach((box, c) => {
        const [slice, row, column] = position(t, c);
        const [x, y] = corner(slice);
        box.style.transform = `translate(${x + column * BOX}px, ${y + row * HEIGHT}px)`;
        right = Math.max(right, x + (column + 1) * BOX);
        bottom = Math.max(bottom, y + (row + 1) * HEIGHT);
        (held[[slice, row]] ??= new Set()).add(words[t]);
      }),
    );
    Object.assign(stage.style, { width: `${right + 2}px`, height: `${bottom + 2}px` });
    signs.replaceChildren();
    const sign = (x, y, text, kind) => {
      const style = `left: ${x}px; top: ${y}px`;
      signs.append(tag(`span.tutor-sign.${kind}`, { style, title: text }, text));
    };
    for (const [place, names] of Object.entries(held)) {
      const [slice, row] = place.split(",").map(Number);
      const [x, y] = corner(slice);
      if (slice === 0 || stacked())
        sign(x - NAMES, y + row * HEIGHT, [...names].join(", "), "tutor-row-sign");
      if (row > 0) continue;
      for (const m of isWhole() ? range(h) : [slice])
        sign(x + (m - slice) * width * BOX, y - GAP, `head ${m}`, "tutor-slice-sign");
    }
    table.fill(() => [
      ["Q", "value", "head", "here"],
      Q.flatMap((row, t) =>
        row.map((q, c) => [`[${t}, ${c}]`, write(q), String(headOf(t, c)), index(t, c)]),
      ),
    ]);
    showCursor();
  }

  /** The head that gets an entry: with the mistake, the slice in which it ends up. */
  const headOf = (t, c) => (now().name === "mistake" ? position(t, c)[0] : Math.floor(c / width));

  function showCursor() {
    const at = walk.cursor ?? walk.pin;
    left.light(at && { row: at.row });
    right.light(at && { column: at.column });
    for (const box of entries.flat()) {
      const { row, column } = cellOf(box);
      const is = (cell) => cell?.row === row && cell?.column === column;
      box.classList.toggle("tutor-here", is(at));
      box.classList.toggle("tutor-pinned", is(walk.pin));
    }
    readout.textContent = at
      ? describe(at)
      : "Where does an entry come from? Point at it, or press Tab and then the arrow keys.";
  }

  function describe({ row: t, column: c }) {
    const factor = (x) => (x < 0 ? `(${write(x)})` : write(x));
    const sum = X[t].map((x, d) => `${factor(x)}·${factor(W[d][c])}`).join(" + ");
    const owner = `${words[t]}, column ${c % width} of head ${Math.floor(c / width)}`;
    const from = `Q[${t}, ${c}] = ${sum} = ${write(Q[t][c])}: ${owner}.`;
    const { name } = now();
    if (name === "multiply") return from;
    if (name === "join") return `${from} It is back at [${t}, ${c}].`;
    if (name !== "mistake") return `${from} Here it is ${index(t, c)}.`;
    const [head, row] = position(t, c);
    const right = Math.floor(c / width) === head && row === t;
    const wanted = `where ${words[row]} should stand in head ${head}`;
    return `${from} Here it is ${index(t, c)}, ${right ? "which happens to be right" : wanted}.`;
  }

  const walk = makeWalk(stage, {
    next: (key, from) => stepInGrid(key, from, T, h * width),
    show: showCursor,
    nodeAt: ({ row, column }) => entries[row][column],
  });
  show();
  return listen(model, { step: show, mistake: show });
}

export default makeView(render);
