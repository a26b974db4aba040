// A layer, opened: the stream as a band, and what each sub-layer adds to it.

/** The panel of a layer. `act`: { open, scale, number }. */
function drawLayer(state, place, act) {
  const { side, layer, kind: chosen } = parsePlace(place);
  const { facts } = state;
  const at = side === "encoder" ? state.source : state.step;
  const kinds = side === "encoder" ? ["self", "ff"] : ["self", "cross", "ff"];
  const subs = kinds.map((kind) => `${side}.${layer}.${kind}`);
  const widest = longestOf(state);
  const strongest = Math.max(...subs.flatMap((s) => (facts.heads[s] ?? []).map((h) => h[at])), 0);
  const columns = subs.map((sub) => drawSubLayer(state, sub, { at, widest, strongest, chosen }, act));
  const node = element(
    "div",
    { class: `journey-columns journey-${side}`, style: `--columns: ${subs.length}` },
    ...columns,
  );
  const { before, adds } = facts.lengths[subs[0]];
  const example = `${two(before[at])} and ${two(adds[at])} need not make ${two(before[at] + adds[at])}`;
  const key = `Numbers are lengths of vectors. Vectors add, lengths do not: ${example}.`;
  return element("div", {}, node, element("p", { class: "journey-key" }, key));
}

function drawSubLayer(state, sub, { at, widest, strongest, chosen }, act) {
  const { facts } = state;
  const { kind } = parsePlace(sub);
  const { before, adds, after } = facts.lengths[sub];
  const factor = facts.scales[sub] ?? 1;
  const names = { before: before[at], adds: adds[at], after: after[at] };
  const box = element(
    "div",
    { class: `journey-box journey-is-${kind}` },
    makeStop(`panel:${sub}`, `${SUB_LAYERS[kind]}: open`, () => act.open(sub), {
      class: "journey-sub",
    }),
  );
  box.firstChild.append(
    element("b", {}, SUB_LAYERS[kind]),
    element("span", { class: "journey-number" }, factor === 0 ? "off" : `adds ${two(adds[at])}`),
  );
  box.append(makeSwitch(sub, state, act));
  box.classList.toggle("journey-off", factor === 0);
  box.classList.toggle("journey-scaled", factor !== 1);
  box.classList.toggle("journey-open", chosen === kind);
  (facts.heads[sub] ?? []).forEach((lengths, m) => {
    const head = `${sub}.head.${m}`;
    const own = facts.scales[head] ?? 1;
    const length = lengths[at];
    const says = `head ${m}: length ${two(length)}${sayFactor(own)}. Open`;
    const off = own === 0 || factor === 0;
    const stop = makeStop(`panel:${head}`, says, () => act.open(head), { class: "journey-row" });
    stop.append(
      element("span", {}, `head ${m}`),
      makeMeter(strongest ? length / strongest : 0),
      element("span", { class: "journey-number" }, off ? "off" : two(length)),
    );
    const line = element("div", { class: "journey-line" }, stop, makeSwitch(head, state, act));
    line.classList.toggle("journey-off", own === 0);
    box.append(line);
  });
  if (kind === "ff") box.append(element("p", {}, `${facts.config.d_ff} units in the middle${chosen === "ff" ? ", drawn below" : ": open to see them"}`));
  return element(
    "div",
    { class: `journey-column journey-is-${kind}` },
    drawBand(names, widest, facts.config.norm_first, factor === 0),
    box,
  );
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
  return element(
    "div",
    { class: "journey-band" },
    element(
      "p",
      {},
      element("span", {}, `stream ${two(before)}`),
      element("span", {}, `${normFirst ? "" : "norm "}${two(after)}`),
    ),
    drawing(
      "svg",
      { viewBox: "0 0 300 84", preserveAspectRatio: "none", "aria-hidden": "true" },
      drawing("path", { class: "journey-stream", d: stream }),
      drawing("path", { class: "journey-read", d: out }),
    ),
    // A drawing of its own: it keeps its thickness where the stream is stretched.
    drawing(
      "svg",
      { class: "journey-inflow", viewBox: "0 0 64 84", "aria-hidden": "true" },
      ...(off ? [] : [drawing("path", { class: "journey-flow", d: flow, "stroke-width": w })]),
    ),
    element("span", { class: "journey-reads" }, normFirst ? "LayerNorm ↓" : "reads ↓"),
    element("span", { class: "journey-plus" }, normFirst ? "+" : "+ LayerNorm"),
  );
}

/** The switch of a head or a sub-layer: on, off, or by how much it counts. */
function makeSwitch(place, state, act) {
  const { scales } = state.facts;
  const through = place.includes(".head.") && scales[place.replace(/\.head\..*/, "")] === 0;
  const factor = through ? 0 : (scales[place] ?? 1);
  const says = factor === 1 ? "on" : factor === 0 ? "off" : `× ${write(factor)}`;
  const why = through ? "off with its sub-layer" : state.alive ? "" : SAVED;
  return makeStop(
    `switch:${place}`,
    `${namePlace(place)} is ${says}: ${why || `switch ${factor === 0 ? "on" : "off"}`}`,
    () => act.scale(place, factor === 0 ? 1 : 0),
    {
      class: "journey-switch",
      "aria-pressed": factor === 0,
      title: why || "switch off or on",
      disabled: Boolean(why),
    },
    says,
  );
}

/** The units of a feed-forward sub-layer at one position, as bars. */
async function drawHidden(state, sub) {
  const at = sub.startsWith("encoder") ? state.source : state.step;
  const { shape, data } = await state.numbers(`${sub}.hidden`); // (S or T, d_ff)
  const row = data.subarray(at * shape[1], (at + 1) * shape[1]);
  const best = row.indexOf(Math.max(...row));
  return element(
    "div",
    { class: `journey-hidden journey-${sub.split(".")[0]}` },
    element(
      "p",
      {},
      `The ${shape[1]} units in the middle, after ReLU: ` +
        `${row.filter((x) => x > 0).length} are above 0; the largest is unit ${best} with ` +
        `${two(row[best])}.`,
    ),
    makeStrip(row, row[best], 48, true),
  );
}
