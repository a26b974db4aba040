// Where a journey's numbers come from. A source answers three questions, each with a promise:
//   begin(text, { written, scales }) -> facts           run the model
//   numbers(name) -> { shape, data: Float32Array }      of the run last begun
//   tokens(ids) -> names
// The view draws what they say and knows no model.
import { floats } from "./common.js";

const SILENCE = 15_000; // milliseconds after which a kernel counts as gone
const NO_ANSWER = "The kernel does not answer: run the cell again.";
const NEEDS_KERNEL = "This needs the kernel: open the notebook and run the cell.";

/** The source behind a widget: the page's own model or a kernel, else what the page was saved with. */
export function makeSource(model) {
  if (model.translator) return pageSource(model);
  return model.send ? kernelSource(model) : savedSource(model);
}

/** The kernel. It answers in the order in which it was asked; `close()` ends the listening. */
function kernelSource(model) {
  const open = new Map(); // name of a question -> { resolve, reject, timer }
  // Every page and every view of one widget hears all answers, and knows its own by their names.
  const [me, count] = [Math.random().toString(36).slice(2), { asked: 0 }];

  function ask(question) {
    const name = `${me} ${(count.asked += 1)}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(name).reject(new Error(NO_ANSWER)), SILENCE);
      open.set(name, { resolve, reject, timer });
      try {
        model.send({ ask: name, ...question });
      } catch {
        settle(name).reject(new Error(NO_ANSWER));
      }
    });
  }

  function settle(name) {
    const one = open.get(name);
    open.delete(name);
    clearTimeout(one.timer);
    return one;
  }

  function hear(content, buffers) {
    if (!open.has(content.answer)) return;
    const { resolve, reject } = settle(content.answer);
    if (content.error) reject(new Error(content.error));
    else resolve({ ...content, buffers });
  }

  let batch = null; // { names, answer }: names that are asked for at one go are one question

  function numbers(name) {
    // What is drawn first came with the facts: the kernel may be at work elsewhere.
    const [index, buffer] = [model.get("_index"), model.get("_buffer")];
    if (name in index) return savedSource(model, index, buffer).numbers(name);
    if (!batch) {
      const names = [];
      const answer = Promise.resolve().then(() => {
        batch = null;
        return ask({ numbers: names });
      });
      batch = { names, answer };
    }
    const i = batch.names.push(name) - 1;
    return batch.answer.then(({ shapes, buffers }) => ({
      shape: shapes[i],
      data: floats(buffers[i]),
    }));
  }

  model.on("msg:custom", hear);
  return {
    alive: true,
    begin: async (text, { written = [], scales = {} } = {}) =>
      (await ask({ begin: { text, written, scales } })).facts,
    numbers,
    tokens: async (ids) => (await ask({ tokens: ids })).tokens,
    close: () => model.off("msg:custom", hear),
  };
}

/** Settles when a reader first touches a view: until then a page need not load its model.
 *
 * @returns {Promise<void>}
 */
function firstTouch() {
  return new Promise((resolve) => {
    const look = ({ target }) => target.closest?.(".tutor-view") && resolve();
    for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, look, true);
  });
}

/** The model that runs in the page (tutor/exchange/page). What the page was saved with, it need not
 * say; for other numbers it begins with the run that is shown. */
function pageSource(model) {
  const { translator } = model;
  const { text, written, scales } = model.get("facts");
  const saved = savedSource(model);
  const touched = firstTouch();
  let run = null; // a promise

  function begin(text, choices) {
    const [before, next] = [run, translator.begin(text, choices)];
    run = next;
    next.catch(() => (run = before)); // which the model still holds
    return next;
  }

  return {
    alive: true,
    get ready() {
      return translator.ready;
    },
    begin,
    async numbers(name) {
      if (!run && name in model.get("index")) return saved.numbers(name);
      await touched;
      await (run ?? begin(text, { written, scales }));
      return translator.numbers(name);
    },
    tokens: (ids) => translator.tokens(ids),
    close: () => translator.close(),
  };
}

/** The numbers of a buffer in which each float32 has 3 bytes: its lowest one was rounded away. */
export function wide(view) {
  const packed = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const bytes = new Uint8Array((packed.length / 3) * 4);
  packed.forEach((byte, i) => (bytes[i + Math.floor(i / 3) + 1] = byte));
  return new Float32Array(bytes.buffer);
}

/** A saved page: all numbers of one run, in one buffer. What needs the model is refused. */
function savedSource(model, index = model.get("index"), buffer = model.get("buffer")) {
  const [facts, all] = [model.get("facts"), wide(buffer)];
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  return {
    alive: false,
    async begin(text, { written = [], scales = {} } = {}) {
      const asSaved = same(written, facts.written) && same(scales, facts.scales);
      if (text !== facts.text || !asSaved) throw new Error(NEEDS_KERNEL);
      return facts;
    },
    async numbers(name) {
      if (!(name in index)) throw new Error(`There are no numbers called "${name}".`);
      const [start, ...shape] = index[name];
      const size = shape.reduce((a, b) => a * b, 1);
      return { shape, data: all.subarray(start, start + size) };
    },
    async tokens(ids) {
      const known = new Map(facts.top.flatMap((step) => step.map(([token, id]) => [id, token])));
      facts.target_ids.forEach((id, t) => known.set(id, facts.target[t]));
      facts.source_ids.forEach((id, s) => known.set(id, facts.source[s]));
      if (!ids.every((id) => known.has(id))) throw new Error(NEEDS_KERNEL);
      return ids.map((id) => known.get(id));
    },
    close() {},
  };
}
