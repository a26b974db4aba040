// Taking a picture or numbers along: by the clipboard, or by hand where the browser refuses it.
import { tag } from "./common.js";

/** A canvas with its names around it, on the ground and in the ink of `frame`.
 *
 * columns stand above the canvas or, if `right` is set, beside it.
 */
export function pictureWithNames(frame, canvas, { caption, rows, columns, pitch, right }) {
  const { color, backgroundColor } = getComputedStyle(frame);
  const [width, height] = [parseFloat(canvas.style.width), parseFloat(canvas.style.height)];
  const sheet = tag("canvas");
  const font = "12px system-ui, sans-serif";
  const pen = sheet.getContext("2d");
  pen.font = font;
  const widest = (names) => Math.max(...names.map((name) => pen.measureText(name).width)) + 8;
  const [left, other] = [widest(rows), widest(columns)];
  const top = 28 + (right ? 0 : other);
  const whole = Math.max(left + width + (right ? other : 8), pen.measureText(caption).width + 16);
  sheet.width = 2 * whole; // twice as fine
  sheet.height = 2 * (top + height + 8);
  pen.scale(2, 2);
  pen.font = font;
  pen.fillStyle = backgroundColor;
  pen.fillRect(0, 0, whole, top + height + 8);
  pen.fillStyle = color;
  pen.textBaseline = "middle";
  pen.fillText(caption, 8, 14);
  pen.textAlign = "right";
  rows.forEach((name, t) => pen.fillText(name, left - 4, top + (t + 0.5) * pitch));
  pen.textAlign = "left";
  columns.forEach((name, s) => {
    if (right) return pen.fillText(name, left + width + 4, top + (s + 0.5) * pitch);
    pen.save();
    pen.translate(left + (s + 0.5) * pitch, top - 4);
    pen.rotate(-Math.PI / 2);
    pen.fillText(name, 0, 0);
    pen.restore();
  });
  pen.drawImage(canvas, left, top, width, height);
  return sheet;
}

/** Names and numbers as lines of cells parted by tabs, as spreadsheets take them. */
export function asLines({ rows, columns }, A) {
  const S = columns.length;
  const numbers = (t) => [...A.subarray(t * S, (t + 1) * S)].map((x) => x.toFixed(4));
  return [["", ...columns], ...rows.map((name, t) => [name, ...numbers(t)])]
    .map((cells) => cells.join("\t"))
    .join("\n");
}

/** Two buttons. `draw()` gives {canvas, caption}, `write()` a text. */
export function makeCopying(draw, write) {
  const said = tag("span", { role: "status" });
  const byHand = tag("div.tutor-by-hand", { hidden: true });
  const offer = (words, ...nodes) => {
    said.textContent = words;
    const close = tag("button", { onclick: () => tidy("") }, "Close");
    byHand.replaceChildren(...nodes, close);
    byHand.hidden = false;
  };
  const tidy = (words) => {
    byHand.replaceChildren();
    byHand.hidden = true;
    said.textContent = words;
  };

  async function copyPicture() {
    const { canvas, caption } = draw();
    try {
      const data = new Promise((resolve) => canvas.toBlob(resolve));
      await navigator.clipboard.write([new ClipboardItem({ "image/png": data })]);
      tidy("The picture is copied.");
    } catch {
      const src = canvas.toDataURL();
      const link = tag("a", { href: src, download: "attention.png" }, "Save it as a file");
      offer(
        "The browser does not let a page copy. Save the picture, or copy it from its menu.",
        link,
        tag("img", { src, alt: caption, width: canvas.width / 2 }),
      );
    }
  }

  async function copyNumbers() {
    const text = write();
    try {
      await navigator.clipboard.writeText(text);
      tidy("The numbers are copied.");
    } catch {
      const area = tag("textarea", { readonly: "", rows: 6, "aria-label": "Numbers" });
      area.value = text;
      offer("The browser does not let a page copy. Press Control + C.", area);
      area.select();
    }
  }

  const button = (name, act) => tag("button", { onclick: act }, name);
  return tag(
    "div",
    tag(
      "div.tutor-choosers",
      button("Copy picture", copyPicture),
      button("Copy numbers", copyNumbers),
      said,
    ),
    byHand,
  );
}
