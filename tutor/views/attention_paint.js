// What the attention view paints: a map of cells, or lines between tokens.
import { isBright, picture } from "./colours.js";
import { tag } from "./common.js";

export const SCALES = {
  linear: { of: (weight) => weight, says: (what) => `${what} 0`, name: "linear" },
  root: {
    of: Math.sqrt,
    says: (what) => `${what}, square-root scale (its middle is 0.25): 0`,
    name: "square root",
  },
};

// Of heads whose lines lie over each other: told apart by colour (3:1 on white and on black), dashes
// and, under the pointer, words. Neighbours differ in both.
const LINE_COLOURS = ["#0077bb", "#c44e00", "#00876c", "#a6559d"];
const DASHES = [[], [7, 4], [2, 3]];

export const NUMBERED = 30; // CSS pixels of a cell from which on its number has room

/** A canvas of this size in CSS pixels, empty; returns its pen. */
function clearCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio; // this clears it, too
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return pen;
}

/** Paint weights (T * S numbers) as a map. `why(row, column)`: why a cell is masked, or "".
 *
 * `pixels` holds their colours, one pixel a weight. Lines part the cells where there is room: at
 * many tokens they would be louder than the weights. Returns the signs beside colour it needed.
 */
export function paintMap(canvas, { A, pixels, T, S, cell, of, why, links }) {
  const pen = clearCanvas(canvas, S * cell, T * cell);
  const needed = new Set();
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixels, 0, 0, S * cell, T * cell);
  if (cell >= 22) {
    for (let row = 0; row < T; row++) pen.clearRect(0, (row + 1) * cell - 1, S * cell, 1);
    for (let column = 0; column < S; column++)
      pen.clearRect((column + 1) * cell - 1, 0, 1, T * cell);
  }
  A.forEach((weight, i) => {
    const [row, column] = [Math.floor(i / S), i % S];
    const [x, y] = [column * cell, row * cell];
    if (why(row, column)) {
      paintHatch(pen, x, y, cell);
      needed.add(paintHatch);
    } else if (cell >= NUMBERED && weight >= 0.005) {
      pen.fillStyle = isBright(of(weight)) ? "black" : "white";
      pen.fillText(weight.toFixed(2), x + cell / 2, y + cell / 2);
    }
  });
  for (const [column, row] of links) {
    paintLink(pen, column * cell, row * cell, cell);
    needed.add(paintLink);
  }
  return needed;
}

export function paintHatch(pen, x, y, cell) {
  pen.strokeStyle = "rgb(255 255 255 / 45%)";
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x + 2, y + cell - 3);
  pen.lineTo(x + cell - 3, y + 2);
  pen.stroke();
}

/** A frame within the cell, black and white, so that it is seen on every colour. */
export function paintLink(pen, x, y, cell) {
  pen.lineWidth = 1.5;
  for (const inset of [1.5, 3]) {
    pen.strokeStyle = inset < 2 ? "black" : "white";
    pen.strokeRect(x + inset, y + inset, cell - 1 - 2 * inset, cell - 1 - 2 * inset);
  }
}

/** Paint weights as lines from rows (left) to columns (right): the thicker, the more.
 *
 * heads: [number, T * S weights] of each that is drawn. at: {row, column}, a token (the other is -1)
 * that alone keeps its lines, or null.
 */
export function paintLines(canvas, { heads, T, S, width, pitch, of, at }) {
  const pen = clearCanvas(canvas, width, Math.max(T, S) * pitch);
  heads.forEach(([head, A], nth) => {
    // Side by side, so that equal weights of two heads do not cover each other.
    const aside = (nth - (heads.length - 1) / 2) * Math.min(4, (pitch - 6) / heads.length);
    const y = (i) => (i + 0.5) * pitch + aside;
    pen.strokeStyle = LINE_COLOURS[head % LINE_COLOURS.length];
    pen.setLineDash(DASHES[head % DASHES.length]);
    A.forEach((weight, i) => {
      const [row, column] = [Math.floor(i / S), i % S];
      if (weight < 0.02) return; // a hundred hairs would hide the rest
      if (at && (at.row >= 0 ? at.row !== row : at.column !== column)) return;
      pen.globalAlpha = 0.1 + 0.9 * of(weight);
      pen.lineWidth = 0.5 + 3 * of(weight);
      pen.beginPath();
      pen.moveTo(2, y(row));
      pen.bezierCurveTo(width / 3, y(row), (2 * width) / 3, y(column), width - 2, y(column));
      pen.stroke();
    });
  });
}

/** A short line as head number `head` has it. */
export function sampleLine(head) {
  const canvas = tag("canvas");
  const pen = clearCanvas(canvas, 34, 10);
  pen.strokeStyle = LINE_COLOURS[head % LINE_COLOURS.length];
  pen.setLineDash(DASHES[head % DASHES.length]);
  pen.lineWidth = 3;
  pen.moveTo(0, 5);
  pen.lineTo(34, 5);
  pen.stroke();
  return picture(canvas);
}
