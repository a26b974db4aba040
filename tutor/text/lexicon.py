"""The words of the built-in corpus, read from `lexicon.txt`, which says how it is written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

LEXICON_PATH = Path(__file__).with_name("lexicon.txt")


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun with both its numbers in both languages; `kind` says what it can do and be."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str  # "m" or "f", in French
    kind: str
    number: str = "count"  # or "mass" (bread), "pair" (trousers: plural in English only), "plural"


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective with its French forms, keyed "ms", "fs", "mp", "fp"."""

    english: str
    forms: dict[str, str]
    before: bool  # stands before the noun in French
    rank: int  # among English adjectives: the lower comes first ("happy young prince")


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb in its -ing form, with the French present (third person) and what it goes with."""

    english: str  # "looking at"
    singular: str
    plural: str
    preposition: str  # French preposition before the object, or ""
    subjects: tuple[str, ...]  # kinds
    objects: tuple[str, ...]  # kinds; empty: intransitive
    settings: tuple[str, ...]  # groups of SETTINGS
    manners: tuple[str, ...]  # adverbs


class Row(NamedTuple):
    """What one line of the file says of `name`; a text of several lines has as many rows."""

    name: str
    text: str
    line: int

    def error(self, problem: str) -> ValueError:
        return ValueError(f"{LEXICON_PATH}, line {self.line}: {problem}")

    def parts(self, separator: str | None, count: int) -> list[str]:
        """Returns the parts of the text. Raises ValueError if they are not `count`."""
        found = [part.strip() for part in self.text.split(separator)]
        if len(found) != count:
            raise self.error(f"{self.text!r} must have {count} parts, but it has {len(found)}.")
        return found

    def entries(self, count: int) -> list[list[str]]:
        """Returns the entries between commas, each as `count` words."""
        entries = [self._replace(text=text) for text in self.text.split(", ") if text]
        return [[_spaced(word) for word in entry.parts(None, count)] for entry in entries]

    def words(self, known: Collection[str] | None = None) -> list[str]:
        """Returns the words of the text, those of its @groups too.

        Raises ValueError for an unknown group, and for a word that is not in `known`.
        """
        found = []
        for word in self.text.split():
            if not word.startswith("@"):
                found.append(_spaced(word))
            elif word[1:] in WORD_GROUPS:
                found += WORD_GROUPS[word[1:]]
            else:
                raise self.error(f"there is no group {word[1:]!r} above.")
        for word in found:
            if known is not None and word not in known:
                raise self.error(f"{word!r} is not in the lexicon, or it cannot stand here.")
        return found


def read_rows(text: str) -> dict[str, list[Row]]:
    """Returns the rows of each section of a lexicon.

    Raises ValueError for a line without a name, or above the first section.
    """
    sections: dict[str, list[Row]] = {}
    rows, name = None, ""
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if content.startswith("["):
            rows, name = sections.setdefault(content.strip("[]"), []), ""
        elif content and not content.startswith("#"):
            if not line[0].isspace():
                name, colon, content = content.partition(":")
                name = name if colon else ""
            row = Row(name, content.strip(" ,"), number)
            if rows is None or not name:
                raise row.error(f"{line.strip()!r} is not `name: text` below a [section].")
            rows.append(row)
    return sections


def read_words(
    rows: list[Row],
    known: Collection[str] | None = None,
    names: Collection[str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Returns the words that stand behind each name.

    Raises ValueError for words that are not in `known`, and names that are not in `names`.
    """
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if names is not None and row.name not in names:
            raise row.error(f"{row.name!r} is not in the lexicon, or it cannot stand here.")
        found[row.name] = found.get(row.name, ()) + tuple(row.words(known))
    return found


def _spaced(word: str) -> str:
    return word.replace("_", " ")


def _english_plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith("eau") else "s")


def _feminine(word: str) -> str:
    for ending, feminine in (("eux", "euse"), ("if", "ive"), ("er", "ère"), ("ien", "ienne")):
        if word.endswith(ending):
            return word[: -len(ending)] + feminine
    return word if word.endswith("e") else word + "e"


def read_nouns(rows: list[Row]) -> dict[str, Noun]:
    """Returns the nouns by their English. Raises ValueError for an unknown gender or number."""
    nouns: dict[str, Noun] = {}
    for row in rows:
        kind, gender, number, *_ = (*row.name.split(), "count", "")
        if gender not in ("m", "f") or number not in ("count", "mass", "pair", "plural"):
            raise row.error(f"{row.name!r} is not `kind m` or `kind f`, mass, pair or plural.")
        for english, french in row.entries(2):
            english, _, english_plural = english.partition("/")
            french, _, french_plural = french.partition("/")
            if english in nouns:
                raise row.error(f"the noun {english!r} stands above already.")
            if number == "plural":
                english_plural, french_plural = english, french
            elif number == "pair":
                english_plural = english
            nouns[english] = Noun(
                english,
                english_plural or _english_plural(english),
                french,
                french_plural or _french_plural(french),
                gender,
                kind,
                number,
            )
    return nouns


def read_adjectives(rows: list[Row], order: list[Row]) -> dict[str, Adjective]:
    """Returns the adjectives by their English; their ranks are the places of names in `order`."""
    adjectives: dict[str, Adjective] = {}
    ranked = read_words(order)
    ranks = {word: rank for rank, words in enumerate(ranked.values()) for word in words}
    for row in rows:
        for english, french in row.entries(2):
            if english in adjectives:
                raise row.error(f"the adjective {english!r} stands above already.")
            masculine, _, feminine = french.partition("/")
            feminine = feminine or _feminine(masculine)
            forms = [masculine, feminine, _french_plural(masculine), _french_plural(feminine)]
            if french.endswith("!"):
                forms = [french[:-1]] * 4
            adjectives[english] = Adjective(
                english,
                dict(zip(("ms", "fs", "mp", "fp"), forms, strict=True)),
                row.name == "before the noun",
                ranks.get(english, list(ranked).index("state")),
            )
    read_words(order, adjectives)  # raises ValueError for a word that is no adjective
    return adjectives


def _kinds(row: Row) -> tuple[str, ...]:
    names = row.words({*NOUN_GROUPS, *_NOUN_KINDS})
    return tuple(kind for name in names for kind in NOUN_GROUPS.get(name, (name,)))


def read_verbs(rows: list[Row]) -> tuple[Verb, ...]:
    """Returns the verbs. Raises ValueError for an unknown kind, setting or manner."""
    verbs = []
    for row in rows:
        french, *columns = row.parts("|", 5)
        subjects, objects, settings, manners = (row._replace(text=column) for column in columns)
        singular, _, plural = french.partition("/")
        singular, _, preposition = singular.partition("_")
        plural = plural.partition("_")[0]
        if singular == "se":
            singular, preposition = f"se {preposition}", ""
        verbs.append(
            Verb(
                _spaced(row.name),
                singular,
                plural or singular + "nt",
                preposition,
                _kinds(subjects),
                _kinds(objects),
                tuple(settings.words(SETTINGS)),
                tuple(manners.words(MANNERS)),
            )
        )
    return tuple(verbs)


def read_settings(rows: list[Row]) -> dict[str, tuple[tuple[str, Noun, str], ...]]:
    """Returns the places of each group: (English preposition, noun, French preposition)."""
    settings: dict[str, tuple[tuple[str, Noun, str], ...]] = {}
    for row in rows:
        for english, noun, french in row.entries(3):
            if noun not in NOUNS:
                raise row.error(f"there is no noun {noun!r} above.")
            settings[row.name] = (*settings.get(row.name, ()), (english, NOUNS[noun], french))
    return settings


def read_phrases(rows: list[Row]) -> tuple[tuple[str, str, str], ...]:
    """Returns phrases: (English, French, the places of the English words of each French one)."""
    return tuple((row.name, *row.parts("|", 2)) for row in rows)


_FILE = read_rows(LEXICON_PATH.read_text(encoding="utf-8"))
WORD_GROUPS: dict[str, list[str]] = {}
for _row in _FILE["groups"]:
    WORD_GROUPS[_row.name] = [*WORD_GROUPS.get(_row.name, ()), *_row.words()]

NOUNS = read_nouns(_FILE["nouns"])
_NOUN_KINDS = {noun.kind for noun in NOUNS.values()}
ADJECTIVES = read_adjectives(_FILE["adjectives"], _FILE["order"])
_ALLOWED = read_words(_FILE["qualities"], ADJECTIVES, _NOUN_KINDS)
_UNSAID = read_words(_FILE["unsaid"], ADJECTIVES, NOUNS)
# By noun: its adjectives.
QUALITIES: dict[str, tuple[Adjective, ...]] = {
    noun.english: tuple(
        ADJECTIVES[name]
        for name in _ALLOWED[noun.kind]
        if name not in _UNSAID.get(noun.english, ())
    )
    for noun in NOUNS.values()
    if noun.kind in _ALLOWED
}
CLASHES = tuple(frozenset({row.name, *row.words(ADJECTIVES)}) for row in _FILE["clashes"])

NOUN_GROUPS = read_words(_FILE["kinds"], _NOUN_KINDS)
SETTINGS = read_settings(_FILE["settings"])
MANNERS, NUMBERS, BEFORE_VOWEL = (
    {row.name: row.text for row in _FILE[section]}
    for section in ("manners", "numbers", "before vowel")
)
VERBS = read_verbs(_FILE["verbs"])
_VERB_NAMES = {verb.english for verb in VERBS} | {"riding"}
DONE = {
    verb: frozenset(names)
    for verb, names in read_words(_FILE["done"], ADJECTIVES, _VERB_NAMES).items()
}
WHERE = {
    kind: group
    for group, kinds in read_words(_FILE["where"], _NOUN_KINDS, SETTINGS).items()
    for kind in kinds
}
TIMES, WEATHER = read_phrases(_FILE["times"]), read_phrases(_FILE["weather"])

# What these hold, and why, is said in the file.
_LISTS = read_words(_FILE["adjective lists"], ADJECTIVES)
POSTURES = tuple(ADJECTIVES[name] for name in _LISTS["postures"])
HAIR, EYES = _LISTS["hair"], _LISTS["eyes"]
ATTRIBUTE_ONLY, NO_DEGREE = (frozenset(_LISTS[name]) for name in ("attribute only", "no degree"))
_LISTS = read_words(_FILE["verb lists"], _VERB_NAMES)
EACH, ONE_AT_A_TIME, NEVER_AT, MAY_LACK = (
    frozenset(_LISTS[name]) for name in ("each", "one at a time", "never at", "may lack")
)
_LISTS = read_words(_FILE["other lists"])
H_ASPIRATE, H_MUTE, FOR_ONE, OUTDOORS = (
    frozenset(_LISTS[name]) for name in ("h aspirate", "h mute", "for one", "outdoors")
)
NOW = tuple(phrase for phrase in TIMES if phrase[0] in _LISTS["now"])
OTHER_ADVERBS = _LISTS["other adverbs"]


def lemmas() -> frozenset[tuple[str, str]]:
    """Returns the English content lemmas of the corpus, each as (part of speech, lemma)."""
    found = {("noun", english) for english in NOUNS}
    found |= {("adjective", english) for english in ADJECTIVES}
    found |= {("verb", english) for english in (*_VERB_NAMES, "having")}
    found |= {("adverb", english) for english in (*MANNERS, *OTHER_ADVERBS)}
    found |= {("number", english) for english in NUMBERS}
    found |= {("noun", english.split()[-1]) for english, *_ in TIMES + WEATHER if english != "now"}
    return frozenset(found)
