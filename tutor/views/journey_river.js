// The whole model as a river: a row for each token, a band for each layer, lines as wide as weights.
// The layer that is shown is open at its place; what is in it: journey_head.js.
import { clamp, mark, range, tag } from "./common.js";
import {
  isOffWith,
  kindsOf,
  makeStop,
  namePlace,
  parsePlace,
  positionOf,
  roam,
  SHORT,
  sayFactor,
  shownPlace,
  tokenOf,
  two,
} from "./journey_parts.js";

const FULL = 14; // px: the width of a line that stands for all, for the share 1
const FAINT = 0.04; // lines of less are pale
const [TOP, GAP, FOLDED] = [70, 112, 5]; // px above the rows, between the two sides; rows read

/** Where all stands, in px, in a river of this width: x of bands, y of rows, columns of a head. */
export function layOut(state, width) {
  const { facts, step } = state;
  const { layers } = facts.config;
  const [S, T] = [facts.source.length, facts.read.length];
  const shown = shownPlace(state);
  const { side, layer, kind } = parsePlace(shown);
  const wide = width >= 540;
  const readKeys = side === "decoder" && kind === "self";
  const pitch = S + T > 20 ? 25 : 27;
  const first = wide && readKeys ? 0 : Math.max(0, step + 2 - FOLDED); // earlier ones are one row
  const rows = wide && readKeys ? T : Math.min(T, FOLDED + 1);
  const gap = TOP + S * pitch;
  const read = gap + (wide ? GAP : 26);
  const names = clamp(width * 0.09, 60, 86);
  const compact = width < 760;
  const [memory, fan] = wide ? (compact ? [14, 24] : [24, 60]) : [10, 8];
  const room = width - names - 6 - memory - fan;
  const fold = Math.max(24, Math.floor(room / (2 * layers))); // where no band is open
  const closed = {
    encoder: clamp(room * 0.05, 24, 56),
    decoder: clamp((room - 400) * 0.13, 24, 88),
  };
  const others = (closed.encoder + closed.decoder) * layers - closed[side];
  const bands = {};
  let x = names + 6;
  for (const of of ["encoder", "decoder"]) {
    for (const l of range(layers)) {
      const place = `${of}.${l}`;
      const open = wide && place === `${side}.${layer}`;
      const w = open ? Math.max(290, room - others) : wide ? closed[of] : fold;
      bands[place] = { x, w, open };
      x += w;
    }
    if (of === "encoder") x += memory;
  }
  // of a head: K, q × K where there is room, score, e^score, weight, V; beside them the rail, +, FF
  const zone = compact ? 42 : 48;
  const beside = kind === "cross" ? zone : zone + 36;
  const fixed = compact ? [43, 42, 46] : [48, 52, 60];
  const left = Math.max(290, room - others) - 26 - beside - fixed.reduce((a, b) => a + b + 4, 8);
  const strips = left / 3 > 56 ? 3 : 2;
  const strip = left / strips;
  const bottom = read + pitch * rows + 26;
  const columns = [strip, ...(strips === 3 ? [strip] : []), ...fixed, strip];
  return {
    ...{ width, wide, pitch, first, gap, shown, bands, names, memory, columns, end: x },
    source: (s) => TOP + pitch * (s + 0.5),
    read: (t) => read + pitch * (Math.max(0, t - first + (first ? 1 : 0)) + 0.5),
    bottom,
    tall: read + pitch * rows > 1000, // it scrolls
    query: gap + 20,
    tabs: wide ? 20 : bottom + 2,
    heads: wide ? gap + 58 : bottom + 32,
    keys: readKeys ? read : TOP,
  };
}

const bend = (x, y, to, down) => {
  const k = (to - x) * clamp(Math.abs(down - y) / 240, 0.55, 0.95); // a wide line needs a wide bend
  return `M${x} ${y}C${x + k} ${y} ${to - k} ${down} ${to} ${down}`;
};

/** Has a decoder layer that is closed room for its FF beside the plus sign? And where is that? */
const hasRoom = (w) => w > 40;
const plusIn = (w) => (hasRoom(w) ? w - 28 : w * 0.8);

/** A line as wide as its share; `at`: the step of the walk that lights it. */
const flow = (d, share, name, at, hue) =>
  tag(`path.journey-share.journey-${hue}`, {
    ...{ d, "data-line": name, "data-at": at, "stroke-width": (share * FULL).toFixed(2) },
    opacity: share < FAINT ? 0.3 : 0.55,
  });

/** A line of which the width says nothing. */
const rail = (d, at, hue, width = 3, opacity = 0.35) =>
  tag(`path.journey-rail.journey-${hue}`, { d, "data-at": at, "stroke-width": width, opacity });

/** All lines. `weights`: name of a sub-layer -> its A; `ends`: y of the candidates, with shares. */
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
        "data-at": "read",
      }),
    );
  });
  range(step + 1).forEach((t) => {
    if (t >= first || t === 0)
      lines.push(
        rail(`M${names} ${read(t)}H${end}`, "again", "decoder", 3, t === step ? 0.9 : 0.3),
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
        if (share < 0.005 || (side === "decoder" && (q !== step || (kind === "self" && k > step))))
          return;
        const from = (kind === "self" && side === "decoder" ? read : source)(k);
        const line = flow(
          bend(x + 1, from, to, side === "encoder" ? source(q) : now),
          ...[share, `${sub}.${q}.${k}`, side === "encoder" ? "read" : "again"],
          kind === "cross" ? "encoder" : side,
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

/** What is written comes back as what is read. */
function drawLoop({ facts, step }, { read, bottom, width, end, names, tall }, ends) {
  if (step + 1 >= facts.read.length) return [];
  const written = !tall && ends.find(({ id }) => id === facts.target_ids[step]);
  const from = written
    ? `M${written.right} ${written.y}H${written.right + 8}`
    : `M${end} ${read(step)}H${width - 2}`;
  const [x, y] = [names / 2, read(step + 1) + 13];
  return [
    tag("path.journey-loop", { d: `${from}V${bottom - 8}H${x}V${y + 6}`, "data-at": "write" }),
    tag("path.journey-arrow.journey-decoder", {
      d: `M${x - 5} ${y + 9}L${x} ${y}L${x + 5} ${y + 9}Z`,
      "data-at": "write",
    }),
  ];
}

/** The lines within the open band: the query goes to all keys, the values come together. */
function drawOpened(state, at, weights) {
  const { facts, head } = state;
  const { shown, bands, source, read, query, columns, gap, heads } = at;
  const { side, kind, sub } = parsePlace(shown);
  const { x } = bands[layerOf(shown)];
  const row = side === "encoder" ? source(state.source) : read(state.step);
  const [rails, plus] = [x + 14, plusOf(at)];
  if (kind === "ff") {
    const y = gap + (row > gap ? 96 : 6);
    return [
      rail(`M${rails} ${row}V${y}`, "think", side, 3, 0.9),
      rail(`M${plus} ${y}V${row}`, "think", side, 3, 0.9),
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
  const all = [row, query, ...seen.map(y)];
  const value = x + 26 + columns.reduce((a, b) => a + b + 4, 0) - 4;
  const lines = [
    rail(`M${rails} ${Math.min(...all)}V${Math.max(...all)}`, "ask", side, 3, 0.9),
    ...[query, ...seen.map(y)].map((to) => rail(`M${rails} ${to}h12`, "ask", side, 2, 0.9)),
  ];
  for (const k of seen)
    if (shares[k] >= 0.005)
      lines.push(
        flow(
          `M${value} ${y(k)}C${value + 34} ${y(k)} ${value + 34} ${query} ${value} ${query}`,
          ...[shares[k], `mix.${k}`, "mix", hue],
        ),
      );
  const off = isOffWith(facts.scales, { sub, head }) || facts.scales[shown] === 0;
  const [own, bus] = [x + 26 + (head + 0.5) * headWidth(state, at), heads + 34];
  const middle = value - columns.at(-1) / 3; // clear of the word under the strip
  if (!off)
    lines.push(rail(`M${middle} ${query + 14}V${heads - 6}H${own}V${heads}`, "add", hue, 3, 0.9));
  for (const m of range(facts.config.heads)) {
    const from = x + 26 + (m + 0.5) * headWidth(state, at);
    lines.push(
      rail(`M${from} ${heads + 24}V${bus}H${plus}V${row}`, "add", hue, 2, m === head ? 0.9 : 0.35),
    );
  }
  return lines;
}

const layerOf = (place) => place.split(".", 2).join(".");

const headWidth = ({ facts }, { shown, bands, wide, width }) => {
  return (wide ? bands[layerOf(shown)].w - 76 : width - 4) / facts.config.heads;
};

/** x of the plus sign in the open band. */
const plusOf = ({ shown, bands }) => {
  const { x, w } = bands[layerOf(shown)];
  return x + w - (parsePlace(shown).kind === "cross" ? 50 : 46);
};

/** `open(place)`: go there; `chooseSource(s)`, `goTo(step)`; `ends()`: where the candidates are. */
export function makeRiver(state, { open, chooseSource, goTo, ends }) {
  const lines = tag("svg.journey-lines", { "aria-hidden": "true" });
  const inside = tag("div.journey-in-place");
  const area = tag(
    "div.journey-stage",
    { role: "group", "aria-label": "Whole model" },
    lines,
    inside,
  );
  const node = tag("div.journey-river", area);
  const refresh = roam(area);
  const stops = new Map(); // key -> button or text, kept while it is drawn: it may have the focus

  /** Draw all anew. `weights`: of the run that is shown, or none yet. Returns where all stands. */
  function show(weights = new Map()) {
    const at = layOut(state, Math.max(300, node.clientWidth));
    const drawn = new Set();
    /** A button that stays the same one, or without `act` a text. `lit`: the walk's step for it. */
    function put(key, [x, y, w, h], name, says, text, { act = null, lit = null, has = {} } = {}) {
      const stop = stops.get(key) ?? (act ? makeStop(key, says, act, {}) : tag("span"));
      stops.set(key, stop);
      drawn.add(key);
      stop.className = `journey-${act ? "stop" : "text"} ${name}`;
      mark(stop, has);
      if (act) stop.ariaLabel = says;
      stop.title = says;
      if (lit) stop.dataset.at = lit;
      stop.style.cssText = `left: ${x}px; top: ${y}px; width: ${w}px; height: ${h}px`;
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
    for (const [layer, { x, w, open: wide }] of Object.entries(at.bands)) {
      const { side, layer: l } = parsePlace(layer);
      const all = [x + 1, 18, w - 2, at.bottom - 44];
      const has = { "journey-open": layerOf(at.shown) === layer };
      put(`band:${layer}`, all, `journey-band journey-${side}`, "", "", { has });
      const title = wide || w > 50 ? `layer ${l}` : l;
      // Closed, all of the band is a button.
      const box = wide ? [x + 4, 20, 56, 26] : all;
      const how = { act: () => open(layer), has: { "journey-open": wide } };
      put(layer, box, `journey-layer journey-${side}`, `${side} layer ${l}: open`, title, how);
      if (wide || !hasRoom(w) || side === "encoder") continue;
      const sign = [x + w - 20, at.read(state.step) - 9, 18, 18];
      put(`ff:${layer}`, sign, `journey-ff journey-${side}`, "feed-forward", "FF", {
        lit: "think",
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
      const name = "journey-chip journey-encoder";
      const chip = put(`source:${s}`, place(at.source(s)), name, says, token, how);
      chip.onfocus = act;
      chip.setAttribute("aria-pressed", s === state.source);
    });
    const name = "journey-chip journey-decoder";
    facts.read.forEach((token, t) => {
      if (t < at.first || (t > step + 1 && at.keys === TOP)) return;
      const lit = t === step + 1 ? "write" : t === step ? "ask" : "again";
      const has = { "journey-now": t === step, "journey-later": t > step };
      const says = `${token}: read as token ${t + 1}`;
      put(`read:${t}`, place(at.read(t)), name, says, token, { act: () => goTo(t), lit, has });
    });
    const earlier = `${at.first} tokens before these`;
    if (at.first) put("earlier", place(at.read(0)), name, earlier, `${at.first} before`);
  }

  /** What can be opened in the layer that is open: sub-layers, heads, the plus sign, FF. */
  function putParts(put, at) {
    const { facts, step, source, head } = state;
    const { side, sub, kind } = parsePlace(at.shown);
    const layer = layerOf(at.shown);
    const { x, w } = at.wide ? at.bands[layer] : { x: -60, w: at.width + 56 };
    const factorOf = (place) => facts.scales[place] ?? 1;
    const putPart = (place, box, name, words, length, factor, says, how) => {
      const number = factor === 0 ? "off" : length.toFixed(length < 100 && box[2] > 58 ? 1 : 0);
      const label = `${words}${number}: ${namePlace(place)}${says} ${two(length)}${sayFactor(factor)}`;
      const text = [words, tag("span.journey-number", number)];
      const has = { ...how, "journey-off": factor === 0 };
      put(place, box, name, label, text, {
        act: () => open(place),
        has,
        lit: name === "journey-tab" ? null : "add",
      });
    };
    const kinds = kindsOf(side);
    kinds.forEach((one, i) => {
      const [place, wide] = [`${layer}.${one}`, (w - 66) / kinds.length];
      const has = { "journey-now": one === kind, "journey-scaled": factorOf(place) !== 1 };
      const adds = facts.lengths[place].adds[positionOf(state, place)];
      const says = `, adds to ${tokenOf(state, place)} a vector of length`;
      const box = [x + 62 + i * wide, at.tabs, wide - 2, 26];
      putPart(place, box, "journey-tab", `${SHORT[one]} `, adds, factorOf(place), says, has);
    });
    const wide = headWidth(state, at);
    range(kind === "ff" ? 0 : facts.config.heads).forEach((m) => {
      const part = `${sub}.head.${m}`;
      const factor = factorOf(part) * factorOf(sub); // it goes with its sub-layer
      const scaled = factorOf(part) !== 1 || factorOf(sub) !== 1;
      const has = { "journey-now": m === head, "journey-scaled": scaled };
      const box = [at.wide ? x + 28 + m * wide : m * wide + 2, at.heads, wide - 4, 24];
      const length = facts.heads[sub][m][positionOf(state, sub)];
      putPart(
        part,
        box,
        "journey-head",
        wide > 90 ? `head ${m} ` : `${m}: `,
        length,
        factor,
        ", length",
        has,
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
      lit: "add",
    });
    const act = () => open(`${layer}.ff`);
    put(`unit:${layer}`, ff, name, "FF: feed-forward", "FF", { act, lit: "think" });
  }

  return { node, inside, show };
}
