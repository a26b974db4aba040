// Text to ids and back (chapter 07), by the library that reads tokenizer.json in a page.
import { Tokenizer as Library } from "@huggingface/tokenizers";
import { PAD } from "./attention.js";

export const [UNK, BOS, EOS] = [PAD + 1, PAD + 2, PAD + 3];
export const SPECIAL = ["[PAD]", "[UNK]", "[BOS]", "[EOS]"];

export class Tokenizer {
  /** json: what tokenizer.json holds. */
  constructor(json) {
    // JavaScript's \s knows other spaces than the library in Python. Without added tokens,
    // "[EOS]" typed by a reader is text like any other.
    const spaces = JSON.stringify(json).replaceAll("\\\\s", "\\\\p{White_Space}");
    this.library = new Library({ ...JSON.parse(spaces), added_tokens: [] }, {});
  }

  encode(text) {
    // A space in front, so that a word is the same token wherever it stands.
    return this.library.encode(` ${text}`, { add_special_tokens: false }).ids;
  }

  /** The text of a list of ids, special ones left out. */
  decode(ids) {
    const words = ids.filter((id) => id >= SPECIAL.length);
    if (!words.length) return "";
    return this.library.decode(words, { clean_up_tokenization_spaces: false }).replace(/^ /, "");
  }

  /** The piece of each id: a space becomes an underscore, special tokens by their names. */
  readable(ids) {
    const piece = (id) => this.library.decode([id], { clean_up_tokenization_spaces: false });
    return ids.map((id) => SPECIAL[id] ?? piece(id).replaceAll(" ", "_"));
  }
}
