// The attention of one translation: one head as a large map, all heads as small ones.

function render({ model, el }) {
  let facts, weights, start; // the recording: names and shapes, all numbers, where each kind begins
  let rowsAre = "written"; // or "read": what names the rows
  let labels; // the names of rows and columns
  let width = 0; // of the view, and
  let cell = 20; // of a cell, in CSS pixels
  const id = `tutor-${Math.random().toString(36).slice(2)}`; // of this view on the page
  let thumbs = []; // the small maps of all heads, layer by layer
  let shownPin; // the pin whose weights stand under them
  let legend = new Set(); // the signs that the legend explains

  // ---- the page

  const frame = makeFrame(el, "Attention view");
  const sentence = element("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  const ask = element("button", { type: "button", onclick: translate }, "Translate");
  const asking = element(
    "div",
    { class: "tutor-asking" },
    element("label", { class: "tutor-chooser" }, element("span", {}, "Your sentence"), sentence),
    ask,
  );
  const pair = element("p", { class: "tutor-pair" });
  const message = element("p", { class: "tutor-message", role: "status" });
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
  const readout = element("p", { class: "tutor-readout", "aria-live": "polite" });
  const caption = element("p", { class: "tutor-caption" });

  const columnNames = element("div", { class: "tutor-columns" });
  const rowNames = element("div", { class: "tutor-rows" });
  const canvas = element("canvas", {});
  const rowBand = element("div", { class: "tutor-band" });
  const columnBand = element("div", { class: "tutor-band" });
  const ring = element("div", { class: "tutor-ring" });
  const pinRing = element("div", { class: "tutor-ring tutor-pin" });
  const cells = element(
    "div",
    { class: "tutor-cells" },
    canvas,
    rowBand,
    columnBand,
    pinRing,
    ring,
  );
  const map = element(
    "div",
    { class: "tutor-map", role: "application", tabindex: 0, "aria-roledescription": "heat map" },
    element("div", { class: "tutor-corner" }),
    columnNames,
    rowNames,
    cells,
  );
  const scroll = element("div", { class: "tutor-scroll" }, map);
  const overview = element("div", {
    class: "tutor-overview",
    role: "listbox",
    tabindex: 0,
    "aria-label": "All heads",
  });
  const overviewNote = element("p", {});
  const side = element("div", { class: "tutor-side" }, overviewNote, overview);
  const body = element("div", { class: "tutor-body" }, scroll, side);
  const key = element("p", { class: "tutor-legend" });
  const table = makeTable();
  const help = makeHelp(
    "Tab goes to the map and to the small maps, and the arrow keys move there. In the map, up from " +
      "the first row or left from the first column lead to the tokens themselves. Enter pins a " +
      "cell, to compare it with others and through all heads. Escape leaves.",
  );
  frame.append(
    asking,
    pair,
    message,
    element("div", { class: "tutor-choosers" }, kinds, layers, heads, naming),
    caption,
    readout,
    body,
    key,
    table,
    help,
  );

  // ---- what is shown

  const L = () => facts.shapes[model.get("kind")][0];
  const h = () => facts.shapes[model.get("kind")][1];
  const T = () => facts.shapes[model.get("kind")][2];
  const S = () => facts.shapes[model.get("kind")][3];

  /** The matrix of one head, or the mean of the layer's heads (head null): T * S numbers. */
  function matrix(layer, head) {
    const size = T() * S();
    const at = (m) => start[model.get("kind")] + (layer * h() + m) * size;
    if (head !== null) return weights.subarray(at(head), at(head) + size);
    const mean = new Float32Array(size);
    for (let m = 0; m < h(); m++)
      for (let i = 0; i < size; i++) mean[i] += weights[at(m) + i] / h();
    return mean;
  }

  const chosen = () => matrix(model.get("layer"), model.get("head"));

  function names() {
    const kind = model.get("kind");
    if (kind === "encoder") return { rows: facts.source, columns: facts.source };
    return {
      rows: rowsAre === "written" ? facts.target : facts.read,
      columns: kind === "decoder" ? facts.read : facts.source,
    };
  }

  /** Why a cell may not be looked at, or "". */
  function hidden(A, row, column) {
    if (A[row * S() + column] !== 0) return "";
    if (labels.columns[column] === "[PAD]") return "padding";
    return model.get("kind") === "decoder" && column > row ? "not read yet" : "";
  }

  /** Is there a true link? One step later, the row's token is the one that was read. */
  function linked(row, column) {
    const target = rowsAre === "written" ? row : row - 1;
    return isCross() && facts.links.some(([s, t]) => s === column && t === target);
  }

  const isCross = () => ["cross", "length"].includes(model.get("kind"));

  // ---- drawing

  function showAll() {
    facts = model.get("facts");
    weights = floats(model.get("weights"));
    start = {};
    let next = 0;
    for (const [kind, shape] of Object.entries(facts.shapes)) {
      start[kind] = next;
      next += shape.reduce((a, b) => a * b);
    }
    frame.setAttribute("aria-label", `Attention of “${facts.text}”`);
    asking.hidden = !(model.get("can_ask") && model.send); // a saved page has no kernel to send to
    sentence.value = facts.text;
    pair.replaceChildren(
      element("span", {}, facts.text),
      " → ",
      element("span", {}, facts.translation),
    );
    pair.hidden = facts.text === "";
    showKind();
  }

  /** The kernel has answered: with another recording, or only with a message. */
  function showAnswer() {
    message.textContent = model.get("message");
    if (model.get("facts") !== facts) showAll();
  }

  function showKind() {
    walk.cursor = walk.pin = null;
    const count = (n) => [...Array(n).keys()].map(String);
    const known = Object.keys(facts.shapes);
    const says = {
      encoder: "encoder: source to source",
      decoder: "decoder: target to target",
      cross: "cross: target to source",
      length: "cross: weight × length of value",
    };
    kinds.fill(
      known,
      known.map((kind) => says[kind]),
      model.get("kind"),
    );
    layers.fill(count(L()), count(L()), String(model.get("layer")));
    heads.fill(
      [...count(h()), "mean"],
      [...count(h()), "mean"],
      String(model.get("head") ?? "mean"),
    );
    naming.fill(["written", "read"], ["token written", "token read"], rowsAre);
    naming.hidden = model.get("kind") === "encoder";
    overviewNote.textContent = "All heads: a row is a layer.";
    overview.replaceChildren();
    thumbs = [];
    for (let layer = 0; layer < L(); layer++) {
      overview.append(element("span", { "aria-hidden": "true" }, String(layer)));
      for (let head = 0; head < h(); head++) thumbs.push(makeThumb(layer, head));
      overview.append(...thumbs.slice(-h()));
    }
    layOut();
  }

  /** One head as a small map: a pixel a cell. */
  function makeThumb(layer, head) {
    const large = Math.max(S(), T()) > 48; // more cells than pixels: let the browser take means
    const pixels = makePixels(matrix(layer, head), T(), S());
    const small = picture(pixels);
    small.classList.toggle("tutor-sharp", !large);
    const thumb = element(
      "div",
      {
        class: "tutor-thumb",
        role: "option",
        id: `${id}-${layer}-${head}`,
        "aria-selected": "false",
        onclick: () => assign(model, { layer, head }),
      },
      small,
      element("span", { "aria-hidden": "true" }),
    );
    thumb.pixels = pixels;
    return thumb;
  }

  /** Sizes that fit the width; narrower than that, the map scrolls. */
  function layOut() {
    width = frame.clientWidth;
    if (!width) return; // not on the page yet
    const thumb = Math.min(52, Math.max(26, Math.floor((Math.min(width, 480) - 40) / h()) - 6));
    overview.style.gridTemplateColumns = `auto repeat(${h()}, ${thumb}px)`;
    body.classList.toggle("tutor-stacked", width <= 700);
    const beside = width > 700 ? (thumb + 6) * h() + 50 : 0;
    const low = Math.max(20, Math.floor(560 / T())); // so that all rows are seen, if not too many
    cell = Math.min(36, low, Math.max(15, Math.floor((width - beside - 130) / S())));
    showMap();
  }

  function showMap() {
    labels = names();
    const name = (token) =>
      element("span", { title: token, class: token === "[PAD]" ? "tutor-padding" : null }, token);
    map.style.setProperty("--cell", `${cell}px`);
    rowNames.replaceChildren(...labels.rows.map(name));
    columnNames.replaceChildren(...labels.columns.map(name));
    shownPin = undefined;
    showHead();
  }

  function showHead() {
    const [layer, head] = [model.get("layer"), model.get("head")];
    layers.querySelector("select").value = String(layer);
    heads.querySelector("select").value = String(head ?? "mean");
    const kind = model.get("kind");
    const one = head === null ? "mean of its heads" : `head ${head}`;
    const what = kind === "length" ? "cross attention by length" : `${kind} attention`;
    const which = `${what}, layer ${layer}, ${one}`;
    const rows = kind === "encoder" ? "source tokens" : `tokens ${rowsAre}`;
    const columns = kind === "decoder" ? "tokens read" : "source tokens";
    const title = which[0].toUpperCase() + which.slice(1);
    caption.textContent = `${title}. Rows: ${rows}. Columns: ${columns}.`;
    map.setAttribute(
      "aria-label",
      `Heat map of ${which}: ${T()} rows, ${S()} columns. ` +
        "Arrow keys move, Enter pins, Escape leaves.",
    );
    overview.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    if (head === null) overview.removeAttribute("aria-activedescendant");
    else {
      overview.setAttribute("aria-activedescendant", `${id}-${layer}-${head}`);
      thumbs[layer * h() + head].setAttribute("aria-selected", "true");
    }
    showLegend(drawCells());
    showTable();
    showPin();
  }

  /** Draws the map; returns which of the signs beside colour were needed. */
  function drawCells() {
    const A = chosen();
    const needed = new Set();
    const ratio = window.devicePixelRatio || 1;
    canvas.width = S() * cell * ratio; // this clears it, too
    canvas.height = T() * cell * ratio;
    canvas.style.width = `${S() * cell}px`;
    canvas.style.height = `${T() * cell}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const [layer, head] = [model.get("layer"), model.get("head")];
    const pixels = head === null ? makePixels(A, T(), S()) : thumbs[layer * h() + head].pixels;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(pixels, 0, 0, S() * cell, T() * cell);
    for (let row = 0; row < T(); row++) pen.clearRect(0, (row + 1) * cell - 1, S() * cell, 1);
    for (let column = 0; column < S(); column++)
      pen.clearRect((column + 1) * cell - 1, 0, 1, T() * cell);
    A.forEach((weight, i) => {
      const [row, column] = [Math.floor(i / S()), i % S()];
      const [x, y] = [column * cell, row * cell];
      if (hidden(A, row, column)) {
        drawHatch(pen, x, y);
        needed.add(drawHatch);
      } else if (cell >= 30 && weight >= 0.005) {
        pen.fillStyle = isBright(weight) ? "black" : "white";
        pen.fillText(weight.toFixed(2), x + cell / 2, y + cell / 2);
      }
    });
    if (isCross()) {
      for (const [column, row] of facts.links) {
        const y = rowsAre === "written" ? row : row + 1; // the step that reads it is the next
        if (y === T()) continue;
        drawLink(pen, column * cell, y * cell);
        needed.add(drawLink);
      }
    }
    return needed;
  }

  function drawHatch(pen, x, y) {
    pen.strokeStyle = "rgb(255 255 255 / 45%)";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x + 2, y + cell - 3);
    pen.lineTo(x + cell - 3, y + 2);
    pen.stroke();
  }

  /** A frame within the cell, black and white, so that it is seen on every colour. */
  function drawLink(pen, x, y) {
    for (const [inset, ink] of [
      [1.5, "black"],
      [3, "white"],
    ]) {
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      pen.strokeRect(x + inset, y + inset, cell - 1 - 2 * inset, cell - 1 - 2 * inset);
    }
  }

  function showLegend(needed) {
    const scale = model.get("kind") === "length" ? "share of the length" : "weight";
    needed.add(scale);
    const same = needed.size === legend.size && [...needed].every((sign) => legend.has(sign));
    if (same && key.firstChild) return;
    legend = needed;
    const parts = [makeScale(scale)];
    for (const [draw, text] of [
      [drawHatch, "masked"],
      [drawLink, "true link"],
    ]) {
      if (!needed.has(draw)) continue;
      const sample = element("canvas", { width: cell, height: cell });
      const pen = sample.getContext("2d");
      pen.fillStyle = colour(0);
      pen.fillRect(0, 0, cell - 1, cell - 1);
      draw(pen, 0, 0);
      parts.push(element("span", { class: "tutor-key" }, picture(sample), ` ${text}`));
    }
    key.replaceChildren(...parts);
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
    const at = walk.cursor ?? walk.pin ?? { row: -1, column: -1 };
    [...rowNames.children].forEach((node, row) =>
      node.classList.toggle("tutor-lit", row === at.row),
    );
    [...columnNames.children].forEach((node, column) =>
      node.classList.toggle("tutor-lit", column === at.column),
    );
    place(rowBand, at.row >= 0, 0, at.row, S(), 1);
    place(columnBand, at.column >= 0, at.column, 0, 1, T());
    place(ring, at.row >= 0 && at.column >= 0, at.column, at.row, 1, 1);
    readout.textContent = describe();
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

  /** The pinned cell, and its weight in every head. */
  function showPin() {
    const { pin } = walk;
    if (pin === shownPin) return showCursor();
    shownPin = pin;
    const whole = pin && pin.row >= 0 && pin.column >= 0;
    place(pinRing, whole, pin?.column, pin?.row, 1, 1);
    thumbs.forEach((thumb, i) => {
      const [layer, head] = [Math.floor(i / h()), i % h()];
      const weight = whole ? matrix(layer, head)[pin.row * S() + pin.column].toFixed(2) : "";
      thumb.lastChild.textContent = weight || head;
      thumb.setAttribute("aria-label", `layer ${layer}, head ${head}${weight && `: ${weight}`}`);
    });
    showCursor();
  }

  function describe() {
    const { cursor, pin } = walk;
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
    const most = (items) =>
      items
        .sort((a, b) => b[1] - a[1])
        .slice(0, 3)
        .map(([name, weight]) => `${name} ${weight.toFixed(3)}`)
        .join(", ");
    if (row < 0) {
      const by = most(rows.map((name, t) => [name, A[t * S() + column]]));
      return `${columns[column]} is looked at most by ${by}.`;
    }
    const turn =
      model.get("kind") === "encoder"
        ? ""
        : ` Step ${row} reads ${facts.read[row]} and writes ${facts.target[row]}.`;
    if (column < 0) {
      const at = most(columns.map((name, s) => [name, A[row * S() + s]]));
      return `${rows[row]} looks most at ${at}.${turn}`;
    }
    const weight = A[row * S() + column];
    const rank =
      1 + A.subarray(row * S(), (row + 1) * S()).filter((other) => other > weight).length;
    const why = hidden(A, row, column);
    const place = why
      ? `masked: ${why}`
      : rank === 1
        ? "the largest of its row"
        : `rank ${rank} of ${S()} in its row`;
    const link = linked(row, column) ? " A true link." : "";
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

  const walk = makeWalk(map, {
    start: () => ({ row: 0, column: 0 }),
    find: cellAt,
    next(key, from) {
      const to = stepInGrid(key, from, T(), S(), -1);
      return to && (to.row >= 0 || to.column >= 0) ? to : null; // not the empty corner
    },
    show: showPin,
    reveal({ row, column }) {
      const node =
        row < 0 ? columnNames.children[column] : column < 0 ? rowNames.children[row] : ring;
      node.scrollIntoView({ block: "nearest", inline: "nearest" });
    },
  });
  overview.addEventListener("keydown", (event) => {
    const from = { row: model.get("layer"), column: model.get("head") ?? 0 };
    const to = stepInGrid(event.key, from, L(), h());
    if (!to) return;
    event.preventDefault();
    assign(model, { layer: to.row, head: to.column });
    thumbs[to.row * h() + to.column].scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // ---- the reader's own sentence

  function translate() {
    message.textContent = "Asking the kernel …";
    model.send({ sentence: sentence.value });
  }
  sentence.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) translate();
  });

  // ---- life

  const ends = [
    listen(model, ["answers"], showAnswer),
    listen(model, ["kind"], showKind),
    listen(model, ["layer", "head"], showHead),
  ];
  const watch = new ResizeObserver(() => {
    if (frame.clientWidth !== width) layOut();
  });
  showAll();
  watch.observe(frame);
  return () => {
    watch.disconnect();
    ends.forEach((end) => end());
  };
}
