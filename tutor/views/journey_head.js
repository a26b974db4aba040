// A head, opened: scores, mask, softmax and mix, row by row; one number with its formula; and what
// is in the middle of a feed-forward sub-layer.
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

/** The largest of a head's numbers. */
const reachOf = (X, m) => Math.max(...range(X.shape[1]).map((r) => reach(rowOf(X, m, r))));

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
    largest: { K: reachOf(K, head), V: reachOf(V, head) },
    length: facts.heads[sub][head][at],
  };
}

/** e to a score, short. */
const power = (x) => {
  const e = Math.exp(x);
  return e < 10
    ? two(e)
    : e < 1e5
      ? e.toFixed(e < 100 ? 1 : 0)
      : e.toExponential(0).replace("+", "");
};

/** A head: a row for each key, and the query, the sums and the mix in a row of their own.
 *
 * `at`: where the rows stand in the open band (see `layOut`); null: one below the other, with names.
 */
export function drawHead(one, act, at) {
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
      two(E[s]),
    );
    const said = off ? "hidden" : two(A[s]);
    const weight = makeStop(
      `number:A:${s}`,
      `${said}: weight of ${token}${off ? ", not read yet" : ""}. Open`,
      open("A"),
      { class: "journey-weight", "data-at": "weigh" },
      makeMeter(A[s]),
      cell(".journey-number", said),
    );
    const row = tag(
      "div.journey-key-row",
      cell(".journey-token", token),
      tag("span", { "data-at": "weigh" }, makeStrip(one.k(s), largest.K, 22)),
      tag("span.journey-products", { "data-at": "weigh" }, makeStrip(products[s], most, 22)),
      score,
      tag("span.journey-power", { "data-at": "weigh" }, off ? "0" : power(E[s])),
      weight,
      tag("span", { "data-at": "mix" }, makeStrip(one.v(s), largest.V, 22)),
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
    cell("", "mix"),
  );
  const sum = E.reduce((all, x, s) => all + (hidden(s) ? 0 : Math.exp(x)), 0);
  const query = tag(
    "div.journey-key-row.journey-query",
    cell(".journey-token", asks),
    tag("span.journey-q", { "data-at": "ask" }, makeStrip(q, reach(q), 24), `q of ${asks}`),
    cell(".journey-products"),
    cell(".journey-right", "sum"),
    tag("span.journey-power", { "data-at": "weigh" }, power(Math.log(sum))),
    cell(".journey-number", two(1)),
    mix,
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
    query,
  );
  mark(node, { "journey-placed": at });
  if (at) {
    node.style.setProperty("--columns", at.columns.map((w) => `${w}px`).join(" "));
    mark(node, { "journey-full": at.columns.length === 6 });
  }
  return node;
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
