// The decoder layer and the decoder (chapter 06).
import { AttentionSubLayer, FeedForwardSubLayer, Stack, within } from "./encoder.js";

export class DecoderLayer {
  constructor(weight, config) {
    this.self_attention = new AttentionSubLayer(within(weight, "self_attention"), config);
    this.cross_attention = new AttentionSubLayer(within(weight, "cross_attention"), config);
    this.feed_forward = new FeedForwardSubLayer(within(weight, "feed_forward"), config);
  }

  /** X (T, d_model), the target so far; memory (S, d_model); mask (T, T). */
  forward(X, memory, mask) {
    X = this.self_attention.forward(X, { mask }); // (T, d_model)
    X = this.cross_attention.forward(X, { memory }); // (T, d_model)
    return this.feed_forward.forward(X); // (T, d_model)
  }
}

export class Decoder extends Stack {
  constructor(weight, config) {
    super(DecoderLayer, weight, config);
  }
}
