// A layer, opened: the stream as a band, and what each sub-layer adds to it.
import { mark, tag, write } from "./common.js";
import {
  isOffWith,
  kindsOf,
  longestOf,
  makeMeter,
  makeStop,
  makeStrip,
  namePlace,
  parsePlace,
  positionOf,
  SAVED,
  SUB_LAYERS,
  sayFactor,
  tokenOf,
  two,
} from "./journey_parts.js";

/** The panel of a layer. `act`: { open, scale, number }. */
export function drawLayer(state, place, act) {
  const { side, layer, kind: chosen } = parsePlace(place);
  const { facts } = state;
  const at = positionOf(state, place);
  const subs = kindsOf(side).map((kind) => `${side}.${layer}.${kind}`);
  const widest = longestOf(state);
  const strongest = Math.max(...subs.flatMap((s) => (facts.heads[s] ?? []).map((h) => h[at])), 0);
  const scale = { at, widest, strongest };
  const columns = subs.map((sub) => drawSubLayer(state, sub, chosen, scale, act));
  const { before, adds } = facts.lengths[subs[0]];
  const numbers = [before[at], adds[at], before[at] + adds[at]].map(two);
  return tag(
    "div",
    tag(`div.journey-columns.journey-${side}`, { style: `--columns: ${subs.length}` }, ...columns),
    tag(
      "p.journey-key",
      "Numbers are lengths of vectors. Vectors add, lengths do not: " +
        `${numbers[0]} and ${numbers[1]} need not make ${numbers[2]}.`,
    ),
  );
}

function drawSubLayer(state, sub, chosen, { at, widest, strongest }, act) {
  const { facts } = state;
  const { kind } = parsePlace(sub);
  const { before, adds, after } = facts.lengths[sub];
  const factor = facts.scales[sub] ?? 1;
  const open = (place) => () => act.open(place);
  const title = makeStop(
    `panel:${sub}`,
    `${SUB_LAYERS[kind]}: open`,
    open(sub),
    { class: "journey-sub" },
    tag("b", SUB_LAYERS[kind]),
    tag("span.journey-number", factor === 0 ? "off" : `adds ${two(adds[at])}`),
  );
  const heads = (facts.heads[sub] ?? []).map((lengths, m) => {
    const head = `${sub}.head.${m}`;
    const own = facts.scales[head] ?? 1;
    const length = lengths[at];
    const stop = makeStop(
      `panel:${head}`,
      `head ${m}: length ${two(length)}${sayFactor(own)}. Open`,
      open(head),
      { class: "journey-row" },
      tag("span", `head ${m}`),
      makeMeter(strongest ? length / strongest : 0),
      tag("span.journey-number", own === 0 || factor === 0 ? "off" : two(length)),
    );
    const line = tag("div.journey-line", stop, makeSwitch(head, state, act));
    mark(line, { "journey-off": own === 0 });
    return line;
  });
  const more = chosen === "ff" ? ", drawn below" : ": open to see them";
  if (kind === "ff") heads.push(tag("p", `${facts.config.d_ff} units in the middle${more}`));
  const box = tag(
    `div.journey-box.journey-is-${kind}`,
    title,
    makeSwitch(sub, state, act),
    ...heads,
  );
  mark(box, {
    "journey-off": factor === 0,
    "journey-scaled": factor !== 1,
    "journey-open": chosen === kind,
  });
  const lengths = { before: before[at], adds: adds[at], after: after[at] };
  const band = drawBand(lengths, widest, facts.config.norm_first, factor === 0);
  return tag(`div.journey-column.journey-is-${kind}`, band, box);
}

/** A part of the stream: it comes as thick as it is long; what is added flows in from below. */
function drawBand({ before, adds, after }, widest, normFirst, off) {
  const thick = (x) => Math.max(1, (x / widest) * 44);
  const [y, a, b, w] = [28, thick(before) / 2, thick(after) / 2, thick(adds)];
  const stream =
    `M0 ${y - a}H200C230 ${y - a} 230 ${y - b} 260 ${y - b}H300V${y + b}H260` +
    `C230 ${y + b} 230 ${y + a} 200 ${y + a}H0Z`;
  const turn = w / 2 + 4; // the radius of the bend, at the middle of the flow
  const flow = `M24 84V${y + turn}A${turn} ${turn} 0 0 1 ${24 + turn} ${y}H64`; // into the plus sign
  const out = `M24 ${y + a}V84`;
  return tag(
    "div.journey-band",
    tag(
      "p",
      tag("span", `stream ${two(before)}`),
      tag("span", `${normFirst ? "" : "norm "}${two(after)}`),
    ),
    tag(
      "svg",
      { viewBox: "0 0 300 84", preserveAspectRatio: "none", "aria-hidden": "true" },
      tag("path.journey-stream", { d: stream }),
      tag("path.journey-read", { d: out }),
    ),
    // A drawing of its own: it keeps its thickness where the stream is stretched.
    tag(
      "svg.journey-inflow",
      { viewBox: "0 0 64 84", "aria-hidden": "true" },
      ...(off ? [] : [tag("path.journey-flow", { d: flow, "stroke-width": w })]),
    ),
    tag("span.journey-reads", normFirst ? "LayerNorm ↓" : "reads ↓"),
    tag("span.journey-plus", normFirst ? "+" : "+ LayerNorm"),
  );
}

/** The switch of a head or a sub-layer: on, off, or by how much it counts. */
function makeSwitch(place, state, act) {
  const { scales } = state.facts;
  const through = isOffWith(scales, parsePlace(place));
  const factor = through ? 0 : (scales[place] ?? 1);
  const says = factor === 1 ? "on" : factor === 0 ? "off" : `× ${write(factor)}`;
  const why = through ? "off with its sub-layer" : state.alive ? "" : SAVED;
  const does = why || `switch ${factor === 0 ? "on" : "off"}`;
  const attributes = { title: why || "switch off or on", disabled: Boolean(why) };
  return makeStop(
    `switch:${place}`,
    `${namePlace(place)} is ${says}: ${does}`,
    () => act.scale(place, factor === 0 ? 1 : 0),
    { class: "journey-switch", "aria-pressed": factor === 0, ...attributes },
    says,
  );
}

/** The units of a feed-forward sub-layer at one position, as bars. */
export async function drawHidden(state, sub) {
  const at = positionOf(state, sub);
  const { shape, data } = await state.numbers(`${sub}.hidden`); // (S or T, d_ff)
  const row = data.subarray(at * shape[1], (at + 1) * shape[1]);
  const best = row.indexOf(Math.max(...row));
  return tag(
    "div",
    { class: `journey-hidden journey-${sub.split(".")[0]}` },
    tag(
      "p",
      `The ${shape[1]} units in the middle, after ReLU: ` +
        `${row.filter((x) => x > 0).length} are above 0; the largest is unit ${best} with ` +
        `${two(row[best])}.`,
    ),
    makeStrip(row, row[best], 48, true),
  );
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
