// Text in, text out: a model and its tokenizer together.
import { ALPHA, beamSearch, greedy } from "./decoding.js";
import { EOS, Tokenizer } from "./tokenizer.js";
import { readSafetensors } from "./safetensors.js";
import { Transformer } from "./transformer.js";

const BLANK = /^[\p{White_Space}\x1c-\x1f]*$/u; // what Python's strip() takes away
const quoted = (text) => {
  const start = [...text].slice(0, 30).join("");
  return start.includes("'") ? `"${start}"` : `'${start}'`;
};

export class Translator {
  /** config, tokenizer: what the JSON files of a model folder hold; weights: an ArrayBuffer. */
  constructor({ config, tokenizer, weights }) {
    this.tensors = readSafetensors(weights);
    this.model = new Transformer(config, this.tensors);
    this.tokenizer = new Tokenizer(tokenizer);
  }

  isBlank(text) {
    return BLANK.test(text);
  }

  /** Ids of a text, [EOS] at the end, cut to what the model can read; and whether it was cut. */
  encode(text) {
    const ids = this.tokenizer.encode(text.toWellFormed());
    const longest = this.model.config.max_len - 1; // EOS takes a place, too
    return { ids: [...ids.slice(0, longest), EOS], cut: ids.length > longest, longest };
  }

  /** Translate a list of texts: {found, warnings}, `found` being [{text, score, finished}] of each.
   *
   * beams: 1 takes the most probable token at every step. A blank text gives "".
   */
  translate(texts, { beams = 1, alpha = ALPHA, n_best = 1 } = {}) {
    const read = texts.map((text) => !this.isBlank(text) && this.encode(text));
    const found = read.map((source) => {
      if (!source) return [{ text: "", score: 0, finished: true }];
      const written =
        beams === 1
          ? [greedy(this.model, source.ids)]
          : beamSearch(this.model, source.ids, { beams, alpha, n_best });
      return written.map(({ ids, score, finished }) => ({
        text: this.tokenizer.decode(ids),
        score,
        finished,
      }));
    });
    const warnings = [];
    const warn = (cut, say) => {
      const [count, first] = [cut.filter(Boolean).length, texts[cut.indexOf(true)]];
      if (count) warnings.push(say(`${count} of ${texts.length}`, first));
    };
    warn(
      read.map((source) => Boolean(source.cut)),
      (count, first) =>
        `${count} texts have more than the ${this.model.config.max_len - 1} tokens that this ` +
        `model reads and were cut there; the first begins ${quoted(first)}.`,
    );
    warn(
      found.map(([best]) => !best.finished),
      (count, first) =>
        `${count} translations did not end by themselves and were cut; ` +
        `the first is that of ${quoted(first)}.`,
    );
    return { found, warnings };
  }
}
