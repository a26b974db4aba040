// What the panel says of what is open, above its drawing.
import { kindsOf, parsePlace, positionOf, SUB_LAYERS, tokenOf, two } from "./journey_parts.js";

/** Of the whole model. */
export function tellWhole({ facts, step, source: s }) {
  const { layers } = facts.config;
  return (
    `The encoder reads the source; its ${layers} ${layers === 1 ? "layer adds" : "layers add"} to the vector of ` +
    `${facts.source[s]}. The decoder reads ${facts.read[step]} and looks at the memory in each ` +
    `layer. The ${step === 0 ? "first" : "next"} token is ${facts.target[step]}. Open any layer.`
  );
}

/** Of a layer, or of a sub-layer: how long the stream is, and what is added to it. */
export function tellLayer(state, place) {
  const { lengths } = state.facts;
  const { side, layer, kind } = parsePlace(place);
  const at = positionOf(state, place);
  const told = kindsOf(side)
    .filter((one) => one === (kind ?? one))
    .map((one) => {
      const { before, adds, after } = lengths[`${side}.${layer}.${one}`];
      return `${SUB_LAYERS[one]} adds ${two(adds[at])} to ${two(before[at])}, which makes ${two(after[at])}`;
    });
  return (
    `Lengths of vectors, at ${tokenOf(state, place)}: ${told.join("; ")}. ` +
    "Vectors add, lengths do not."
  );
}

/** Of a head (see `loadHead`) or, of it, a number: { kind, s } or null. */
export function tellHead({ scales }, one, number) {
  const best = one.A.indexOf(Math.max(...one.A));
  const { kind, s } = number ?? {};
  const masked =
    kind === "E" && one.hidden(s)
      ? ` ${one.keys[s]} is not read yet: the mask hides this score, so its weight is 0.`
      : "";
  if (kind === "E")
    return `The score says how well the query of ${one.asks} fits the key of ${one.keys[s]}: the products of their features, summed and divided by √d_k.${masked}`;
  if (kind === "A")
    return `The weight is the share of ${one.keys[s]} in what ${one.asks} takes: softmax makes the scores positive, with sum 1.`;
  if (kind === "Y")
    return `The mix is the sum of all values, each times its weight; here one of its features.`;
  return (
    `${one.asks} asks, and ${one.keys[best]} gets most weight (${two(one.A[best])}). ` +
    `The mix, through this head's rows of W_O, adds a vector of length ${two(one.length)}.` +
    (scales[one.sub] === 0
      ? " It is off with its sub-layer."
      : scales[one.place] === 0
        ? " This head is off."
        : "")
  );
}
