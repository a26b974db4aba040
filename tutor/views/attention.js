// The attention of one translation: one head as a large map or as lines, all heads as small maps.
import { readNumbers, strongest } from "./attention_numbers.js";
import {
  NUMBERED,
  paintHatch,
  paintLines,
  paintMap,
  SCALES,
  sampleLine,
} from "./attention_paint.js";
import { colour, makePixels, makeScale, picture } from "./colours.js";
import {
  all,
  assign,
  listen,
  makeArea,
  makeAsking,
  makeChooser,
  makeFrame,
  makeHelp,
  makeReadout,
  makeTable,
  makeWalk,
  range,
  stepInGrid,
  tag,
  watchSize,
} from "./common.js";
import { asLines, makeCopying, pictureWithNames } from "./copy.js";
import { makeView } from "./widget.js";

function render({ model, el }) {
  let facts, numbers; // the recording: names and shapes; see attention_numbers.js
  let rowsAre = "written"; // or "read": what names the rows
  let drawn = "map"; // or "lines"
  let scale = "linear"; // of SCALES
  let larger = false; // cells that show their weight, whatever the width of the view
  const muted = new Set(); // heads whose lines are not drawn
  let labels; // the names of rows and columns
  let width = 0; // of the view, and
  let cell = 20; // of a cell, in CSS pixels
  const id = `tutor-${Math.random().toString(36).slice(2)}`; // of this view on the page
  let thumbs = []; // the small maps of all heads, layer by layer
  let shownPin; // the pin whose weights stand under them

  // ---- the page

  const frame = makeFrame(el, "Attention view");
  const asking = makeAsking(model, (sentence) => ({ sentence }));
  const pair = tag("p.tutor-pair");
  const kinds = makeChooser("Attention", (kind) => {
    const [L, h] = facts.shapes[kind]; // may be fewer
    const head = model.get("head");
    assign(model, {
      layer: Math.min(model.get("layer"), L - 1),
      head: head && Math.min(head, h - 1),
      kind,
    });
  });
  const layers = makeChooser("Layer", (layer) => assign(model, { layer: Number(layer) }));
  const heads = makeChooser("Head", (head) =>
    assign(model, { head: head === "mean" ? null : Number(head) }),
  );
  const naming = makeChooser("Rows named by", (by) => {
    rowsAre = by;
    showMap();
  });
  const drawing = makeChooser("Drawn as", (as) => {
    drawn = as;
    showKind();
  });
  const scaling = makeChooser("Scale", (name) => {
    scale = name;
    showThumbs();
    showHead();
  });
  const size = tag("button", { onclick: enlarge }, "Larger cells");
  const readout = makeReadout("tutor-long");
  const caption = tag("p.tutor-caption");

  const columnNames = tag("div.tutor-columns");
  const rowNames = tag("div.tutor-rows");
  const canvas = tag("canvas");
  const rowBand = tag("div.tutor-band");
  const columnBand = tag("div.tutor-band");
  const ring = tag("div.tutor-ring");
  const pinRing = tag("div.tutor-ring.tutor-pin");
  const cells = tag("div.tutor-cells", canvas, rowBand, columnBand, pinRing, ring);
  const map = makeArea(
    "div.tutor-map",
    "heat map",
    {},
    tag("div.tutor-corner"),
    columnNames,
    rowNames,
    cells,
  );
  const sides = [tag("div.tutor-looking"), tag("div")];
  const web = tag("canvas");
  const lines = makeArea("div.tutor-lines", "lines between tokens", {}, sides[0], web, sides[1]);
  const scroll = tag("div.tutor-scroll", map, lines);
  const listbox = { role: "listbox", tabindex: 0, "aria-label": "All heads" };
  const overview = tag("div.tutor-overview", listbox);
  const side = tag("div.tutor-side", tag("p", "All heads: a row is a layer."), overview);
  const body = tag("div.tutor-body", scroll, side);
  const key = tag("div.tutor-legend");
  const copying = makeCopying(
    () => ({ caption: which(), canvas: wholePicture() }),
    () =>
      shownHeads()
        .map(([head, A]) => `${which(head)}\n${asLines(labels, A)}`)
        .join("\n\n"),
  );
  const table = makeTable();
  const help = makeHelp(
    "Tab goes to the map and to the small maps, and the arrow keys move there. In the map, up from " +
      "the first row or left from the first column lead to the tokens themselves. Enter pins a " +
      "cell, to compare it with others and through all heads, or a token: the small maps then show " +
      "that token alone. Between lines, left and right change the side. Escape leaves.",
  );
  frame.append(
    asking.node,
    pair,
    asking.message,
    tag("div.tutor-choosers", kinds, layers, heads, naming, drawing, scaling, size),
    caption,
    readout,
    body,
    key,
    copying,
    table,
    help,
  );

  // ---- what is shown

  // Of the kind that is shown: layers, heads, rows and columns.
  const [L, h, T, S] = [0, 1, 2, 3].map((axis) => () => numbers.shape()[axis]);
  const matrix = (...which) => numbers.matrix(...which);
  const chosen = () => matrix(model.get("layer"), model.get("head"));

  /** [number, weights] of what is drawn: as lines, the mean gives way to its heads. */
  function shownHeads() {
    const [layer, head] = [model.get("layer"), model.get("head")];
    if (drawn === "map" || head !== null) return [[head, matrix(layer, head)]];
    const all = range(h()).filter((m) => !muted.has(m));
    return all.map((m) => [m, matrix(layer, m)]);
  }

  /** The name of a matrix. */
  function which(head = model.get("head")) {
    const kind = model.get("kind");
    const what = kind === "length" ? "Cross attention by length" : `${kind} attention`;
    const all = drawn === "lines" ? "its heads" : "mean of its heads";
    const name = `${what}, layer ${model.get("layer")}, ${head === null ? all : `head ${head}`}`;
    return name[0].toUpperCase() + name.slice(1);
  }

  const quantity = () => (model.get("kind") === "length" ? "share of the length" : "weight");

  // ---- drawing

  function showAll() {
    numbers = readNumbers(model);
    facts = numbers.facts;
    frame.setAttribute("aria-label", `Attention of “${facts.text}”`);
    asking.heard(facts.text);
    pair.replaceChildren(tag("span", facts.text), " → ", tag("span", facts.translation));
    pair.hidden = facts.text === "";
    showKind();
  }

  /** The kernel has answered: with another recording, or only with a message. */
  function showAnswer() {
    asking.heard();
    if (model.get("facts") !== facts) showAll();
  }

  function showKind() {
    for (const walk of [mapWalk, lineWalk]) walk.cursor = walk.pin = null;
    const count = (n) => range(n).map(String);
    const says = {
      encoder: "encoder: source to source",
      decoder: "decoder: target to target",
      cross: "cross: target to source",
      length: "cross: weight × length of value",
    };
    const known = Object.keys(facts.shapes);
    const kindNames = known.map((kind) => says[kind]);
    kinds.fill(known, kindNames, model.get("kind"));
    layers.fill(count(L()), count(L()), String(model.get("layer")));
    map.hidden = drawn !== "map";
    lines.hidden = drawn !== "lines";
    size.hidden = map.hidden;
    const names = [...count(h()), drawn === "map" ? "mean" : "all, overlaid"];
    heads.fill([...count(h()), "mean"], names, String(model.get("head") ?? "mean"));
    naming.fill(["written", "read"], ["token written", "token read"], rowsAre);
    naming.hidden = model.get("kind") === "encoder";
    drawing.fill(["map", "lines"], ["a map", "lines"], drawn);
    const scaleNames = Object.values(SCALES).map(({ name }) => name);
    scaling.fill(Object.keys(SCALES), scaleNames, scale);
    overview.replaceChildren();
    thumbs = [];
    for (let layer = 0; layer < L(); layer++) {
      const row = range(h()).map((head) => makeThumb(layer, head));
      overview.append(tag("span", { "aria-hidden": "true" }, String(layer)), ...row);
      thumbs.push(...row);
    }
    layOut();
  }

  /** One head as a small map, a pixel a cell, as wide and high as its matrix. */
  function makeThumb(layer, head) {
    const [wide, high] = [S(), T()].map((side) => `${(100 * side) / Math.max(S(), T())}%`);
    const small = tag("img", { alt: "", style: `width: ${wide}; height: ${high}` });
    const large = Math.max(S(), T()) > 48; // more cells than pixels: let the browser take means
    small.classList.toggle("tutor-sharp", !large);
    return tag(
      "div.tutor-thumb",
      {
        role: "option",
        id: `${id}-${layer}-${head}`,
        "aria-selected": "false",
        onclick: () => assign(model, { layer, head }),
      },
      tag("div", small),
      tag("span", { "aria-hidden": "true" }),
    );
  }

  /** The pixels of a matrix. Where one token is pinned, all other cells stand back. */
  function pixelsOf(A, only) {
    const { of } = SCALES[scale];
    const on = (row, column) => (only.row >= 0 ? row === only.row : column === only.column);
    return makePixels(A.map(of), T(), S(), only && ((...at) => (on(...at) ? 255 : 40)));
  }

  /** All small maps, and below each its number or what is pinned: a weight, or a token's first. */
  function showThumbs() {
    const { pin } = walk();
    const whole = pin && pin.row >= 0 && pin.column >= 0;
    const token = pin && !whole ? pin : null;
    thumbs.forEach((thumb, i) => {
      const [layer, head] = [Math.floor(i / h()), i % h()];
      const A = matrix(layer, head);
      const image = thumb.querySelector("img");
      const colours = `${scale} ${token?.row} ${token?.column}`;
      if (image.dataset.colours !== colours) {
        image.src = pixelsOf(A, token ?? undefined).toDataURL();
        image.dataset.colours = colours;
      }
      let [text, said] = [String(head), ""];
      if (whole) said = text = A[pin.row * S() + pin.column].toFixed(2);
      else if (token) {
        const [name, weight] = strongest(A, labels, token, 1)[0];
        [text, said] = [name, `${name} ${weight.toFixed(2)}`];
      }
      thumb.lastChild.textContent = text;
      thumb.title = token ? said : "";
      thumb.setAttribute("aria-label", `layer ${layer}, head ${head}${said && `: ${said}`}`);
    });
  }

  /** Sizes that fit the width; narrower than that, the map scrolls. */
  function layOut() {
    width = frame.clientWidth;
    if (!width) return; // not on the page yet
    const thumb = Math.min(52, Math.max(26, Math.floor((Math.min(width, 480) - 40) / h()) - 6));
    overview.style.gridTemplateColumns = `auto repeat(${h()}, ${thumb}px)`;
    overview.style.setProperty("--thumb", `${thumb - 4}px`);
    body.classList.toggle("tutor-stacked", width <= 700);
    const beside = width > 700 ? (thumb + 6) * h() + 50 : 0;
    const low = Math.max(20, Math.floor(560 / T())); // so that all rows are seen, if not too many
    cell = Math.min(36, low, Math.max(15, Math.floor((width - beside - 130) / S())));
    if (larger) cell = 36;
    showMap();
  }

  function enlarge() {
    larger = !larger;
    size.setAttribute("aria-pressed", larger);
    layOut();
  }

  function showMap() {
    labels = numbers.names(rowsAre);
    const name = (token) =>
      tag("span", { title: token, class: token === "[PAD]" ? "tutor-padding" : null }, token);
    map.style.setProperty("--cell", `${cell}px`);
    for (const node of [rowNames, sides[0]]) node.replaceChildren(...labels.rows.map(name));
    for (const node of [columnNames, sides[1]]) node.replaceChildren(...labels.columns.map(name));
    shownPin = undefined;
    showHead();
  }

  function showHead() {
    const [layer, head] = [model.get("layer"), model.get("head")];
    layers.select.value = String(layer);
    heads.select.value = String(head ?? "mean");
    const kind = model.get("kind");
    const rows = kind === "encoder" ? "source tokens" : `tokens ${rowsAre}`;
    const columns = kind === "decoder" ? "tokens read" : "source tokens";
    caption.textContent =
      drawn === "map"
        ? `${which()}. Rows: ${rows}. Columns: ${columns}.`
        : `${which()}. Left: ${rows}. Right: ${columns}.`;
    for (const [area, what] of [
      [map, `Heat map of ${which()}: ${T()} rows, ${S()} columns.`],
      [lines, `Lines of ${which()}, from ${T()} tokens to ${S()}.`],
    ])
      area.setAttribute("aria-label", `${what} Arrow keys move, Enter pins, Escape leaves.`);
    // The mean is that of all heads of its layer.
    overview.setAttribute("aria-multiselectable", head === null);
    thumbs.forEach((thumb, i) => {
      const mine = Math.floor(i / h()) === layer && (head === null || i % h() === head);
      thumb.setAttribute("aria-selected", mine);
    });
    if (head === null) overview.removeAttribute("aria-activedescendant");
    else overview.setAttribute("aria-activedescendant", `${id}-${layer}-${head}`);
    drawn === "map" ? showCells() : showLegend(new Set());
    showTable();
    showPin();
  }

  function showCells() {
    const A = chosen();
    // The step that reads a token is the one after it was written.
    const later = rowsAre === "written" ? 0 : 1;
    const links = (numbers.isCross() ? facts.links : [])
      .map(([column, row]) => [column, row + later])
      .filter(([, row]) => row < T());
    const why = (row, column) => numbers.hidden(A, labels, row, column);
    const { of } = SCALES[scale];
    const sizes = { T: T(), S: S(), cell };
    showLegend(paintMap(canvas, { A, pixels: pixelsOf(A), ...sizes, of, why, links }));
  }

  const PITCH = 22; // of the tokens between which lines run, in CSS pixels

  function showLines() {
    const { cursor, pin } = lineWalk;
    const beside = width > 700 ? side.offsetWidth + 20 : 0;
    const room = Math.max(80, Math.min(320, width - beside - 250));
    const sizes = { T: T(), S: S(), width: room, pitch: PITCH };
    const at = cursor ?? pin;
    paintLines(web, { heads: shownHeads(), ...sizes, of: SCALES[scale].of, at });
  }

  /** What is copied as a picture. */
  function wholePicture() {
    return drawn === "map"
      ? pictureWithNames(frame, canvas, { caption: which(), ...labels, pitch: cell, right: false })
      : pictureWithNames(frame, web, { caption: which(), ...labels, pitch: PITCH, right: true });
  }

  function showLegend(needed) {
    const parts = [drawn === "map" ? makeScale(SCALES[scale].says(quantity())) : lineKey()];
    for (const paint of needed) {
      const sample = tag("canvas", { width: cell, height: cell });
      const pen = sample.getContext("2d");
      pen.fillStyle = colour(0);
      pen.fillRect(0, 0, cell - 1, cell - 1);
      paint(pen, 0, 0, cell);
      parts.push(
        tag("span.tutor-key", picture(sample), paint === paintHatch ? " masked" : " true link"),
      );
    }
    if (drawn === "map" && cell >= NUMBERED) parts.push(tag("span", "no number: below 0.005"));
    key.replaceChildren(...parts);
  }

  /** Which line is whose; a head can be left out. */
  function lineKey() {
    const head = model.get("head");
    const heads = head === null ? range(h()) : [head];
    return tag(
      "div.tutor-choosers",
      { role: "group", "aria-label": "Heads drawn" },
      tag("span", `The thicker a line, the larger the ${quantity()} (from 0.02 on).`),
      ...heads.map((m) => {
        const box = tag("input", { type: "checkbox", onchange: () => mute(m, !box.checked) });
        box.checked = !muted.has(m) || head !== null;
        box.disabled = head !== null;
        return tag("label.tutor-key", box, sampleLine(m), `head ${m}`);
      }),
    );
  }

  function mute(head, off) {
    if (off) muted.add(head);
    else muted.delete(head);
    showCursor();
  }

  function showTable() {
    const A = chosen();
    table.fill(() => [
      ["", ...labels.columns],
      labels.rows.map((name, row) => [
        name,
        ...labels.columns.map((_, s) => A[row * S() + s].toFixed(2)),
      ]),
    ]);
  }

  // ---- what lights up

  // A cell whose row or column is -1 is a token: it stands for all of its column or row.

  /** The cursor, or else the pin: their row, column and cell light up, and the readout says why. */
  function showCursor() {
    const at = walk().cursor ?? walk().pin ?? { row: -1, column: -1 };
    const light = (names, i) =>
      [...names.children].forEach((node, j) => node.classList.toggle("tutor-lit", j === i));
    light(drawn === "map" ? rowNames : sides[0], at.row);
    light(drawn === "map" ? columnNames : sides[1], at.column);
    readout.textContent = describe();
    if (drawn === "lines") return showLines();
    place(rowBand, at.row >= 0, 0, at.row, S(), 1);
    place(columnBand, at.column >= 0, at.column, 0, 1, T());
    place(ring, at.row >= 0 && at.column >= 0, at.column, at.row, 1, 1);
  }

  /** Put a box over cells: `left` and `top`, `width` and `height` are counted in cells. */
  function place(box, shown, left, top, width, height) {
    box.hidden = !shown;
    Object.assign(box.style, {
      left: `${left * cell - 1}px`,
      top: `${top * cell - 1}px`,
      width: `${width * cell + 1}px`,
      height: `${height * cell + 1}px`,
    });
  }

  /** What is pinned, and what it is in every head. */
  function showPin() {
    const { pin } = walk();
    if (pin === shownPin) return showCursor();
    shownPin = pin;
    const whole = pin && pin.row >= 0 && pin.column >= 0;
    place(pinRing, whole, pin?.column, pin?.row, 1, 1);
    showThumbs();
    showCursor();
  }

  function describe() {
    const { cursor, pin } = walk();
    if (!cursor && !pin && drawn === "lines")
      return "Point at a token, or press Tab and then the arrow keys: only its lines stay.";
    if (!cursor && !pin) return "Point at a token or a cell, or press Tab and then the arrow keys.";
    const said = [describeAt(cursor ?? pin)];
    if (pin && cursor && (pin.row !== cursor.row || pin.column !== cursor.column)) {
      said.push(`Pinned: ${describeAt(pin)}`);
    }
    return said.join(" ");
  }

  function describeAt({ row, column }) {
    const { rows, columns } = labels;
    const A = chosen();
    const overlaid = drawn === "lines" && model.get("head") === null;
    const most = (at) => {
      const three = strongest(A, labels, at, 3);
      if (!overlaid)
        return three.map(([name, weight]) => `${name} ${weight.toFixed(3)}`).join(", ");
      const ofHead = ([head, A]) => [head, ...strongest(A, labels, at, 1)[0]];
      const say = ([head, name, weight]) => `${name} ${weight.toFixed(2)} (head ${head})`;
      return shownHeads().map(ofHead).map(say).join(", ");
    };
    if (row < 0) return `${columns[column]} is looked at most by ${most({ row, column })}.`;
    const step = ` Step ${row} reads ${facts.read[row]} and writes ${facts.target[row]}.`;
    const turn = model.get("kind") === "encoder" ? "" : step;
    if (column < 0) return `${rows[row]} looks most at ${most({ row, column })}.${turn}`;
    const weight = A[row * S() + column];
    const inRow = A.subarray(row * S(), (row + 1) * S());
    const rank = 1 + inRow.filter((other) => other > weight).length;
    const why = numbers.hidden(A, labels, row, column);
    const ranked = rank === 1 ? "the largest of its row" : `rank ${rank} of ${S()} in its row`;
    const place = why ? `masked: ${why}` : ranked;
    const link = numbers.linked(row, column, rowsAre) ? " A true link." : "";
    const name = model.get("kind") === "length" ? "share of the length" : "A";
    const cell = `${name}[${row}, ${column}] = ${weight.toFixed(3)}`;
    return `${rows[row]} looks at ${columns[column]}: ${cell}, ${place}.${link}${turn}`;
  }

  // ---- pointer and keys

  function cellAt(event) {
    const box = cells.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / cell);
    const row = Math.floor((event.clientY - box.top) / cell);
    // Names lie over the cells that are scrolled away.
    const at = { row, column };
    if (rowNames.contains(event.target)) at.column = -1;
    else if (columnNames.contains(event.target)) at.row = -1;
    const known = at.row >= -1 && at.column >= -1 && at.row < T() && at.column < S();
    return known && (at.row >= 0 || at.column >= 0) ? at : null;
  }

  const mapWalk = makeWalk(map, {
    find: cellAt,
    next(key, from) {
      const to = stepInGrid(key, from, T(), S(), -1);
      return to && (to.row >= 0 || to.column >= 0) ? to : null; // not the empty corner
    },
    show: showPin,
    nodeAt({ row, column }) {
      if (row < 0) return columnNames.children[column];
      return column < 0 ? rowNames.children[row] : ring;
    },
  });
  const lineWalk = makeWalk(lines, {
    start: () => ({ row: 0, column: -1 }),
    find(event) {
      const box = web.getBoundingClientRect();
      const i = Math.floor((event.clientY - box.top) / PITCH);
      const left = event.clientX < box.left + box.width / 2;
      if (i < 0 || i >= (left ? T() : S())) return null;
      return left ? { row: i, column: -1 } : { row: -1, column: i };
    },
    next(key, { row, column }) {
      const at = { row: Math.max(row, column), column: row < 0 ? 1 : 0 };
      const to = stepInGrid(key, at, at.column ? S() : T(), 2);
      if (!to) return null;
      return to.column
        ? { row: -1, column: Math.min(to.row, S() - 1) }
        : { row: Math.min(to.row, T() - 1), column: -1 };
    },
    show: showPin,
    nodeAt: ({ row, column }) => sides[row < 0 ? 1 : 0].children[Math.max(row, column)],
  });
  const walk = () => (drawn === "map" ? mapWalk : lineWalk);
  overview.addEventListener("keydown", (event) => {
    const from = { row: model.get("layer"), column: model.get("head") ?? 0 };
    const to = stepInGrid(event.key, from, L(), h());
    if (!to) return;
    event.preventDefault();
    assign(model, { layer: to.row, head: to.column });
    thumbs[to.row * h() + to.column].scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // ---- life

  const ends = listen(model, {
    answers: showAnswer,
    kind: showKind,
    layer: showHead,
    head: showHead,
  });
  showAll();
  const resized = () => frame.clientWidth !== width && layOut();
  return all(asking.end, ends, watchSize(frame, resized));
}

export default makeView(render);
