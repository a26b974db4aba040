"""The one door that a source sentence comes in by."""

import re
import unicodedata
from string import ascii_lowercase

# By code point and not by category, as the page's JavaScript (normalize.js) has the same lists.
# Zero-width space, marks of direction, word joiner, soft hyphen, byte order mark. The joiners
# U+200C and U+200D stay: they mean something in Persian, in Hindi and in emoji.
INVISIBLE = "\xad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062"
INVISIBLE += "\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
APOSTROPHES = "\u2018\u2019\u201a\u201b\u02bc"
QUOTES = "\u201c\u201d\u201e\u201f"
PLAIN = str.maketrans(
    dict.fromkeys(INVISIBLE) | dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys(QUOTES, '"')
)

# A word of 2 to 30 small letters a to z, the first perhaps a capital, that stands alone.
BESIDE = "[A-Za-z0-9'\\x80-\U0010ffff]"
WORD = re.compile(f"(?<!{BESIDE})[A-Za-z][a-z]{{1,29}}(?!{BESIDE})")


def normalize(text: str) -> str:
    """`text` in the one spelling that a model reads; "" if there is nothing to read.

    Letters are composed (Unicode's NFC), white space of any kind becomes one space and none at the
    ends, invisible characters go, and typographic apostrophes and quotes become plain. Half a
    surrogate pair, which Python's texts may hold, becomes U+FFFD.
    """
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # Composed last: an accent may stand behind an invisible character.
    return unicodedata.normalize("NFC", " ".join(text.translate(PLAIN).split()))


def as_sentence(text: str) -> str:
    """A normalized text as a written sentence has it: a capital first, a stop last.

    What is in capitals throughout becomes small but for its first letter. A single word of up to
    three letters may be an abbreviation and stays: "TV".
    """
    if is_shouted(text):
        text = text.lower()
    return text[:1].upper() + text[1:] + "." * lacks_stop(text)


def as_typed(text: str, translation: str) -> str:
    """The translation of `as_sentence(text)` in the manner of `text`.

    All capitals, a small first letter or no final stop, if `text` has it so.
    """
    if lacks_stop(text):
        translation = translation.removesuffix(".").rstrip()
    if is_shouted(text):
        return translation.upper()
    if text[:1].islower():
        translation = translation[:1].lower() + translation[1:]
    return translation


def mend_slips(text: str, words: dict[str, int]) -> str:
    """A text with each word that `words` lacks as one of them from which a slip leads to it.

    A slip exchanges two neighbouring letters or leaves one out. words: small words with their
    ranks; where several are possible, the one of lowest rank is taken (P. Norvig, *How to Write a
    Spelling Corrector*, 2007).
    """

    def mend(match):
        typed = match[0].lower()
        if typed in words:
            return match[0]
        found = min(words.keys() & one_slip_before(typed), key=words.get, default=typed)
        return found.capitalize() if match[0][0].isupper() else found

    return WORD.sub(mend, text)


def one_slip_before(word):
    """All that a word may have been before two of its letters changed places or one was lost."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return swapped | {a + letter + b for a, b in cuts for letter in ascii_lowercase}


def is_shouted(text):
    words = re.findall(r"[^\W\d_]+", text)
    return text.isupper() and (len(words) > 1 or len("".join(words)) > 3)


def lacks_stop(text):
    """Whether a text ends as no sentence does: with a letter, a number, a bracket or a quote."""
    return text[-1:].isalnum() or text[-1:] in (")", "]", "'", '"')
