// Attention: scores, softmax, masks, slices and many heads (chapters 02 and 03).
// Masks are as everywhere in the course: true = may not be attended to. h heads, T queries, S keys.
import { matrix, multiply, multiplyTransposed, row } from "./matrix.js";

export const PAD = 0;

/** True above the diagonal: position t may attend to 0..t. Shape (T, T). */
export function causalMask(T) {
  const data = Uint8Array.from({ length: T * T }, (_, i) => Number(i % T > Math.floor(i / T)));
  return { shape: [T, T], data };
}

/** Head number i of X (h, T, width), without a copy: (T, width). */
export function head(X, i) {
  const [, T, width] = X.shape;
  return matrix(T, width, X.data.subarray(i * T * width, (i + 1) * T * width));
}

/** Work done head by head: the results (T, n) of `work(i)` on top of each other, (h, T, n). */
function forHeads(h, work) {
  const results = Array.from({ length: h }, (_, i) => work(i));
  const data = new Float32Array(h * results[0].data.length);
  results.forEach((Y, i) => data.set(Y.data, i * Y.data.length));
  return { shape: [h, ...results[0].shape], data };
}

/** E = Q K^T / sqrt(d_k): Q (h, T, d_k), K (h, S, d_k) -> (h, T, S). */
export function computeScores(Q, K) {
  const [h, , d_k] = Q.shape;
  return forHeads(h, (i) => {
    const E = multiplyTransposed(head(Q, i), head(K, i)); // (T, S)
    return { shape: E.shape, data: E.data.map((e) => e / Math.sqrt(d_k)) };
  });
}

/** Attention weights A from scores E, both (h, T, S); mask (T, S) or null. Rows sum to 1. */
export function softmax(E, mask) {
  const [, T, S] = E.shape;
  const A = { shape: E.shape, data: new Float32Array(E.data.length) };
  for (let start = 0; start < E.data.length; start += S) {
    const hidden = mask ? row(mask, (start / S) % T) : []; // (S)
    let top = -Infinity;
    for (let s = 0; s < S; s++) if (!hidden[s]) top = Math.max(top, E.data[start + s]);
    let total = 0;
    for (let s = 0; s < S; s++)
      if (!hidden[s]) total += A.data[start + s] = Math.exp(E.data[start + s] - top);
    for (let s = 0; s < S; s++) A.data[start + s] /= total || 1; // nothing to attend to: zeros
  }
  return A;
}

/** Cut the columns of X (T, h * width) into h slices: (h, T, width). */
export function sliceVertically(X, width) {
  const [T, columns] = X.shape;
  return forHeads(columns / width, (i) => {
    const slice = matrix(T, width);
    for (let t = 0; t < T; t++)
      slice.data.set(row(X, t).subarray(i * width, (i + 1) * width), t * width);
    return slice; // (T, width)
  });
}

/** Put the slices of X (h, T, width) side by side again: (T, h * width). */
export function unsliceVertically(X) {
  const [h, T, width] = X.shape;
  const Y = matrix(T, h * width);
  for (let i = 0; i < h; i++)
    for (let t = 0; t < T; t++) Y.data.set(row(head(X, i), t), (t * h + i) * width);
  return Y;
}

/** h attentions side by side, on packed projections; `see` is called with what it computes. */
export class MultiHeadAttention {
  constructor(weight, { d_k, d_v }) {
    this.W_Q = weight("W_Q");
    this.W_K = weight("W_K");
    this.W_V = weight("W_V");
    this.W_O = weight("W_O");
    this.d_k = d_k;
    this.d_v = d_v;
    this.see = (_) => {};
  }

  projectQueries(X_Q) {
    return sliceVertically(multiply(X_Q, this.W_Q), this.d_k); // (h, T, d_k)
  }

  projectKeysValues(X_KV) {
    const K = sliceVertically(multiply(X_KV, this.W_K), this.d_k); // (h, S, d_k)
    const V = sliceVertically(multiply(X_KV, this.W_V), this.d_v); // (h, S, d_v)
    return [K, V];
  }

  attend(Q, K, V, mask = null) {
    const E = computeScores(Q, K); // (h, T, S)
    const A = softmax(E, mask); // (h, T, S)
    const Y = forHeads(Q.shape[0], (i) => multiply(head(A, i), head(V, i))); // (h, T, d_v)
    this.see({ Q, K, V, E, A, Y });
    return Y;
  }

  merge(Y) {
    return multiply(unsliceVertically(Y), this.W_O); // (T, d_model)
  }

  forward(X_Q, X_KV, mask = null) {
    return this.merge(this.attend(this.projectQueries(X_Q), ...this.projectKeysValues(X_KV), mask));
  }
}
