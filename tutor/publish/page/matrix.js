// Matrices as typed arrays, row after row: {shape: [rows, columns], data: Float32Array}.
// One sentence at a time: there is no N, and nothing is padded.

export function matrix(rows, columns, data = new Float32Array(rows * columns)) {
  return { shape: [rows, columns], data };
}

/** Row t of X (T, n), without a copy. */
export function row(X, t) {
  const n = X.shape[1];
  return X.data.subarray(t * n, (t + 1) * n); // (n)
}

/** X @ W: (T, n) @ (n, m) -> (T, m). */
export function multiply(X, W) {
  const [T, n] = X.shape;
  const m = W.shape[1];
  const Y = matrix(T, m);
  for (let t = 0; t < T; t++) {
    const [x, y] = [row(X, t), row(Y, t)];
    for (let i = 0; i < n; i++) {
      const w = row(W, i);
      for (let j = 0; j < m; j++) y[j] += x[i] * w[j];
    }
  }
  return Y;
}

/** X @ W transposed: (T, n) @ (m, n)^T -> (T, m), a dot product for each pair of rows. */
export function multiplyTransposed(X, W) {
  const T = X.shape[0];
  const m = W.shape[0];
  const Y = matrix(T, m);
  for (let t = 0; t < T; t++) {
    const x = row(X, t);
    for (let j = 0; j < m; j++) Y.data[t * m + j] = dot(x, row(W, j));
  }
  return Y;
}

export function dot(x, w) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * w[i];
  return sum;
}

/** X + Y, both (T, n). */
export function add(X, Y) {
  return matrix(
    ...X.shape,
    X.data.map((x, i) => x + Y.data[i]),
  );
}

/** X (T, n) with the one row `bias` (n) added to each of its rows. */
export function addToRows(X, bias) {
  const n = X.shape[1];
  return matrix(
    ...X.shape,
    X.data.map((x, i) => x + bias.data[i % n]),
  );
}
