// A head, opened: scores, mask, softmax and mix, row by row; and one number with its formula.
import { makeLive, mark, range, tag } from "./common.js";
import {
  makeMeter,
  makeStop,
  makeStrip,
  parsePlace,
  positionOf,
  reach,
  rowOf,
  tokenOf,
  two,
} from "./journey_parts.js";

/** All numbers of the heads of a place, of one sub-layer: Q, K, V, E, A, Y. */
export function askForHeads(state, place) {
  const { sub } = parsePlace(place);
  return Promise.all(["Q", "K", "V", "E", "A", "Y"].map((name) => state.numbers(`${sub}.${name}`)));
}

/** The numbers of a head at one position, all that the panels below draw. */
export async function loadHead(state, place) {
  const { side, kind, head, sub } = parsePlace(place);
  const at = positionOf(state, place);
  const [Q, K, V, E, A, Y] = await askForHeads(state, place);
  const { facts } = state;
  const keys = side === "decoder" && kind === "self" ? facts.read : facts.source;
  return {
    ...{ place, sub, side, kind, head, at, keys },
    asks: tokenOf(state, place),
    hidden: (s) => side === "decoder" && kind === "self" && s > at, // the future
    q: rowOf(Q, head, at),
    k: (s) => rowOf(K, head, s),
    v: (s) => rowOf(V, head, s),
    E: rowOf(E, head, at),
    A: rowOf(A, head, at),
    Y: rowOf(Y, head, at),
    largest: { K: reach(K.data), V: reach(V.data) },
    length: facts.heads[sub][head][at],
  };
}

/** The panel of a head: a row for each key; two numbers in it can be opened. */
export function drawHead(one, act) {
  const { q, E, A, Y, keys, asks, hidden, largest } = one;
  const cell = (what, ...children) => tag(`span${what}`, ...children);
  const rows = keys.map((token, s) => {
    const off = hidden(s);
    const open = (kind) => () => act.number({ kind, s });
    const score = makeStop(
      `number:E:${s}`,
      `score of ${asks} for ${token}: ${two(E[s])}${off ? ", hidden: not read yet" : ""}. Open`,
      open("E"),
      { class: "journey-score" },
      two(E[s]),
    );
    const weight = makeStop(
      `number:A:${s}`,
      `weight of ${token}: ${off ? "hidden, not read yet" : two(A[s])}. Open`,
      open("A"),
      { class: "journey-weight" },
      makeMeter(A[s]),
      cell(".journey-number", off ? "hidden" : two(A[s])),
    );
    const row = tag(
      "div.journey-key-row",
      cell(".journey-token", token),
      cell("", makeStrip(one.k(s), largest.K)),
      score,
      weight,
      cell("", makeStrip(one.v(s), largest.V)),
    );
    row.children[0].title = token;
    mark(row, { "journey-future": off });
    row.style.setProperty("--weight", A[s].toFixed(3));
    return row;
  });
  const mix = makeStop(
    "number:Y:0",
    `the mix of values: ${Y.length} numbers. Open`,
    () => act.number({ kind: "Y", s: 0 }),
    { class: "journey-mix" },
    makeStrip(Y, reach(Y), 26),
  );
  const softmax = one.kind === "self" && one.side === "decoder" ? "mask, softmax" : "softmax";
  const key = keys.length > 12 ? "key (scroll)" : "key";
  const names = [key, "K", "q · k / √d_k", `${softmax}: weight`, "V"];
  return tag(
    `div.journey-inside.journey-${one.side}.journey-is-${one.kind}`,
    tag(
      "div.journey-key-row.journey-query",
      cell(".journey-token", asks),
      cell("", makeStrip(q, reach(q), 26)),
      cell("", "◂ query q"),
    ),
    tag("div.journey-key-row.journey-names", ...names.map((name) => cell("", name))),
    tag("div.journey-keys", ...rows),
    tag(
      "div.journey-key-row.journey-query",
      ...[cell(""), cell(""), cell(""), cell(".journey-right", "mix of values ▸"), mix],
    ),
  );
}

/** A score as a sum: its rows of bars, [name, numbers, scale]; `says(i)` of each bar; the formula;
 * where its numbers come from, and `go` there; the bar at which the reader begins.
 */
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
      ["q × k", products, reach(products)],
    ],
    says: (i) =>
      `feature ${i}: ${two(q[i])} × ${two(k[i])} = ${two(products[i])}; sum so far ${two(sums[i])}`,
    formula: `q · k / √d_k = ${two(sums.at(-1))} / √${q.length} = ${two(E[s])}${hidden}`,
    why:
      "q and k come from what this sub-layer reads" +
      `${one.kind === "cross" ? " (k: from the memory)" : ""}, times W_Q and W_K.`,
    where: "The sub-layer",
    go: () => act.open(one.sub),
    first: 0,
  };
}

/** A weight as its part of a softmax, said as in `explainScore`. */
function explainWeight(one, { s }, act) {
  const { E, A, keys } = one;
  const top = Math.max(...E.filter((_, j) => !one.hidden(j)));
  const e = E.map((x, j) => (one.hidden(j) ? 0 : Math.exp(x - top)));
  const sum = e.reduce((a, b) => a + b, 0);
  const seen = E.map((x, j) => (one.hidden(j) ? 0 : x)); // no bar: the mask took it
  const share = (j) => `${two(e[j])} / ${two(sum)} = ${two(A[j])}`;
  const unread = "not read yet, so its weight is 0.00";
  return {
    rows: [
      ["score", seen, reach(seen)],
      ["e^(score − largest)", e, 1],
      ["weight", A, 1],
    ],
    says: (j) =>
      one.hidden(j)
        ? `${keys[j]}: ${unread}`
        : `${keys[j]}: e^(${two(E[j])} − ${two(top)}) = ${two(e[j])}; ${share(j)}`,
    formula: one.hidden(s) ? `${keys[s]} is hidden: ${unread}` : `softmax: ${share(s)}`,
    why: "The weights come from the scores.",
    where: "This score",
    go: () => act.number({ kind: "E", s }),
    first: s,
    hatched: one.hidden,
  };
}

/** A feature of the mix as a weighted sum, said as in `explainScore`. */
function explainMix(one, { feature = 0 }, act) {
  const { A, Y, keys } = one;
  const column = Float32Array.from(keys, (_, j) => one.v(j)[feature]);
  const products = column.map((x, j) => A[j] * x);
  const most = reach(column);
  return {
    rows: [
      ["weight", A, 1],
      [`feature ${feature} of V`, column, most, "theirs"],
      ["weight × V", products, most],
    ],
    says: (j) => `${keys[j]}: ${two(A[j])} × ${two(column[j])} = ${two(products[j])}`,
    formula: `feature ${feature} of the mix: Σ weight × V = ${two(Y[feature])}`,
    why:
      `All ${Y.length} features of the mix, times this head's rows of W_O, give the vector that ` +
      "it adds.",
    where: "The head",
    go: () => act.open(one.place),
    first: A.indexOf(Math.max(...A)),
  };
}

/** The panel of one number: three rows of bars, product by product, and the formula. */
export function drawNumber(one, number, act) {
  const { kind, feature = 0 } = number;
  const explain = { E: explainScore, A: explainWeight, Y: explainMix }[kind];
  const { rows, says, formula, why, where, go, first, hatched } = explain(one, number, act);
  const count = rows[0][1].length;
  const readout = makeLive("p.journey-note");
  const tell = (i) => () => {
    readout.textContent = `${says(i)}.`;
    slots.forEach((slot, j) => mark(slot, { "journey-now": i === j }));
  };
  const slots = range(count).map((i) =>
    makeStop(`slot:${i}`, says(i), tell(i), {
      class: hatched?.(i) ? "journey-slot journey-hatched" : "journey-slot",
      onfocus: tell(i),
      // A bar that comes to lie under a pointer at rest is not pointed at.
      onpointermove: (event) => (event.movementX || event.movementY) && tell(i)(),
    }),
  );
  tell(first)();
  const all = one.Y.length; // features of the mix
  const step = (by) => () => act.number({ ...number, feature: (feature + by + all) % all });
  const small = { class: "journey-small" };
  const pages = tag(
    "p",
    makeStop("feature:back", "feature before", step(-1), small, "◂"),
    tag("span", ` feature ${feature} of ${all} `),
    makeStop("feature:forth", "feature after", step(1), small, "▸"),
  );
  const strips = rows.flatMap(([name, numbers, most, whose]) => [
    tag("span", name, tag("small", `scale: ${two(most)}`)),
    // Those that come from the memory have its colour.
    tag(whose && one.kind === "cross" ? "div.journey-theirs" : "div", makeStrip(numbers, most, 56)),
  ]);
  const style = `--count: ${count}`;
  return tag(
    `div.journey-sum.journey-${one.side}`,
    tag("p.journey-formula", formula),
    tag(
      "div.journey-scroll",
      tag("div.journey-strips", { style }, ...strips, tag("div.journey-slots", ...slots)),
    ),
    readout,
    ...(kind === "Y" ? [pages] : []),
    tag(
      "p.journey-from",
      `Where from: ${why} `,
      makeStop("from", `Go to: ${where}`, go, small, where),
    ),
  );
}
