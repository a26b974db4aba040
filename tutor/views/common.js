// What all views share: elements, choosers, keys that walk over cells, small matrices, tables.

const DRAWING = ["svg", "path"]; // the tags of SVG that views use

/** An element: tag("p.note", { onclick: f }, "text", child), with classes and attributes if wanted.
 *
 * An attribute that is null or false is left out; `on...` are listeners. Buttons submit nothing.
 *
 * @returns {any}
 */
export function tag(what, ...children) {
  const [name, ...classes] = what.split(".");
  const given = children[0]?.constructor === Object ? children.shift() : {};
  const node = DRAWING.includes(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  const attributes = { type: name === "button" && "button", class: classes.join(" ") || null };
  for (const [key, value] of Object.entries({ ...attributes, ...given })) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** Give a node the classes whose value is true, and take the others. */
export function mark(node, classes) {
  for (const [name, has] of Object.entries(classes)) node.classList.toggle(name, Boolean(has));
}

/** What is read out when it changes. */
export const makeLive = (what) => tag(what, { "aria-live": "polite" });

/** 0, 1, ..., n - 1. */
export const range = (n) => [...Array(n).keys()];

export const clamp = (x, least, most) => Math.min(Math.max(x, least), most);

/** What to say while a model is asked: the weights of a page's own may have to come first.
 *
 * @param {{ alive: boolean, ready?: boolean }} source
 */
export const waitingFor = ({ ready }) =>
  ready === false ? "Loading the model, 6 MB: once for all pages …" : "The model runs …";

/** Ask the kernel, or the model of a page that has one, `model.translator` (course/site).
 *
 * `tell(sentence)` hears that it was asked, and if no answer can come. Returns the end of waiting.
 */
function askKernel(model, question, tell) {
  tell(model.translator ? waitingFor(model.translator) : "Asking the kernel …");
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

/** A box for a sentence: { node, input }; `ask()` is called on Enter and by the button. */
export function makeSentence(ask) {
  const input = tag("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) ask();
  });
  const label = tag("label.tutor-chooser", tag("span", "Your sentence"), input);
  const button = tag("button", { onclick: ask }, "Translate");
  return { node: tag("div.tutor-asking", label, button), input };
}

/** A box for the reader's own sentence, and the line that says what comes of it.
 *
 * `question(text)` is what the kernel or the page's model is asked; each answer changes the trait
 * `answers` and brings a `message`. A page with neither has no box.
 */
export function makeAsking(model, question) {
  let stopWaiting = () => {};
  const message = tag("p.tutor-message", { role: "status" });
  const { node, input } = makeSentence(() => {
    stopWaiting();
    stopWaiting = askKernel(model, question(input.value), (words) => (message.textContent = words));
  });
  node.hidden = !(model.get("can_ask") && model.send); // a saved page has no kernel to send to
  /** An answer came: show what is said of it; with a text, it is of that sentence. */
  function heard(text = input.value) {
    stopWaiting();
    message.textContent = model.get("message");
    input.value = text;
  }
  return { node, message, heard, end: () => stopWaiting() };
}

/** The frame of a view: an element that keeps its keys for itself, and gives them back on Escape.
 *
 * Notebooks listen for keys on the whole page: arrows change the cell and "d d" deletes it. Keys
 * with Control, Alt or Command and Shift + Enter stay theirs; so does everything once Escape has
 * moved the focus to the frame itself.
 */
export function makeFrame(el, label) {
  const frame = tag("div.tutor-view", { role: "group", "aria-label": label, tabindex: -1 });
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

/** Call `updates[trait]` whenever that trait changes; returns a function that ends it. */
export function listen(model, updates) {
  for (const [trait, update] of Object.entries(updates)) model.on(`change:${trait}`, update);
  return () => {
    for (const [trait, update] of Object.entries(updates)) model.off(`change:${trait}`, update);
  };
}

/** Call `update` when the size of a node changes; returns a function that ends it. */
export function watchSize(node, update) {
  const watch = new ResizeObserver(update);
  watch.observe(node);
  return () => watch.disconnect();
}

/** One function for several. */
export const all =
  (...works) =>
  () =>
    works.forEach((work) => work());

const waiting = new WeakMap(); // model -> timer

/** Set traits from the page. It is drawn at once; the kernel hears of it when the keys rest. */
export function assign(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  clearTimeout(waiting.get(model));
  const send = () => model.save_changes();
  waiting.set(model, setTimeout(send, 150));
}

/** A chooser with its label. `fill(values, names, chosen)` sets what can be chosen. */
export function makeChooser(label, choose) {
  const select = tag("select", { onchange: () => choose(select.value) });
  const fill = (values, names, chosen) => {
    select.replaceChildren(...values.map((value, i) => tag("option", { value }, names[i])));
    select.value = chosen;
  };
  return Object.assign(tag("label.tutor-chooser", tag("span", label), select), { fill, select });
}

/** Buttons to the step before and after; `go(by)` walks, `limit(step, last)` disables. */
export function makeSteps(go, names = ["Back", "Next"]) {
  const [back, forth] = names.map((name, i) =>
    tag("button", { onclick: () => go(2 * i - 1) }, name),
  );
  const limit = (step, last) => {
    back.disabled = step === 0;
    forth.disabled = step === last;
  };
  return { back, forth, limit };
}

/** A button that goes on a step every 1.5 seconds, to the last, or until it is pressed again.
 *
 * `at()`: [step, last]; `go(step)`; `buttons`: others that end it. What it returns: { node, rest }.
 */
export function makePlay(at, go, buttons) {
  let playing = null; // a timer
  const node = tag("button", { onclick: playOrRest });
  function rest() {
    clearInterval(playing);
    playing = null;
    node.textContent = "Play";
  }
  function playOrRest() {
    if (playing) return rest();
    const onward = () => {
      const [step, last] = at();
      if (step < last && node.isConnected) go(step + 1);
      if (step + 1 >= last || !node.isConnected) rest();
    };
    if (at()[0] === at()[1]) go(0);
    playing = setInterval(onward, 1500);
    node.textContent = "Pause";
  }
  for (const button of buttons) button.addEventListener("click", rest);
  rest();
  return { node, rest };
}

/** A line that says what the cursor is on; "long" where that takes more lines. */
export const makeReadout = (name = "") => makeLive(`p.tutor-readout${name && `.${name}`}`);

/** An area for `makeWalk`, read out as a `kind` of thing. */
export const makeArea = (what, kind, attributes, ...children) =>
  tag(
    what,
    { role: "application", tabindex: 0, "aria-roledescription": kind, ...attributes },
    ...children,
  );

/** Make `area` one stop for Tab, in which pointer and arrow keys walk from cell to cell.
 *
 * A cell is {row, column}. `find(event)`: the one under the pointer, or null. `next(key, cell)`:
 * the one that a key leads to, or null. `show()`: draw again. `nodeAt(cell)`: what scrolls into
 * sight. `act(cell)`: what Enter and a click do; without it they pin the cell. Returns the walk:
 * its `cursor` and its `pin`, each a cell or null.
 */
export function makeWalk(area, { start = () => ({ row: 0, column: 0 }), find = findBox, ...how }) {
  const { next, show, nodeAt, act = pin } = how;
  const walk = { cursor: null, pin: null };
  const same = (a, b) => a?.row === b?.row && a?.column === b?.column;
  const moveTo = (cell) => {
    if (same(cell, walk.cursor)) return;
    walk.cursor = cell;
    show();
  };
  function pin(cell) {
    walk.pin = same(cell, walk.pin) ? null : cell;
    show();
  }
  // When keys scroll an area, browsers report a pointer that never moved: that one does not count.
  let pointer = [];
  const moved = ({ clientX, clientY }) => {
    const rests = clientX === pointer[0] && clientY === pointer[1];
    pointer = [clientX, clientY];
    return !rests;
  };
  area.addEventListener("pointermove", (event) => moved(event) && moveTo(find(event)));
  area.addEventListener("pointerleave", (event) => moved(event) && moveTo(null));
  area.addEventListener("click", (event) => {
    const cell = find(event);
    if (cell) act(cell);
  });
  area.addEventListener("focus", () => {
    if (area.matches(":focus-visible")) moveTo(walk.pin ?? start()); // else it was the pointer
  });
  area.addEventListener("blur", () => moveTo(null));
  area.addEventListener("keydown", (event) => {
    if (event.altKey || event.shiftKey) return;
    if (event.key === "Escape") return pin(null);
    const from = walk.cursor ?? walk.pin ?? start();
    const acts = event.key === "Enter" || event.key === " ";
    const key = event.ctrlKey || event.metaKey ? `Control ${event.key}` : event.key;
    const to = acts ? null : next(key, from);
    if (!acts && !to) return;
    event.preventDefault(); // no scrolling
    if (acts) return act(from);
    moveTo(to);
    nodeAt(to).scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  return walk;
}

/** Where a key leads from (row, column) in a grid that begins at `first` and stops at its edges. */
export function stepInGrid(key, { row, column }, rows, columns, first = 0) {
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
  return to && { row: clamp(to[0], first, rows - 1), column: clamp(to[1], first, columns - 1) };
}

/** A small matrix: a title, names of rows and columns, and `boxes[row][column]` to be filled. */
export function makeMatrix(title, rows, columns) {
  const left = rows.map((text) => tag("span.tutor-name.tutor-left", text));
  const top = columns.map((text) => tag("span.tutor-name.tutor-top", text));
  const boxes = rows.map((_, row) =>
    columns.map((_, column) => tag("span.tutor-box", { "data-row": row, "data-column": column })),
  );
  const grid = tag(
    "div.tutor-grid",
    { style: `grid-template-columns: repeat(${columns.length + 1}, auto)` },
    tag("span"),
    ...top,
    ...boxes.flatMap((line, row) => [left[row], ...line]),
  );
  /** Mark a cell with its names or, if one of row and column is missing, a whole line. */
  const light = (at) => {
    left.forEach((node, row) => mark(node, { "tutor-lit": row === at?.row }));
    top.forEach((node, column) => mark(node, { "tutor-lit": column === at?.column }));
    for (const box of boxes.flat()) {
      const { row, column } = cellOf(box);
      const here = at && row === (at.row ?? row) && column === (at.column ?? column);
      mark(box, { "tutor-here": here });
    }
  };
  return { node: tag("div.tutor-matrix", tag("p", title), grid), boxes, light };
}

/** The cell that a box stands for. */
export const cellOf = ({ dataset: { row, column } }) => ({
  row: Number(row),
  column: Number(column),
});

/** The cell of the box under the pointer. */
function findBox(event) {
  const box = event.target.closest(".tutor-box");
  return box && cellOf(box);
}

/** The numbers of a synchronised buffer of float32, a DataView. */
export const floats = (view) =>
  new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));

/** Softmax over the scores that are not hidden; zeros where nothing is left. */
export function softmax(scores, hidden = []) {
  const top = Math.max(...scores.filter((_, s) => !hidden[s]));
  const e = scores.map((x, s) => (hidden[s] ? 0 : Math.exp(x - top)));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => (sum ? x / sum : 0));
}

/** A number as one would write it: whole numbers without decimals, minus signs as minus signs. */
export function write(x, digits = 2) {
  return (Number.isInteger(x) ? String(x) : x.toFixed(digits)).replace("-", "\u2212");
}

/** Cells of a table's first line; without text there is nothing to name. */
export const makeHeader = (names) =>
  tag("tr", ...names.map((name) => (name ? tag("th", { scope: "col" }, name) : tag("td"))));

/** Facts as a table, folded until it is wanted. `fill(() => [names, rows])`. */
export function makeTable() {
  const table = tag("table");
  const attributes = { tabindex: 0, role: "region", "aria-label": "Table" };
  const node = tag(
    "details",
    tag("summary", "As a table"),
    tag("div.tutor-scroll", attributes, table),
  );
  let facts = () => [[], []];
  const show = () => {
    if (!node.open) return;
    const [names, rows] = facts();
    const lines = rows.map(([name, ...cells]) =>
      tag("tr", tag("th", { scope: "row" }, name), ...cells.map((cell) => tag("td", cell))),
    );
    table.replaceChildren(tag("thead", makeHeader(names)), tag("tbody", ...lines));
  };
  node.addEventListener("toggle", show);
  const fill = (f) => {
    facts = f;
    show();
  };
  return Object.assign(node, { fill });
}

/** What the keys do, folded. */
export const makeHelp = (text) => tag("details", tag("summary", "Keyboard"), tag("p", text));
