// A walk through the view in nine steps: each says one sentence, lights its part, opens its place.
import { mark, range, tag } from "./common.js";
import { asShare, parsePlace, shownPlace, two } from "./journey_parts.js";

/** The steps: what lights up ("data-at"), and what is said of a run. */
const STEPS = {
  read: ({ facts }) =>
    `The encoder reads all ${facts.source.length} source tokens. In each layer, every row takes ` +
    "from the others: a wide line is a large share, a thin one a small share.",
  ask: ({ facts, step }) =>
    `The decoder has read ${facts.read[step]}, and its stream runs to the right. In each head it asks: ` +
    "from the stream comes a query, q.",
  weigh: (_, best) =>
    "From each row comes a key, K. q times K gives a score, and softmax turns the scores into " +
    `weights: e^score, divided by the sum of all.${best}`,
  mix: () =>
    "From each row comes a value, V, too. The values, each times its weight, make the mix.",
  add: ({ facts, head }) =>
    `Each of the ${facts.config.heads} heads makes a mix of its own (open: head ${head}). W_O turns ` +
    "the mixes into vectors, and + adds them to the stream.",
  think: () =>
    "FF is the feed-forward network: it reads one row alone, and adds what it makes of it.",
  again: ({ facts }) =>
    `So it goes in each of the ${facts.config.layers} decoder layers: a look at what is written ` +
    "(orange lines), a look at the source (blue lines), then FF.",
  choose: ({ facts, step }) => {
    const id = facts.target_ids[step];
    const found = facts.top[step].find(([, other]) => other === id);
    const share = found && asShare(Math.exp(found[2] - facts.log_sum_exp[step]));
    return (
      "At the end, the stream becomes a probability for each token that might come next: " +
      `${facts.target[step]} has ${share ?? "little"}.`
    );
  },
  write: ({ facts, step }) =>
    facts.target[step] === "[EOS]"
      ? "[EOS] is written: the translation ends."
      : `${facts.target[step]} is written, and then read: the next round begins.`,
};
const NAMES = Object.keys(STEPS);

/** `go(step of the walk, place)`; `choose(head)`; `last()`: from the end to the next token. */
export function makeWalk(state, { go, choose, onward }) {
  const to = (n) => () => (n > NAMES.length ? onward() : go(n, placeOf(n)));
  const buttons = NAMES.map((name, i) => tag("button", { onclick: to(i + 1) }, `${i + 1} ${name}`));
  const back = tag("button", { onclick: () => to(state.walk - 1)() }, "Back");
  const next = tag("button.journey-onward", { onclick: () => to(state.walk + 1)() }, "Next");
  const heads = tag("div.journey-heads", { role: "group", "aria-label": "Head in all layers" });
  const says = tag("p.journey-says", { "aria-live": "polite" });
  const way = { role: "group", "aria-label": "A walk" };
  const line = tag("div.journey-way", way, ...buttons);
  const node = tag("div.journey-walk", line, tag("div.journey-paces", back, next), heads);

  /** The place that a step opens: one of the reader's own that shows it stays. */
  function placeOf(n) {
    const { place } = state;
    const { side, layer, kind } = parsePlace(shownPlace(state));
    if (NAMES[n - 1] === "think") return `${side}.${layer}.ff`;
    return side === "decoder" && kind !== "ff" ? place : "";
  }

  /** `whole`: what holds the parts that are lit; `one`: the head that is open, or none. */
  function show(whole, one = null) {
    const { walk, facts, head } = state;
    const name = NAMES[walk - 1];
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === walk - 1));
    back.disabled = walk < 2;
    next.disabled = walk === NAMES.length && state.step === facts.target.length - 1;
    next.textContent = walk ? "Next" : "Walk through";
    const best = one?.A.indexOf(Math.max(...one.A));
    const words = name
      ? STEPS[name](state, one ? ` Here ${one.keys[best]} gets ${two(one.A[best])}.` : "")
      : `Lines are those of head ${head} in each layer. Open a layer, a head, FF or a number.`;
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
          "aria-label": `head ${m}`,
        };
        return tag("button", { ...how, onclick: () => choose(m) }, String(m));
      }),
    );
  }

  return { node, says, show };
}
