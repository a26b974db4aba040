// The whole model as a map: source, encoder, memory, decoder, and the next token beside it.
import { mark, range, tag } from "./common.js";
import {
  kindsOf,
  longestOf,
  makeMeter,
  makeStop,
  namePlace,
  positionOf,
  roam,
  sayFactor,
  tokenOf,
  two,
} from "./journey_parts.js";

/** `open(place)`: go there; `chooseSource(s)`: whose vector the encoder's boxes are about. */
export function makeMap(state, { open, chooseSource }) {
  const node = tag("div.journey-map", { role: "group", "aria-label": "Whole model" });
  const refresh = roam(node);
  let boxes = {}; // place of a sub-layer -> { meter, number, heads }
  let tokens = [];

  function build() {
    const { facts } = state;
    const { layers, heads } = facts.config;
    mark(node, { "journey-tall": layers > 4 });
    boxes = {};
    tokens = facts.source.map((token, s) => {
      const choose = () => chooseSource(s);
      const how = { class: "journey-source", title: token, onfocus: choose };
      return makeStop(`source:${s}`, `source token ${s + 1}: ${token}`, choose, how, token);
    });
    const stack = (side) =>
      tag(
        `div.journey-stack.journey-${side}`,
        { style: `--layers: ${layers}` },
        ...range(layers).map((l) => makeLayer(side, l, heads)),
      );
    const part = (name, title, child) =>
      tag(`div.journey-part.journey-of-${name}`, tag("p.journey-heading", title), child);
    node.replaceChildren(
      part("source", "Source", tag("div.journey-tokens", ...tokens)),
      part("encoder", "Encoder", stack("encoder")),
      tag(
        "div.journey-memory",
        { title: "What the encoder made of all source tokens" },
        tag("span", "memory →"),
      ),
      part("decoder", "Decoder", stack("decoder")),
    );
    refresh();
  }

  function makeLayer(side, l, heads) {
    const place = `${side}.${l}`;
    const goTo = (place) => () => open(place);
    const how = { class: "journey-title" };
    const title = makeStop(place, `${side} layer ${l}: open`, goTo(place), how, `layer ${l}`);
    const layer = tag("div.journey-layer", { "data-place": place }, title);
    for (const kind of kindsOf(side)) {
      const sub = `${place}.${kind}`;
      const [number, meter] = [tag("span.journey-number"), makeMeter(0)];
      const name = tag("span", kind === "ff" ? "feed-fwd" : kind);
      const title = makeStop(sub, "", goTo(sub), { class: "journey-sub" }, name, number, meter);
      const squares = range(kind === "ff" ? 0 : heads).map((m) => {
        const head = `${sub}.head.${m}`;
        return makeStop(head, "", goTo(head), { class: "journey-head" });
      });
      const box = tag(`div.journey-box.journey-is-${kind}`, title);
      if (squares.length) box.append(tag("div.journey-heads", ...squares));
      boxes[sub] = { box, title, number, meter, squares };
      layer.append(box);
    }
    return layer;
  }

  /** Numbers of the chosen positions; what is open and what is off. */
  function show() {
    const { facts, source, place } = state;
    const at = (sub) => positionOf(state, sub);
    const added = Object.entries(facts.lengths).map(([sub, { adds }]) => adds[at(sub)]);
    const strengths = Object.entries(facts.heads).flatMap(([sub, heads]) =>
      heads.map((head) => head[at(sub)]),
    );
    const [longest, strongest] = [Math.max(...added) || 1, Math.max(...strengths) || 1];
    const list = tokens[0].parentElement;
    const scrolls =
      list.scrollHeight > list.clientHeight + 2 || list.scrollWidth > list.clientWidth + 2;
    list.title = scrolls ? "scroll: there are more" : "";
    list.tabIndex = scrolls ? 0 : -1; // what scrolls can be reached with the keyboard
    list.previousSibling.textContent = scrolls ? "Source ↕" : "Source";
    tokens.forEach((stop, s) => {
      mark(stop, { "journey-now": s === source });
      stop.setAttribute("aria-pressed", s === source);
    });
    for (const [sub, { box, title, number, meter, squares }] of Object.entries(boxes)) {
      const adds = facts.lengths[sub].adds[at(sub)];
      const factor = facts.scales[sub] ?? 1;
      number.textContent = factor === 0 ? "off" : adds.toFixed(adds < 100 ? 1 : 0);
      meter.style.setProperty("--share", (adds / longest).toFixed(4));
      title.ariaLabel =
        `${namePlace(sub)}: adds a vector of length ${two(adds)} to ` +
        `${tokenOf(state, sub)}${sayFactor(factor)}`;
      squares.forEach((square, m) => {
        const head = `${sub}.head.${m}`;
        const length = facts.heads[sub][m][at(sub)];
        const own = facts.scales[head] ?? 1;
        const whole = own * factor; // it goes with its sub-layer
        square.style.setProperty("--share", (length / strongest).toFixed(4));
        square.ariaLabel = `${namePlace(head)}: length ${two(length)}${sayFactor(whole)}`;
        square.title = `head ${m}: ${whole === 0 ? "off" : two(length)}`;
        mark(square, {
          "journey-off": whole === 0,
          "journey-scaled": own !== 1 || factor !== 1,
          "journey-open": place === head,
        });
      });
      mark(box, {
        "journey-off": factor === 0,
        "journey-scaled": factor !== 1,
        "journey-open": place.startsWith(sub),
      });
    }
    for (const layer of node.querySelectorAll(".journey-layer"))
      mark(layer, { "journey-open": `${place}.`.startsWith(`${layer.dataset.place}.`) });
  }

  return { node, build, show };
}

/** The stream of both chosen tokens, layer by layer: where it starts and how long it becomes. */
export function drawLengths(state) {
  const { facts } = state;
  const most = longestOf(state);
  const line = (side) => {
    const at = positionOf(state, side);
    const lengths = [facts.lengths[`${side}.0.self`].before[at]];
    for (let l = 0; l < facts.config.layers; l++)
      for (const kind of kindsOf(side))
        lengths.push(facts.lengths[`${side}.${l}.${kind}`].after[at]);
    let [up, down] = ["", ""];
    lengths.forEach((x, i) => {
      const [left, half] = [(i / (lengths.length - 1)) * 300, (x / most) * 24];
      up += `${i ? "L" : "M"}${left.toFixed(1)} ${(26 - half).toFixed(1)}`;
      down = `L${left.toFixed(1)} ${(26 + half).toFixed(1)}${down}`;
    });
    return tag(
      `div.journey-growth.journey-${side}`,
      tag("span.journey-token", tokenOf(state, side)),
      tag("span.journey-number", two(lengths[0])),
      tag(
        "svg",
        { viewBox: "0 0 300 52", preserveAspectRatio: "none", "aria-hidden": "true" },
        tag("path.journey-stream", { d: `${up}${down}Z` }),
      ),
      tag("span.journey-number", two(lengths.at(-1))),
    );
  };
  const says =
    "The residual stream through the layers: its thickness is the length of the vector, " +
    "on one scale for all.";
  return tag("div", tag("p.journey-key", says), line("encoder"), line("decoder"));
}
