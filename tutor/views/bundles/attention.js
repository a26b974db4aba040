var tutorView = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all2) => {
    for (var name in all2)
      __defProp(target, name, { get: all2[name], enumerable: true });
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

  // tutor/views/attention.js
  var attention_exports = {};
  __export(attention_exports, {
    default: () => attention_default
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
  var makeLive = (what) => tag(what, { "aria-live": "polite" });
  var range = (n) => [...Array(n).keys()];
  var clamp = (x, least, most) => Math.min(Math.max(x, least), most);
  var waitingFor = ({ ready }) => ready === false ? "Loading the model, 6 MB: once for all pages …" : "The model runs …";
  function askKernel(model, question, tell) {
    tell(model.translator ? waitingFor(model.translator) : "Asking the kernel …");
    const silent = "The kernel does not answer: run the cell again.";
    try {
      model.send(question);
    } catch {
      tell(silent);
      return () => {
      };
    }
    if (model.translator) return () => {
    };
    const timer = setTimeout(() => tell(silent), 15e3);
    return () => clearTimeout(timer);
  }
  function makeSentence(ask) {
    const input = tag("input", { type: "text", spellcheck: "false", autocomplete: "off" });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) ask();
    });
    const label = tag("label.tutor-chooser", tag("span", "Your sentence"), input);
    const button = tag("button", { onclick: ask }, "Translate");
    return { node: tag("div.tutor-asking", label, button), input };
  }
  function makeAsking(model, question) {
    let stopWaiting = () => {
    };
    const message = tag("p.tutor-message", { role: "status" });
    const { node, input } = makeSentence(() => {
      stopWaiting();
      stopWaiting = askKernel(model, question(input.value), (words) => message.textContent = words);
    });
    node.hidden = !(model.get("can_ask") && model.send);
    function heard(text = input.value) {
      stopWaiting();
      message.textContent = model.get("message");
      input.value = text;
    }
    return { node, message, heard, end: () => stopWaiting() };
  }
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
  function watchSize(node, update) {
    const watch = new ResizeObserver(update);
    watch.observe(node);
    return () => watch.disconnect();
  }
  var all = (...works) => () => works.forEach((work) => work());
  var waiting = /* @__PURE__ */ new WeakMap();
  function assign(model, values) {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    clearTimeout(waiting.get(model));
    const send = () => model.save_changes();
    waiting.set(model, setTimeout(send, 150));
  }
  function makeChooser(label, choose) {
    const select = tag("select", { onchange: () => choose(select.value) });
    const fill = (values, names, chosen) => {
      select.replaceChildren(...values.map((value, i) => tag("option", { value }, names[i])));
      select.value = chosen;
    };
    return Object.assign(tag("label.tutor-chooser", tag("span", label), select), { fill, select });
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
  var cellOf = ({ dataset: { row, column } }) => ({
    row: Number(row),
    column: Number(column)
  });
  function findBox(event) {
    const box = event.target.closest(".tutor-box");
    return box && cellOf(box);
  }
  var floats = (view) => new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
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

  // tutor/views/attention_numbers.js
  function readNumbers(model) {
    const facts = model.get("facts");
    const weights = floats(model.get("weights"));
    const start = {};
    let next = 0;
    for (const [kind, shape2] of Object.entries(facts.shapes)) {
      start[kind] = next;
      next += shape2.reduce((a, b) => a * b);
    }
    const shape = () => facts.shapes[model.get("kind")];
    function matrix(layer, head) {
      const [, h, T, S] = shape();
      const size = T * S;
      const at = (m) => start[model.get("kind")] + (layer * h + m) * size;
      if (head !== null) return weights.subarray(at(head), at(head) + size);
      const mean = new Float32Array(size);
      for (let m = 0; m < h; m++) for (let i = 0; i < size; i++) mean[i] += weights[at(m) + i] / h;
      return mean;
    }
    function names(rowsAre) {
      const kind = model.get("kind");
      if (kind === "encoder") return { rows: facts.source, columns: facts.source };
      return {
        rows: rowsAre === "written" ? facts.target : facts.read,
        columns: kind === "decoder" ? facts.read : facts.source
      };
    }
    function hidden(A, labels, row, column) {
      if (A[row * shape()[3] + column] !== 0) return "";
      if (labels.columns[column] === "[PAD]") return "padding";
      return model.get("kind") === "decoder" && column > row ? "not read yet" : "";
    }
    function linked(row, column, rowsAre) {
      const target = rowsAre === "written" ? row : row - 1;
      return isCross() && facts.links.some(([s, t]) => s === column && t === target);
    }
    const isCross = () => ["cross", "length"].includes(model.get("kind"));
    return { facts, shape, matrix, names, hidden, linked, isCross };
  }
  function strongest(A, { rows, columns }, { row, column }, count) {
    const S = columns.length;
    const items = row < 0 ? rows.map((name, t) => [name, A[t * S + column]]) : columns.map((name, s) => [name, A[row * S + s]]);
    return items.sort((a, b) => b[1] - a[1]).slice(0, count);
  }

  // tutor/views/colours.js
  var CIVIDIS = (
    // 256 colours as "rrggbb"
    "00224d00234f00235000245200255400265500265700275900285b00285c00295e002a60002a62002b64002c66002c67002d69002e6b002f6d002f6f0030700030700031700031700432700833700b33700e347011356f14366f16366f18376f1a386f1c386e1d396e1f3a6e213b6e223b6e243c6e253d6d273d6d283e6d2a3f6d2b3f6d2c406d2e416c2f426c30426c31436c32446c34446c35456c36466c37466c38476c39486c3a486b3b496b3d4a6b3e4b6b3f4b6b404c6b414d6b424d6b434e6b444f6b454f6b46506b47516b48516b49526b4a536b4b546c4c546c4d556c4e566c4e566c4f576c50586c51586c52596c535a6c545a6c555b6d565c6d575d6d585d6d595e6d595f6d5a5f6d5b606e5c616e5d616e5e626e5f636e60646e61646f61656f62666f63666f64676f656870666970676970686a70686b71696b716a6c716b6d716c6d726d6e726e6f726e70736f70737071737172737273747373747474757475757575757676767777767878767978777979777a7a777b7b777c7b787d7c787e7d787f7d78807e78817f788280788380788481788582788583788683788784788885788986788a86788b87788c88788d89788e89788f8a77908b77918c77928c77938d77948e77958f77968f779790769891769992769a93769b93769c94769d95759e96759f9675a09775a19874a29974a39a74a49a74a59b73a69c73a79d73a89e73a99e72aa9f72aba072aca171ada271aea271afa370b0a470b1a570b2a66fb3a66fb4a76fb5a86eb6a96eb7aa6db8ab6db9ab6dbaac6cbbad6cbcae6bbdaf6bbeb06abfb06ac1b169c2b269c3b368c4b468c5b567c6b567c7b666c8b765c9b865cab964cbba64ccbb63cdbc62cebc62cfbd61d0be60d2bf60d3c05fd4c15ed5c25ed6c35dd7c35cd8c45bd9c55adac65adbc759dcc858dec957dfca56e0cb55e1cc54e2cc53e3cd52e4ce51e5cf50e6d04fe8d14ee9d24dead34cebd44becd54aedd648eed747efd846f1d944f2da43f3da42f4db40f5dc3ff6dd3df8de3bf9df3afae038fbe136fde234fde333fde534fde636fde737"
  );
  var COLOURS = CIVIDIS.match(/.{6}/g).map((hex) => parseInt(hex, 16));
  var shade = (weight) => clamp(Math.floor(weight * 256), 0, 255);
  var colour = (weight) => `#${COLOURS[shade(weight)].toString(16).padStart(6, "0")}`;
  function makePixels(weights, rows, columns, strength = (_row, _column) => 255) {
    const canvas = tag("canvas", { width: columns, height: rows });
    const image = new ImageData(columns, rows);
    weights.forEach((weight, i) => {
      const rgb = COLOURS[shade(weight)];
      const alpha = strength(Math.floor(i / columns), i % columns);
      image.data.set([rgb >> 16, rgb >> 8 & 255, rgb & 255, alpha], 4 * i);
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }
  var picture = (canvas) => tag("img", { src: canvas.toDataURL(), alt: "" });
  var isBright = (weight) => weight >= 0.47;
  function makeScale(name = "weight 0") {
    const stops = range(9).map((i) => colour(i / 8)).join(", ");
    const bar = tag("span.tutor-bar", { style: `background: linear-gradient(to right, ${stops})` });
    return tag("span.tutor-key", `${name} `, bar, " 1");
  }

  // tutor/views/attention_paint.js
  var SCALES = {
    linear: { of: (weight) => weight, says: (what) => `${what} 0`, name: "linear" },
    root: {
      of: Math.sqrt,
      says: (what) => `${what}, square-root scale (its middle is 0.25): 0`,
      name: "square root"
    }
  };
  var LINE_COLOURS = ["#0077bb", "#c44e00", "#00876c", "#a6559d"];
  var DASHES = [[], [7, 4], [2, 3]];
  var NUMBERED = 30;
  function clearCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    return pen;
  }
  function paintMap(canvas, { A, pixels, T, S, cell, of, why, links }) {
    const pen = clearCanvas(canvas, S * cell, T * cell);
    const needed = /* @__PURE__ */ new Set();
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.imageSmoothingEnabled = false;
    pen.drawImage(pixels, 0, 0, S * cell, T * cell);
    if (cell >= 22) {
      for (let row = 0; row < T; row++) pen.clearRect(0, (row + 1) * cell - 1, S * cell, 1);
      for (let column = 0; column < S; column++)
        pen.clearRect((column + 1) * cell - 1, 0, 1, T * cell);
    }
    A.forEach((weight, i) => {
      const [row, column] = [Math.floor(i / S), i % S];
      const [x, y] = [column * cell, row * cell];
      if (why(row, column)) {
        paintHatch(pen, x, y, cell);
        needed.add(paintHatch);
      } else if (cell >= NUMBERED && weight >= 5e-3) {
        pen.fillStyle = isBright(of(weight)) ? "black" : "white";
        pen.fillText(weight.toFixed(2), x + cell / 2, y + cell / 2);
      }
    });
    for (const [column, row] of links) {
      paintLink(pen, column * cell, row * cell, cell);
      needed.add(paintLink);
    }
    return needed;
  }
  function paintHatch(pen, x, y, cell) {
    pen.strokeStyle = "rgb(255 255 255 / 45%)";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x + 2, y + cell - 3);
    pen.lineTo(x + cell - 3, y + 2);
    pen.stroke();
  }
  function paintLink(pen, x, y, cell) {
    pen.lineWidth = 1.5;
    for (const inset of [1.5, 3]) {
      pen.strokeStyle = inset < 2 ? "black" : "white";
      pen.strokeRect(x + inset, y + inset, cell - 1 - 2 * inset, cell - 1 - 2 * inset);
    }
  }
  function paintLines(canvas, { heads, T, S, width, pitch, of, at }) {
    const pen = clearCanvas(canvas, width, Math.max(T, S) * pitch);
    heads.forEach(([head, A], nth) => {
      const aside = (nth - (heads.length - 1) / 2) * Math.min(4, (pitch - 6) / heads.length);
      const y = (i) => (i + 0.5) * pitch + aside;
      pen.strokeStyle = LINE_COLOURS[head % LINE_COLOURS.length];
      pen.setLineDash(DASHES[head % DASHES.length]);
      A.forEach((weight, i) => {
        const [row, column] = [Math.floor(i / S), i % S];
        if (weight < 0.02) return;
        if (at && (at.row >= 0 ? at.row !== row : at.column !== column)) return;
        pen.globalAlpha = 0.1 + 0.9 * of(weight);
        pen.lineWidth = 0.5 + 3 * of(weight);
        pen.beginPath();
        pen.moveTo(2, y(row));
        pen.bezierCurveTo(width / 3, y(row), 2 * width / 3, y(column), width - 2, y(column));
        pen.stroke();
      });
    });
  }
  function sampleLine(head) {
    const canvas = tag("canvas");
    const pen = clearCanvas(canvas, 34, 10);
    pen.strokeStyle = LINE_COLOURS[head % LINE_COLOURS.length];
    pen.setLineDash(DASHES[head % DASHES.length]);
    pen.lineWidth = 3;
    pen.moveTo(0, 5);
    pen.lineTo(34, 5);
    pen.stroke();
    return picture(canvas);
  }

  // tutor/views/copy.js
  function pictureWithNames(frame, canvas, { caption, rows, columns, pitch, right }) {
    const { color, backgroundColor } = getComputedStyle(frame);
    const [width, height] = [parseFloat(canvas.style.width), parseFloat(canvas.style.height)];
    const sheet = tag("canvas");
    const font = "12px system-ui, sans-serif";
    const pen = sheet.getContext("2d");
    pen.font = font;
    const widest = (names) => Math.max(...names.map((name) => pen.measureText(name).width)) + 8;
    const [left, other] = [widest(rows), widest(columns)];
    const top = 28 + (right ? 0 : other);
    const whole = Math.max(left + width + (right ? other : 8), pen.measureText(caption).width + 16);
    sheet.width = 2 * whole;
    sheet.height = 2 * (top + height + 8);
    pen.scale(2, 2);
    pen.font = font;
    pen.fillStyle = backgroundColor;
    pen.fillRect(0, 0, whole, top + height + 8);
    pen.fillStyle = color;
    pen.textBaseline = "middle";
    pen.fillText(caption, 8, 14);
    pen.textAlign = "right";
    rows.forEach((name, t) => pen.fillText(name, left - 4, top + (t + 0.5) * pitch));
    pen.textAlign = "left";
    columns.forEach((name, s) => {
      if (right) return pen.fillText(name, left + width + 4, top + (s + 0.5) * pitch);
      pen.save();
      pen.translate(left + (s + 0.5) * pitch, top - 4);
      pen.rotate(-Math.PI / 2);
      pen.fillText(name, 0, 0);
      pen.restore();
    });
    pen.drawImage(canvas, left, top, width, height);
    return sheet;
  }
  function asLines({ rows, columns }, A) {
    const S = columns.length;
    const numbers = (t) => [...A.subarray(t * S, (t + 1) * S)].map((x) => x.toFixed(4));
    return [["", ...columns], ...rows.map((name, t) => [name, ...numbers(t)])].map((cells) => cells.join("	")).join("\n");
  }
  function makeCopying(draw, write) {
    const said = tag("span", { role: "status" });
    const byHand = tag("div.tutor-by-hand", { hidden: true });
    const offer = (words, ...nodes) => {
      said.textContent = words;
      const close = tag("button", { onclick: () => tidy("") }, "Close");
      byHand.replaceChildren(...nodes, close);
      byHand.hidden = false;
    };
    const tidy = (words) => {
      byHand.replaceChildren();
      byHand.hidden = true;
      said.textContent = words;
    };
    async function copyPicture() {
      const { canvas, caption } = draw();
      try {
        const data = new Promise((resolve) => canvas.toBlob(resolve));
        await navigator.clipboard.write([new ClipboardItem({ "image/png": data })]);
        tidy("The picture is copied.");
      } catch {
        const src = canvas.toDataURL();
        const link = tag("a", { href: src, download: "attention.png" }, "Save it as a file");
        offer(
          "The browser does not let a page copy. Save the picture, or copy it from its menu.",
          link,
          tag("img", { src, alt: caption, width: canvas.width / 2 })
        );
      }
    }
    async function copyNumbers() {
      const text = write();
      try {
        await navigator.clipboard.writeText(text);
        tidy("The numbers are copied.");
      } catch {
        const area = tag("textarea", { readonly: "", rows: 6, "aria-label": "Numbers" });
        area.value = text;
        offer("The browser does not let a page copy. Press Control + C.", area);
        area.select();
      }
    }
    const button = (name, act) => tag("button", { onclick: act }, name);
    return tag(
      "div",
      tag(
        "div.tutor-choosers",
        button("Copy picture", copyPicture),
        button("Copy numbers", copyNumbers),
        said
      ),
      byHand
    );
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

  // tutor/views/attention.js
  function render({ model, el }) {
    let facts, numbers;
    let rowsAre = "written";
    let drawn = "map";
    let scale = "linear";
    let larger = false;
    const muted = /* @__PURE__ */ new Set();
    let labels;
    let width = 0;
    let cell = 20;
    const id = `tutor-${Math.random().toString(36).slice(2)}`;
    let thumbs = [];
    let shownPin;
    const frame = makeFrame(el, "Attention view");
    const asking = makeAsking(model, (sentence) => ({ sentence }));
    const pair = tag("p.tutor-pair");
    const kinds = makeChooser("Attention", (kind) => {
      const [L2, h2] = facts.shapes[kind];
      const head = model.get("head");
      assign(model, {
        layer: Math.min(model.get("layer"), L2 - 1),
        head: head && Math.min(head, h2 - 1),
        kind
      });
    });
    const layers = makeChooser("Layer", (layer) => assign(model, { layer: Number(layer) }));
    const heads = makeChooser(
      "Head",
      (head) => assign(model, { head: head === "mean" ? null : Number(head) })
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
      cells
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
      () => shownHeads().map(([head, A]) => `${which(head)}
${asLines(labels, A)}`).join("\n\n")
    );
    const table = makeTable();
    const help = makeHelp(
      "Tab goes to the map and to the small maps, and the arrow keys move there. In the map, up from the first row or left from the first column lead to the tokens themselves. Enter pins a cell, to compare it with others and through all heads, or a token: the small maps then show that token alone. Between lines, left and right change the side. Escape leaves."
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
      help
    );
    const [L, h, T, S] = [0, 1, 2, 3].map((axis) => () => numbers.shape()[axis]);
    const matrix = (...which2) => numbers.matrix(...which2);
    const chosen = () => matrix(model.get("layer"), model.get("head"));
    function shownHeads() {
      const [layer, head] = [model.get("layer"), model.get("head")];
      if (drawn === "map" || head !== null) return [[head, matrix(layer, head)]];
      const all2 = range(h()).filter((m) => !muted.has(m));
      return all2.map((m) => [m, matrix(layer, m)]);
    }
    function which(head = model.get("head")) {
      const kind = model.get("kind");
      const what = kind === "length" ? "Cross attention by length" : `${kind} attention`;
      const all2 = drawn === "lines" ? "its heads" : "mean of its heads";
      const name = `${what}, layer ${model.get("layer")}, ${head === null ? all2 : `head ${head}`}`;
      return name[0].toUpperCase() + name.slice(1);
    }
    const quantity = () => model.get("kind") === "length" ? "share of the length" : "weight";
    function showAll() {
      numbers = readNumbers(model);
      facts = numbers.facts;
      frame.setAttribute("aria-label", `Attention of “${facts.text}”`);
      asking.heard(facts.text);
      pair.replaceChildren(tag("span", facts.text), " → ", tag("span", facts.translation));
      pair.hidden = facts.text === "";
      showKind();
    }
    function showAnswer() {
      asking.heard();
      if (model.get("facts") !== facts) showAll();
    }
    function showKind() {
      for (const walk2 of [mapWalk, lineWalk]) walk2.cursor = walk2.pin = null;
      const count = (n) => range(n).map(String);
      const says = {
        encoder: "encoder: source to source",
        decoder: "decoder: target to target",
        cross: "cross: target to source",
        length: "cross: weight × length of value"
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
    function makeThumb(layer, head) {
      const [wide, high] = [S(), T()].map((side2) => `${100 * side2 / Math.max(S(), T())}%`);
      const small = tag("img", { alt: "", style: `width: ${wide}; height: ${high}` });
      const large = Math.max(S(), T()) > 48;
      small.classList.toggle("tutor-sharp", !large);
      return tag(
        "div.tutor-thumb",
        {
          role: "option",
          id: `${id}-${layer}-${head}`,
          "aria-selected": "false",
          onclick: () => assign(model, { layer, head })
        },
        tag("div", small),
        tag("span", { "aria-hidden": "true" })
      );
    }
    function pixelsOf(A, only) {
      const { of } = SCALES[scale];
      const on = (row, column) => only.row >= 0 ? row === only.row : column === only.column;
      return makePixels(A.map(of), T(), S(), only && ((...at) => on(...at) ? 255 : 40));
    }
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
          image.src = pixelsOf(A, token ?? void 0).toDataURL();
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
    function layOut() {
      width = frame.clientWidth;
      if (!width) return;
      const thumb = Math.min(52, Math.max(26, Math.floor((Math.min(width, 480) - 40) / h()) - 6));
      overview.style.gridTemplateColumns = `auto repeat(${h()}, ${thumb}px)`;
      overview.style.setProperty("--thumb", `${thumb - 4}px`);
      body.classList.toggle("tutor-stacked", width <= 700);
      const beside = width > 700 ? (thumb + 6) * h() + 50 : 0;
      const low = Math.max(20, Math.floor(560 / T()));
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
      const name = (token) => tag("span", { title: token, class: token === "[PAD]" ? "tutor-padding" : null }, token);
      map.style.setProperty("--cell", `${cell}px`);
      for (const node of [rowNames, sides[0]]) node.replaceChildren(...labels.rows.map(name));
      for (const node of [columnNames, sides[1]]) node.replaceChildren(...labels.columns.map(name));
      shownPin = void 0;
      showHead();
    }
    function showHead() {
      const [layer, head] = [model.get("layer"), model.get("head")];
      layers.select.value = String(layer);
      heads.select.value = String(head ?? "mean");
      const kind = model.get("kind");
      const rows = kind === "encoder" ? "source tokens" : `tokens ${rowsAre}`;
      const columns = kind === "decoder" ? "tokens read" : "source tokens";
      caption.textContent = drawn === "map" ? `${which()}. Rows: ${rows}. Columns: ${columns}.` : `${which()}. Left: ${rows}. Right: ${columns}.`;
      for (const [area, what] of [
        [map, `Heat map of ${which()}: ${T()} rows, ${S()} columns.`],
        [lines, `Lines of ${which()}, from ${T()} tokens to ${S()}.`]
      ])
        area.setAttribute("aria-label", `${what} Arrow keys move, Enter pins, Escape leaves.`);
      overview.setAttribute("aria-multiselectable", head === null);
      thumbs.forEach((thumb, i) => {
        const mine = Math.floor(i / h()) === layer && (head === null || i % h() === head);
        thumb.setAttribute("aria-selected", mine);
      });
      if (head === null) overview.removeAttribute("aria-activedescendant");
      else overview.setAttribute("aria-activedescendant", `${id}-${layer}-${head}`);
      drawn === "map" ? showCells() : showLegend(/* @__PURE__ */ new Set());
      showTable();
      showPin();
    }
    function showCells() {
      const A = chosen();
      const later = rowsAre === "written" ? 0 : 1;
      const links = (numbers.isCross() ? facts.links : []).map(([column, row]) => [column, row + later]).filter(([, row]) => row < T());
      const why = (row, column) => numbers.hidden(A, labels, row, column);
      const { of } = SCALES[scale];
      const sizes = { T: T(), S: S(), cell };
      showLegend(paintMap(canvas, { A, pixels: pixelsOf(A), ...sizes, of, why, links }));
    }
    const PITCH = 22;
    function showLines() {
      const { cursor, pin } = lineWalk;
      const beside = width > 700 ? side.offsetWidth + 20 : 0;
      const room = Math.max(80, Math.min(320, width - beside - 250));
      const sizes = { T: T(), S: S(), width: room, pitch: PITCH };
      const at = cursor ?? pin;
      paintLines(web, { heads: shownHeads(), ...sizes, of: SCALES[scale].of, at });
    }
    function wholePicture() {
      return drawn === "map" ? pictureWithNames(frame, canvas, { caption: which(), ...labels, pitch: cell, right: false }) : pictureWithNames(frame, web, { caption: which(), ...labels, pitch: PITCH, right: true });
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
          tag("span.tutor-key", picture(sample), paint === paintHatch ? " masked" : " true link")
        );
      }
      if (drawn === "map" && cell >= NUMBERED) parts.push(tag("span", "no number: below 0.005"));
      key.replaceChildren(...parts);
    }
    function lineKey() {
      const head = model.get("head");
      const heads2 = head === null ? range(h()) : [head];
      return tag(
        "div.tutor-choosers",
        { role: "group", "aria-label": "Heads drawn" },
        tag("span", `The thicker a line, the larger the ${quantity()} (from 0.02 on).`),
        ...heads2.map((m) => {
          const box = tag("input", { type: "checkbox", onchange: () => mute(m, !box.checked) });
          box.checked = !muted.has(m) || head !== null;
          box.disabled = head !== null;
          return tag("label.tutor-key", box, sampleLine(m), `head ${m}`);
        })
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
          ...labels.columns.map((_, s) => A[row * S() + s].toFixed(2))
        ])
      ]);
    }
    function showCursor() {
      const at = walk().cursor ?? walk().pin ?? { row: -1, column: -1 };
      const light = (names, i) => [...names.children].forEach((node, j) => node.classList.toggle("tutor-lit", j === i));
      light(drawn === "map" ? rowNames : sides[0], at.row);
      light(drawn === "map" ? columnNames : sides[1], at.column);
      readout.textContent = describe();
      if (drawn === "lines") return showLines();
      place(rowBand, at.row >= 0, 0, at.row, S(), 1);
      place(columnBand, at.column >= 0, at.column, 0, 1, T());
      place(ring, at.row >= 0 && at.column >= 0, at.column, at.row, 1, 1);
    }
    function place(box, shown, left, top, width2, height) {
      box.hidden = !shown;
      Object.assign(box.style, {
        left: `${left * cell - 1}px`,
        top: `${top * cell - 1}px`,
        width: `${width2 * cell + 1}px`,
        height: `${height * cell + 1}px`
      });
    }
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
          return three.map(([name2, weight2]) => `${name2} ${weight2.toFixed(3)}`).join(", ");
        const ofHead = ([head, A2]) => [head, ...strongest(A2, labels, at, 1)[0]];
        const say = ([head, name2, weight2]) => `${name2} ${weight2.toFixed(2)} (head ${head})`;
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
      const place2 = why ? `masked: ${why}` : ranked;
      const link = numbers.linked(row, column, rowsAre) ? " A true link." : "";
      const name = model.get("kind") === "length" ? "share of the length" : "A";
      const cell2 = `${name}[${row}, ${column}] = ${weight.toFixed(3)}`;
      return `${rows[row]} looks at ${columns[column]}: ${cell2}, ${place2}.${link}${turn}`;
    }
    function cellAt(event) {
      const box = cells.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left) / cell);
      const row = Math.floor((event.clientY - box.top) / cell);
      const at = { row, column };
      if (rowNames.contains(event.target)) at.column = -1;
      else if (columnNames.contains(event.target)) at.row = -1;
      const known = at.row >= -1 && at.column >= -1 && at.row < T() && at.column < S();
      return known && (at.row >= 0 || at.column >= 0) ? at : null;
    }
    const mapWalk = makeWalk(map, {
      find: cellAt,
      next(key2, from) {
        const to = stepInGrid(key2, from, T(), S(), -1);
        return to && (to.row >= 0 || to.column >= 0) ? to : null;
      },
      show: showPin,
      nodeAt({ row, column }) {
        if (row < 0) return columnNames.children[column];
        return column < 0 ? rowNames.children[row] : ring;
      }
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
      next(key2, { row, column }) {
        const at = { row: Math.max(row, column), column: row < 0 ? 1 : 0 };
        const to = stepInGrid(key2, at, at.column ? S() : T(), 2);
        if (!to) return null;
        return to.column ? { row: -1, column: Math.min(to.row, S() - 1) } : { row: Math.min(to.row, T() - 1), column: -1 };
      },
      show: showPin,
      nodeAt: ({ row, column }) => sides[row < 0 ? 1 : 0].children[Math.max(row, column)]
    });
    const walk = () => drawn === "map" ? mapWalk : lineWalk;
    overview.addEventListener("keydown", (event) => {
      const from = { row: model.get("layer"), column: model.get("head") ?? 0 };
      const to = stepInGrid(event.key, from, L(), h());
      if (!to) return;
      event.preventDefault();
      assign(model, { layer: to.row, head: to.column });
      thumbs[to.row * h() + to.column].scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    const ends = listen(model, {
      answers: showAnswer,
      kind: showKind,
      layer: showHead,
      head: showHead
    });
    showAll();
    const resized = () => frame.clientWidth !== width && layOut();
    return all(asking.end, ends, watchSize(frame, resized));
  }
  var attention_default = makeView(render);
  return __toCommonJS(attention_exports);
})();
