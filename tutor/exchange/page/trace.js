// A run of the model with every number on its way, under the names of tutor/trace.py.
import { head } from "./attention.js";
import { logSumExp, mostProbable, write } from "./decoding.js";
import { matrix, multiply, row } from "./matrix.js";
import { BOS, EOS, SPECIAL, UNK } from "./tokenizer.js";
import { Transformer } from "./transformer.js";

const SUB_LAYERS = { self: "self_attention", cross: "cross_attention", ff: "feed_forward" };
const TOP = 12; // the most probable tokens that the facts hold for each step
const LARGEST = 100; // more would leave the numbers of float32 behind

/** The places of a model, such as "decoder.2.cross", with the sub-layer that stands there.
 *
 * @returns {Generator<[string, any]>}
 */
export function* places(model) {
  for (const side of ["encoder", "decoder"])
    for (const [i, layer] of model[side].layers.entries())
      for (const [short, name] of Object.entries(SUB_LAYERS))
        if (layer[name]) yield [`${side}.${i}.${short}`, layer[name]];
}

/** The tensors of a model in which what some places add is multiplied: scales: {place: factor}.
 *
 * A head adds Y @ (its rows of W_O), so that it is these rows that are multiplied.
 */
export function scaleTensors(tensors, config, scales) {
  const scaled = { ...tensors };
  const times = (name, factor, start = 0, end = Infinity) => {
    const { shape, data } = scaled[name];
    const change = (x, i) => (i >= start && i < end ? x * factor : x);
    scaled[name] = { shape, data: data.map(change) };
  };
  for (const [place, factor] of Object.entries(scales)) {
    const [side, layer, short, , number] = place.split(".");
    const prefix = `${side}.layers.${layer}.${SUB_LAYERS[short]}`;
    const known =
      /^(encoder\.\d+\.(self|ff)|decoder\.\d+\.(self|cross|ff))$/.test(place) ||
      (/\.(self|cross)\.head\.\d+$/.test(place) && number < config.num_heads);
    if (!known || !(layer < config.num_layers)) throw new Error(`There is no place ${place}.`);
    if (!(Math.abs(factor) <= LARGEST) || typeof factor !== "number")
      throw new Error(`The factor of ${place} must be a number from -${LARGEST} to ${LARGEST}.`);
    if (short === "ff")
      for (const part of ["weight", "bias"]) times(`${prefix}.feed_forward.2.${part}`, factor);
    else {
      const W_O = scaled[`${prefix}.attention.W_O`].data;
      const size = W_O.length / config.num_heads;
      const own = number === undefined ? [] : [Number(number) * size, (Number(number) + 1) * size];
      times(`${prefix}.attention.W_O`, factor, ...own);
    }
  }
  return scaled;
}

const DOUBT =
  "This is unlike the texts that the model was trained on: do not trust its translation.";

/** The length of each row of X (T, n). */
const rowLengths = (X) => Array.from({ length: X.shape[0] }, (_, t) => Math.hypot(...row(X, t)));

/** One translation, written greedily after the tokens `written`, and all its numbers. */
export class Trace {
  constructor(translator, text, { written = [], scales = {} } = {}) {
    const { tokenizer, tensors } = translator;
    const { config } = translator.model;
    scales = Object.fromEntries(Object.entries(scales).filter(([, factor]) => factor !== 1));
    this.model = new Transformer(config, scaleTensors(tensors, config, scales));
    const { ids: source, warnings } = translator.encodeTyped(text);
    const { target, score } = this.write(source, written);
    const read = [BOS, ...target.slice(0, -1)];
    this.run(source, read);
    const tokens = tokenizer.readable(source);
    const strange = tokens.filter((token) => token === SPECIAL[UNK] || token.includes("\ufffd"));
    if (2 * strange.length > source.length - 1)
      warnings.push("The model never learned to read most of these characters.");
    else if (!written.length && !Object.keys(scales).length) {
      const strangeness = translator.strangeness(text, source.length, target.length, score);
      if (translator.doubts(strangeness)) warnings.push(DOUBT);
    }
    if (target.at(-1) !== EOS)
      warnings.push(
        `The translation did not end by itself and was cut after ${target.length} tokens.`,
      );
    this.facts = {
      text,
      translation: translator.decode(text, target),
      message: warnings.join(" "),
      written: target.slice(0, written.length),
      scales,
      source: tokens,
      target: tokenizer.readable(target),
      read: tokenizer.readable(read),
      source_ids: source,
      target_ids: target,
      config: { layers: config.num_layers, heads: config.num_heads, ...config },
      lengths: this.lengths(),
      heads: this.headLengths(),
      ...this.next(tokenizer),
    };
  }

  /** A translation that begins with `written`: its ids, [EOS] included, and its log-probability. */
  write(source, written) {
    const { vocab_size } = this.model.config;
    for (const id of written)
      if (!(Number.isInteger(id) && id >= EOS && id < vocab_size))
        throw new Error(`Ids must be a list of whole numbers from ${EOS} to ${vocab_size - 1}.`);
    const choose = (logits, t) =>
      t < written.length ? { id: written[t], step: 0 } : mostProbable(logits, 1)[0];
    const { ids, score, finished } = write(this.model, source, choose);
    return { target: finished ? [...ids, EOS] : ids, score };
  }

  /** One forward pass over source (S) and tokens read (T), in which every part is listened to. */
  run(source, read) {
    const { model } = this;
    this.kept = new Map(); // name -> {shape, data}
    const keep = (place) => (numbers) => {
      for (const [name, X] of Object.entries(numbers)) this.kept.set(`${place}.${name}`, X);
    };
    this.sub_layers = new Map(places(model));
    for (const [place, sub_layer] of this.sub_layers) {
      sub_layer.see = keep(place);
      if (sub_layer.attention) sub_layer.attention.see = keep(place);
    }
    model.see = keep("source");
    const memory = model.encode(source); // (S, d_model)
    model.see = keep("target");
    const out = model.decode(read, memory); // (T, d_model)
    this.kept.set("encoder.out", memory).set("decoder.out", out);
    this.kept.set("logits", model.logits(out)); // (T, vocab_size)
  }

  /** {shape, data} of a name, such as "decoder.2.cross.A", "logits" or "logits.3". */
  numbers(name) {
    const place = name.replace(/\.parts$/, "");
    if (place !== name && this.sub_layers.get(place)?.attention) return this.parts(place);
    const step = /^logits\.(\d+)$/.exec(name);
    const all = this.kept.get("logits");
    if (step && step[1] < all.shape[0])
      return { shape: [all.shape[1]], data: row(all, Number(step[1])).slice() };
    if (!this.kept.has(name)) throw new Error(`There are no numbers called "${name}".`);
    return this.kept.get(name);
  }

  /** What each head adds, Y @ (its rows of W_O): (h, T, d_model). */
  parts(place) {
    const Y = this.kept.get(`${place}.Y`); // (h, T, d_v)
    const [h, T] = Y.shape;
    const { d_model } = this.model.config;
    const data = new Float32Array(h * T * d_model);
    for (let i = 0; i < h; i++)
      data.set(multiply(head(Y, i), this.outputOf(place, i)).data, i * T * d_model);
    return { shape: [h, T, d_model], data };
  }

  /** The rows of W_O that belong to head i: (d_v, d_model). */
  outputOf(place, i) {
    const { d_v, d_model } = this.model.config;
    const { data } = this.sub_layers.get(place).attention.W_O; // (h * d_v, d_model)
    return matrix(d_v, d_model, data.subarray(i * d_v * d_model, (i + 1) * d_v * d_model));
  }

  /** For each place the length of each row of its `before`, `adds` and `after`. */
  lengths() {
    const lengths = {};
    for (const place of this.sub_layers.keys()) {
      lengths[place] = {};
      for (const name of ["before", "adds", "after"])
        lengths[place][name] = rowLengths(this.kept.get(`${place}.${name}`)); // of (T, d_model)
    }
    return lengths;
  }

  /** For each attention the length of each row of what each of its heads adds. */
  headLengths() {
    const heads = {};
    for (const [place, { attention }] of this.sub_layers) {
      if (!attention) continue;
      const parts = this.parts(place); // (h, T, d_model)
      heads[place] = Array.from({ length: parts.shape[0] }, (_, i) => rowLengths(head(parts, i)));
    }
    return heads;
  }

  /** The most probable next tokens of every step, and what makes probabilities of all logits. */
  next(tokenizer) {
    const logits = this.kept.get("logits"); // (T, vocab_size)
    const steps = Array.from({ length: logits.shape[0] }, (_, t) => row(logits, t));
    return {
      top: steps.map((Z) =>
        mostProbable(Z, TOP).map(({ id }) => [tokenizer.readable([id])[0], id, Z[id]]),
      ),
      log_sum_exp: steps.map(logSumExp),
    };
  }
}
