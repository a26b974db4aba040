// Sub-layers, the encoder layer and the encoder (chapter 04). X is always (T, d_model).
import { MultiHeadAttention } from "./attention.js";
import { add, matrix, multiplyTransposed, row } from "./matrix.js";

/** Names of weights below a prefix: `weight` finds a tensor by the name that PyTorch gave it. */
export const within = (weight, prefix) => (name) => weight(`${prefix}.${name}`);

export class LayerNorm {
  constructor(weight) {
    this.scale = weight("weight").data; // (d_model)
    this.shift = weight("bias").data; // (d_model)
  }

  forward(X) {
    const Y = matrix(...X.shape);
    for (let t = 0; t < X.shape[0]; t++) {
      const [x, y] = [row(X, t), row(Y, t)];
      const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
      const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
      const deviation = Math.sqrt(variance + 1e-5); // as in PyTorch
      x.forEach(
        (value, i) => (y[i] = ((value - mean) / deviation) * this.scale[i] + this.shift[i]),
      );
    }
    return Y; // (T, d_model)
  }
}

/** What every sub-layer does around its own work; `see` is called with what it computes. */
class SubLayer {
  constructor(weight, { norm_first }) {
    this.norm = new LayerNorm(within(weight, "norm"));
    this.norm_first = norm_first;
    this.see = (_) => {};
  }

  residual(before, work) {
    const read = this.norm_first ? this.norm.forward(before) : before; // (T, d_model)
    const adds = work(read); // (T, d_model)
    const sum = add(before, adds); // (T, d_model)
    const after = this.norm_first ? sum : this.norm.forward(sum); // (T, d_model)
    this.see({ before, read, adds, after });
    return after;
  }
}

export class AttentionSubLayer extends SubLayer {
  constructor(weight, config) {
    super(weight, config);
    this.attention = new MultiHeadAttention(within(weight, "attention"), config);
  }

  /** X attends to itself, or to `memory` (S, d_model). */
  forward(X, { memory = null, mask = null } = {}) {
    return this.residual(X, (X) => this.attention.forward(X, memory ?? X, mask));
  }
}

export class FeedForwardSubLayer extends SubLayer {
  constructor(weight, config) {
    super(weight, config);
    this.linears = [0, 2].map((i) =>
      ["weight", "bias"].map((name) => weight(`feed_forward.${i}.${name}`)),
    ); // [(d_ff, d_model), (d_ff)] and [(d_model, d_ff), (d_model)]; 1 is the ReLU
  }

  work(X) {
    const [[W_1, b_1], [W_2, b_2]] = this.linears;
    const middle = add(multiplyTransposed(X, W_1), b_1); // (T, d_ff)
    const hidden = { shape: middle.shape, data: middle.data.map((x) => Math.max(0, x)) };
    this.see({ hidden });
    return add(multiplyTransposed(hidden, W_2), b_2); // (T, d_model)
  }

  forward(X) {
    return this.residual(X, (X) => this.work(X));
  }
}

export class EncoderLayer {
  constructor(weight, config) {
    this.self_attention = new AttentionSubLayer(within(weight, "self_attention"), config);
    this.feed_forward = new FeedForwardSubLayer(within(weight, "feed_forward"), config);
  }

  forward(X) {
    return this.feed_forward.forward(this.self_attention.forward(X));
  }
}

/** A stack of layers, and the LayerNorm that a pre-norm stack ends with. */
export class Stack {
  constructor(Layer, weight, config) {
    this.layers = Array.from(
      { length: config.num_layers },
      (_, i) => new Layer(within(weight, `layers.${i}`), config),
    );
    this.norm = config.norm_first ? new LayerNorm(within(weight, "norm")) : { forward: (X) => X };
  }

  forward(X, ...rest) {
    for (const layer of this.layers) X = layer.forward(X, ...rest);
    return this.norm.forward(X); // (T, d_model)
  }
}

export class Encoder extends Stack {
  constructor(weight, config) {
    super(EncoderLayer, weight, config);
  }
}
