// A head, opened: scores, mask, softmax and mix, row by row; and one number with its formula.

/** All numbers of the heads of a place, of one sub-layer: Q, K, V, E, A, Y. */
function askForHeads(state, place) {
  const sub = place.replace(/\.head\..*/, "");
  return Promise.all(["Q", "K", "V", "E", "A", "Y"].map((name) => state.numbers(`${sub}.${name}`)));
}

/** The numbers of a head at one position, all that the panels below draw. */
async function loadHead(state, place) {
  const { side, kind, head } = parsePlace(place);
  const sub = place.replace(/\.head\..*/, "");
  const at = side === "encoder" ? state.source : state.step;
  const [Q, K, V, E, A, Y] = await askForHeads(state, place);
  const { facts } = state;
  const keys = side === "decoder" && kind === "self" ? facts.read : facts.source;
  return {
    ...{ place, sub, side, kind, head, at, keys },
    asks: (side === "encoder" ? facts.source : facts.read)[at],
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
function drawHead(one, act) {
  const { q, E, A, Y, keys, asks, hidden, largest } = one;
  const cell = (name, ...children) => element("span", { class: name }, ...children);
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
      cell("journey-number", off ? "hidden" : two(A[s])),
    );
    const row = element(
      "div",
      { class: "journey-key-row" },
      cell("journey-token", token),
      cell("", makeStrip(one.k(s), largest.K)),
      score,
      weight,
      cell("", makeStrip(one.v(s), largest.V)),
    );
    row.children[0].title = token;
    row.classList.toggle("journey-future", off);
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
  const head = (...names) =>
    element("div", { class: "journey-key-row journey-names" }, ...names.map((n) => cell("", n)));
  return element(
    "div",
    { class: `journey-inside journey-${one.side} journey-is-${one.kind}` },
    element(
      "div",
      { class: "journey-key-row journey-query" },
      cell("journey-token", asks),
      cell("", makeStrip(q, reach(q), 26)),
      cell("", "◂ query q"),
    ),
    head(keys.length > 12 ? "key (scroll)" : "key", "K", "q · k / √d_k", one.kind === "self" && one.side === "decoder"
      ? "mask, softmax: weight" : "softmax: weight", "V"), // prettier-ignore
    element("div", { class: "journey-keys" }, ...rows),
    element(
      "div",
      { class: "journey-key-row journey-query" },
      ...[cell(""), cell(""), cell(""), cell("journey-right", "mix of values ▸"), mix],
    ),
  );
}

/** The panel of one number: three rows of bars, product by product, and the formula. */
function drawNumber(one, number, act) {
  const { q, E, A, Y, keys, asks } = one;
  const { kind, s, feature = 0 } = number;
  const token = keys[s];
  const width = q.length;
  let rows, says, formula, from;
  const theirs = one.kind === "cross" ? "journey-theirs" : ""; // from the memory
  if (kind === "E") {
    const k = one.k(s);
    const products = q.map((x, i) => x * k[i]);
    const sum = products.reduce((a, b) => a + b, 0);
    let running = 0;
    const sums = [...products].map((x) => (running += x));
    const most = Math.max(reach(q), reach(k));
    rows = [[`q of ${asks}`, q, most], [`k of ${token}`, k, most, theirs], ["q × k", products, reach(products)]]; // prettier-ignore
    says = (i) =>
      `feature ${i}: ${two(q[i])} × ${two(k[i])} = ${two(products[i])}; sum so far ${two(sums[i])}`;
    formula = `q · k / √d_k = ${two(sum)} / √${width} = ${two(E[s])}${one.hidden(s) ? ", hidden by the mask" : ""}`;
    from = [
      `q and k come from what this sub-layer reads${one.kind === "cross" ? " (k: from the memory)" : ""}, times W_Q and W_K.`,
      "The sub-layer",
      () => act.open(one.sub),
    ];
  } else if (kind === "A") {
    const top = Math.max(...E.filter((_, j) => !one.hidden(j)));
    const e = E.map((x, j) => (one.hidden(j) ? 0 : Math.exp(x - top)));
    const sum = e.reduce((a, b) => a + b, 0);
    const seen = E.map((x, j) => (one.hidden(j) ? 0 : x)); // no bar: the mask took it
    rows = [["score", seen, reach(seen)], ["e^(score − largest)", e, 1], ["weight", A, 1]]; // prettier-ignore
    says = (j) =>
      one.hidden(j)
        ? `${keys[j]}: not read yet, so its weight is 0.00`
        : `${keys[j]}: e^(${two(E[j])} − ${two(top)}) = ${two(e[j])}; ${two(e[j])} / ${two(sum)} = ${two(A[j])}`;
    formula = one.hidden(s)
      ? `${token} is hidden: not read yet, so its weight is 0.00`
      : `softmax: ${two(e[s])} / ${two(sum)} = ${two(A[s])}`;
    from = ["The weights come from the scores.", "This score", () => act.number({ kind: "E", s })];
  } else {
    const column = Float32Array.from(keys, (_, j) => one.v(j)[feature]);
    const products = column.map((x, j) => A[j] * x);
    const most = reach(column);
    rows = [["weight", A, 1], [`feature ${feature} of V`, column, most, theirs], ["weight × V", products, most]]; // prettier-ignore
    says = (j) => `${keys[j]}: ${two(A[j])} × ${two(column[j])} = ${two(products[j])}`;
    formula = `feature ${feature} of the mix: Σ weight × V = ${two(Y[feature])}`;
    from = [
      `All ${Y.length} features of the mix, times this head's rows of W_O, give the vector that it adds.`,
      "The head",
      () => act.open(one.place),
    ];
  }
  const count = rows[0][1].length;
  const readout = element("p", { class: "journey-note", "aria-live": "polite" });
  const tell = (i) => () => {
    readout.textContent = `${says(i)}.`;
    slots.forEach((slot, j) => slot.classList.toggle("journey-now", i === j));
  };
  const slots = [...Array(count).keys()].map((i) =>
    makeStop(`slot:${i}`, says(i), tell(i), {
      class: kind === "A" && one.hidden(i) ? "journey-slot journey-hatched" : "journey-slot",
      onfocus: tell(i),
      // A bar that comes to lie under a pointer at rest is not pointed at.
      onpointermove: (event) => (event.movementX || event.movementY) && tell(i)(),
    }),
  );
  // Where the reader begins: at the first product, the chosen weight, the largest share of a mix.
  const first = kind === "E" ? 0 : kind === "A" ? s : A.indexOf(Math.max(...A));
  tell(first)();
  const step = (by) => () =>
    act.number({ ...number, feature: (feature + by + Y.length) % Y.length });
  const pages = [
    makeStop("feature:back", "feature before", step(-1), { class: "journey-small" }, "◂"),
    element("span", {}, ` feature ${feature} of ${Y.length} `),
    makeStop("feature:forth", "feature after", step(1), { class: "journey-small" }, "▸"),
  ];
  const [why, where, go] = from;
  return element(
    "div",
    { class: `journey-sum journey-${one.side}` },
    element("p", { class: "journey-formula" }, formula),
    element(
      "div",
      { class: "journey-scroll" },
      element(
        "div",
        { class: "journey-strips", style: `--count: ${count}` },
        ...rows.flatMap(([name, numbers, most, whose = ""]) => [
          element("span", {}, name, element("small", {}, `scale: ${two(most)}`)),
          element("div", { class: whose }, makeStrip(numbers, most, 56)),
        ]),
        element("div", { class: "journey-slots" }, ...slots),
      ),
    ),
    readout,
    ...(kind === "Y" ? [element("p", {}, ...pages)] : []),
    element(
      "p",
      { class: "journey-from" },
      `Where from: ${why} `,
      makeStop("from", `Go to: ${where}`, go, { class: "journey-small" }, where),
    ),
  );
}
