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

  // tutor/views/beam.js
  var beam_exports = {};
  __export(beam_exports, {
    default: () => beam_default
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
  function makePlay(at, go, buttons) {
    let playing = null;
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

  // tutor/views/beam.js
  var [WIDTH, HEIGHT, GAP] = [92, 40, 20];
  var MARKS = { live: "", finished: "■ ", best: "★ ", pruned: "✕ " };
  function render({ model, el }) {
    const frame = makeFrame(el, "Beam search");
    const asking = makeAsking(model, (sentence) => ({ sentence, ...model.get("settings") }));
    const tree = tag("div", { style: "margin-top: 6px" });
    frame.append(asking.node, asking.message, tree);
    let [facts, endTree] = [null, () => {
    }];
    function showAnswer() {
      const known = model.get("facts");
      asking.heard(known === facts ? void 0 : known.source);
      if (known === facts) return;
      facts = known;
      if (facts.source) frame.setAttribute("aria-label", `Beam search for “${facts.source}”`);
      endTree();
      tree.replaceChildren();
      endTree = drawTree(model, tree);
    }
    showAnswer();
    return all(asking.end, () => endTree(), listen(model, { answers: showAnswer }));
  }
  function drawTree(model, frame) {
    const { steps, winner } = model.get("facts");
    const last = steps.length - 1;
    const x = (i) => i * (WIDTH + GAP);
    const y = (j) => 22 + j * (HEIGHT + 8);
    const go = (step) => assign(model, { step: clamp(step, 0, last) });
    const buttons = makeSteps((by) => go(model.get("step") + by));
    const play = makePlay(() => [model.get("step"), last], go, [buttons.back, buttons.forth]);
    const slider = tag("input", {
      type: "range",
      min: 0,
      max: last,
      step: 1,
      "aria-label": "step",
      oninput: () => go(Number(slider.value))
    });
    const heading = tag("p.tutor-caption", { role: "status" });
    const readout = makeReadout("tutor-long");
    const size = { width: x(last) + WIDTH + 2, height: y(Math.max(...steps.map((c) => c.length))) };
    const lines = tag("svg", { ...size, "aria-hidden": "true" });
    const style = `width: ${size.width}px; height: ${size.height}px`;
    const stage = makeArea("div.tutor-stage.tutor-tree", "tree", { style }, lines);
    const nodes = steps.map(
      (candidates, i) => candidates.map((candidate, j) => {
        const token = tag("b", { title: candidate.token });
        const place = `left: ${x(i)}px; top: ${y(j)}px; width: ${WIDTH}px; height: ${HEIGHT}px`;
        const box = tag(
          "span.tutor-box.tutor-node",
          { "data-row": j, "data-column": i, style: place },
          token,
          tag("span", write(candidate.score))
        );
        const [from, to] = [y(candidate.parent) + HEIGHT / 2, y(j) + HEIGHT / 2];
        const middle = x(i) - GAP / 2;
        const curve = `M ${x(i) - GAP} ${from} C ${middle} ${from} ${middle} ${to} ${x(i)} ${to}`;
        const line = tag("path", { fill: "none", d: i ? curve : "" });
        lines.append(line);
        stage.append(box);
        return { box, token, line };
      })
    );
    steps.forEach((_, i) => {
      const style2 = `left: ${x(i)}px; top: 0; width: ${WIDTH}px`;
      stage.append(tag("span.tutor-sign.tutor-step-sign", { style: style2 }, String(i)));
    });
    const [moreLeft, moreRight] = [tag("span"), tag("span")];
    const scroll = tag("div.tutor-scroll", { onscroll: showMore }, stage);
    const table = makeTable();
    const samples = Object.entries(MARKS).map(
      ([fate2, mark]) => tag("span.tutor-key", tag(`span.tutor-box.tutor-sample.tutor-${fate2}`, mark + fate2))
    );
    frame.append(
      tag(
        "div.tutor-choosers",
        buttons.back,
        buttons.forth,
        play.node,
        tag("label.tutor-chooser.tutor-slider", tag("span", "Step"), slider)
      ),
      heading,
      readout,
      tag("p.tutor-more", { "aria-hidden": "true" }, moreLeft, moreRight),
      scroll,
      tag(
        "p.tutor-legend",
        ...samples,
        tag("span", "In a box: the token, and the score of the sentence so far.")
      ),
      table,
      makeHelp(
        "Tab goes to the buttons and to the tree. There left leads to the parent, right to the best child, up and down stay within a step. Enter pins a candidate, to compare it with others. Escape leaves."
      )
    );
    function fates() {
      const shown = model.get("step");
      const fates2 = steps.slice(0, shown + 1).map((line) => line.map(({ state }) => state));
      for (let i = shown - 1; i >= 0; i--) {
        const lead = new Set(
          steps[i + 1].filter((_, j) => fates2[i + 1][j] !== "pruned").map(({ parent }) => parent)
        );
        fates2[i] = fates2[i].map((fate2, j) => fate2 === "live" && !lead.has(j) ? "pruned" : fate2);
      }
      if (shown === last && winner) fates2[winner[0]][winner[1]] = "best";
      return fates2;
    }
    let fate;
    function show() {
      const step = model.get("step");
      fate = fates();
      slider.value = step;
      buttons.limit(step, last);
      const won = step === last && winner ? path({ row: winner[1], column: winner[0] }) : [];
      const count = (among, what) => among.filter((one) => what.includes(one)).length;
      heading.textContent = `Step ${step} of ${last}: ${count(fate[step], ["live"])} live, ${count(fate.flat(), ["finished", "best"])} finished, ${count(fate.flat(), ["pruned"])} pruned so far.` + (won.length ? ` Best: ${tokensOf(won)}` : "");
      stage.setAttribute(
        "aria-label",
        `Tree of the search up to step ${step}. Arrow keys follow the branches, Enter pins, Escape leaves.`
      );
      forEachNode(({ box, line, token }, i, j) => {
        box.hidden = i > step;
        line.style.display = i > step ? "none" : "";
        if (i > step) return;
        token.textContent = MARKS[fate[i][j]] + steps[i][j].token;
        for (const name of Object.keys(MARKS))
          box.classList.toggle(`tutor-${name}`, fate[i][j] === name);
        line.classList.toggle("tutor-pruned", fate[i][j] === "pruned");
        line.classList.toggle(
          "tutor-best",
          won.some((at) => at[0] === i && at[1] === j)
        );
      });
      if (walk.cursor?.column > step) walk.cursor = null;
      if (walk.pin?.column > step) walk.pin = null;
      table.fill(() => [
        ["step", "place", "token", "log p", "total", "score", "fate"],
        fate.flatMap(
          (line, i) => line.map((what, j) => {
            const { token, log_prob, total, score } = steps[i][j];
            return [
              String(i),
              String(j),
              token,
              ...[log_prob, total, score].map((x2) => write(x2)),
              what
            ];
          })
        )
      ]);
      showCursor();
      scrollToStep();
    }
    const forEachNode = (work) => nodes.forEach((line, i) => line.forEach((node, j) => work(node, i, j)));
    function scrollToStep() {
      const step = model.get("step");
      const column = step === last && winner ? winner[0] : step;
      const [left, right] = [x(column) - GAP, x(column) + WIDTH + GAP];
      if (right > scroll.scrollLeft + scroll.clientWidth)
        scroll.scrollLeft = right - scroll.clientWidth;
      else if (left < scroll.scrollLeft) scroll.scrollLeft = left;
      showMore();
    }
    function showMore() {
      const shown = steps.slice(0, model.get("step") + 1);
      const [left, right] = [scroll.scrollLeft, scroll.scrollLeft + scroll.clientWidth];
      const before = shown.filter((_, i) => x(i) < left).length;
      const after = shown.filter((_, i) => x(i) + WIDTH > right).length;
      const name = (first, end) => first === end - 1 ? `step ${first}` : `steps ${first} to ${end - 1}`;
      moreLeft.textContent = before ? `← scroll: ${name(0, before)}` : "";
      moreRight.textContent = after ? `scroll: ${name(shown.length - after, shown.length)} →` : "";
    }
    function path({ row, column }) {
      const found = [];
      for (let i = column, j = row; i >= 0; j = steps[i].at(j).parent, i--) found.unshift([i, j]);
      return found;
    }
    const tokensOf = (path2) => path2.map(([i, j]) => steps[i][j].token).join(" ");
    function showCursor() {
      const at = walk.cursor ?? walk.pin;
      const on = new Set((at ? path(at) : []).map(String));
      forEachNode(({ box, line }, i, j) => {
        const is = (cell) => cell?.row === j && cell?.column === i;
        box.classList.toggle("tutor-here", is(at));
        box.classList.toggle("tutor-pinned", is(walk.pin));
        for (const one of [box, line]) one.classList.toggle("tutor-path", on.has(`${i},${j}`));
      });
      const pinned = walk.pin && walk.pin !== at ? ` Pinned: ${describe(walk.pin)}` : "";
      readout.textContent = at ? describe(at) + pinned : "Point at a box, or press Tab and then the arrow keys.";
    }
    function describe(at) {
      const c = steps[at.column][at.row];
      return `${tokensOf(path(at))}: step ${at.column}, place ${at.row}, ${fate[at.column][at.row]}. The last token has log-probability ${write(c.log_prob)} (probability ${write(Math.exp(c.log_prob))}), all together ${write(c.total)}; the score is ${write(c.score)}.`;
    }
    const walk = makeWalk(stage, {
      next(key, { row, column }) {
        const child = () => steps[column + 1]?.findIndex(({ parent }) => parent === row);
        const to = {
          ArrowLeft: { row: steps[column][row].parent, column: column - 1 },
          ArrowRight: { row: child(), column: column + 1 },
          ArrowUp: { row: row - 1, column },
          ArrowDown: { row: row + 1, column },
          Home: { row: 0, column: 0 },
          End: { row: 0, column: model.get("step") }
        }[key];
        const there = to && to.column <= model.get("step") && steps[to.column]?.[to.row];
        return to && (there ? to : { row, column });
      },
      show: showCursor,
      nodeAt: ({ row, column }) => nodes[column][row].box
    });
    show();
    return all(play.rest, watchSize(scroll, scrollToStep), listen(model, { step: show }));
  }
  var beam_default = makeView(render);
  return __toCommonJS(beam_exports);
})();
