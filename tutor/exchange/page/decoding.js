// Writing a translation: greedy and beam search, with a cache (chapter 09).
import { PAD } from "./attention.js";
import { row } from "./matrix.js";
import { BOS, EOS } from "./tokenizer.js";

export const EXTRA = 50; // tokens that a translation may be longer than its source
export const ALPHA = 1.4; // strength of the length penalty

/** X (h, t, width) and the newest (h, new, width) behind it: (h, t + new, width). */
function append(X, newest) {
  if (!X) return newest;
  const [[h, t, width], more] = [X.shape, newest.shape[1]];
  const Y = { shape: [h, t + more, width], data: new Float32Array(h * (t + more) * width) };
  for (let i = 0; i < h; i++) {
    const start = i * (t + more) * width;
    Y.data.set(X.data.subarray(i * t * width, (i + 1) * t * width), start);
    Y.data.set(newest.data.subarray(i * more * width, (i + 1) * more * width), start + t * width);
  }
  return Y;
}

/** Keys and values of a sentence that is being written, and which of them are no beam's own past.
 *
 * The beams are queries side by side: they share the source's keys, and those of all their tokens
 * stand in one list. When beams are dropped and doubled, only the rows of the mask move.
 */
export class Cache {
  constructor(model, source_ids) {
    this.model = model;
    this.length = 0;
    this.hidden = [[]]; // a row a beam
    const memory = model.encode(source_ids); // (S, d_model)
    this.layers = model.decoder.layers.map((layer) => ({
      memory: layer.cross_attention.attention.projectKeysValues(memory), // (h, S, d_k), (h, S, d_v)
      past: [null, null], // K, V of the tokens so far: (h, t * beams, d_k), (h, t * beams, d_v)
    }));
  }

  /** Read the newest token of each beam: logits of the next, (beams, vocab_size). */
  step(ids) {
    const { model } = this;
    let X = model.embed(ids, this.length, 0); // (beams, d_model)
    this.hidden = this.hidden.map((past, b) => [...past, ...ids.map((_, other) => other !== b)]);
    this.length += 1;
    const shape = [this.hidden.length, this.hidden[0].length];
    const mask = { shape, data: Uint8Array.from(this.hidden.flat()) }; // (beams, t * beams)
    model.decoder.layers.forEach((layer, i) => {
      X = this.layerStep(layer, this.layers[i], X, mask); // (beams, d_model)
    });
    return model.logits(model.decoder.norm.forward(X));
  }

  /** A decoder layer for the newest tokens alone, X: (beams, d_model). */
  layerStep(layer, kept, X, mask) {
    const [own, cross] = [layer.self_attention.attention, layer.cross_attention.attention];
    X = layer.self_attention.residual(X, (X) => {
      kept.past = own.projectKeysValues(X).map((newest, i) => append(kept.past[i], newest));
      return own.merge(own.attend(own.projectQueries(X), ...kept.past, mask));
    });
    X = layer.cross_attention.residual(X, (X) =>
      cross.merge(cross.attend(cross.projectQueries(X), ...kept.memory)),
    );
    return layer.feed_forward.forward(X); // (beams, d_model)
  }

  /** Beam b goes on from beam parents[b]. */
  follow(parents) {
    this.hidden = parents.map((parent) => this.hidden[parent]);
  }
}

/** ((5 + length) / 6) ** alpha, for a number of tokens, [EOS] included. */
export function lengthPenalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

/** How many tokens a translation may have, [EOS] included. */
export function limitOf(model, source_ids) {
  return Math.min(source_ids.length + EXTRA, model.config.max_len);
}

/** The k best next tokens of logits (vocab_size): [{id, step}], step being the log-probability.
 *
 * [PAD], [UNK] and [BOS] are never written. Of equal logits the smaller id stands first.
 */
export function mostProbable(logits, k) {
  const best = [];
  for (let id = EOS; id < logits.length; id++) {
    if (best.length === k && logits[id] <= logits[best[k - 1]]) continue;
    let at = best.length;
    while (at > 0 && logits[id] > logits[best[at - 1]]) at--;
    best.splice(at, 0, id);
    best.length = Math.min(best.length, k);
  }
  const total = logSumExp(logits.subarray(EOS));
  return best.map((id) => ({ id, step: logits[id] - total }));
}

/** log(sum(exp(x))) without overflow. */
export function logSumExp(values) {
  const top = values.reduce((a, b) => Math.max(a, b));
  return top + Math.log(values.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

/** Write a sentence; choose(logits, t) gives {id, step}. Returns {ids, score, finished}. */
export function write(model, source_ids, choose) {
  const [cache, limit] = [new Cache(model, source_ids), limitOf(model, source_ids)];
  const ids = [BOS];
  for (let score = 0; ; ) {
    const t = ids.length - 1;
    const { id, step } = choose(row(cache.step([ids[t]]), 0), t);
    ids.push(id);
    score += step;
    if (id === EOS || ids.length > limit) {
      const words = ids.slice(1).filter((id) => id !== EOS);
      return { ids: words, score, finished: id === EOS };
    }
  }
}

/** The most probable next token, again and again, until [EOS] or the limit. */
export function greedy(model, source_ids) {
  return write(model, source_ids, (logits) => mostProbable(logits, 1)[0]);
}

const scoreOf = (beam, alpha) => beam.total / lengthPenalty(beam.length, alpha);

/** One step of beam search: every beam proposes, the best `beams` proposals stay. */
export function grow(pool, proposals, beams, alpha) {
  const proposed = pool.flatMap((beam, parent) => {
    // A finished beam proposes itself, at no cost.
    if (beam.ended) return [{ ...beam, parent, ids: [...beam.ids, PAD] }];
    return proposals[parent].map(({ id, step }) => ({
      parent,
      ids: [...beam.ids, id],
      total: beam.total + step,
      length: beam.length + 1,
      ended: id === EOS,
    }));
  });
  return proposed.sort((a, b) => scoreOf(b, alpha) - scoreOf(a, alpha)).slice(0, beams);
}

/** Whether no live beam can overtake the n_best best finished ones any more.
 *
 * The best that a live one can hope for: no further loss, and the mildest penalty.
 */
export function settled(pool, limit, alpha, n_best) {
  const finished = pool.filter((beam) => beam.ended).map((beam) => scoreOf(beam, alpha));
  const live = pool.filter((beam) => !beam.ended);
  const hope = Math.max(...live.map((beam) => beam.total / lengthPenalty(limit, alpha)));
  finished.sort((a, b) => b - a);
  return (finished[n_best - 1] ?? -Infinity) >= hope || pool[0].ids.length > limit;
}

/** Throws for settings with which no search is possible. */
function checkSearch(beams, alpha, n_best) {
  if (!(Number.isInteger(beams) && beams >= 1))
    throw new Error(`beams must be a whole number of at least 1, not ${beams}.`);
  if (!(n_best >= 1 && n_best <= beams))
    throw new Error(`n_best must lie between 1 and beams (${beams}), not ${n_best}.`);
  if (!(alpha >= 0)) throw new Error(`alpha must be at least 0, not ${alpha}.`);
}

/** The best translations found by keeping `beams` of them at every step.
 *
 * `history`, a list, receives the pool of every step. Returns at most n_best
 * {ids, score, finished}; finished ones stand before those that were cut at the limit.
 */
export function beamSearch(
  model,
  source_ids,
  { beams = 5, alpha = ALPHA, n_best = 1, history = null },
) {
  checkSearch(beams, alpha, n_best);
  const [cache, limit] = [new Cache(model, source_ids), limitOf(model, source_ids)];
  let pool = [{ ids: [BOS], total: 0, length: 0, ended: false }];
  do {
    const logits = cache.step(pool.map((beam) => beam.ids.at(-1))); // (beams, vocab_size)
    const proposals = pool.map((_, b) => mostProbable(row(logits, b), beams));
    pool = grow(pool, proposals, beams, alpha);
    cache.follow(pool.map((beam) => beam.parent));
    history?.push(pool);
  } while (!settled(pool, limit, alpha, n_best));
  return pool
    .map((beam) => ({
      ids: beam.ids.filter((id) => ![PAD, BOS, EOS].includes(id)),
      score: scoreOf(beam, alpha),
      finished: beam.ended,
    }))
    .sort((a, b) => Number(b.finished) - Number(a.finished) || b.score - a.score)
    .slice(0, n_best);
}
