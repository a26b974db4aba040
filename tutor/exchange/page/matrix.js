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

/** x[i] w[j] + x[i + 1] w[j + 1] + ..., n products. Four sums at a time: none waits for another. */
function dot(x, i, w, j, n) {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let k = 0;
  for (; k + 3 < n; k += 4) {
    a += x[i + k] * w[j + k];
    b += x[i + k + 1] * w[j + k + 1];
    c += x[i + k + 2] * w[j + k + 2];
    d += x[i + k + 3] * w[j + k + 3];
  }
  for (; k < n; k++) a += x[i + k] * w[j + k];
  return a + b + c + d;
}

/** X @ W^T: (T, n) @ (m, n)^T -> (T, m), a dot product for each pair of rows. */
export function multiplyTransposed(X, W) {
  const [T, n] = X.shape;
  const m = W.shape[0];
  const Y = matrix(T, m);
  const [x, w, y] = [X.data, W.data, Y.data];
  for (let j = 0; j < m; j++) for (let t = 0; t < T; t++) y[t * m + j] = dot(x, t * n, w, j * n, n);
  return Y;
}

/** X @ W: (T, n) @ (n, m) -> (T, m). */
export function multiply(X, W) {
  W.transposed ??= transpose(W); // once for each weight
  return multiplyTransposed(X, W.transposed);
}

function transpose(W) {
  const [n, m] = W.shape;
  const turned = matrix(m, n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++) turned.data[j * n + i] = W.data[i * m + j];
  return turned;
}

/** X + Y, both (T, n); or with Y of one row (n), which is added to each of X. */
export function add(X, Y) {
  const size = Y.data.length;
  const sum = matrix(...X.shape);
  for (let i = 0; i < sum.data.length; i++) sum.data[i] = X.data[i] + Y.data[i % size];
  return sum;
}
