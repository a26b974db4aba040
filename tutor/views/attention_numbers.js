// What an attention view knows of a recording: its matrices, the names of their rows and columns.
import { floats } from "./common.js";

/** The recording that a model holds now. `shape()`, [L, h, T, S], and all that follows is of the
 * kind of attention that the model is set to.
 */
export function readNumbers(model) {
  const facts = model.get("facts");
  const weights = floats(model.get("weights")); // of all kinds
  const start = {}; // where each kind begins
  let next = 0;
  for (const [kind, shape] of Object.entries(facts.shapes)) {
    start[kind] = next;
    next += shape.reduce((a, b) => a * b);
  }
  const shape = () => facts.shapes[model.get("kind")];

  /** The matrix of one head, or the mean of the layer's heads (head null): T * S numbers. */
  function matrix(layer, head) {
    const [, h, T, S] = shape();
    const size = T * S;
    const at = (m) => start[model.get("kind")] + (layer * h + m) * size;
    if (head !== null) return weights.subarray(at(head), at(head) + size);
    const mean = new Float32Array(size);
    for (let m = 0; m < h; m++) for (let i = 0; i < size; i++) mean[i] += weights[at(m) + i] / h;
    return mean;
  }

  /** What rows and columns are called; `rowsAre`: "written" or "read". */
  function names(rowsAre) {
    const kind = model.get("kind");
    if (kind === "encoder") return { rows: facts.source, columns: facts.source };
    return {
      rows: rowsAre === "written" ? facts.target : facts.read,
      columns: kind === "decoder" ? facts.read : facts.source,
    };
  }

  /** Why a cell may not be looked at, or "". */
  function hidden(A, labels, row, column) {
    if (A[row * shape()[3] + column] !== 0) return "";
    if (labels.columns[column] === "[PAD]") return "padding";
    return model.get("kind") === "decoder" && column > row ? "not read yet" : "";
  }

  /** Is there a true link? One step later, the row's token is the one that was read. */
  function linked(row, column, rowsAre) {
    const target = rowsAre === "written" ? row : row - 1;
    return isCross() && facts.links.some(([s, t]) => s === column && t === target);
  }

  const isCross = () => ["cross", "length"].includes(model.get("kind"));

  return { facts, shape, matrix, names, hidden, linked, isCross };
}

/** [name, weight] of the tokens that a token looks at most or, of a column, is looked at by. */
export function strongest(A, { rows, columns }, { row, column }, count) {
  const S = columns.length;
  const items =
    row < 0
      ? rows.map((name, t) => [name, A[t * S + column]])
      : columns.map((name, s) => [name, A[row * S + s]]);
  return items.sort((a, b) => b[1] - a[1]).slice(0, count);
}
