// The whole model as a river: a row for each token, a band for each layer, lines as wide as weights.
// The layer that is shown is open at its place; what is in it: journey_head.js, journey_layer.js.
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
const [TOP, GAP, FOLDED] = [62, 112, 5]; // px above the rows, between the two sides; rows read

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
    encoder: clamp(room * 0.05, 25, 56),
    decoder: clamp(room * (compact ? 0.06 : 0.08), 25, 88),
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
  const fixed = compact ? [43, 38, 46] : [48, 44, 62];
  const left = Math.max(290, room - others) - 26 - beside - fixed.reduce((a, b) => a + b + 4, 8);
  const strips = left / 3 > 62 ? 3 : 2;
  const strip = left / strips;
  const columns = [strip, ...(strips === 3 ? [strip] : []), ...fixed, strip];
  return {
    ...{ width, wide, pitch, first, gap, shown, bands, names, memory, columns, end: x },
    source: (s) => TOP + pitch * (s + 0.5),
    read: (t) => read + pitch * (Math.max(0, t - first + (first ? 1 : 0)) + 0.5),
    height: read + pitch * rows + 26,
    tall: read + pitch * rows > 1000, // it scrolls
    query: gap + 20,
    heads: gap + 50,
    keys: readKeys ? read : TOP,
  };
}

const bend = (x, y, to, down) => {
  const k = (to - x) * clamp(Math.abs(down - y) / 240, 0.55, 0.95); // a wide line needs a wide bend
  return `M${x} ${y}C${x + k} ${y} ${to - k} ${down} ${to} ${down}`;
};

/** A line as wide as its share; `at`: the step of the walk that lights it. */
const flow = (d, share, name, at, hue) =>
  tag(`path.journey-share.journey-of-${hue}`, {
    ...{ d, "data-line": name, "data-at": at, "stroke-width": (share * FULL).toFixed(2) },
    opacity: share < FAINT ? 0.3 : 0.55,
  });

/** A line of which the width says nothing. */
const rail = (d, at, hue, width = 3, opacity = 0.35) =>
  tag(`path.journey-rail.journey-of-${hue}`, { d, "data-at": at, "stroke-width": width, opacity });

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
      tag("path.journey-arrow.journey-of-encoder", {
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
      const to = x + w * (side === "decoder" && w > 34 ? 0.5 : 0.9);
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
      const x0 = x + w * (w > 34 ? 0.55 : 0.8); // where it is added
      const plus = `M${x0 - 6} ${now}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M${x0 - 3} ${now}h6M${x0} ${now - 3}v6`;
      lines.push(tag("path.journey-sign.journey-of-decoder", { d: plus, "data-at": "again" }));
    }
  }
  if (at.wide) lines.push(...drawOpened(state, at, weights));
  for (const { y, share, id } of ends)
    lines.push(flow(bend(end - 2, now, at.width, y), share, `next.${id}`, "choose", "decoder"));
  lines.push(...drawLoop(state, at, ends));
  return lines;
}

/** What is written comes back as what is read. */
function drawLoop({ facts, step }, { read, height, width, end, names, tall }, ends) {
  if (step + 1 >= facts.read.length) return [];
  const written = !tall && ends.find(({ id }) => id === facts.target_ids[step]);
  const from = written
    ? `M${written.right} ${written.y}H${written.right + 8}`
    : `M${end} ${read(step)}H${width - 2}`;
  const [x, y] = [names / 2, read(step + 1) + 13];
  return [
    tag("path.journey-loop", { d: `${from}V${height - 8}H${x}V${y + 6}`, "data-at": "write" }),
    tag("path.journey-arrow.journey-of-decoder", {
      d: `M${x - 5} ${y + 9}L${x} ${y}L${x + 5} ${y + 9}Z`,
      "data-at": "write",
    }),
  ];
}

/** The lines within the open band: the query goes to all keys, the values come together. */
function drawOpened(state, at, weights) {
  const { facts, head } = state;
  const { shown, bands, source, read, query, columns, gap, heads } = at;
  const { side, layer, kind, sub } = parsePlace(shown);
  const { x } = bands[`${side}.${layer}`];
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
  const middle = value - columns.at(-1) / 2;
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

const headWidth = (state, at) => {
  const { side, layer } = parsePlace(at.shown);
  return (at.bands[`${side}.${layer}`].w - 26 - 50) / state.facts.config.heads;
};

/** x of the plus sign in the open band. */
const plusOf = ({ shown, bands }) => {
  const { side, layer, kind } = parsePlace(shown);
  const { x, w } = bands[`${side}.${layer}`];
  return x + w - (kind === "cross" ? 50 : 46);
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
    const { facts, step, place, head } = state;
    const drawn = new Set();
    const put = (key, /** @type {number[]} */ [x, y, w, h], name, says, text, act = null) => {
      const how = { class: name };
      const made = () => (act ? makeStop(key, says, act, how) : tag("span", { title: says }));
      const stop = stops.get(key) ?? made();
      stops.set(key, stop);
      drawn.add(key);
      stop.className = `${act ? "journey-stop " : "journey-text "}${name}`;
      if (act) stop.ariaLabel = says;
      Object.assign(stop.style, {
        left: `${x}px`,
        top: `${y}px`,
        width: `${w}px`,
        height: `${h}px`,
      });
      if (Array.isArray(text)) stop.replaceChildren(...text);
      else if (stop.textContent !== text) stop.textContent = text;
      if (!stop.isConnected) area.append(stop);
      return stop;
    };
    const text = (key, box, name, words, title = "") => put(key, box, name, title, words);

    for (const [name, side] of [
      ["Encoder", "encoder"],
      ["Decoder", "decoder"],
    ]) {
      const { x } = at.bands[`${side}.0`];
      text(`side:${side}`, [x, 0, 90, 18], `journey-side journey-${side}`, name);
    }
    if (at.wide)
      text("memory", [at.bands["decoder.0"].x - 76, at.gap, 74, 18], "journey-memory", "memory →");
    for (const [layer, { x, w, open: wide }] of Object.entries(at.bands)) {
      const { side, layer: l } = parsePlace(layer);
      const now = at.shown.startsWith(`${layer}.`);
      const ground = text(
        `band:${layer}`,
        [x + 1, 18, w - 2, at.height - 44],
        `journey-band-of journey-${side}`,
        "",
      );
      mark(ground, { "journey-open": now });
      const says = `${side} layer ${l}: open`;
      const title = wide || w > 50 ? `layer ${l}` : l;
      // Closed, all of the band is a button.
      const box = wide ? [x + 4, 20, 56, 26] : [x + 1, 18, w - 2, at.height - 44];
      const how = `journey-layer journey-${side}${wide ? " journey-open" : ""}`;
      put(layer, box, how, says, title, () => open(layer));
      const y = side === "decoder" ? at.read(step) : at.source(state.source);
      if (!wide && w > 34 && side === "decoder")
        text(
          `ff:${layer}`,
          [x + w - 20, y - 9, 18, 18],
          "journey-ff",
          "FF",
          "feed-forward",
        ).dataset.at = "think";
      if (!wide) continue;
      const kinds = kindsOf(side);
      const tab = (w - 66) / kinds.length;
      kinds.forEach((kind, i) => {
        const sub = `${layer}.${kind}`;
        const [adds, factor] = [
          facts.lengths[sub].adds[positionOf(state, sub)],
          facts.scales[sub] ?? 1,
        ];
        const number = factor === 0 ? "off" : adds.toFixed(adds < 100 ? 1 : 0);
        const stop = put(
          sub,
          [x + 62 + i * tab, 20, tab - 2, 26],
          "journey-tab",
          `${SHORT[kind]} ${number}: ${namePlace(sub)} adds a vector of length ${two(adds)} to ` +
            `${tokenOf(state, sub)}${sayFactor(factor)}`,
          [`${SHORT[kind]} `, tag("span.journey-number", number)],
          () => open(sub),
        );
        mark(stop, {
          "journey-now": `${at.shown}.`.startsWith(`${sub}.`),
          "journey-scaled": factor !== 1,
          "journey-off": factor === 0,
        });
      });
      const { sub, kind } = parsePlace(at.shown);
      const plus = plusOf(at);
      put(
        "on:plus",
        [plus - 12, y - 12, 24, 24],
        `journey-plus-sign journey-${side}`,
        `+: what is added to the stream of ${tokenOf(state, layer)}`,
        "+",
        () => open(parsePlace(shownPlace(state)).sub.replace(/\.\w+$/, "")),
      ).dataset.at = "add";
      put(
        "on:ff",
        [x + w - 31, y - 13, 27, 26],
        `journey-ff journey-${side}`,
        "FF: feed-forward, open",
        "FF",
        () => open(`${parsePlace(shownPlace(state)).sub.replace(/\.\w+$/, "")}.ff`),
      ).dataset.at = "think";
      const wider = headWidth(state, at);
      range(kind === "ff" ? 0 : facts.config.heads).forEach((m) => {
        const part = `${sub}.head.${m}`;
        const length = facts.heads[sub][m][positionOf(state, sub)];
        const [own, factor] = [facts.scales[part] ?? 1, facts.scales[sub] ?? 1];
        const says =
          own * factor === 0 ? "off" : length.toFixed(wider > 76 && length < 100 ? 1 : 0);
        const name = wider > 76 ? `head ${m} ` : `${m}: `;
        const stop = put(
          part,
          [x + 28 + m * wider, at.heads, wider - 4, 24],
          `journey-head journey-is-${kind} journey-${side}`,
          `${name}${says}: ${namePlace(part)}, length ${two(length)}${sayFactor(own * factor)}`,
          [name, tag("span.journey-number", says)],
          () => open(part),
        );
        stop.dataset.at = "add";
        mark(stop, {
          "journey-off": own * factor === 0,
          "journey-scaled": own !== 1 || factor !== 1,
          "journey-now": m === head,
        });
      });
    }
    facts.source.forEach((token, s) => {
      const chip = put(
        `source:${s}`,
        [0, at.source(s) - 12, at.names, 24],
        "journey-source",
        `source token ${s + 1}: ${token}`,
        token,
        () => chooseSource(s),
      );
      chip.title = token;
      chip.onfocus = () => chooseSource(s);
      mark(chip, { "journey-now": s === state.source });
      chip.setAttribute("aria-pressed", s === state.source);
      chip.dataset.at = "read";
    });
    facts.read.forEach((token, t) => {
      const hidden = at.keys !== TOP && t > step + 1;
      if (t > step + 1 && !hidden) return;
      const box = [0, at.read(t) - 12, at.names, 24];
      if (t < at.first) {
        if (t === 0)
          text(
            "read:…",
            box,
            "journey-read-token",
            `… ${at.first}`,
            `${at.first} tokens before these`,
          );
        return;
      }
      const chip = put(
        `read:${t}`,
        box,
        "journey-read-token",
        `${token}: read as token ${t + 1}`,
        token,
        () => goTo(t),
      );
      chip.title = token;
      mark(chip, { "journey-now": t === step, "journey-later": t > step });
      chip.dataset.at = t === step + 1 ? "write" : t === step ? "ask" : "again";
    });
    for (const [key, stop] of stops)
      if (!drawn.has(key)) {
        stop.remove();
        stops.delete(key);
      }
    area.style.height = `${at.height}px`;
    area.style.width = `${at.end}px`;
    mark(node, { "journey-scrolls": at.tall });
    lines.setAttribute("width", at.width);
    lines.setAttribute("height", at.height);
    lines.replaceChildren(...drawLines(state, at, weights, at.wide ? ends(area) : []));
    const { x, w } = at.bands[at.shown.split(".").slice(0, 2).join(".")];
    Object.assign(inside.style, { left: `${x}px`, width: `${w}px` });
    mark(inside, { "journey-none": !at.wide });
    mark(node, { "journey-folded": !at.wide });
    if (place !== undefined) refresh();
    return at;
  }

  return { node, inside, show };
}
