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

  // tutor/views/mask.js
  var mask_exports = {};
  __export(mask_exports, {
    default: () => mask_default
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
  function softmax(scores, hidden = []) {
    const top = Math.max(...scores.filter((_, s) => !hidden[s]));
    const e = scores.map((x, s) => hidden[s] ? 0 : Math.exp(x - top));
    const sum = e.reduce((a, b) => a + b, 0);
    return e.map((x) => sum ? x / sum : 0);
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

  // tutor/views/colours.js
  var CIVIDIS = (
    // 256 colours as "rrggbb"
    "00224d00234f00235000245200255400265500265700275900285b00285c00295e002a60002a62002b64002c66002c67002d69002e6b002f6d002f6f0030700030700031700031700432700833700b33700e347011356f14366f16366f18376f1a386f1c386e1d396e1f3a6e213b6e223b6e243c6e253d6d273d6d283e6d2a3f6d2b3f6d2c406d2e416c2f426c30426c31436c32446c34446c35456c36466c37466c38476c39486c3a486b3b496b3d4a6b3e4b6b3f4b6b404c6b414d6b424d6b434e6b444f6b454f6b46506b47516b48516b49526b4a536b4b546c4c546c4d556c4e566c4e566c4f576c50586c51586c52596c535a6c545a6c555b6d565c6d575d6d585d6d595e6d595f6d5a5f6d5b606e5c616e5d616e5e626e5f636e60646e61646f61656f62666f63666f64676f656870666970676970686a70686b71696b716a6c716b6d716c6d726d6e726e6f726e70736f70737071737172737273747373747474757475757575757676767777767878767978777979777a7a777b7b777c7b787d7c787e7d787f7d78807e78817f788280788380788481788582788583788683788784788885788986788a86788b87788c88788d89788e89788f8a77908b77918c77928c77938d77948e77958f77968f779790769891769992769a93769b93769c94769d95759e96759f9675a09775a19874a29974a39a74a49a74a59b73a69c73a79d73a89e73a99e72aa9f72aba072aca171ada271aea271afa370b0a470b1a570b2a66fb3a66fb4a76fb5a86eb6a96eb7aa6db8ab6db9ab6dbaac6cbbad6cbcae6bbdaf6bbeb06abfb06ac1b169c2b269c3b368c4b468c5b567c6b567c7b666c8b765c9b865cab964cbba64ccbb63cdbc62cebc62cfbd61d0be60d2bf60d3c05fd4c15ed5c25ed6c35dd7c35cd8c45bd9c55adac65adbc759dcc858dec957dfca56e0cb55e1cc54e2cc53e3cd52e4ce51e5cf50e6d04fe8d14ee9d24dead34cebd44becd54aedd648eed747efd846f1d944f2da43f3da42f4db40f5dc3ff6dd3df8de3bf9df3afae038fbe136fde234fde333fde534fde636fde737"
  );
  var COLOURS = CIVIDIS.match(/.{6}/g).map((hex) => parseInt(hex, 16));
  var shade = (weight) => clamp(Math.floor(weight * 256), 0, 255);
  var colour = (weight) => `#${COLOURS[shade(weight)].toString(16).padStart(6, "0")}`;
  var isBright = (weight) => weight >= 0.47;
  function makeScale(name = "weight 0") {
    const stops = range(9).map((i) => colour(i / 8)).join(", ");
    const bar = tag("span.tutor-bar", { style: `background: linear-gradient(to right, ${stops})` });
    return tag("span.tutor-key", `${name} `, bar, " 1");
  }

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

  // tutor/views/mask.js
  function render({ model, el }) {
    const { E, rows, columns } = model.get("facts");
    const [T, S] = [rows.length, columns.length];
    const padding = columns.map((name) => name === "[PAD]");
    const makeMask = (hides) => rows.map((_, t) => columns.map((_2, s) => hides(t, s)));
    const frame = makeFrame(el, "Mask view");
    const masks = {
      nothing: makeMask(() => false),
      causal: makeMask((t, s) => s > t),
      ...padding.some(Boolean) && {
        padding: makeMask((_, s) => padding[s]),
        "causal or padding": makeMask((t, s) => s > t || padding[s])
      }
    };
    const choices = Object.entries(masks).map(
      ([name, mask2]) => tag("button", { onclick: () => assign(model, { mask: mask2 }) }, name)
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
    const label = `Scores, mask and weights, ${T} rows and ${S} columns each. Arrow keys walk, Enter hides or shows a cell, Escape leaves.`;
    const all = makeArea(
      "div.tutor-matrices",
      "matrices",
      { "aria-label": label },
      scores.node,
      mask.node,
      weights.node
    );
    all.classList.toggle("tutor-many", many);
    const table = makeTable();
    frame.append(
      tag(
        "div.tutor-choosers",
        { role: "group", "aria-label": "Hide" },
        tag("span", "Hide:"),
        ...choices
      ),
      readout,
      all,
      tag("p.tutor-legend", makeScale()),
      table,
      makeHelp(
        "Tab goes to the buttons and to the matrices, which share one cursor: the arrow keys walk, Enter or a click hides a cell or shows it again. Escape leaves."
      )
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
        rows.map((name, t) => [name, ...A[t].map((a, s) => (M[t][s] ? "✕ " : "") + a.toFixed(2))])
      ]);
      showCursor();
    }
    function showCursor() {
      const at = walk.cursor;
      for (const matrix of [scores, mask, weights]) matrix.light(at);
      readout.textContent = at ? describe(at) : "Point at a cell, or press Tab and then the arrow keys. Enter or a click hides it.";
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
      nodeAt: ({ row, column }) => mask.boxes[row][column]
    });
    show();
    return listen(model, { mask: show });
  }
  var mask_default = makeView(render);
  return __toCommonJS(mask_exports);
})();
