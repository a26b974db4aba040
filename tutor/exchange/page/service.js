// What a page may ask of the model, and the Worker that answers.
import { head } from "./attention.js";
import { treeOf } from "./beam.js";
import { beamSearch } from "./decoding.js";
import { matrix, multiply, row } from "./matrix.js";
import { checkHash } from "./safetensors.js";
import { Trace } from "./trace.js";
import { Translator } from "./translator.js";

/** The questions. Each method takes and returns what can be sent as a message. */
export class Service {
  constructor(parts) {
    this.translator = new Translator(parts);
  }

  translate(texts, options) {
    return this.translator.translate(texts, options);
  }

  /** Ids of each text, as the encoder reads them. */
  encode(texts) {
    return this.translator.encode(texts).ids;
  }

  /** Run the model; its facts. `numbers` then answers for this run. */
  begin(text, choices) {
    this.trace = this.run(text, choices);
    return this.trace.facts;
  }

  run(text, choices) {
    this.checkText(text);
    return new Trace(this.translator, text, choices);
  }

  numbers(name) {
    if (!this.trace) throw new Error("There are no numbers before a sentence was translated.");
    return this.trace.numbers(name);
  }

  checkText(text) {
    if (this.translator.isBlank(text)) throw new Error("Write a sentence first.");
  }

  /** What BeamView shows of a search: its facts and its last step. */
  search(text, { beams, alpha }) {
    this.checkText(text);
    const { model, tokenizer } = this.translator;
    const { ids, warnings } = this.translator.encodeTyped(text);
    const history = [];
    beamSearch(model, ids, { beams, alpha, history });
    const tree = treeOf(history, (ids) => tokenizer.readable(ids), alpha);
    const facts = { source: text, ...tree };
    return { facts, step: tree.steps.length - 1, message: warnings.join(" ") };
  }

  tokens(ids) {
    return this.translator.tokenizer.readable(ids);
  }

  /** What AttentionView shows of a translation: its facts, and the weights kind by kind. */
  record(text) {
    const trace = this.run(text);
    const { source, target, read, translation, config, message } = trace.facts;
    const layers = [...Array(config.layers).keys()];
    const all = (name) => layers.map((layer) => trace.numbers(name.replace("*", layer)));
    const kinds = {
      encoder: all("encoder.*.self.A"),
      decoder: all("decoder.*.self.A"),
      cross: all("decoder.*.cross.A"),
      length: layers.map((layer) => sharesOfLength(trace, layer)),
    };
    const [shapes, numbers] = [{}, []];
    for (const [kind, matrices] of Object.entries(kinds)) {
      shapes[kind] = [config.layers, ...matrices[0].shape];
      for (const { data } of matrices) for (const x of data) numbers.push(x);
    }
    const facts = { text, translation, source, target, read, shapes, links: [] };
    return { facts, weights: Float32Array.from(numbers), message };
  }
}

/** Cross-attention weights of a layer times ||v_s W_O||, in rows that sum to 1: (h, T, S). */
function sharesOfLength(trace, layer) {
  const place = `decoder.${layer}.cross`;
  const [A, V] = [trace.numbers(`${place}.A`), trace.numbers(`${place}.V`)];
  const [h, T, S] = A.shape;
  const shares = A.data.slice();
  for (let i = 0; i < h; i++) {
    const added = multiply(head(V, i), trace.outputOf(place, i)); // (S, d_model)
    const lengths = Array.from({ length: S }, (_, s) => Math.hypot(...row(added, s)));
    for (let t = 0; t < T; t++) {
      const own = row(matrix(T, S, shares.subarray(i * T * S, (i + 1) * T * S)), t); // (S)
      own.forEach((a, s) => (own[s] = a * lengths[s]));
      const total = own.reduce((sum, x) => sum + x, 0);
      own.forEach((x, s) => (own[s] = x / total));
    }
  }
  return { shape: A.shape, data: shares };
}

/** Answer the messages {ask, method, args} that come to a Worker; the first, {parts}, opens it. */
export function serve(scope) {
  let service = null;
  scope.onmessage = async ({ data: { parts, ask, method, args } }) => {
    try {
      if (parts) {
        const weights = await unpacked(parts.weights);
        await checkHash(weights, parts.config.weights_sha256);
        service = new Service({ ...parts, weights });
      }
      scope.postMessage({ ask, answer: method && service[method](...args) });
    } catch (error) {
      scope.postMessage({ ask, error: error.message });
    }
  };
}

/** The ArrayBuffer that was packed as gzip in base64. */
function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
