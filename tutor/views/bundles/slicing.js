var tutorView = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // tutor/views/slicing.js
  var slicing_exports = {};
  __export(slicing_exports, {
    default: () => slicing_default
  });

  // tutor/views/common.js
  var DRAWING = ["svg", "path"];
  function tag(what, ...children) {
    const [name, ...classes] = what.split(".");
    const given = children[0]?.constructor === Object ? children.shift() : {};
    const node = DRAWING.includes(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    const attributes = { type: name === "button" && "button", class: classes.join(" ") || null };
    for (const [key, value] of Object.entries({ ...attributes, ...given })) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  }
  function mark(node, classes) {
    for (const [name, has] of Object.entries(classes)) node.classList.toggle(name, Boolean(has));
  }
  var makeLive = (what) => tag(what, { "aria-live": "polite" });
  var range = (n) => [...Array(n).keys()];
  var clamp = (x, least, most) => Math.min(Math.max(x, least), most);
  function makeFrame(el, label) {
    const frame = tag("div.tutor-view", { role: "group", "aria-label": label, tabindex: -1 });
    frame.addEventListener("keydown", (event) => {
      const theirs = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey && event.key === "Enter";
      if (theirs || event.target === frame) return;
      event.stopPropagation();
      if (event.key === "Escape") frame.focus();
    });
    el.append(frame);
    return frame;
  }
  function listen(model, updates) {
    for (const [trait, update] of Object.entries(updates)) model.on(`change:${trait}`, update);
    return () => {
      for (const [trait, update] of Object.entries(updates)) model.off(`change:${trait}`, update);
    };
  }
  var waiting = /* @__PURE__ */ new WeakMap();
  function assign(model, values) {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    clearTimeout(waiting.get(model));
    const send = () => model.save_changes();
    waiting.set(model, setTimeout(send, 150));
  }
  function makeSteps(go, names = ["Back", "Next"]) {
    const [back, forth] = names.map(
      (name, i) => tag("button", { onclick: () => go(2 * i - 1) }, name)
    );
    const limit = (step, last) => {
      back.disabled = step === 0;
      forth.disabled = step === last;
    };
    return { back, forth, limit };
  }
  var makeReadout = (name = "") => makeLive(`p.tutor-readout${name && `.${name}`}`);
  var makeArea = (what, kind, attributes, ...children) => tag(
    what,
    { role: "application", tabindex: 0, "aria-roledescription": kind, ...attributes },
    ...children
  );
  function makeWalk(area, { start = () => ({ row: 0, column: 0 }), find = findBox, ...how }) {
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
      if (area.matches(":focus-visible")) moveTo(walk.pin ?? start());
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
      event.preventDefault();
      if (acts) return act(from);
      moveTo(to);
      nodeAt(to).scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    return walk;
  }
  function stepInGrid(key, { row, column }, rows, columns, first = 0) {
    const to = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, first],
      End: [row, columns - 1],
      "Control Home": [0, 0],
      "Control End": [rows - 1, columns - 1]
    }[key];
    return to && { row: clamp(to[0], first, rows - 1), column: clamp(to[1], first, columns - 1) };
  }
  function makeMatrix(title, rows, columns) {
    const left = rows.map((text) => tag("span.tutor-name.tutor-left", text));
    const top = columns.map((text) => tag("span.tutor-name.tutor-top", text));
    const boxes = rows.map(
      (_, row) => columns.map((_2, column) => tag("span.tutor-box", { "data-row": row, "data-column": column }))
    );
    const grid = tag(
      "div.tutor-grid",
      { style: `grid-template-columns: repeat(${columns.length + 1}, auto)` },
      tag("span"),
      ...top,
      ...boxes.flatMap((line, row) => [left[row], ...line])
    );
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
  var cellOf = ({ dataset: { row, column } }) => ({
    row: Number(row),
    column: Number(column)
  });
  function findBox(event) {
    const box = event.target.closest(".tutor-box");
    return box && cellOf(box);
  }
  function write(x, digits = 2) {
    return (Number.isInteger(x) ? String(x) : x.toFixed(digits)).replace("-", "−");
  }
  var makeHeader = (names) => tag("tr", ...names.map((name) => name ? tag("th", { scope: "col" }, name) : tag("td")));
  function makeTable() {
    const table = tag("table");
    const attributes = { tabindex: 0, role: "region", "aria-label": "Table" };
    const node = tag(
      "details",
      tag("summary", "As a table"),
      tag("div.tutor-scroll", attributes, table)
    );
    let facts = () => [[], []];
    const show = () => {
      if (!node.open) return;
      const [names, rows] = facts();
      const lines = rows.map(
        ([name, ...cells]) => tag("tr", tag("th", { scope: "row" }, name), ...cells.map((cell) => tag("td", cell)))
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
  var makeHelp = (text) => tag("details", tag("summary", "Keyboard"), tag("p", text));

  // tutor/views/widget.js
  var makeView = (render2) => ({
    render(context) {
      hidePicture(context);
      return render2(context);
    },
    open(el, state, translator) {
      const model = makeModel(state, translator);
      render2({ el, model });
      return model;
    }
  });
  function hidePicture({ model, el }) {
    const still = `[data-view="${model.get("_still")}"]`;
    el.append(tag("style", `${still}, .jp-OutputArea-child:has(${still}) { display: none }`));
  }
  function makeModel(state, translator) {
    const traits = JSON.parse(
      state,
      (_, value) => value?.base64 === void 0 ? value : new DataView(Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)).buffer)
    );
    const updates = new EventTarget();
    const model = {
      translator,
      get: (name) => traits[name],
      set(name, value) {
        if (traits[name] === value) return;
        traits[name] = value;
        updates.dispatchEvent(new Event("change:" + name));
      },
      on: (event, update) => updates.addEventListener(event, update),
      off: (event, update) => updates.removeEventListener(event, update),
      save_changes() {
      }
    };
    async function send({ sentence, ...search }) {
      try {
        if (search.beams) Object.assign(traits, await translator.search(sentence, search));
        else {
          const { weights, ...answer } = await translator.record(sentence);
          Object.assign(traits, answer, { weights: new DataView(weights.buffer) });
        }
      } catch (error) {
        traits.message = error.message;
      }
      model.set("answers", traits.answers + 1);
    }
    if (translator) model.send = send;
    return model;
  }

  // tutor/views/slicing.js
  function render({ model, el }) {
    const { X, W, Q, words, num_heads: h } = model.get("facts");
    const [T, D, width] = [X.length, W.length, W[0].length / h];
    const longest = Math.max(...[...X, ...W, ...Q].flat().map((x) => write(x).length));
    const BOX = Math.max(42, 8 * longest + 14);
    const [HEIGHT, GAP] = [42, 22];
    const count = (n) => range(n).map(String);
    const frame = makeFrame(el, "Slicing view");
    const buttons = makeSteps(
      (by) => assign(model, { step: clamp(model.get("step") + by, 0, STEPS.length - 1) })
    );
    const heading = tag("p.tutor-caption", { role: "status" });
    const onchange = () => assign(model, { mistake: wrong.checked });
    const wrong = tag("input", { type: "checkbox", onchange });
    const readout = makeReadout();
    const left = makeMatrix(`X: (T=${T}, d_model=${D})`, words, count(D));
    const right = makeMatrix(`W_Q: (d_model=${D}, h * d_k=${h * width})`, count(D), count(h * width));
    left.boxes.forEach((line, t) => line.forEach((box, d) => box.append(write(X[t][d]))));
    right.boxes.forEach((line, d) => line.forEach((box, c) => box.append(write(W[d][c]))));
    const entries = Q.map(
      (row, t) => row.map(
        (q, c) => tag("span.tutor-box.tutor-moving", { "data-row": t, "data-column": c }, write(q))
      )
    );
    for (const box of [...right.boxes, ...entries].flat()) {
      const { column } = cellOf(box);
      const head = Math.floor(column / width);
      box.dataset.head = String(head);
      box.style.setProperty("--head", String(head % 4));
      box.classList.toggle("tutor-first", column % width === 0);
    }
    const signs = tag("div");
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
          tag("span", "A mistake: Q.view(h, T, d_k) instead of two steps")
        )
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
        tag("div.tutor-matrix", tag("p", code), tag("div.tutor-scroll", stage))
      ),
      table,
      makeHelp(
        "Tab goes to the buttons and to the moving matrix. There the arrow keys walk through the rows and columns of Q. Enter pins an entry: it stays marked from step to step. Escape leaves."
      )
    );
    const STEPS = [
      {
        name: "multiply",
        code: `Q = X @ W_Q  # (${T}, ${h * width})`,
        says: "One product gives the queries of all heads, side by side."
      },
      {
        name: "cut",
        code: `Q.unflatten(-1, (${h}, ${width}))  # (${T}, ${h}, ${width})`,
        says: "Each row is cut into pieces, one a head. No entry has moved in memory."
      },
      {
        name: "stack",
        code: `.transpose(-3, -2)  # (${h}, ${T}, ${width})`,
        says: "Heads come first: each has a matrix of its own, with a row for every word."
      },
      {
        name: "swap back",
        code: `.transpose(-3, -2)  # (${T}, ${h}, ${width})`,
        says: "The way back begins: word by word again."
      },
      {
        name: "join",
        code: `.flatten(-2)  # (${T}, ${h * width})`,
        says: "The pieces are one row again. It is the Q we began with."
      }
    ];
    const MISTAKE = {
      name: "mistake",
      code: `Q.view(${h}, ${T}, ${width})  # (${h}, ${T}, ${width})`,
      says: "The shape is right, but a slice holds the numbers of the wrong words and columns."
    };
    const now = () => model.get("mistake") ? MISTAKE : STEPS[model.get("step")];
    function position(t, c) {
      const { name } = now();
      if (name === "mistake") {
        const i = t * h * width + c;
        return [Math.floor(i / (T * width)), Math.floor(i / width) % T, i % width];
      }
      return isWhole() ? [0, t, c] : [Math.floor(c / width), t, c % width];
    }
    function index(t, c) {
      const [slice, row, column] = position(t, c);
      const { name } = now();
      if (isWhole()) return `[${t}, ${c}]`;
      return name === "cut" || name === "swap back" ? `[${row}, ${slice}, ${column}]` : `[${slice}, ${row}, ${column}]`;
    }
    const isWhole = () => now().name === "multiply" || now().name === "join";
    const stacked = () => now().name === "stack" || now().name === "mistake";
    const NAMES = 64;
    function corner(slice) {
      return stacked() ? [NAMES, slice * (T * HEIGHT + GAP) + GAP] : [NAMES + slice * (width * BOX + GAP), GAP];
    }
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
        `${name}: ${now().code.replace("#", "shape")}. Arrow keys walk through Q, Enter pins, Escape leaves.`
      );
      const held = {};
      let [right2, bottom] = [0, 0];
      entries.forEach(
        (line, t) => line.forEach((box, c) => {
          const [slice, row, column] = position(t, c);
          const [x, y] = corner(slice);
          box.style.transform = `translate(${x + column * BOX}px, ${y + row * HEIGHT}px)`;
          right2 = Math.max(right2, x + (column + 1) * BOX);
          bottom = Math.max(bottom, y + (row + 1) * HEIGHT);
          (held[[slice, row]] ??= /* @__PURE__ */ new Set()).add(words[t]);
        })
      );
      Object.assign(stage.style, { width: `${right2 + 2}px`, height: `${bottom + 2}px` });
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
        Q.flatMap(
          (row, t) => row.map((q, c) => [`[${t}, ${c}]`, write(q), String(headOf(t, c)), index(t, c)])
        )
      ]);
      showCursor();
    }
    const headOf = (t, c) => now().name === "mistake" ? position(t, c)[0] : Math.floor(c / width);
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
      readout.textContent = at ? describe(at) : "Where does an entry come from? Point at it, or press Tab and then the arrow keys.";
    }
    function describe({ row: t, column: c }) {
      const factor = (x) => x < 0 ? `(${write(x)})` : write(x);
      const sum = X[t].map((x, d) => `${factor(x)}·${factor(W[d][c])}`).join(" + ");
      const owner = `${words[t]}, column ${c % width} of head ${Math.floor(c / width)}`;
      const from = `Q[${t}, ${c}] = ${sum} = ${write(Q[t][c])}: ${owner}.`;
      const { name } = now();
      if (name === "multiply") return from;
      if (name === "join") return `${from} It is back at [${t}, ${c}].`;
      if (name !== "mistake") return `${from} Here it is ${index(t, c)}.`;
      const [head, row] = position(t, c);
      const right2 = Math.floor(c / width) === head && row === t;
      const wanted = `where ${words[row]} should stand in head ${head}`;
      return `${from} Here it is ${index(t, c)}, ${right2 ? "which happens to be right" : wanted}.`;
    }
    const walk = makeWalk(stage, {
      next: (key, from) => stepInGrid(key, from, T, h * width),
      show: showCursor,
      nodeAt: ({ row, column }) => entries[row][column]
    });
    show();
    return listen(model, { step: show, mistake: show });
  }
  var slicing_default = makeView(render);
  return __toCommonJS(slicing_exports);
})();
