// The whole model as a map: source, encoder, memory, decoder, and the next token beside it.

/** `open(place)`: go there; `chooseSource(s)`: whose vector the encoder's boxes are about. */
function makeMap(state, { open, chooseSource }) {
  const node = element("div", { class: "journey-map", role: "group", "aria-label": "Whole model" });
  const refresh = roam(node);
  let boxes = {}; // place of a sub-layer -> { meter, number, heads }
  let tokens = [];

  function build() {
    const { facts } = state;
    const { layers, heads } = facts.config;
    node.classList.toggle("journey-tall", layers > 4);
    boxes = {};
    tokens = facts.source.map((token, s) =>
      makeStop(`source:${s}`, `source token ${s + 1}: ${token}`, () => chooseSource(s), {
        class: "journey-source",
        title: token,
        onfocus: () => chooseSource(s),
      }),
    );
    tokens.forEach((stop, s) => stop.append(facts.source[s]));
    const stack = (side) =>
      element(
        "div",
        { class: `journey-stack journey-${side}`, style: `--layers: ${layers}` },
        ...[...Array(layers).keys()].map((l) => makeLayer(side, l, heads)),
      );
    const part = (name, title, child) =>
      element("div", { class: `journey-part journey-of-${name}` }, element("p", { class: "journey-heading" }, title), child);
    node.replaceChildren(
      part("source", "Source", element("div", { class: "journey-tokens" }, ...tokens)),
      part("encoder", "Encoder", stack("encoder")),
      element(
        "div",
        { class: "journey-memory", title: "What the encoder made of all source tokens" },
        element("span", {}, "memory →"),
      ),
      part("decoder", "Decoder", stack("decoder")),
    );
    refresh();
  }

  function makeLayer(side, l, heads) {
    const place = `${side}.${l}`;
    const layer = element("div", { class: "journey-layer", "data-place": place });
    layer.append(
      makeStop(place, `${side} layer ${l}: open`, () => open(place), { class: "journey-title" },
        `layer ${l}`), // prettier-ignore
    );
    for (const kind of side === "encoder" ? ["self", "ff"] : ["self", "cross", "ff"]) {
      const sub = `${place}.${kind}`;
      const number = element("span", { class: "journey-number" });
      const meter = makeMeter(0);
      const short = kind === "ff" ? "feed-fwd" : kind;
      const title = makeStop(sub, "", () => open(sub), { class: "journey-sub" });
      title.append(element("span", {}, short), number, meter);
      const squares =
        kind === "ff"
          ? []
          : [...Array(heads).keys()].map((m) =>
              makeStop(`${sub}.head.${m}`, "", () => open(`${sub}.head.${m}`), {
                class: "journey-head",
              }),
            );
      const box = element("div", { class: `journey-box journey-is-${kind}` }, title);
      if (squares.length) box.append(element("div", { class: "journey-heads" }, ...squares));
      boxes[sub] = { box, title, number, meter, squares };
      layer.append(box);
    }
    return layer;
  }

  /** Numbers of the chosen positions; what is open and what is off. */
  function show() {
    const { facts, step, source, place } = state;
    const at = (sub) => (sub.startsWith("encoder") ? source : step);
    const longest = Math.max(
      ...Object.entries(facts.lengths).map(([sub, { adds }]) => adds[at(sub)]),
    );
    const strongest = Math.max(
      ...Object.entries(facts.heads).flatMap(([sub, heads]) => heads.map((head) => head[at(sub)])),
    );
    const list = tokens[0].parentElement;
    const scrolls = list.scrollHeight > list.clientHeight + 2 || list.scrollWidth > list.clientWidth + 2;
    list.title = scrolls ? "scroll: there are more" : "";
    list.previousSibling.textContent = scrolls ? "Source ↕" : "Source";
    tokens.forEach((stop, s) => {
      stop.classList.toggle("journey-now", s === source);
      stop.setAttribute("aria-pressed", s === source);
    });
    for (const [sub, { box, title, number, meter, squares }] of Object.entries(boxes)) {
      const adds = facts.lengths[sub].adds[at(sub)];
      const factor = facts.scales[sub] ?? 1;
      number.textContent = factor === 0 ? "off" : adds.toFixed(adds < 100 ? 1 : 0);
      meter.style.setProperty("--share", (adds / (longest || 1)).toFixed(4));
      box.classList.toggle("journey-off", factor === 0);
      box.classList.toggle("journey-scaled", factor !== 1);
      const token = sub.startsWith("encoder") ? facts.source[source] : facts.read[step];
      title.setAttribute(
        "aria-label",
        `${namePlace(sub)}: adds a vector of length ${two(adds)} to ${token}` + sayFactor(factor),
      );
      squares.forEach((square, m) => {
        const length = facts.heads[sub][m][at(sub)];
        const own = facts.scales[`${sub}.head.${m}`] ?? 1;
        const whole = own * factor; // it goes with its sub-layer
        square.style.setProperty("--share", (length / (strongest || 1)).toFixed(4));
        square.classList.toggle("journey-off", whole === 0);
        square.classList.toggle("journey-scaled", own !== 1 || factor !== 1);
        square.setAttribute(
          "aria-label",
          `${namePlace(`${sub}.head.${m}`)}: length ${two(length)}${sayFactor(whole)}`,
        );
        square.title = `head ${m}: ${whole === 0 ? "off" : two(length)}`;
        square.classList.toggle("journey-open", place === `${sub}.head.${m}`);
      });
      box.classList.toggle("journey-open", place.startsWith(sub));
    }
    for (const layer of node.querySelectorAll(".journey-layer")) {
      const here = layer.dataset.place;
      layer.classList.toggle("journey-open", `${place}.`.startsWith(`${here}.`));
    }
  }

  return { node, build, show };
}

const sayFactor = (factor) =>
  factor === 1 ? "" : factor === 0 ? ", switched off" : `, counts ${two(factor)} times`;

/** The stream of both chosen tokens, layer by layer: where it starts and how long it becomes. */
function drawLengths(state) {
  const { facts } = state;
  const most = longestOf(state);
  const line = (side, at, token) => {
    const kinds = side === "encoder" ? ["self", "ff"] : ["self", "cross", "ff"];
    const lengths = [facts.lengths[`${side}.0.self`].before[at]];
    for (let l = 0; l < facts.config.layers; l++)
      for (const kind of kinds) lengths.push(facts.lengths[`${side}.${l}.${kind}`].after[at]);
    let [up, down] = ["", ""];
    lengths.forEach((x, i) => {
      const [left, half] = [(i / (lengths.length - 1)) * 300, (x / most) * 24];
      up += `${i ? "L" : "M"}${left.toFixed(1)} ${(26 - half).toFixed(1)}`;
      down = `L${left.toFixed(1)} ${(26 + half).toFixed(1)}${down}`;
    });
    return element("div", { class: `journey-growth journey-${side}` },
      element("span", { class: "journey-token" }, token),
      element("span", { class: "journey-number" }, two(lengths[0])),
      drawing("svg", { viewBox: "0 0 300 52", preserveAspectRatio: "none", "aria-hidden": "true" },
        drawing("path", { class: "journey-stream", d: `${up}${down}Z` })),
      element("span", { class: "journey-number" }, two(lengths.at(-1)))); // prettier-ignore
  };
  return element("div", {},
    element("p", { class: "journey-key" }, "The residual stream through the layers: its thickness is the length of the vector, on one scale for all."),
    line("encoder", state.source, facts.source[state.source]),
    line("decoder", state.step, facts.read[state.step])); // prettier-ignore
}
