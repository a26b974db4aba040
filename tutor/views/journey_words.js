// What the panel says of what is open, above its drawing.
import { kindsOf, namePlace, parsePlace, positionOf, tokenOf, two } from "./journey_parts.js";

/** Of the whole model. */
export function tellWhole({ facts, step, source: s }) {
  const { layers } = facts.config;
  return (
    `The encoder reads the source; its ${layers} ${layers === 1 ? "layer adds" : "layers add"} to the vector of ` +
    `${facts.source[s]}. The decoder reads ${facts.read[step]} and looks at the memory in each ` +
    `layer. The ${step === 0 ? "first" : "next"} token is ${facts.target[step]}. Open any layer.`
  );
}

/** Of a layer. */
export function tellLayer(state, place) {
  const { lengths, scales } = state.facts;
  const { side, layer } = parsePlace(place);
  const added = kindsOf(side).map((kind) => {
    const { adds } = lengths[`${side}.${layer}.${kind}`];
    return two(adds[positionOf(state, place)]);
  });
  const off = Object.keys(scales)
    .filter((part) => part.startsWith(`${side}.${layer}.`) && scales[part] === 0)
    .map((part) => namePlace(part).split(", ").slice(1).join(", "));
  return (
    `${side === "encoder" ? "Encoder" : "Decoder"} layer ${layer} adds vectors of length ` +
    `${added.slice(0, -1).join(", ")} and ${added.at(-1)} to the vector of ` +
    `${tokenOf(state, place)}.${off.length ? ` Off: ${off.join("; ")}.` : ""}`
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
