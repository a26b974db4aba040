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

  // tutor/views/journey.js
  var journey_exports = {};
  __export(journey_exports, {
    default: () => journey_default,
    makeSource: () => makeSource
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
  var waitingFor = ({ ready }) => ready === false ? "Loading the model, 6 MB: once for all pages …" : "The model runs …";
  function makeSentence(ask) {
    const input = tag("input", { type: "text", spellcheck: "false", autocomplete: "off" });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) ask();
    });
    const label = tag("label.tutor-chooser", tag("span", "Your sentence"), input);
    const button = tag("button", { onclick: ask }, "Translate");
    return { node: tag("div.tutor-asking", label, button), input };
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
  var floats = (view) => new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  function write(x, digits = 2) {
    return (Number.isInteger(x) ? String(x) : x.toFixed(digits)).replace("-", "−");
  }
  var makeHelp = (text) => tag("details", tag("summary", "Keyboard"), tag("p", text));

  // tutor/views/journey_parts.js
  var SAVED = "A saved page: your own sentence, switching off and other tokens need the kernel.";
  var two = (x) => x.toFixed(2).replace("-", "−");
  var asShare = (p) => p > 0 && p < 5e-3 ? "< 0.01" : two(p);
  var SUB_LAYERS = { self: "self-attention", cross: "cross-attention", ff: "feed-forward" };
  var SHORT = { self: "self", cross: "cross", ff: "FF" };
  var isOffWith = (scales, { sub, head }) => head !== null && scales[sub] === 0;
  var sayFactor = (factor) => factor === 1 ? "" : factor === 0 ? ", switched off" : `, counts ${two(factor)} times`;
  var kindsOf = (side) => side === "encoder" ? ["self", "ff"] : ["self", "cross", "ff"];
  var positionOf = ({ source, step }, place) => place.startsWith("encoder") ? source : step;
  var tokenOf = (state, place) => state.facts[place.startsWith("encoder") ? "source" : "read"][positionOf(state, place)];
  function parsePlace(place) {
    const [side, layer, kind, , head] = place.split(".");
    const sub = place.replace(/\.head\..*/, "");
    return { side, layer, kind, head: head === void 0 ? null : Number(head), sub };
  }
  function shownPlace({ place, head, facts }) {
    const {
      side,
      layer,
      kind,
      head: own
    } = parsePlace(place || `decoder.${facts.config.layers - 1}`);
    const sub = `${side}.${layer}.${kind ?? (side === "encoder" ? "self" : "cross")}`;
    return kind === "ff" ? sub : `${sub}.head.${own ?? head}`;
  }
  function namePlace(place) {
    const { side, layer, kind, head } = parsePlace(place);
    const words = [
      `${side} layer ${layer}`,
      kind && SUB_LAYERS[kind],
      head !== null && `head ${head}`
    ];
    return words.filter(Boolean).join(", ");
  }
  function makeStop(key, says, act, { class: name = "", ...others }, ...children) {
    const attributes = { "data-key": key, "aria-label": says, tabindex: -1, onclick: act, ...others };
    return tag("button", { class: `journey-stop ${name}`, ...attributes }, ...children);
  }
  var WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function roam(area) {
    const stops = () => [...area.querySelectorAll(".journey-stop")].filter(
      (stop) => stop.offsetParent && !stop.disabled
    );
    const mark2 = (stop) => {
      for (const other of area.querySelectorAll('.journey-stop[tabindex="0"]')) other.tabIndex = -1;
      if (stop) stop.tabIndex = 0;
    };
    area.addEventListener("focusin", ({ target }) => target.matches(".journey-stop") && mark2(target));
    area.addEventListener("keydown", (event) => {
      const from = event.target;
      const way = WAYS[event.key];
      const modified = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
      if (!way || modified || !from.matches(".journey-stop")) return;
      event.preventDefault();
      const centre = (node) => {
        const { left, top, width, height } = node.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
      };
      const [x, y] = centre(from);
      const own = from.getBoundingClientRect();
      const past = (stop) => {
        const it = stop.getBoundingClientRect();
        const [cx, cy] = centre(stop);
        return way[0] ? cx < own.left || cx > own.right || it.top < own.bottom && it.bottom > own.top : cy < own.top || cy > own.bottom || it.left < own.right && it.right > own.left;
      };
      let [best, least] = [null, Infinity];
      for (const stop of stops()) {
        const [dx, dy] = [centre(stop)[0] - x, centre(stop)[1] - y];
        const along = dx * way[0] + dy * way[1];
        const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
        const cost = along + 3 * aside;
        if (stop !== from && along > 2 && cost < least && past(stop)) [best, least] = [stop, cost];
      }
      best?.focus();
    });
    return () => {
      if (!area.querySelector('.journey-stop[tabindex="0"]')) mark2(stops()[0]);
    };
  }
  function makeStrip(numbers, largest, height = 18, foot = false) {
    const middle = foot ? height - 1 : height / 2;
    const room = foot ? height - 2 : height / 2 - 1;
    const of = largest || 1;
    const n = numbers.length;
    let path = "";
    numbers.forEach((x, i) => {
      const length = Math.max(-room, Math.min(room, x / of * room));
      path += `M${i + 0.12} ${middle}v${(-length).toFixed(2)}h.76V${middle}z`;
    });
    return tag(
      "svg.journey-strip",
      {
        viewBox: `0 0 ${n} ${height}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
        style: `height: ${height}px`
      },
      tag("path.journey-axis", { d: `M0 ${middle}H${n}` }),
      tag("path.journey-bars", { d: path })
    );
  }
  var reach = (numbers) => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  var makeMeter = (share, name = "") => tag(`span.journey-meter.${name}`, { style: `--share: ${share.toFixed(4)}` });
  function rowOf({ shape, data }, m, r) {
    const [, rows, width] = shape;
    const start = (m * rows + r) * width;
    return data.subarray(start, start + width);
  }

  // tutor/views/journey_changes.js
  var FACTORS = [0, 0.5, 1, 2];
  function makeBanner(state, { scale, run }) {
    const node = tag("div.journey-banner", { role: "group", "aria-label": "Changes" });
    function show() {
      const { facts } = state;
      const places = Object.entries(facts.scales);
      const undo = (key, says, onclick, title = "undo") => tag(
        "button.journey-undo",
        { "data-key": `undo:${key}`, title, onclick },
        `${says} `,
        tag("span", { "aria-hidden": "true" }, "↶"),
        tag("span.journey-unseen", title)
      );
      const chips = places.map(([place, factor]) => {
        const how = factor === 0 ? "off" : `× ${two(factor)}`;
        return undo(place, `${namePlace(place)}: ${how}`, () => scale(place, 1));
      });
      const picks = [...state.picks].filter(
        ([t, whose]) => whose !== "given" || state.picks.get(t + 1) !== "given"
      );
      picks.forEach(([t, whose], i) => {
        const left = i ? picks[i - 1][0] + 1 : 0;
        const given = t ? `the first ${t + 1} tokens` : "the first token";
        const what = whose === "given" ? given : `${facts.target[t]} as token ${t + 1}`;
        const forget = () => run({ ...facts, written: facts.written.slice(0, left) });
        const title = i < picks.length - 1 ? "undo this and the later ones" : "undo";
        chips.push(undo(`token:${t}`, `${whose}: ${what}`, forget, title));
      });
      mark(node, {
        "journey-changed": chips.length > 0,
        "journey-only-written": !places.length && chips.length > 0
      });
      const lines = [tag("p", tag("b", facts.translation || "(nothing)")), tag("p", ...compared())];
      if (chips.length) {
        const onclick = () => run({ text: facts.text, written: [], scales: {} });
        const name = chips.length > 1 ? `Undo all ${chips.length}` : "Undo all";
        const all2 = tag("button", { "data-key": "undo:all", onclick }, name);
        lines.push(tag("p.journey-chips", all2, ...chips));
      }
      node.replaceChildren(...lines);
      node.tabIndex = !node.querySelector("button") && node.scrollHeight > node.clientHeight ? 0 : -1;
    }
    function compared() {
      const { facts, untouched, own, alive } = state;
      const same = facts.written.length ? "the same choice of tokens and " : "";
      if (!Object.keys(facts.scales).length) {
        const how = alive ? " To switch a part off, open it." : "";
        if (!facts.written.length) return [`Nothing is switched off.${how}`];
        if (own) return ["The model's own choice: ", tag("i", own.translation)];
        return ["Not all of its tokens are the model's own choice."];
      }
      if (!untouched || untouched === facts) {
        const how = { "data-key": "compare", onclick: () => run(facts) };
        const button = tag("button", how, "Compare with nothing switched off");
        return ["Something is switched off or scaled. ", ...alive ? [button] : []];
      }
      if (untouched.translation === facts.translation)
        return [`The same as with ${same}nothing switched off.`];
      return [`With ${same}nothing switched off: `, tag("i", untouched.translation)];
    }
    return { node, show };
  }
  function makeFactorRow(state, { scale }) {
    const node = tag("div.journey-factor", { role: "group", "aria-label": "Factor" });
    const focused = () => node.getRootNode().activeElement;
    function show() {
      const { place, facts } = state;
      const parts = parsePlace(place);
      const fixed = !state.alive || isOffWith(facts.scales, parts);
      mark(node, { "journey-none": !parts.kind });
      if (!parts.kind) return;
      if (node.contains(focused())) return markFactor();
      const set = (factor) => scale(state.place, Number(factor));
      node.replaceChildren(
        tag("span", parts.head === null ? "This sub-layer counts" : "This head counts"),
        ...FACTORS.map((f) => {
          const name = f === 0 ? "0 (off)" : `× ${write(f)}`;
          return tag("button", { "data-factor": f, onclick: () => set(f) }, name);
        }),
        tag("input", {
          type: "range",
          min: 0,
          max: 2,
          step: 0.05,
          "aria-label": "Factor",
          oninput: (event) => set(event.target.value)
        }),
        tag("output")
      );
      markFactor();
      function markFactor() {
        const factor = facts.scales[place] ?? 1;
        const slider = node.querySelector("input");
        for (const button of node.querySelectorAll("button")) {
          button.setAttribute("aria-pressed", Number(button.dataset.factor) === factor);
          button.disabled = fixed;
        }
        slider.disabled = fixed;
        if (slider !== focused()) slider.value = factor;
        node.querySelector("output").textContent = `× ${two(factor)}`;
      }
    }
    return { node, show };
  }

  // tutor/views/journey_head.js
  function askForHeads(state, place) {
    const { sub } = parsePlace(place);
    return Promise.all(["Q", "K", "V", "E", "A", "Y"].map((name) => state.numbers(`${sub}.${name}`)));
  }
  var reachOf = (X, m) => Math.max(...range(X.shape[1]).map((r) => reach(rowOf(X, m, r))));
  async function loadHead(state, place) {
    const { side, kind, head, sub } = parsePlace(place);
    const at = positionOf(state, place);
    const [Q, K, V, E, A, Y] = await askForHeads(state, place);
    const { facts } = state;
    const keys = side === "decoder" && kind === "self" ? facts.read : facts.source;
    return {
      ...{ place, sub, side, kind, head, at, keys },
      asks: tokenOf(state, place),
      hidden: (s) => side === "decoder" && kind === "self" && s > at,
      // the future
      q: rowOf(Q, head, at),
      k: (s) => rowOf(K, head, s),
      v: (s) => rowOf(V, head, s),
      E: rowOf(E, head, at),
      A: rowOf(A, head, at),
      Y: rowOf(Y, head, at),
      largest: { K: reachOf(K, head), V: reachOf(V, head) },
      length: facts.heads[sub][head][at]
    };
  }
  var power = (x) => {
    const e = Math.exp(x);
    return e < 10 ? two(e) : e < 1e5 ? e.toFixed(e < 100 ? 1 : 0) : e.toExponential(0).replace("+", "");
  };
  function drawHead(one, act, at) {
    const { q, E, A, Y, keys, asks, hidden, largest } = one;
    const cell = (what, ...children) => tag(`span${what}`, ...children);
    const products = keys.map((_, s) => one.k(s).map((x, i) => x * q[i]));
    const most = reach(products.map(reach));
    const place = (row, y) => at && row.style.setProperty("top", `${y}px`);
    const rows = keys.map((token, s) => {
      const off = hidden(s);
      const open = (kind) => () => act.number({ kind, s });
      const score = makeStop(
        `number:E:${s}`,
        `${two(E[s])}: score of ${asks} for ${token}${off ? ", hidden: not read yet" : ""}. Open`,
        open("E"),
        { class: "journey-score", "data-at": "weigh" },
        two(E[s])
      );
      const said = off ? "hidden" : two(A[s]);
      const weight = makeStop(
        `number:A:${s}`,
        `${said}: weight of ${token}${off ? ", not read yet" : ""}. Open`,
        open("A"),
        { class: "journey-weight", "data-at": "weigh" },
        makeMeter(A[s]),
        cell(".journey-number", said)
      );
      const row = tag(
        "div.journey-key-row",
        cell(".journey-token", token),
        tag("span", { "data-at": "weigh" }, makeStrip(one.k(s), largest.K, 22)),
        tag("span.journey-products", { "data-at": "weigh" }, makeStrip(products[s], most, 22)),
        score,
        tag("span.journey-power", { "data-at": "weigh" }, off ? "0" : power(E[s])),
        weight,
        tag("span", { "data-at": "mix" }, makeStrip(one.v(s), largest.V, 22))
      );
      row.children[0].title = token;
      mark(row, { "journey-future": off });
      row.style.setProperty("--weight", A[s].toFixed(3));
      if (at) place(row, at.keys + at.pitch * s);
      return row;
    });
    const mix = makeStop(
      "number:Y:0",
      `mix of the values: ${Y.length} numbers. Open`,
      () => act.number({ kind: "Y", s: 0 }),
      { class: "journey-mix", "data-at": "mix" },
      makeStrip(Y, reach(Y), 24),
      cell("", "mix")
    );
    const sum = E.reduce((all2, x, s) => all2 + (hidden(s) ? 0 : Math.exp(x)), 0);
    const query = tag(
      "div.journey-key-row.journey-query",
      cell(".journey-token", asks),
      tag("span.journey-q", { "data-at": "ask" }, makeStrip(q, reach(q), 24), `q of ${asks}`),
      cell(".journey-products"),
      cell(".journey-right", "sum"),
      tag("span.journey-power", { "data-at": "weigh" }, power(Math.log(sum))),
      cell(".journey-number", two(1)),
      mix
    );
    const titles = ["key", "K", "q × K", "q·K/√d", "e^score", "weight", "V"];
    const names = tag("div.journey-key-row.journey-names", ...titles.map((name) => cell("", name)));
    const whose = one.kind === "cross" ? "of the source, out of the memory" : "of these rows";
    names.children[1].title = `the keys ${whose}`;
    names.children[0].className = "journey-token";
    names.children[2].className = "journey-products";
    names.children[5].title = "softmax: e^score, divided by the sum of all";
    names.children[6].title = `the values ${whose}`;
    if (at) {
      place(names, at.keys - 18);
      place(query, at.query - 14);
    }
    const node = tag(
      `div.journey-inside.journey-${one.side}.journey-is-${one.kind}`,
      names,
      tag("div.journey-keys", ...rows),
      query
    );
    mark(node, { "journey-placed": at });
    if (at) {
      node.style.setProperty("--columns", at.columns.map((w) => `${w}px`).join(" "));
      mark(node, { "journey-full": at.columns.length === 6 });
    }
    return node;
  }
  function explainScore(one, { s }, act) {
    const { q, E, keys, asks } = one;
    const k = one.k(s);
    const products = q.map((x, i) => x * k[i]);
    const sums = [...products];
    for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1];
    const most = Math.max(reach(q), reach(k));
    const hidden = one.hidden(s) ? ", hidden by the mask" : "";
    return {
      rows: [
        [`q of ${asks}`, q, most],
        [`k of ${keys[s]}`, k, most, "theirs"],
        ["q × k", products, reach(products)]
      ],
      says: (i) => `feature ${i}: ${two(q[i])} × ${two(k[i])} = ${two(products[i])}; sum so far ${two(sums[i])}`,
      formula: `q · k / √d_k = ${two(sums.at(-1))} / √${q.length} = ${two(E[s])}${hidden}`,
      why: `q and k come from what this sub-layer reads${one.kind === "cross" ? " (k: from the memory)" : ""}, times W_Q and W_K.`,
      where: "The sub-layer",
      go: () => act.open(one.sub),
      first: 0
    };
  }
  function explainWeight(one, { s }, act) {
    const { E, A, keys } = one;
    const top = Math.max(...E.filter((_, j) => !one.hidden(j)));
    const e = E.map((x, j) => one.hidden(j) ? 0 : Math.exp(x - top));
    const sum = e.reduce((a, b) => a + b, 0);
    const seen = E.map((x, j) => one.hidden(j) ? 0 : x);
    const share = (j) => `${two(e[j])} / ${two(sum)} = ${two(A[j])}`;
    const unread = "not read yet, so its weight is 0.00";
    return {
      rows: [
        ["score", seen, reach(seen)],
        ["e^(score − largest)", e, 1],
        ["weight", A, 1]
      ],
      says: (j) => one.hidden(j) ? `${keys[j]}: ${unread}` : `${keys[j]}: e^(${two(E[j])} − ${two(top)}) = ${two(e[j])}; ${share(j)}`,
      formula: one.hidden(s) ? `${keys[s]} is hidden: ${unread}` : `softmax: ${share(s)}`,
      why: "The weights come from the scores.",
      where: "This score",
      go: () => act.number({ kind: "E", s }),
      first: s,
      hatched: one.hidden
    };
  }
  function explainMix(one, { feature = 0 }, act) {
    const { A, Y, keys } = one;
    const column = Float32Array.from(keys, (_, j) => one.v(j)[feature]);
    const products = column.map((x, j) => A[j] * x);
    const most = reach(column);
    return {
      rows: [
        ["weight", A, 1],
        [`feature ${feature} of V`, column, most, "theirs"],
        ["weight × V", products, most]
      ],
      says: (j) => `${keys[j]}: ${two(A[j])} × ${two(column[j])} = ${two(products[j])}`,
      formula: `feature ${feature} of the mix: Σ weight × V = ${two(Y[feature])}`,
      why: `All ${Y.length} features of the mix, times this head's rows of W_O, give the vector that it adds.`,
      where: "The head",
      go: () => act.open(one.place),
      first: A.indexOf(Math.max(...A))
    };
  }
  function drawNumber(one, number, act) {
    const { kind, feature = 0 } = number;
    const explain = { E: explainScore, A: explainWeight, Y: explainMix }[kind];
    const { rows, says, formula, why, where, go, first, hatched } = explain(one, number, act);
    const count = rows[0][1].length;
    const readout = makeLive("p.journey-note");
    const tell = (i) => () => {
      readout.textContent = `${says(i)}.`;
      slots.forEach((slot, j) => mark(slot, { "journey-now": i === j }));
    };
    const slots = range(count).map(
      (i) => makeStop(`slot:${i}`, says(i), tell(i), {
        class: hatched?.(i) ? "journey-slot journey-hatched" : "journey-slot",
        onfocus: tell(i),
        // A bar that comes to lie under a pointer at rest is not pointed at.
        onpointermove: (event) => (event.movementX || event.movementY) && tell(i)()
      })
    );
    tell(first)();
    const all2 = one.Y.length;
    const step = (by) => () => act.number({ ...number, feature: (feature + by + all2) % all2 });
    const small = { class: "journey-small" };
    const pages = tag(
      "p",
      makeStop("feature:back", "feature before", step(-1), small, "◂"),
      tag("span", ` feature ${feature} of ${all2} `),
      makeStop("feature:forth", "feature after", step(1), small, "▸")
    );
    const strips = rows.flatMap(([name, numbers, most, whose]) => [
      tag("span", name, tag("small", `scale: ${two(most)}`)),
      // Those that come from the memory have its colour.
      tag(whose && one.kind === "cross" ? "div.journey-theirs" : "div", makeStrip(numbers, most, 56))
    ]);
    const style = `--count: ${count}`;
    return tag(
      `div.journey-sum.journey-${one.side}`,
      tag("p.journey-formula", formula),
      tag(
        "div.journey-scroll",
        tag("div.journey-strips", { style }, ...strips, tag("div.journey-slots", ...slots))
      ),
      readout,
      ...kind === "Y" ? [pages] : [],
      tag(
        "p.journey-from",
        `Where from: ${why} `,
        makeStop("from", `Go to: ${where}`, go, small, where)
      )
    );
  }
  async function drawHidden(state, sub) {
    const at = positionOf(state, sub);
    const { shape, data } = await state.numbers(`${sub}.hidden`);
    const row = data.subarray(at * shape[1], (at + 1) * shape[1]);
    const best = row.indexOf(Math.max(...row));
    return tag(
      "div",
      { class: `journey-hidden journey-${sub.split(".")[0]}` },
      tag(
        "p",
        `The ${shape[1]} units in the middle, after ReLU: ${row.filter((x) => x > 0).length} are above 0; the largest is unit ${best} with ${two(row[best])}.`
      ),
      makeStrip(row, row[best], 48, true)
    );
  }

  // tutor/views/journey_look.js
  var [FALL, FULL] = [56, 16];
  function makeLook(state) {
    const lines = tag("svg.journey-lines", { "aria-hidden": "true" });
    const source = tag("div.journey-asked");
    const read = tag("span.journey-chip.journey-decoder");
    const written = tag("b.journey-decoder");
    const words = tag(
      "p.journey-key",
      "The wider a line, the more the model looks there before it writes the next piece. An underscore is a space; [BOS] and [EOS] are start and end."
    );
    const wrote = tag("div.journey-wrote", read, " → ", written);
    const picture = tag("div.journey-seen", { role: "img" }, lines, source, wrote);
    const node = tag("div.journey-look", picture, words);
    async function show() {
      const { facts, step } = state;
      const A = await state.numbers(`decoder.${facts.config.layers - 1}.cross.A`);
      if (facts !== state.facts || step !== state.step) return;
      const [heads, T, S] = A.shape;
      const at = (s) => range(heads).map((m) => A.data[(m * T + step) * S + s]);
      const shares = facts.source.map((_, s) => at(s).reduce((a, b) => a + b) / heads);
      source.replaceChildren(
        ...facts.source.map((token) => tag("span.journey-chip.journey-encoder", token))
      );
      read.textContent = facts.read[step];
      written.textContent = facts.target[step];
      const most = range(S).sort((a, b) => shares[b] - shares[a]).slice(0, 2);
      const said = most.map((s) => `${facts.source[s]} ${two(shares[s])}`).join(", ");
      picture.setAttribute("aria-label", `At ${facts.read[step]} it looks most at ${said}.`);
      const from = picture.getBoundingClientRect();
      const to = read.getBoundingClientRect();
      const [x, y] = [to.left - from.left + to.width / 2, to.top - from.top];
      const path = (chip, s) => {
        const box = chip.getBoundingClientRect();
        const [left, top] = [box.left - from.left + box.width / 2, box.bottom - from.top];
        const middle = y - FALL / 2;
        return tag("path.journey-encoder", {
          d: `M${left} ${top}C${left} ${middle} ${x} ${middle} ${x} ${y}`,
          "stroke-width": (shares[s] * FULL).toFixed(2),
          opacity: 0.55
        });
      };
      lines.replaceChildren(...[...source.children].map(path));
    }
    return { node, show };
  }

  // tutor/views/journey_next.js
  var SHOWN = 8;
  function makeNext(state, { choose, drawn, tell, shown }) {
    const sliders = [
      makeSlider("temperature", 0.1, 3, 0.1, 1, two),
      makeSlider("top-k", 1, 51, 1, 51, (k) => k > 50 ? "all" : String(k)),
      makeSlider("top-p", 0.05, 1, 0.05, 1, two)
    ];
    const [temperature, topK, topP] = sliders.map(
      ({ input }) => () => Number(input.value)
    );
    const title = tag("p.journey-heading", "Next token");
    const makeCells = (name = "") => [
      tag("span.journey-token", name),
      tag("span.journey-meter.journey-wide"),
      " ",
      // between the words, for who hears them
      tag("span.journey-number")
    ];
    const rows = range(SHOWN).map((i) => {
      const act = () => choose(Number(rows[i].dataset.id));
      return makeStop("", "", act, { disabled: !state.alive }, ...makeCells());
    });
    const list = tag("div.journey-candidates", { role: "group" }, ...rows);
    const others = tag("div.journey-others", { "aria-hidden": "true" }, ...makeCells("all others"));
    const readout = makeLive("p.journey-shaped");
    const disabled = !state.alive;
    const draw = tag("button", { onclick: drawToken, disabled }, "Draw a token");
    const plain = tag("button", { onclick: reset }, "Reset");
    const node = tag(
      "section.journey-next",
      { "aria-label": "Next token" },
      title,
      list,
      others,
      tag("p.journey-key.journey-touched", "outline: nothing switched off"),
      ...sliders.map((slider) => slider.node),
      readout,
      tag("p.journey-buttons", draw, plain)
    );
    let logits = null;
    let logitsOf = null;
    let shaped = null;
    function makeSlider(name, min, max, step, value, says) {
      const input = tag("input", { type: "range", min, max, step, value, oninput: show });
      const output = tag("output", says(value));
      const node2 = tag("label.journey-slider", tag("span", name), input, output);
      const tell2 = () => output.textContent = says(Number(input.value));
      return { node: node2, input, value, tell: tell2 };
    }
    function reset() {
      for (const { input, value } of sliders) input.value = value;
      show();
    }
    const untouchedSliders = () => sliders.every(({ input, value }) => Number(input.value) === value);
    function wantLogits() {
      const [facts, step] = [state.facts, state.step];
      if (logitsOf?.facts === facts && logitsOf.step === step) return;
      logitsOf = { facts, step };
      logits = null;
      state.numbers(`logits.${step}`).then(({ data }) => {
        if (logitsOf.facts !== facts || logitsOf.step !== step) return;
        logits = data;
        show();
      }, tell);
    }
    function shape() {
      const order = [...logits.keys()].slice(3).sort((a, b) => logits[b] - logits[a]);
      const kept = topK() > 50 ? order : order.slice(0, topK());
      const e = kept.map((id) => Math.exp((logits[id] - logits[kept[0]]) / temperature()));
      const sum = e.reduce((a, b) => a + b, 0);
      const found = /* @__PURE__ */ new Map();
      let [before, left] = [0, 0];
      kept.forEach((id, i) => {
        if (before < topP()) {
          found.set(id, e[i] / sum);
          left += e[i] / sum;
        }
        before += e[i] / sum;
      });
      for (const [id, share] of found) found.set(id, share / left);
      return found;
    }
    function show() {
      for (const slider of sliders) slider.tell();
      const { facts, step } = state;
      const top = facts.top[step];
      const chance = (logit) => Math.exp(logit - facts.log_sum_exp[step]);
      shaped = null;
      if (!untouchedSliders()) {
        wantLogits();
        if (logits) shaped = shape();
      }
      const before = !shaped && state.comparable() ? state.untouched : null;
      const then = new Map(
        before?.top[step].map(([, id, z]) => [id, Math.exp(z - before.log_sum_exp[step])])
      );
      const shareOf = (id, z) => shaped ? shaped.get(id) ?? 0 : chance(z);
      const shares = top.slice(0, SHOWN).map(([token, id, z]) => ({ token, id, share: shareOf(id, z) }));
      const wrote = facts.target_ids[step];
      if (!shares.some(({ id }) => id === wrote)) {
        const there = top.find(([, id]) => id === wrote);
        if (!there) wantLogits();
        const z = there?.[2] ?? logits?.[wrote] ?? -Infinity;
        const written = { token: facts.target[step], id: wrote, share: shareOf(wrote, z) };
        shares.splice(SHOWN - 1, 1, written);
      }
      list.setAttribute("aria-label", `Next token after ${facts.read[step]}`);
      rows.forEach((node2, i) => {
        const one = shares[i];
        mark(node2, { "journey-none": !one });
        if (!one) return;
        const [name, meter2, number2] = node2.children;
        const out = shaped && !shaped.has(one.id);
        const was = then.get(one.id);
        const chosen = one.id === wrote;
        node2.dataset.id = one.id;
        node2.dataset.key = `next:${i}`;
        name.textContent = one.token;
        name.title = one.token;
        mark(node2, { "journey-out": out, "journey-chosen": chosen });
        meter2.style.setProperty("--share", one.share.toFixed(4));
        meter2.style.setProperty("--was", (was ?? 0).toFixed(4));
        mark(meter2, { "journey-had": was !== void 0 });
        number2.textContent = out ? "out" : asShare(one.share);
        const changed = was === void 0 ? "" : `, with nothing switched off ${asShare(was)}`;
        const enter = state.alive ? ", Enter writes it instead" : "";
        node2.ariaLabel = `${one.token}: ${out ? "left out" : asShare(one.share)}${changed}` + (chosen ? ", written" : enter);
      });
      mark(node, { "journey-compared": before });
      const restShare = Math.max(0, 1 - shares.reduce((a, { share }) => a + share, 0));
      const restSaid = asShare(restShare < 5e-7 ? 0 : restShare);
      const [, meter, number] = others.children;
      meter.style.setProperty("--share", restShare.toFixed(4));
      number.textContent = restSaid;
      const unseen = shaped ? shaped.size - shares.filter(({ id }) => shaped.has(id)).length : facts.config.vocab_size - shares.length;
      const all2 = facts.config.vocab_size - 3;
      const left = `${shaped?.size} of ${all2} tokens left (never [PAD], [UNK], [BOS]). `;
      const unseenSaid = `The other ${unseen} tokens share ${restSaid}.`;
      const rest = (shaped ? left : "") + (unseen ? unseenSaid : "");
      if (readout.textContent !== rest) readout.textContent = rest;
      shown();
    }
    function drawToken() {
      const { step } = state;
      wantLogits();
      state.numbers(`logits.${step}`).then(({ data }) => {
        logits = data;
        let left = Math.random();
        for (const [id, share] of shape()) {
          left -= share;
          if (left <= 0) return drawn(id);
        }
      }, tell);
    }
    const shareBySliders = () => shaped && (shaped.get(state.facts.target_ids[state.step]) ?? 0);
    return { node, show, shareBySliders };
  }

  // tutor/views/journey_river.js
  var FULL2 = 14;
  var FAINT = 0.04;
  var [TOP, GAP, FOLDED] = [70, 112, 5];
  function layOut(state, width) {
    const { facts, step } = state;
    const { layers } = facts.config;
    const [S, T] = [facts.source.length, facts.read.length];
    const shown = shownPlace(state);
    const { side, layer, kind } = parsePlace(shown);
    const wide2 = width >= 540;
    const readKeys = side === "decoder" && kind === "self";
    const pitch = S + T > 20 ? 25 : 27;
    const first = wide2 && readKeys ? 0 : Math.max(0, step + 2 - FOLDED);
    const rows = wide2 && readKeys ? T : Math.min(T, FOLDED + 1);
    const gap = TOP + S * pitch;
    const read = gap + (wide2 ? GAP : 26);
    const names = clamp(width * 0.09, 60, 86);
    const compact = width < 760;
    const [memory, fan] = wide2 ? compact ? [14, 24] : [24, 60] : [10, 8];
    const room = width - names - 6 - memory - fan;
    const fold = Math.max(24, Math.floor(room / (2 * layers)));
    const closed = {
      encoder: clamp(room * 0.05, 24, 56),
      decoder: clamp((room - 400) * 0.13, 24, 88)
    };
    const others = (closed.encoder + closed.decoder) * layers - closed[side];
    const bands = {};
    let x = names + 6;
    for (const of of ["encoder", "decoder"]) {
      for (const l of range(layers)) {
        const place = `${of}.${l}`;
        const open = wide2 && place === `${side}.${layer}`;
        const w = open ? Math.max(290, room - others) : wide2 ? closed[of] : fold;
        bands[place] = { x, w, open };
        x += w;
      }
      if (of === "encoder") x += memory;
    }
    const zone = compact ? 42 : 48;
    const beside = kind === "cross" ? zone : zone + 36;
    const fixed = compact ? [43, 42, 46] : [48, 52, 60];
    const left = Math.max(290, room - others) - 26 - beside - fixed.reduce((a, b) => a + b + 4, 8);
    const strips = left / 3 > 56 ? 3 : 2;
    const strip = left / strips;
    const bottom = read + pitch * rows + 26;
    const columns = [strip, ...strips === 3 ? [strip] : [], ...fixed, strip];
    return {
      ...{ width, wide: wide2, pitch, first, gap, shown, bands, names, memory, columns, end: x },
      source: (s) => TOP + pitch * (s + 0.5),
      read: (t) => read + pitch * (Math.max(0, t - first + (first ? 1 : 0)) + 0.5),
      bottom,
      tall: read + pitch * rows > 1e3,
      // it scrolls
      query: gap + 20,
      tabs: wide2 ? 20 : bottom + 2,
      heads: wide2 ? gap + 58 : bottom + 32,
      keys: readKeys ? read : TOP
    };
  }
  var bend = (x, y, to, down) => {
    const k = (to - x) * clamp(Math.abs(down - y) / 240, 0.55, 0.95);
    return `M${x} ${y}C${x + k} ${y} ${to - k} ${down} ${to} ${down}`;
  };
  var hasRoom = (w) => w > 40;
  var plusIn = (w) => hasRoom(w) ? w - 28 : w * 0.8;
  var flow = (d, share, name, at, hue) => tag(`path.journey-share.journey-${hue}`, {
    ...{ d, "data-line": name, "data-at": at, "stroke-width": (share * FULL2).toFixed(2) },
    opacity: share < FAINT ? 0.3 : 0.55
  });
  var rail = (d, at, hue, width = 3, opacity = 0.35) => tag(`path.journey-rail.journey-${hue}`, { d, "data-at": at, "stroke-width": width, opacity });
  function drawLines(state, at, weights, ends) {
    const { facts, step, head } = state;
    const { bands, source, read, end, names, first } = at;
    const lines = [];
    const now = read(step);
    facts.source.forEach((_, s) => {
      const chosen = s === state.source ? 0.6 : 0.3;
      lines.push(rail(`M${names} ${source(s)}H${end}`, "read", "encoder", 3, chosen));
    });
    const into = bands["decoder.0"].x;
    facts.source.forEach((_, s) => {
      const y = source(s);
      lines.push(
        tag("path.journey-arrow.journey-encoder", {
          d: `M${into - 9} ${y - 4}L${into} ${y}L${into - 9} ${y + 4}Z`,
          "data-at": "read"
        })
      );
    });
    range(step + 1).forEach((t) => {
      if (t >= first || t === 0)
        lines.push(
          rail(`M${names} ${read(t)}H${end}`, "again", "decoder", 3, t === step ? 0.9 : 0.3)
        );
    });
    for (const [layer, { x, w, open }] of Object.entries(bands)) {
      const { side } = parsePlace(layer);
      for (const kind of kindsOf(side)) {
        const sub = `${layer}.${kind}`;
        const A = weights.get(sub);
        if (!A || open) continue;
        const [, rows, keys] = A.shape;
        const off = [sub, `${sub}.head.${head}`].some((part) => facts.scales[part] === 0);
        const found = off ? [] : A.data.subarray(head * rows * keys, (head + 1) * rows * keys);
        const to = x + (side === "decoder" ? plusIn(w) : w * 0.9);
        found.forEach((share, i) => {
          const [q, k] = [Math.floor(i / keys), i % keys];
          if (share < 5e-3 || side === "decoder" && (q !== step || kind === "self" && k > step))
            return;
          const from = (kind === "self" && side === "decoder" ? read : source)(k);
          const line = flow(
            bend(x + 1, from, to, side === "encoder" ? source(q) : now),
            ...[share, `${sub}.${q}.${k}`, side === "encoder" ? "read" : "again"],
            kind === "cross" ? "encoder" : side
          );
          if (side === "encoder" && q !== state.source) line.setAttribute("opacity", "0.2");
          lines.push(line);
        });
      }
      if (side === "decoder" && !open) {
        const x0 = x + plusIn(w);
        const plus = `M${x0 - 6} ${now}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M${x0 - 3} ${now}h6M${x0} ${now - 3}v6`;
        lines.push(tag("path.journey-sign.journey-decoder", { d: plus, "data-at": "again" }));
      }
    }
    if (at.wide) lines.push(...drawOpened(state, at, weights));
    for (const { y, share, id } of ends)
      lines.push(flow(bend(end - 2, now, at.width, y), share, `next.${id}`, "choose", "decoder"));
    lines.push(...drawLoop(state, at, ends));
    return lines;
  }
  function drawLoop({ facts, step }, { read, bottom, width, end, names, tall }, ends) {
    if (step + 1 >= facts.read.length) return [];
    const written = !tall && ends.find(({ id }) => id === facts.target_ids[step]);
    const from = written ? `M${written.right} ${written.y}H${written.right + 8}` : `M${end} ${read(step)}H${width - 2}`;
    const [x, y] = [names / 2, read(step + 1) + 13];
    return [
      tag("path.journey-loop", { d: `${from}V${bottom - 8}H${x}V${y + 6}`, "data-at": "write" }),
      tag("path.journey-arrow.journey-decoder", {
        d: `M${x - 5} ${y + 9}L${x} ${y}L${x + 5} ${y + 9}Z`,
        "data-at": "write"
      })
    ];
  }
  function drawOpened(state, at, weights) {
    const { facts, head } = state;
    const { shown, bands, source, read, query, columns, gap, heads } = at;
    const { side, kind, sub } = parsePlace(shown);
    const { x } = bands[layerOf(shown)];
    const row = side === "encoder" ? source(state.source) : read(state.step);
    const [rails, plus] = [x + 14, plusOf(at)];
    if (kind === "ff") {
      const y2 = gap + (row > gap ? 96 : 6);
      return [
        rail(`M${rails} ${row}V${y2}`, "think", side, 3, 0.9),
        rail(`M${plus} ${y2}V${row}`, "think", side, 3, 0.9)
      ];
    }
    const A = weights.get(sub);
    if (!A) return [];
    const [, rows, keys] = A.shape;
    const q = positionOf(state, sub);
    const shares = A.data.subarray((head * rows + q) * keys, (head * rows + q + 1) * keys);
    const hue = kind === "cross" ? "encoder" : side;
    const y = kind === "self" && side === "decoder" ? read : source;
    const seen = range(keys).filter((k) => side === "encoder" || kind === "cross" || k <= q);
    const all2 = [row, query, ...seen.map(y)];
    const value = x + 26 + columns.reduce((a, b) => a + b + 4, 0) - 4;
    const lines = [
      rail(`M${rails} ${Math.min(...all2)}V${Math.max(...all2)}`, "ask", side, 3, 0.9),
      ...[query, ...seen.map(y)].map((to) => rail(`M${rails} ${to}h12`, "ask", side, 2, 0.9))
    ];
    for (const k of seen)
      if (shares[k] >= 5e-3)
        lines.push(
          flow(
            `M${value} ${y(k)}C${value + 34} ${y(k)} ${value + 34} ${query} ${value} ${query}`,
            ...[shares[k], `mix.${k}`, "mix", hue]
          )
        );
    const off = isOffWith(facts.scales, { sub, head }) || facts.scales[shown] === 0;
    const [own, bus] = [x + 26 + (head + 0.5) * headWidth(state, at), heads + 34];
    const middle = value - columns.at(-1) / 3;
    if (!off)
      lines.push(rail(`M${middle} ${query + 14}V${heads - 6}H${own}V${heads}`, "add", hue, 3, 0.9));
    for (const m of range(facts.config.heads)) {
      const from = x + 26 + (m + 0.5) * headWidth(state, at);
      lines.push(
        rail(`M${from} ${heads + 24}V${bus}H${plus}V${row}`, "add", hue, 2, m === head ? 0.9 : 0.35)
      );
    }
    return lines;
  }
  var layerOf = (place) => place.split(".", 2).join(".");
  var headWidth = ({ facts }, { shown, bands, wide: wide2, width }) => {
    return (wide2 ? bands[layerOf(shown)].w - 76 : width - 4) / facts.config.heads;
  };
  var plusOf = ({ shown, bands }) => {
    const { x, w } = bands[layerOf(shown)];
    return x + w - (parsePlace(shown).kind === "cross" ? 50 : 46);
  };
  function makeRiver(state, { open, chooseSource, goTo, ends }) {
    const lines = tag("svg.journey-lines", { "aria-hidden": "true" });
    const inside = tag("div.journey-in-place");
    const area = tag(
      "div.journey-stage",
      { role: "group", "aria-label": "Whole model" },
      lines,
      inside
    );
    const node = tag("div.journey-river", area);
    const refresh = roam(area);
    const stops = /* @__PURE__ */ new Map();
    function show(weights = /* @__PURE__ */ new Map()) {
      const at = layOut(state, Math.max(300, node.clientWidth));
      const drawn = /* @__PURE__ */ new Set();
      function put(key, [x2, y, w2, h], name, says, text, { act = null, lit = null, has = {} } = {}) {
        const stop = stops.get(key) ?? (act ? makeStop(key, says, act, {}) : tag("span"));
        stops.set(key, stop);
        drawn.add(key);
        stop.className = `journey-${act ? "stop" : "text"} ${name}`;
        mark(stop, has);
        if (act) stop.ariaLabel = says;
        stop.title = says;
        if (lit) stop.dataset.at = lit;
        stop.style.cssText = `left: ${x2}px; top: ${y}px; width: ${w2}px; height: ${h}px`;
        if (Array.isArray(text)) stop.replaceChildren(...text);
        else if (stop.textContent !== text) stop.textContent = text;
        if (!stop.isConnected) area.append(stop);
        return stop;
      }
      putBands(put, at);
      putParts(put, at);
      putTokens(put, at);
      for (const [key, stop] of stops) {
        if (drawn.has(key)) continue;
        stop.remove();
        stops.delete(key);
      }
      area.style.cssText = `width: ${at.end}px; height: ${at.bottom + (at.wide ? 0 : 62)}px`;
      mark(node, { "journey-scrolls": at.tall });
      lines.setAttribute("width", at.width);
      lines.setAttribute("height", at.bottom);
      lines.replaceChildren(...drawLines(state, at, weights, at.wide ? ends(area) : []));
      const { x, w } = at.bands[layerOf(at.shown)];
      inside.style.cssText = `left: ${x}px; width: ${w}px`;
      refresh();
      return at;
    }
    function putBands(put, at) {
      for (const side of ["encoder", "decoder"]) {
        const name = side === "encoder" ? "Encoder" : "Decoder";
        put(side, [at.bands[`${side}.0`].x, 0, 76, 18], `journey-side journey-${side}`, "", name);
      }
      const before = at.bands["decoder.0"].x - 86;
      const made = "what the encoder made of the source";
      if (at.wide)
        put("memory", [before, at.gap, 86, 18], "journey-side journey-encoder", made, "memory →");
      for (const [layer, { x, w, open: wide2 }] of Object.entries(at.bands)) {
        const { side, layer: l } = parsePlace(layer);
        const all2 = [x + 1, 18, w - 2, at.bottom - 44];
        const has = { "journey-open": layerOf(at.shown) === layer };
        put(`band:${layer}`, all2, `journey-band journey-${side}`, "", "", { has });
        const title = wide2 || w > 50 ? `layer ${l}` : l;
        const box = wide2 ? [x + 4, 20, 56, 26] : all2;
        const how = { act: () => open(layer), has: { "journey-open": wide2 } };
        put(layer, box, `journey-layer journey-${side}`, `${side} layer ${l}: open`, title, how);
        if (wide2 || !hasRoom(w) || side === "encoder") continue;
        const sign = [x + w - 20, at.read(state.step) - 9, 18, 18];
        put(`ff:${layer}`, sign, `journey-ff journey-${side}`, "feed-forward", "FF", {
          lit: "think"
        });
      }
    }
    function putTokens(put, at) {
      const { facts, step } = state;
      const place = (y) => [0, y - 12, at.names, 24];
      facts.source.forEach((token, s) => {
        const act = () => chooseSource(s);
        const how = { act, lit: "read", has: { "journey-now": s === state.source } };
        const says = `source token ${s + 1}: ${token}`;
        const name2 = "journey-chip journey-encoder";
        const chip = put(`source:${s}`, place(at.source(s)), name2, says, token, how);
        chip.onfocus = act;
        chip.setAttribute("aria-pressed", s === state.source);
      });
      const name = "journey-chip journey-decoder";
      facts.read.forEach((token, t) => {
        if (t < at.first || t > step + 1 && at.keys === TOP) return;
        const lit = t === step + 1 ? "write" : t === step ? "ask" : "again";
        const has = { "journey-now": t === step, "journey-later": t > step };
        const says = `${token}: read as token ${t + 1}`;
        put(`read:${t}`, place(at.read(t)), name, says, token, { act: () => goTo(t), lit, has });
      });
      const earlier = `${at.first} tokens before these`;
      if (at.first) put("earlier", place(at.read(0)), name, earlier, `${at.first} before`);
    }
    function putParts(put, at) {
      const { facts, step, source, head } = state;
      const { side, sub, kind } = parsePlace(at.shown);
      const layer = layerOf(at.shown);
      const { x, w } = at.wide ? at.bands[layer] : { x: -60, w: at.width + 56 };
      const factorOf = (place) => facts.scales[place] ?? 1;
      const putPart = (place, box, name2, words, length, factor, says, how) => {
        const number = factor === 0 ? "off" : length.toFixed(length < 100 && box[2] > 58 ? 1 : 0);
        const label = `${words}${number}: ${namePlace(place)}${says} ${two(length)}${sayFactor(factor)}`;
        const text = [words, tag("span.journey-number", number)];
        const has = { ...how, "journey-off": factor === 0 };
        put(place, box, name2, label, text, {
          act: () => open(place),
          has,
          lit: name2 === "journey-tab" ? null : "add"
        });
      };
      const kinds = kindsOf(side);
      kinds.forEach((one, i) => {
        const [place, wide3] = [`${layer}.${one}`, (w - 66) / kinds.length];
        const has = { "journey-now": one === kind, "journey-scaled": factorOf(place) !== 1 };
        const adds = facts.lengths[place].adds[positionOf(state, place)];
        const says = `, adds to ${tokenOf(state, place)} a vector of length`;
        const box = [x + 62 + i * wide3, at.tabs, wide3 - 2, 26];
        putPart(place, box, "journey-tab", `${SHORT[one]} `, adds, factorOf(place), says, has);
      });
      const wide2 = headWidth(state, at);
      range(kind === "ff" ? 0 : facts.config.heads).forEach((m) => {
        const part = `${sub}.head.${m}`;
        const factor = factorOf(part) * factorOf(sub);
        const scaled = factorOf(part) !== 1 || factorOf(sub) !== 1;
        const has = { "journey-now": m === head, "journey-scaled": scaled };
        const box = [at.wide ? x + 28 + m * wide2 : m * wide2 + 2, at.heads, wide2 - 4, 24];
        const length = facts.heads[sub][m][positionOf(state, sub)];
        putPart(
          part,
          box,
          "journey-head",
          wide2 > 90 ? `head ${m} ` : `${m}: `,
          length,
          factor,
          ", length",
          has
        );
      });
      if (!at.wide) return;
      const y = side === "decoder" ? at.read(step) : at.source(source);
      const plus = [plusOf(at) - 12, y - 12, 24, 24];
      const ff = [x + w - 31, y - 13, 27, 26];
      const added = `+: what is added to the stream of ${tokenOf(state, layer)}`;
      const name = `journey-ff journey-${side}`;
      put(`plus:${layer}`, plus, `${name} journey-plus`, added, "+", {
        act: () => open(layer),
        lit: "add"
      });
      const act = () => open(`${layer}.ff`);
      put(`unit:${layer}`, ff, name, "FF: feed-forward", "FF", { act, lit: "think" });
    }
    return { node, inside, show };
  }

  // tutor/views/journey_source.js
  var SILENCE = 15e3;
  var NO_ANSWER = "The kernel does not answer: run the cell again.";
  var NEEDS_KERNEL = "This needs the kernel: open the notebook and run the cell.";
  function makeSource(model) {
    if (model.translator) return pageSource(model);
    return model.send ? kernelSource(model) : savedSource(model);
  }
  function kernelSource(model) {
    const open = /* @__PURE__ */ new Map();
    const [me, count] = [Math.random().toString(36).slice(2), { asked: 0 }];
    function ask(question) {
      const name = `${me} ${count.asked += 1}`;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => settle(name).reject(new Error(NO_ANSWER)), SILENCE);
        open.set(name, { resolve, reject, timer });
        try {
          model.send({ ask: name, ...question });
        } catch {
          settle(name).reject(new Error(NO_ANSWER));
        }
      });
    }
    function settle(name) {
      const one = open.get(name);
      open.delete(name);
      clearTimeout(one.timer);
      return one;
    }
    function hear(content, buffers) {
      if (!open.has(content.answer)) return;
      const { resolve, reject } = settle(content.answer);
      if (content.error) reject(new Error(content.error));
      else resolve({ ...content, buffers });
    }
    let batch = null;
    function numbers(name) {
      const [index, buffer] = [model.get("_index"), model.get("_buffer")];
      if (name in index) return savedSource(model, index, buffer).numbers(name);
      if (!batch) {
        const names = [];
        const answer = Promise.resolve().then(() => {
          batch = null;
          return ask({ numbers: names });
        });
        batch = { names, answer };
      }
      const i = batch.names.push(name) - 1;
      return batch.answer.then(({ shapes, buffers }) => ({
        shape: shapes[i],
        data: floats(buffers[i])
      }));
    }
    model.on("msg:custom", hear);
    return {
      alive: true,
      begin: async (text, { written = [], scales = {} } = {}) => (await ask({ begin: { text, written, scales } })).facts,
      numbers,
      tokens: async (ids) => (await ask({ tokens: ids })).tokens,
      close: () => model.off("msg:custom", hear)
    };
  }
  function firstTouch() {
    return new Promise((resolve) => {
      const look = ({ target }) => target.closest?.(".tutor-view") && resolve();
      for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, look, true);
    });
  }
  function pageSource(model) {
    const { translator } = model;
    const { text, written, scales } = model.get("facts");
    const saved = savedSource(model);
    const touched = firstTouch();
    let run = null;
    function begin(text2, choices) {
      const [before, next] = [run, translator.begin(text2, choices)];
      run = next;
      next.catch(() => run = before);
      return next;
    }
    return {
      alive: true,
      get ready() {
        return translator.ready;
      },
      begin,
      async numbers(name) {
        if (!run && name in model.get("index")) return saved.numbers(name);
        await touched;
        await (run ?? begin(text, { written, scales }));
        return translator.numbers(name);
      },
      tokens: (ids) => translator.tokens(ids),
      close: () => translator.close()
    };
  }
  function wide(view) {
    const packed = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const bytes = new Uint8Array(packed.length / 3 * 4);
    packed.forEach((byte, i) => bytes[i + Math.floor(i / 3) + 1] = byte);
    return new Float32Array(bytes.buffer);
  }
  function savedSource(model, index = model.get("index"), buffer = model.get("buffer")) {
    const [facts, all2] = [model.get("facts"), wide(buffer)];
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    return {
      alive: false,
      async begin(text, { written = [], scales = {} } = {}) {
        const asSaved = same(written, facts.written) && same(scales, facts.scales);
        if (text !== facts.text || !asSaved) throw new Error(NEEDS_KERNEL);
        return facts;
      },
      async numbers(name) {
        if (!(name in index)) throw new Error(`There are no numbers called "${name}".`);
        const [start, ...shape] = index[name];
        const size = shape.reduce((a, b) => a * b, 1);
        return { shape, data: all2.subarray(start, start + size) };
      },
      async tokens(ids) {
        const known = new Map(facts.top.flatMap((step) => step.map(([token, id]) => [id, token])));
        facts.target_ids.forEach((id, t) => known.set(id, facts.target[t]));
        facts.source_ids.forEach((id, s) => known.set(id, facts.source[s]));
        if (!ids.every((id) => known.has(id))) throw new Error(NEEDS_KERNEL);
        return ids.map((id) => known.get(id));
      },
      close() {
      }
    };
  }

  // tutor/views/journey_walk.js
  var STEPS = {
    read: ({ facts }) => `The encoder reads all ${facts.source.length} source tokens. In each layer, every row takes from the others: a wide line is a large share, a thin one a small share.`,
    ask: ({ facts, step }) => `The decoder has read ${facts.read[step]}, and its stream runs to the right. In each head it asks: from the stream comes a query, q.`,
    weigh: (_, best) => `From each row comes a key, K. q times K gives a score, and softmax turns the scores into weights: e^score, divided by the sum of all.${best}`,
    mix: () => "From each row comes a value, V, too. The values, each times its weight, make the mix.",
    add: ({ facts, head }) => `Each of the ${facts.config.heads} heads makes a mix of its own (open: head ${head}). W_O turns the mixes into vectors, and + adds them to the stream.`,
    think: () => "FF is the feed-forward network: it reads one row alone, and adds what it makes of it.",
    again: ({ facts }) => `So it goes in each of the ${facts.config.layers} decoder layers: a look at what is written (orange lines), a look at the source (blue lines), then FF.`,
    choose: ({ facts, step }) => {
      const id = facts.target_ids[step];
      const found = facts.top[step].find(([, other]) => other === id);
      const share = found && asShare(Math.exp(found[2] - facts.log_sum_exp[step]));
      return `At the end, the stream becomes a probability for each token that might come next: ${facts.target[step]} has ${share ?? "little"}.`;
    },
    write: ({ facts, step }) => facts.target[step] === "[EOS]" ? "[EOS] is written: the translation ends." : `${facts.target[step]} is written, and then read: the next round begins.`
  };
  var NAMES = Object.keys(STEPS);
  function makeWalk(state, { go, choose, onward }) {
    const to = (n) => () => n > NAMES.length ? onward() : go(n, placeOf(n));
    const buttons = NAMES.map((name, i) => tag("button", { onclick: to(i + 1) }, `${i + 1} ${name}`));
    const back = tag("button", { onclick: () => to(state.walk - 1)() }, "Back");
    const next = tag("button.journey-onward", { onclick: () => to(state.walk + 1)() }, "Next");
    const heads = tag("div.journey-heads", { role: "group", "aria-label": "Head in all layers" });
    const says = tag("p.journey-says", { "aria-live": "polite" });
    const way = { role: "group", "aria-label": "A walk" };
    const line = tag("div.journey-way", way, ...buttons);
    const node = tag("div.journey-walk", line, tag("div.journey-paces", back, next), heads);
    function placeOf(n) {
      const { place } = state;
      const { side, layer, kind } = parsePlace(shownPlace(state));
      if (NAMES[n - 1] === "think") return `${side}.${layer}.ff`;
      return side === "decoder" && kind !== "ff" ? place : "";
    }
    function show(whole, one = null) {
      const { walk, facts, head } = state;
      const name = NAMES[walk - 1];
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === walk - 1));
      back.disabled = walk < 2;
      next.disabled = walk === NAMES.length && state.step === facts.target.length - 1;
      next.textContent = walk ? "Next" : "Walk through";
      const best = one?.A.indexOf(Math.max(...one.A));
      const words = name ? STEPS[name](state, one ? ` Here ${one.keys[best]} gets ${two(one.A[best])}.` : "") : `Lines are those of head ${head} in each layer. Open a layer, a head, FF or a number.`;
      if (says.textContent !== words) says.textContent = words;
      mark(whole, { "journey-walking": name });
      for (const part of whole.querySelectorAll("[data-at]"))
        mark(part, { "journey-lit": part.dataset.at === name });
      heads.replaceChildren(
        tag("span", "head"),
        ...range(facts.config.heads).map((m) => {
          const how = {
            "data-key": `head:${m}`,
            "aria-pressed": m === head,
            "aria-label": `head ${m}`
          };
          return tag("button", { ...how, onclick: () => choose(m) }, String(m));
        })
      );
    }
    return { node, says, show };
  }

  // tutor/views/journey_words.js
  function tellWhole({ facts, step, source: s }) {
    const { layers } = facts.config;
    return `The encoder reads the source; its ${layers} ${layers === 1 ? "layer adds" : "layers add"} to the vector of ${facts.source[s]}. The decoder reads ${facts.read[step]} and looks at the memory in each layer. The ${step === 0 ? "first" : "next"} token is ${facts.target[step]}. Open any layer.`;
  }
  function tellLayer(state, place) {
    const { lengths } = state.facts;
    const { side, layer, kind } = parsePlace(place);
    const at = positionOf(state, place);
    const told = kindsOf(side).filter((one) => one === (kind ?? one)).map((one) => {
      const { before, adds, after } = lengths[`${side}.${layer}.${one}`];
      return `${SUB_LAYERS[one]} adds ${two(adds[at])} to ${two(before[at])}, which makes ${two(after[at])}`;
    });
    return `Lengths of vectors, at ${tokenOf(state, place)}: ${told.join("; ")}. Vectors add, lengths do not.`;
  }
  function tellHead({ scales }, one, number) {
    const best = one.A.indexOf(Math.max(...one.A));
    const { kind, s } = number ?? {};
    const masked = kind === "E" && one.hidden(s) ? ` ${one.keys[s]} is not read yet: the mask hides this score, so its weight is 0.` : "";
    if (kind === "E")
      return `The score says how well the query of ${one.asks} fits the key of ${one.keys[s]}: the products of their features, summed and divided by √d_k.${masked}`;
    if (kind === "A")
      return `The weight is the share of ${one.keys[s]} in what ${one.asks} takes: softmax makes the scores positive, with sum 1.`;
    if (kind === "Y")
      return `The mix is the sum of all values, each times its weight; here one of its features.`;
    return `${one.asks} asks, and ${one.keys[best]} gets most weight (${two(one.A[best])}). The mix, through this head's rows of W_O, adds a vector of length ${two(one.length)}.` + (scales[one.sub] === 0 ? " It is off with its sub-layer." : scales[one.place] === 0 ? " This head is off." : "");
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

  // tutor/views/journey.js
  function render({ model, el }) {
    const source = makeSource(model);
    const frame = makeFrame(el, "Journey");
    frame.classList.add("tutor-journey");
    mark(frame, { "journey-bars-alone": model.get("bars") });
    let cache = /* @__PURE__ */ new Map();
    let busy = false;
    let wanted = null;
    let number = null;
    let drawn = 0;
    let weights = /* @__PURE__ */ new Map();
    let one = null;
    const state = {
      facts: model.get("facts"),
      untouched: null,
      // facts of the same sentence and choices, with nothing switched off
      own: null,
      // facts of the same sentence, with nothing switched off and no token chosen
      alive: source.alive,
      step: 0,
      source: 0,
      place: "",
      head: null,
      // whose lines are drawn in all layers; first the one that picks most clearly
      walk: 0,
      // the step of the walk, from 1
      picks: /* @__PURE__ */ new Map(),
      // step -> whose its token is: "you chose", "drawn" or, from Python, "given"
      numbers(name) {
        if (!cache.has(name)) {
          const [mine, answer] = [cache, source.numbers(name)];
          cache.set(name, answer);
          answer.catch(() => mine.delete(name));
        }
        return cache.get(name);
      },
      /** Was the same read at this step when nothing was switched off? */
      comparable() {
        const { facts, untouched, step } = state;
        if (!Object.keys(facts.scales).length || !untouched) return false;
        return facts.read.slice(0, step + 1).every((token, t) => token === untouched.read[t]);
      }
    };
    const { node: asking, input: sentence } = makeSentence(translate);
    const said = tag("p.journey-said", { role: "status" });
    const { back, forth, limit } = makeSteps(go, ["◂", "▸"]);
    back.ariaLabel = "One token back";
    forth.ariaLabel = "One token on";
    const tokens = tag("div.journey-written", { role: "group", "aria-label": "Tokens written" });
    const refreshTokens = roam(tokens);
    const reads = makeLive("p.journey-reading");
    const more = tag("span", { "aria-hidden": "true", title: "scroll: there are more" }, "↔");
    const play = makePlay(
      () => [state.step, state.facts.target.length - 1],
      (step) => assign(model, { step }),
      [back, forth]
    );
    const steps = tag("div.journey-steps", back, forth, play.node, tokens, more);
    const banner = makeBanner(state, { scale, run });
    const crumbs = tag("nav.journey-crumbs", { "aria-label": "Where you are" });
    const story = makeLive("p.journey-story");
    const factorRow = makeFactorRow(state, { scale });
    const effect = makeLive("p.journey-effect");
    const panel = tag("div.journey-inner");
    const refreshPanel = roam(panel);
    const next = makeNext(state, { choose, drawn: takeDrawn, tell, shown: showNext });
    const goTo = (step) => assign(model, { step });
    const river = makeRiver(state, { open, chooseSource, goTo, ends });
    const walk = makeWalk(state, { go: walkTo, choose: chooseHead, onward });
    const refreshNext = roam(next.node.querySelector(".journey-candidates"));
    const inPanel = [crumbs, story, factorRow.node, effect, panel];
    const opened = tag("section.journey-panel", { "aria-label": "Opened" }, ...inPanel);
    const help = makeHelp(
      model.get("bars") ? "Tab goes from part to part, and the arrow keys move within it. Enter writes a token. Square brackets, [ and ], go a token back and on." : "Tab goes from part to part, and the arrow keys move within it. Enter goes in: from the model to a layer, a head, a number. Escape or Backspace goes out. Square brackets, [ and ], go a token back and on."
    );
    next.node.dataset.at = "choose";
    const whole = tag("div.journey-whole", river.node, opened, next.node);
    const look = model.get("bars") ? makeLook(state) : null;
    const content = tag(
      "div.journey-content",
      tag("div.journey-top", asking, steps),
      tag("div.journey-told", reads, said),
      look?.node ?? "",
      walk.node,
      walk.says,
      whole,
      banner.node,
      tag(
        "p.journey-key",
        "A line is as wide as the weight, or the probability, that it stands for. Numbers beside names: the length of the vector that is added. ",
        tag("b.journey-encoder", "Blue"),
        ": from the source. ",
        tag("b.journey-decoder", "Orange"),
        ": the decoder's own. An underscore is a space, and [BOS] is what the decoder reads first."
      ),
      help
    );
    frame.append(content);
    content.addEventListener("keydown", (event) => {
      const typing = event.target.matches('input[type="text"]');
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (!typing && (event.key === "[" || event.key === "]")) {
        event.preventDefault();
        go(event.key === "[" ? -1 : 1);
      }
      const out = event.key === "Escape" || event.key === "Backspace" && !typing;
      if (!out || !state.place || typing) return;
      event.preventDefault();
      event.stopPropagation();
      goOut();
    });
    const expect = ({ target }) => {
      const place = target.closest?.(".journey-stop")?.dataset.key?.replace("panel:", "") ?? "";
      if (/^[a-z]+\.\d+\.[a-z]+\.head\./.test(place)) askForHeads(state, place).catch(() => {
      });
    };
    content.addEventListener("focusin", expect);
    content.addEventListener("pointerover", expect);
    function tell(error) {
      said.textContent = error.message ?? String(error);
      effect.textContent = said.textContent;
    }
    function translate() {
      run({ text: sentence.value, written: [], scales: state.facts.scales });
    }
    function choose(id, whose = "you chose") {
      const { facts, step } = state;
      const picks = new Map([...state.picks].filter(([t]) => t < step)).set(step, whose);
      const written = [...facts.target_ids.slice(0, step), id];
      return run({ text: facts.text, written, scales: facts.scales, picks });
    }
    async function takeDrawn(id) {
      const { step } = state;
      await choose(id, "drawn");
      if (state.step === step && state.facts.written.length === step + 1) go(1);
    }
    function scale(place, factor) {
      const { facts } = state;
      const { [place]: _, ...others } = wanted?.scales ?? facts.scales;
      const scales = factor === 1 ? others : { ...others, [place]: factor };
      run({ text: facts.text, written: facts.written, scales });
    }
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    async function run(what) {
      if (busy) {
        wanted = what;
        return;
      }
      busy = true;
      said.textContent = source.alive ? waitingFor(source) : "";
      try {
        const { text, written, scales } = what;
        if (written.length && state.own?.text !== text && source.alive) {
          state.own = await source.begin(text, { written: [], scales: {} });
        }
        const known = state.untouched?.text === text && same(state.untouched.written, written);
        if (Object.keys(scales).length && !known && source.alive) {
          state.untouched = await source.begin(text, { written, scales: {} });
        }
        const found = await source.begin(text, { written, scales });
        state.picks = what.picks ?? state.picks;
        take(found);
      } catch (error) {
        tell(error);
      }
      busy = false;
      const after = wanted;
      wanted = null;
      if (after) await run(after);
    }
    function go(by) {
      assign(model, { step: Math.min(Math.max(state.step + by, 0), state.facts.target.length - 1) });
    }
    function walkTo(step, place) {
      number = null;
      [state.walk, state.place] = [step, place];
      assign(model, { walk: step, place });
      showPanel();
    }
    function onward() {
      go(1);
      walkTo(2, state.place);
    }
    function chooseHead(m) {
      state.head = m;
      const { sub, kind } = parsePlace(shownPlace(state));
      if (kind !== "ff") move(`${sub}.head.${m}`);
      showPanel();
    }
    function chooseSource(s) {
      if (s === state.source) return;
      state.source = s;
      showPosition();
    }
    function open(place) {
      number = null;
      state.walk = 0;
      assign(model, { walk: 0 });
      move(place);
      showPanel(true);
    }
    function move(place) {
      state.place = place;
      assign(model, { place });
    }
    function openNumber(which) {
      const deeper = number === null;
      number = which;
      showPanel(deeper);
    }
    function goOut() {
      const { place } = state;
      if (number) {
        const { kind, s } = number;
        number = null;
        return showPanel(true, `number:${kind}:${s}`);
      }
      const { head } = parsePlace(place);
      const up = place.slice(0, place.lastIndexOf(head === null ? "." : ".head."));
      const to = up.includes(".") ? up : "";
      move(to);
      showPanel(true, place);
    }
    const act = { open, scale, number: openNumber };
    const focused = () => {
      const at = el.getRootNode().activeElement;
      return frame.contains(at) ? at : null;
    };
    const find = (key) => key && frame.querySelector(`[data-key="${CSS.escape(key)}"]`);
    function keepFocus(draw) {
      const at = focused();
      const key = at?.dataset.key;
      draw();
      if (key && !at.isConnected) (find(key) ?? banner.node).focus({ preventScroll: true });
    }
    function take(facts) {
      cache = /* @__PURE__ */ new Map();
      weights = /* @__PURE__ */ new Map();
      state.facts = facts;
      const nothing = !Object.keys(facts.scales).length;
      if (nothing) state.untouched = facts;
      else if (state.untouched?.text !== facts.text) state.untouched = null;
      if (nothing && !facts.written.length) state.own = facts;
      else if (state.own?.text !== facts.text) state.own = null;
      state.source = Math.min(state.source, facts.source.length - 1);
      const count = facts.written.length;
      if (count && !state.picks.has(count - 1))
        state.picks = new Map(facts.written.map((_, t) => [t, "given"]));
      else state.picks = new Map([...state.picks].filter(([t]) => t < count));
      if (number && number.s >= Math.min(facts.source.length, facts.read.length)) number = null;
      said.textContent = facts.message;
      sentence.value = facts.text;
      frame.setAttribute("aria-label", `Journey of “${facts.text}”`);
      keepFocus(() => {
        const stops = facts.target.map((token, t) => {
          const here = () => assign(model, { step: t });
          const how = { class: state.picks.has(t) ? "journey-by-reader" : "", onfocus: here };
          return makeStop(`step:${t}`, `token ${t + 1}: ${token}`, here, how, token);
        });
        tokens.replaceChildren(...stops);
        banner.show();
        showStep();
      });
    }
    function showStep() {
      const { facts } = state;
      state.step = Math.min(model.get("step"), facts.target.length - 1);
      const { step } = state;
      const list = [...tokens.children];
      list.forEach((stop, t) => {
        mark(stop, { "journey-now": t === step, "journey-later": t > step });
        stop.setAttribute("aria-current", t === step ? "step" : "false");
        stop.tabIndex = t === step ? 0 : -1;
      });
      scrollToStep();
      refreshTokens();
      limit(step, facts.target.length - 1);
      reads.replaceChildren(
        `Token ${step + 1} of ${facts.target.length}: the decoder reads `,
        tag("b", facts.read[step]),
        step ? ` after ${facts.read.slice(Math.max(0, step - 4), step).join(" ")}` : "",
        " and writes ",
        tag("b", facts.target[step]),
        "."
      );
      next.show();
      refreshNext();
      showPosition();
    }
    function scrollToStep() {
      const now = tokens.children[state.step];
      const { scrollLeft, clientWidth } = tokens;
      const left = now.offsetLeft - tokens.offsetLeft;
      if (left < scrollLeft || left + now.offsetWidth > scrollLeft + clientWidth)
        tokens.scrollLeft = left - 40;
      mark(more, { "journey-none": tokens.scrollWidth <= tokens.clientWidth + 2 });
    }
    const showPosition = () => showPanel();
    const candidates = () => [...next.node.querySelectorAll(".journey-candidates .journey-stop")];
    function ends(area) {
      const from = area.getBoundingClientRect();
      return candidates().filter((row) => !row.classList.contains("journey-none")).map((row) => {
        const { top, height, right } = row.getBoundingClientRect();
        const share = Number(row.querySelector(".journey-meter").style.getPropertyValue("--share"));
        const id = Number(row.dataset.id);
        return { id, share, y: top + height / 2 - from.top, right: right - from.left };
      });
    }
    function showNext() {
      showEffect();
      if (one) showRiver();
    }
    function showRiver() {
      const at = river.show(weights);
      walk.show(whole, one);
      return at;
    }
    async function wantWeights() {
      const { facts, step } = state;
      const names = Object.keys(facts.heads);
      const found = await Promise.all(names.map((sub) => state.numbers(`${sub}.A`)));
      if (state.facts !== facts) return;
      weights = new Map(names.map((sub, i) => [sub, found[i]]));
      if (state.head !== null) return;
      const A = weights.get(`decoder.${facts.config.layers - 1}.cross`);
      const most = range(facts.config.heads).map((m) => Math.max(...rowOf(A, m, step)));
      const clear = most.map((share) => share > 0.9 ? 1 - share : share);
      state.head = clear.indexOf(Math.max(...clear));
    }
    function showEffect() {
      const { facts, untouched, step } = state;
      if (!source.alive) {
        effect.textContent = state.place ? "Switching off needs the kernel." : "";
        return;
      }
      const id = facts.target_ids[step];
      const chance = (of) => {
        const found = of.top[step].find(([, other]) => other === id);
        return found && asShare(Math.exp(found[2] - of.log_sum_exp[step]));
      };
      const bySliders = next.shareBySliders();
      const moved = bySliders !== null;
      const moving = `${bySliders ? asShare(bySliders) : "left out"} by the sliders`;
      const now = moved ? moving : chance(facts);
      const before = !moved && state.comparable() ? chance(untouched) : null;
      const shares = [now, ...before ? [`before ${before}`] : []].filter(Boolean).join(", ");
      const says = `Now: ${facts.target[step]}${shares && ` (${shares})`} · translation: ${facts.translation || "(nothing)"}`;
      if (effect.textContent !== says) effect.textContent = says;
    }
    function showCrumbs() {
      const { place } = state;
      const { side, layer, kind, head } = parsePlace(place);
      const way = [["Whole model", ""]];
      if (place) way.push([`${side} layer ${layer}`, `${side}.${layer}`]);
      if (kind) way.push([SUB_LAYERS[kind], `${side}.${layer}.${kind}`]);
      if (head !== null) way.push([`head ${head}`, place]);
      if (number) way.push([{ E: "a score", A: "a weight", Y: "the mix" }[number.kind], null]);
      const leave = (to) => () => {
        number = null;
        move(to);
        showPanel(true, place);
      };
      const here = way.length - 1;
      crumbs.replaceChildren(
        ...way.flatMap(([name, to], i) => [
          ...i ? [tag("span", { "aria-hidden": "true" }, " › ")] : [],
          i === here ? tag("b", { "aria-current": "location" }, name) : tag("button", { "data-key": `crumb:${i}`, onclick: leave(to) }, name)
        ])
      );
    }
    async function showPanel(enter = false, key = null) {
      if (look) return look.show().catch(tell);
      const mine = drawn += 1;
      [state.place, state.walk] = [model.get("place"), model.get("walk") ?? 0];
      const { place, facts } = state;
      const { head } = parsePlace(place);
      if (head !== null) state.head = head;
      const follow = enter && focused() !== null;
      showRiver();
      showCrumbs();
      factorRow.show();
      factorRow.node.hidden = effect.hidden = !place;
      showEffect();
      try {
        await wantWeights();
        const shown = shownPlace(state);
        const found = shown.endsWith("ff") ? null : await loadHead(state, shown);
        const hidden = found ? null : await drawHidden(state, shown);
        if (mine !== drawn) return;
        one = found;
        const at = showRiver();
        const inside = found ? drawHead(found, act, at.wide ? at : null) : hidden;
        if (number || head !== null) story.textContent = tellHead(facts, one, number);
        else story.textContent = place ? tellLayer(state, place) : tellWhole(state);
        const old = focused();
        const scrolled = content.querySelector(".journey-keys")?.scrollTop ?? 0;
        river.inside.replaceChildren(...at.wide ? [inside] : []);
        const under = number ? [drawNumber(one, number, act)] : [];
        panel.replaceChildren(...at.wide ? [] : [inside], ...under);
        if (hidden) hidden.style.top = `${at.heads - 44}px`;
        const keys = content.querySelector(".journey-keys");
        if (keys) keys.scrollTop = scrolled;
        refreshPanel();
        walk.show(whole, one);
        const first = panel.querySelector(".journey-stop");
        const entered = panel.querySelector(".journey-slot.journey-now") ?? find(place);
        if (follow) (find(key) ?? entered ?? first)?.focus({ preventScroll: !number });
        else if (old && !old.isConnected)
          (find(old.dataset.key) ?? first ?? banner.node).focus({ preventScroll: true });
      } catch (error) {
        if (mine === drawn) tell(error);
      }
    }
    take(state.facts);
    if (!source.alive) {
      asking.hidden = true;
      said.textContent = SAVED;
    }
    const listening = listen(model, {
      // A run from Python: the run of the page itself is taken when it answers.
      facts: () => !busy && model.get("facts") !== state.facts && take(model.get("facts")),
      step: () => model.get("step") !== state.step && showStep(),
      place: () => model.get("place") !== state.place && showPanel(),
      walk: () => model.get("walk") !== state.walk && showPanel()
    });
    let width = 0;
    const resized = () => {
      scrollToStep();
      if (width !== frame.clientWidth) showPanel();
      width = frame.clientWidth;
    };
    return all(listening, source.close, play.rest, watchSize(frame, resized));
  }
  var journey_default = makeView(render);
  return __toCommonJS(journey_exports);
})();
