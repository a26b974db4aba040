// What all views share. Python puts this text in front of each view's own file, so that a view is
// one module that loads nothing. CIVIDIS, 256 colours as "rrggbb" in one string, stands before it.

/** An HTML element: element("p", { class: "note", onclick: f }, "text", child). */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Hide the picture that stands for the view in a saved notebook, while the view is on the page. */
function hidePicture({ model, el }) {
  const still = `[data-view="${model.get("_still")}"]`;
  el.append(
    element("style", {}, `${still}, .jp-OutputArea-child:has(${still}) { display: none }`),
  );
}

/** Ask the kernel, or the model of a page that has one, `model.translator` (course/site).
 *
 * `tell(sentence)` hears that it was asked, and if no answer can come. Returns the end of waiting.
 */
function askKernel(model, question, tell) {
  tell(model.translator ? "The model in this page is asked …" : "Asking the kernel …");
  const silent = "The kernel does not answer: run the cell again.";
  try {
    model.send(question);
  } catch {
    tell(silent); // restarted or shut down
    return () => {};
  }
  if (model.translator) return () => {}; // it may be loading, and says itself what goes wrong
  const timer = setTimeout(() => tell(silent), 15_000);
  return () => clearTimeout(timer);
}

/** A box for the reader's own sentence, and the line that says what comes of it.
 *
 * `question(text)` is what the kernel or the page's model is asked; each answer changes the trait
 * `answers` and brings a `message`. A page with neither has no box.
 */
function makeAsking(model, question) {
  let stopWaiting = () => {};
  const message = element("p", { class: "tutor-message", role: "status" });
  const sentence = element("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  const node = element(
    "div",
    { class: "tutor-asking" },
    element("label", { class: "tutor-chooser" }, element("span", {}, "Your sentence"), sentence),
    element("button", { type: "button", onclick: translate }, "Translate"),
  );
  node.hidden = !(model.get("can_ask") && model.send); // a saved page has no kernel to send to
  function translate() {
    stopWaiting();
    stopWaiting = askKernel(model, question(sentence.value), (words) => (message.textContent = words));
  }
  sentence.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) translate();
  });
  /** An answer came: show what is said of it; with a text, it is of that sentence. */
  function heard(text = sentence.value) {
    stopWaiting();
    message.textContent = model.get("message");
    sentence.value = text;
  }
  return { node, message, heard, end: () => stopWaiting() };
}

/** The frame of a view: an element that keeps its keys for itself, and gives them back on Escape.
 *
 * Notebooks listen for keys on the whole page: arrows change the cell and "d d" deletes it. Keys
 * with Control, Alt or Command and Shift + Enter stay theirs; so does everything once Escape has
 * moved the focus to the frame itself.
 */
function makeFrame(el, label) {
  const frame = element("div", {
    class: "tutor-view",
    role: "group",
    "aria-label": label,
    tabindex: -1,
  });
  frame.addEventListener("keydown", (event) => {
    const theirs =
      event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    if (theirs || event.target === frame) return;
    event.stopPropagation();
    if (event.key === "Escape") frame.focus();
  });
  el.append(frame);
  return frame;
}

/** Call `update` whenever one of the traits changes; returns a function that ends it. */
function listen(model, names, update) {
  const events = names.map((name) => `change:${name}`);
  for (const event of events) model.on(event, update);
  return () => events.forEach((event) => model.off(event, update));
}

const waiting = new WeakMap(); // model -> timer

/** Set traits from the page. It is drawn at once; the kernel hears of it when the keys rest. */
function assign(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  clearTimeout(waiting.get(model));
  waiting.set(
    model,
    setTimeout(() => model.save_changes(), 150),
  );
}

/** A chooser with its label. `fill(values, names, chosen)` sets what can be chosen. */
function makeChooser(label, choose) {
  const select = element("select", { onchange: () => choose(select.value) });
  const node = element("label", { class: "tutor-chooser" }, element("span", {}, label), select);
  node.fill = (values, names, chosen) => {
    select.replaceChildren(
      ...values.map((value, i) =>
        element("option", { value, selected: value === chosen }, names[i]),
      ),
    );
    select.value = chosen;
  };
  return node;
}

/** Make `area` one stop for Tab, in which pointer and arrow keys walk from cell to cell.
 *
 * A cell is {row, column}. `find(event)`: the one under the pointer, or null. `next(key, cell)`:
 * the one that a key leads to, or null. `show()`: draw again. `reveal(cell)`: scroll to it.
 * `act(cell)`: what Enter and a click do; without it they pin the cell. Returns the walk: its
 * `cursor` and its `pin`, each a cell or null.
 */
function makeWalk(area, { start, find, next, show, act, reveal = () => {} }) {
  const walk = { cursor: null, pin: null };
  const same = (a, b) => a?.row === b?.row && a?.column === b?.column;
  const moveTo = (cell) => {
    if (same(cell, walk.cursor)) return;
    walk.cursor = cell;
    show();
  };
  const pin = (cell) => {
    walk.pin = same(cell, walk.pin) ? null : cell;
    show();
  };
  // When keys scroll an area, browsers report a pointer that never moved: that one does not count.
  let pointer = [];
  const moved = ({ clientX, clientY }) => {
    const same = clientX === pointer[0] && clientY === pointer[1];
    pointer = [clientX, clientY];
    return !same;
  };
  area.addEventListener("pointermove", (event) => moved(event) && moveTo(find(event)));
  area.addEventListener("pointerleave", (event) => moved(event) && moveTo(null));
  area.addEventListener("click", (event) => {
    const cell = find(event);
    if (cell) (act ?? pin)(cell);
  });
  area.addEventListener("focus", () => {
    if (area.matches(":focus-visible")) moveTo(walk.pin ?? start()); // else it was the pointer
  });
  area.addEventListener("blur", () => moveTo(null));
  area.addEventListener("keydown", (event) => {
    if (event.altKey || event.shiftKey) return;
    if (event.key === "Escape") return pin(null);
    const from = walk.cursor ?? walk.pin ?? start();
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      (act ?? pin)(from);
      return;
    }
    const to = next(event.ctrlKey || event.metaKey ? `Control ${event.key}` : event.key, from);
    if (!to) return;
    event.preventDefault(); // no scrolling
    moveTo(to);
    reveal(to);
  });
  return walk;
}

/** Where a key leads from (row, column) in a grid that begins at `first` and stops at its edges. */
function stepInGrid(key, { row, column }, rows, columns, first = 0) {
  const to = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [row, first],
    End: [row, columns - 1],
    "Control Home": [0, 0],
    "Control End": [rows - 1, columns - 1],
  }[key];
  if (!to) return null;
  const within = (x, size) => Math.min(Math.max(x, first), size - 1);
  return { row: within(to[0], rows), column: within(to[1], columns) };
}

/** A small matrix: a title, names of rows and columns, and `boxes[row][column]` to be filled. */
function makeMatrix(title, rows, columns) {
  const name = (kind) => (text) => element("span", { class: `tutor-name ${kind}` }, text);
  const [left, top] = [rows.map(name("tutor-left")), columns.map(name("tutor-top"))];
  const boxes = rows.map((_, row) =>
    columns.map((_, column) =>
      element("span", { class: "tutor-box", "data-row": row, "data-column": column }),
    ),
  );
  const grid = element(
    "div",
    { class: "tutor-grid", style: `grid-template-columns: repeat(${columns.length + 1}, auto)` },
    element("span"),
    ...top,
    ...boxes.flatMap((line, row) => [left[row], ...line]),
  );
  const light = (at) => {
    left.forEach((node, row) => node.classList.toggle("tutor-lit", row === at?.row));
    top.forEach((node, column) => node.classList.toggle("tutor-lit", column === at?.column));
    boxes.flat().forEach((box) => {
      const [inRow, inColumn] = [
        Number(box.dataset.row) === at?.row,
        Number(box.dataset.column) === at?.column,
      ];
      const whole = at && (at.row === undefined || at.column === undefined); // a row or column
      box.classList.toggle("tutor-here", whole ? inRow || inColumn : inRow && inColumn);
    });
  };
  return {
    node: element("div", { class: "tutor-matrix" }, element("p", {}, title), grid),
    boxes,
    light,
  };
}

/** The box of a small matrix under the pointer. */
function findBox(event) {
  const box = event.target.closest(".tutor-box");
  return box && { row: Number(box.dataset.row), column: Number(box.dataset.column) };
}

/** The numbers of a synchronised buffer of float32, a DataView. */
const floats = (view) =>
  new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));

/** Softmax over the scores that are not hidden; zeros where nothing is left. */
function softmax(scores, hidden = []) {
  const top = Math.max(...scores.filter((_, s) => !hidden[s]));
  const e = scores.map((x, s) => (hidden[s] ? 0 : Math.exp(x - top)));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => (sum ? x / sum : 0));
}

/** A number as one would write it: whole numbers without decimals, minus signs as minus signs. */
function write(x, digits = 2) {
  return (Number.isInteger(x) ? String(x) : x.toFixed(digits)).replace("-", "\u2212");
}

/** Facts as a table, folded until it is wanted. `fill(names, rows)`. */
function makeTable() {
  const table = element("table", {});
  const region = element(
    "div",
    { class: "tutor-scroll", tabindex: 0, role: "region", "aria-label": "Table" },
    table,
  );
  const node = element("details", {}, element("summary", {}, "As a table"), region);
  let facts = () => [[], []];
  const show = () => {
    if (!node.open) return;
    const [names, rows] = facts();
    const row = (cells, tag) =>
      element(
        "tr",
        {},
        ...cells.map((cell, i) =>
          tag === "col" || i === 0
            ? element(cell === "" ? "td" : "th", cell === "" ? {} : { scope: tag }, cell)
            : element("td", {}, cell),
        ),
      );
    table.replaceChildren(
      element("thead", {}, row(names, "col")),
      element("tbody", {}, ...rows.map((cells) => row(cells, "row"))),
    );
  };
  node.addEventListener("toggle", show);
  node.fill = (f) => {
    facts = f;
    show();
  };
  return node;
}

/** What the keys do, folded. */
function makeHelp(text) {
  return element("details", {}, element("summary", {}, "Keys"), element("p", {}, text));
}

const COLOURS = CIVIDIS.match(/.{6}/g).map((hex) => parseInt(hex, 16));

/** The place of a weight between 0 and 1 in the colours, as matplotlib counts. */
const shade = (weight) => Math.min(255, Math.max(0, Math.floor(weight * 256)));

const colour = (weight) => "#" + COLOURS[shade(weight)].toString(16).padStart(6, "0");

/** A canvas with one pixel a weight, row after row; to be copied from, not to be shown.
 *
 * `strength(row, column)`: 0 to 255, less where a cell shall stand back.
 */
function makePixels(weights, rows, columns, strength = () => 255) {
  const canvas = element("canvas", { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  weights.forEach((weight, i) => {
    const rgb = COLOURS[shade(weight)];
    const alpha = strength(Math.floor(i / columns), i % columns);
    image.data.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, alpha], 4 * i);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** A picture of a canvas. Many canvases on a page cost time in every frame, pictures do not. */
const picture = (canvas) => element("img", { src: canvas.toDataURL(), alt: "" });

/** Is black, not white, legible on its colour? */
const isBright = (weight) => weight >= 0.47; // there both have a contrast of 4.5

/** The scale: what the colours mean; `name` says what its left end is. */
function makeScale(name = "weight 0") {
  const stops = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].map(colour).join(", ");
  const bar = element("span", {
    class: "tutor-bar",
    style: `background: linear-gradient(to right, ${stops})`,
  });
  return element("span", { class: "tutor-key" }, `${name} `, bar, " 1");
}
