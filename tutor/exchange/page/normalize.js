// The one door that a source sentence comes in by: tutor/text/normalize.py says what goes and why.

// Listed, because JavaScript's \s and trim() know other characters than Python.
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
const INVISIBLE =
  /[\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;
const APOSTROPHES = /[\u2018-\u201b\u02bc]/g;
const QUOTES = /[\u201c-\u201f]/g;

/** `text` in the one spelling that a model reads; "" if there is nothing to read. */
export function normalize(text) {
  return text
    .toWellFormed()
    .replace(INVISIBLE, "")
    .replace(APOSTROPHES, "'")
    .replace(QUOTES, '"')
    .replace(SPACES, " ")
    .replace(/^ | $/g, "")
    .normalize("NFC");
}

/** A normalized text as a written sentence has it: a capital first, a stop last. */
export function asSentence(text) {
  const quiet = isShouted(text) ? text.toLowerCase() : text;
  return changeFirst(quiet, "toUpperCase") + (lacksStop(text) ? "." : "");
}

/** The translation of `asSentence(text)` in the manner of `text`. */
export function asTyped(text, translation) {
  let typed = translation;
  if (lacksStop(text)) typed = typed.replace(/\.$/, "").trimEnd();
  if (isShouted(text)) return typed.toUpperCase();
  const [first = ""] = text;
  return /\p{Lowercase}/u.test(first) ? changeFirst(typed, "toLowerCase") : typed;
}

const BESIDE = "[A-Za-z0-9'\\u{80}-\\u{10ffff}]";
const WORD = new RegExp(`(?<!${BESIDE})[A-Za-z][a-z]{1,29}(?!${BESIDE})`, "gu");

/** A text with each word that `words` (a Map from words to ranks) lacks as one a slip away. */
export function mendSlips(text, words) {
  return text.replace(WORD, (match) => {
    const typed = match.toLowerCase();
    if (words.has(typed)) return match;
    let found = typed;
    for (const word of oneSlipBefore(typed))
      if (words.has(word) && !(words.get(found) < words.get(word))) found = word;
    return match[0] === typed[0] ? found : changeFirst(found, "toUpperCase");
  });
}

/** All that a word may have been before two of its letters changed places or one was lost. */
function* oneSlipBefore(word) {
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    if (after.length > 1) yield before + after[1] + after[0] + after.slice(2);
    for (const letter of "abcdefghijklmnopqrstuvwxyz") yield before + letter + after;
  }
}

const changeFirst = (text, how) => {
  const [first = "", ...rest] = text;
  return first[how]() + rest.join("");
};

function isShouted(text) {
  const words = text.match(/[\p{L}\p{Nl}\p{No}]+/gu) ?? [];
  const capitals = /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
  return capitals && (words.length > 1 || [...words.join("")].length > 3);
}

// By code point: Chromium 156 does not find a letter of two units before `$`.
const lacksStop = (text) => /^[\p{L}\p{N})\]'"]/u.test([...text].at(-1) ?? "");
