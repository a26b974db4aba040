// The whole model: embedding and positions, encoder, decoder, logits (chapters 03b to 06).
import { causalMask } from "./attention.js";
import { Decoder } from "./decoder.js";
import { Encoder, within } from "./encoder.js";
import { add, matrix, multiplyTransposed, row } from "./matrix.js";

/** The paper's table of positions, (max_len, d_model). */
export function sinusoidalPositions(max_len, d_model) {
  const P = matrix(max_len, d_model);
  for (let pos = 0; pos < max_len; pos++)
    for (let i = 0; i < d_model; i++) {
      const angle = pos / 10_000 ** ((i - (i % 2)) / d_model);
      P.data[pos * d_model + i] = i % 2 ? Math.cos(angle) : Math.sin(angle);
    }
  return P;
}

/** Made of config.json and the tensors of model.safetensors; `see` receives what embed computes. */
export class Transformer {
  constructor(config, tensors) {
    const share = Math.floor(config.d_model / config.num_heads);
    this.config = { ...config, d_k: config.d_k ?? share, d_v: config.d_v ?? share };
    const weight = (name) => {
      if (!(name in tensors)) throw new Error(`The weights have no tensor ${name}.`);
      return tensors[name];
    };
    this.embedding = weight("embedding.weight"); // (vocab_size, d_model)
    this.positions =
      config.positions === "learned"
        ? weight("positions.table")
        : sinusoidalPositions(config.max_len, config.d_model); // (max_len, d_model)
    this.encoder = new Encoder(within(weight, "encoder"), this.config);
    this.decoder = new Decoder(within(weight, "decoder"), this.config);
    this.see = (_) => {};
  }

  /** Vectors of T ids with positions from `start` on; all ids at one position with `step` 0. */
  embed(ids, start = 0, step = 1) {
    const { d_model, max_len } = this.config;
    const end = start + step * (ids.length - 1) + 1;
    if (end > max_len)
      throw new Error(
        `The sentence has ${end} tokens, but the model has positions for ${max_len}.`,
      );
    const [embedding, positions] = [matrix(ids.length, d_model), matrix(ids.length, d_model)];
    ids.forEach((id, t) => {
      const scaled = row(this.embedding, id).map((x) => x * Math.sqrt(d_model)); // (d_model)
      embedding.data.set(scaled, t * d_model);
      positions.data.set(row(this.positions, start + step * t), t * d_model);
    });
    const stream = add(embedding, positions); // (T, d_model)
    this.see({ embedding, positions, stream });
    return stream;
  }

  /** The encoder's output ("memory") for S ids: (S, d_model). */
  encode(source_ids) {
    return this.encoder.forward(this.embed(source_ids));
  }

  /** The decoder's output for T ids: (T, d_model). */
  decode(target_ids, memory) {
    return this.decoder.forward(this.embed(target_ids), memory, causalMask(target_ids.length));
  }

  /** Scores of every token of the vocabulary, from Y (T, d_model): (T, vocab_size). */
  logits(Y) {
    return multiplyTransposed(Y, this.embedding);
  }

  forward(source_ids, target_ids) {
    return this.logits(this.decode(target_ids, this.encode(source_ids))); // (T, vocab_size)
  }
}
