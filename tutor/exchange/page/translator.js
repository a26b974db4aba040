// Text in, text out: a model and its tokenizer together.
import { ALPHA, beamSearch, greedy } from "./decoding.js";
import { asSentence, asTyped, mendSlips, normalize } from "./normalize.js";
import { readSafetensors } from "./safetensors.js";
import { EOS, Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";

const quoted = (text) => {
  const start = [...text].slice(0, 30).join("");
  return start.includes("'") ? `"${start}"` : `'${start}'`;
};

export class Translator {
  /** config, tokenizer: what the JSON files of a model folder hold; words: those of its words.txt;
   * weights: an ArrayBuffer. */
  constructor({ config, tokenizer, words, weights }) {
    this.tensors = readSafetensors(weights);
    this.sentences = config.sentences === true;
    this.words = words.length ? new Map(words.map((word, rank) => [word, rank])) : null;
    this.doubted_above = config.doubted_above ?? null;
    this.model = new Transformer(config, this.tensors);
    this.tokenizer = new Tokenizer(tokenizer);
  }

  isBlank(text) {
    return !normalize(text);
  }

  /** Ids of each text as the model reads it, [EOS] at the end, cut to its length: {ids, warnings}. */
  encode(texts) {
    const longest = this.model.config.max_len - 1; // EOS takes a place, too
    texts = texts.map(normalize);
    const all = texts.map((text) => this.tokenizer.encode(this.mended(this.asWritten(text))));
    const cut = texts.filter((text, i) => text && all[i].length > longest);
    const warnings = cut
      .slice(0, 1)
      .map(
        (first) =>
          `${cut.length} of ${texts.length} texts have more than the ${longest} tokens that this ` +
          `model reads and were cut there; the first begins ${quoted(first)}.`,
      );
    return { ids: all.map((ids) => [...ids.slice(0, longest), EOS]), warnings };
  }

  asWritten(text) {
    return this.sentences ? asSentence(text) : text;
  }

  mended(text) {
    return this.words ? mendSlips(text, this.words) : text;
  }

  /** Ids of one text that a person typed: {ids, warnings}, which tell of a slip that was mended. */
  encodeTyped(text) {
    const { ids, warnings } = this.encode([text]);
    const written = this.asWritten(normalize(text));
    const read = this.mended(written);
    return {
      ids: ids[0],
      warnings: [...(read === written ? [] : [`Read as: ${read}`]), ...warnings],
    };
  }

  /** The translation of `text` that these ids are, in the manner of `text`. */
  decode(text, ids) {
    const translation = this.tokenizer.decode(ids);
    return this.sentences ? asTyped(normalize(text), translation) : translation;
  }

  /** How strange a text was: nats a token written, times tokens read for each of its words. */
  strangeness(text, read, written, log_p) {
    const words = normalize(text).split(" ").filter(Boolean).length;
    return words ? ((-log_p / written) * read) / words : 0;
  }

  doubts(strangeness) {
    return this.doubted_above !== null && strangeness > this.doubted_above;
  }

  /** Translate a list of texts: {found, warnings}, `found` being [{text, score, finished}] of each.
   *
   * beams: 1 takes the most probable token at every step. A blank text gives "".
   */
  translate(texts, { beams = 1, alpha = ALPHA, n_best = 1 } = {}) {
    const { ids, warnings } = this.encode(texts);
    const found = ids.map((source, i) => {
      if (this.isBlank(texts[i])) return [{ text: "", score: 0, finished: true }];
      const written =
        beams === 1 && n_best === 1
          ? [greedy(this.model, source)]
          : beamSearch(this.model, source, { beams, alpha, n_best });
      return written.map(({ ids, ...rest }) => ({ text: this.decode(texts[i], ids), ...rest }));
    });
    const cut = texts.filter((_, i) => !found[i][0].finished);
    if (cut.length)
      warnings.push(
        `${cut.length} of ${texts.length} translations did not end by themselves and were cut; ` +
          `the first is that of ${quoted(normalize(cut[0]))}.`,
      );
    return { found, warnings };
  }
}
