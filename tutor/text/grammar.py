"""The built-in corpus: captions of everyday scenes in English, in French, and word by word.

A small grammar writes both sentences at once. Every French word is written down together with the
English words it translates, so the gold alignment costs nothing. The French is a function of the
English: one English sentence never gets two translations.

What the links say where one could argue: "is riding" is one verb, so both words link to "monte",
and "not" links to both "ne" and "pas". An article links to the article that renders it, in a
contraction too: in "joue du piano", "du" holds "the". A French word that renders no English one is
unlinked: "des" where English has no article, "au" in "joue au football", "de" after "pas" unless it
renders "a" or "no" ("Il n'y a pas de chien": "no" is "ne", "pas" and "de"). So is an English word
that French leaves out: "in" of "in the morning" ("le matin"), "at" of "at night" ("la nuit").
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple, TypeVar

from tutor.text.lexicon import (
    ADJECTIVES,
    ATTRIBUTE_ONLY,
    BEFORE_VOWEL,
    CLASHES,
    DONE,
    EACH,
    EYES,
    FOR_ONE,
    H_MUTE,
    HAIR,
    MANNERS,
    MAY_LACK,
    NEVER_AT,
    NO_DEGREE,
    NOUN_GROUPS,
    NOUNS,
    NOW,
    NUMBERS,
    ONE_AT_A_TIME,
    OUTDOORS,
    POSTURES,
    QUALITIES,
    SETTINGS,
    TIMES,
    VERBS,
    WEATHER,
    WHERE,
    Adjective,
    Noun,
    Verb,
)

Item = TypeVar("Item")
Combination = tuple[str, str]  # (noun, adjective) or (subject, verb), English lemmas

SPLITS = ("train", "val", "test")
HELD_OUT_PERCENT = 10
VAL_PERCENT = 5
CAPTION_WORDS = range(5, 15)  # English words without the full stop

ELIDED = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "se": "s'"}
BEFORE_VOWEL_DETERMINER = {"ce": "cet", "sa": "son"}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


class Pair(NamedTuple):
    """An English caption, its French translation and the gold word alignment.

    `links` holds the sorted pairs (i, j): English word i translates as French word j.
    `combinations` holds what `held_out` judges: (noun, adjective) and (subject, verb) lemmas.
    """

    english: str
    french: str
    english_words: tuple[str, ...]
    french_words: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    combinations: tuple[Combination, ...]


def generate_pairs(split: str = "train", size: int = 20_000, seed: int = 0) -> list[Pair]:
    """Generate `size` different pairs of one split; same arguments, same list, on every machine.

    Training and validation sentences contain no held-out combination, test sentences at least one;
    training and validation sentences are told apart by a hash of the sentence, so that no two
    splits ever share one, whatever the sizes and seeds.

    Raises ValueError for an unknown split or a negative size.
    """
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}, but it must be one of {', '.join(SPLITS)}.")
    if size < 0:
        raise ValueError(f"size is {size}, but it must not be negative.")
    rng = random.Random(_stable_hash(f"{split} {seed}"))
    used: Counter[tuple[str, str]] = Counter()
    pairs: dict[str, Pair] = {}
    while len(pairs) < size:
        caption = Caption(rng, used, testing=split == "test")
        caption.write()
        if len(caption.english) not in CAPTION_WORDS:
            continue
        if len(set(caption.nouns)) < len(caption.nouns):  # a man who watches a man
            continue
        if held_out(caption.combinations) != (split == "test"):
            continue
        pair = caption.finish()
        in_val = _stable_hash(pair.english) % 100 < VAL_PERCENT
        if split != "test" and in_val != (split == "val"):
            continue
        pairs.setdefault(pair.english, pair)
    return list(pairs.values())


def held_out(combinations: Sequence[Combination]) -> bool:
    """Whether any of the combinations is kept from the training split."""
    return any(map(_is_held_out, combinations))


@cache
def _is_held_out(combination: Combination) -> bool:
    return _stable_hash("|".join(combination)) % 100 < HELD_OUT_PERCENT


def _stable_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


@cache
def starts_with_vowel_sound(word: str) -> bool:
    """Whether a French word makes the word before it elide ("l'homme", but "le héros")."""
    return word[0] in "aeiouàâéèêîôœ" or word == "y" or word in H_MUTE


def join_words(words: Sequence[str]) -> str:
    """Write words as text: capital first, no space after an apostrophe or before punctuation."""
    text = " ".join(words).replace("' ", "'").replace(" .", ".").replace(" ,", ",")
    return text[0].upper() + text[1:]


class Referent(NamedTuple):
    """What a noun phrase speaks of: decides the verb's number and the agreement of adjectives."""

    nouns: tuple[Noun, ...]
    english_plural: bool
    french_plural: bool
    feminine: bool
    adjectives: tuple[Adjective, ...] = ()

    @property
    def agreement(self) -> str:
        return ("f" if self.feminine else "m") + ("p" if self.french_plural else "s")


@cache
def _nouns_of(*kinds: str) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS.values() if noun.kind in kinds)


def _counts(noun: Noun) -> bool:
    """Whether captions speak of several: kitchens come one at a time, bread comes in no number."""
    return noun.number == "count" and noun.kind not in ("room", "ground", "venue")


_OF_KIND = {noun.kind: _nouns_of(noun.kind) for noun in NOUNS.values()}
_PEOPLE = _nouns_of(*NOUN_GROUPS["people"])
_OLDER = _nouns_of(*NOUN_GROUPS["older"])
_ANIMALS = _nouns_of(*NOUN_GROUPS["animals"])
_DESCRIBED = tuple(noun for noun in NOUNS.values() if noun.english in QUALITIES)
_PLACED = _nouns_of(*WHERE)
_PREDICATES = {
    noun: tuple(quality for quality in qualities if quality.english not in ATTRIBUTE_ONLY)
    for noun, qualities in QUALITIES.items()
}
_VERBS_OF = {
    kind: tuple(verb for verb in VERBS if kind in verb.subjects)
    for kind in NOUN_GROUPS["people"] + NOUN_GROUPS["animals"]
}
OWNED = _nouns_of("pet", "tiny", "container", "device", "outfit", "accessory", "cycle") + (
    NOUNS["car"],
    NOUNS["van"],
    NOUNS["truck"],
)
_THINGS = tuple(noun for noun in OWNED if noun.kind != "outfit")
_OWNER = {"man": "his", "boy": "his", "woman": "her", "girl": "her"}
_POSSESSIVE = {"his": ("son", "sa", "ses"), "her": ("son", "sa", "ses"),
               "their": ("leur", "leur", "leurs")}  # fmt: skip
_NUMBERS = tuple(NUMBERS)[:3] * 3 + tuple(NUMBERS)  # crowds of actresses are rare
_SEVERAL = ("bare", "the") * 4 + ("two", "three", "these", "some", "several", "many")
_MANY = ("bare",) * 5 + ("the",) * 5 + ("number",) * 7 + ("some", "these", "several", "many") * 2
_SHAPES = (
    ("act",) * 43 + ("relative",) * 9 + ("be",) * 16 + ("posture",) * 5 + ("there",) * 8
    + ("place",) * 5 + ("have",) * 7 + ("ride",) * 2 + ("instrument",) * 3 + ("sport",) * 2
)  # fmt: skip


@cache
def _share(noun: Noun, options: tuple[Item, ...], held: bool) -> tuple[Item, ...]:
    """The options (adjectives or verbs) that make a held-out combination with the noun, or not."""
    return tuple(
        option for option in options if _is_held_out((noun.english, option.english)) == held
    )


@cache
def _clash(one: Adjective, other: Adjective) -> bool:
    return one is other or any({one.english, other.english} <= names for names in CLASHES)


class Caption:
    """One caption in the making: English words, and French words with the English they render."""

    def __init__(
        self, rng: random.Random, used: Counter[tuple[str, str]] | None, testing: bool
    ) -> None:
        self.rng = rng
        # How often each form was picked so far, in this and earlier captions. None: captions are
        # independent, and no form is preferred.
        self.used = used
        self.testing = testing
        self.english: list[str] = []
        self.french: list[tuple[str, tuple[int, ...]]] = []
        self.combinations: list[Combination] = []
        self.nouns: list[Noun] = []
        self.times = TIMES
        self.clothed = False  # whether the subject's clothes are named

    # Chance. Python promises the same numbers on every version for random() alone.

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, options: Sequence[Item]) -> Item:
        return options[int(self.rng.random() * len(options))]

    def pick_later(self, options: Sequence[Item]) -> Callable[[], Item]:
        """A pick that may turn out not to be wanted."""
        option = self.pick(options)
        return lambda: option

    def one_of_later(self, **chances: float) -> Callable[[str], bool]:
        """At most one of the names, each with its chance; the answer to: is it this one?"""
        at, ends = self.rng.random(), accumulate(chances.values())
        drawn = next((name for name, end in zip(chances, ends, strict=True) if at < end), None)
        return lambda name: name == drawn

    def pick_rare(self, options: Sequence[Item], form: str) -> Item:
        """The one of six random options whose `form` was used least: no word stays rare."""
        if self.used is None:
            return self.pick(options)
        drawn = [self.pick(options) for _ in range(6)]
        chosen = min(drawn, key=lambda option: self.used[option.english, form])
        self.used[chosen.english, form] += 1
        return chosen

    def pick_noun(self, options: Sequence[Noun], plural: float) -> tuple[Noun, bool]:
        """A noun and its number; `plural` is the chance of a plural."""
        number = self.chance(plural)
        noun = self.pick_rare(options, "plural" if number else "singular")
        return noun, number

    def pick_for(self, subject: Referent, options: tuple[Item, ...]) -> Item:
        """An adjective or a verb for a referent; only the test split prefers held-out ones."""
        held = self.testing and self.chance(0.4)
        shared = _share(subject.nouns[0], options, held) or options
        option = self.pick_rare(shared, subject.agreement)
        self.combinations += [(noun.english, option.english) for noun in subject.nouns]
        return option

    # Writing.

    def en(self, words: str) -> tuple[int, ...]:
        """Append English words; return their positions."""
        start = len(self.english)
        self.english += words.split()
        return tuple(range(start, len(self.english)))

    def fr(self, words: str, links: tuple[int, ...] = ()) -> None:
        """Append French words, each linked to the same English words."""
        self.french += [(word, links) for word in words.split()]

    def both(self, english: str, french: str) -> None:
        self.fr(french, self.en(english))

    # Noun phrases.

    def noun_phrase(
        self,
        noun: Noun,
        plural: bool = False,
        determiner: str = "",
        adjectives: float = 0.4,
        role: str = "subject",
        done: Collection[str] = (),
    ) -> Referent:
        """Write a noun with determiner and adjectives.

        `role` decides which determiners fit: "subject", "object", "definite", or "lacking", the
        object of a negated verb. `done` holds adjectives to avoid. For trousers, which English has
        in the plural alone, `plural` says whether several people have a pair each.
        """
        referent = Referent(
            (noun,),
            english_plural=plural and noun.number != "mass" or noun.number in ("pair", "plural"),
            french_plural=plural and noun.number in ("count", "pair") or noun.number == "plural",
            feminine=noun.gender == "f",
        )
        self.nouns.append(noun)
        determiner = determiner or self.pick_determiner(noun, referent.english_plural, role)
        at_determiner = self.en("" if determiner == "bare" else determiner)
        chosen = self.pick_adjectives(referent, done) if self.chance(adjectives) else ()
        before = next((adjective for adjective in chosen if adjective.before), None)
        after = next((adjective for adjective in chosen if not adjective.before), None)

        in_order = sorted(chosen, key=lambda adjective: adjective.rank)
        at = {adjective: self.en(adjective.english) for adjective in in_order}
        at_noun = self.en(noun.english_plural if referent.english_plural else noun.english)

        self.french_determiner(determiner, referent, bool(before), role, at_determiner)
        french = noun.french_plural if referent.french_plural else noun.french
        if before:
            form = before.forms[referent.agreement]
            if referent.agreement == "ms" and starts_with_vowel_sound(french):
                form = BEFORE_VOWEL.get(form, form)  # un bel arbre
            self.fr(form, at[before])
        self.fr(french, at_noun)
        if after:
            self.fr(after.forms[referent.agreement], at[after])
        return referent._replace(adjectives=chosen)

    def pick_adjectives(self, referent: Referent, done: Collection[str]) -> tuple[Adjective, ...]:
        """One adjective, sometimes two: one that French puts before the noun and one after."""
        qualities = QUALITIES[referent.nouns[0].english]
        if done:
            qualities = tuple(quality for quality in qualities if quality.english not in done)
        first = self.pick_for(referent, qualities)
        others = tuple(q for q in qualities if q.before != first.before and not _clash(first, q))
        others = tuple(q for q in others if "pretty" not in (first.english, q.english))
        if others and self.chance(0.12):  # "pretty dirty" is rather dirty, not pretty
            return first, self.pick_for(referent, others)
        return (first,)

    def pick_determiner(self, noun: Noun, plural: bool, role: str) -> str:
        if noun.number == "mass":
            return "the" if role == "definite" else self.pick(("bare", "bare", "the"))
        if role == "definite":
            return self.pick(("the", "the", "these" if plural else "this"))
        if not plural:
            return self.pick(("a", "a", "a", "the", "the", "the" if role == "lacking" else "this"))
        if role == "lacking" or noun.number != "count":
            return self.pick(("bare", "the"))
        if role == "object":
            return self.pick(_SEVERAL)
        determiner = self.pick(_MANY)
        return self.pick(_NUMBERS) if determiner == "number" else determiner

    def french_determiner(
        self, english: str, to: Referent, before: bool, role: str, links: tuple[int, ...]
    ) -> None:
        masculine, singular = not to.feminine, not to.french_plural
        if english == "no" or role == "lacking" and english in ("a", "bare"):
            self.fr("de", links)  # il ne mange pas de pomme
        elif english == "bare" and to.nouns[0].number == "mass":
            self.fr("de le" if masculine else "de la", links)
        elif english in ("a", "bare") and singular:  # "trousers" has no article, "pantalon" has
            self.fr("un" if masculine else "une", links)
        elif english in ("bare", "some"):
            self.fr("de" if before else "des", links)
        elif english == "the":
            self.fr(("le" if masculine else "la") if singular else "les", links)
        elif english in ("this", "these"):
            self.fr(("ce" if masculine else "cette") if singular else "ces", links)
        elif english in _POSSESSIVE:
            self.fr(_POSSESSIVE[english][2 if not singular else 0 if masculine else 1], links)
        elif english == "several":
            self.fr("plusieurs", links)
        elif english == "many":
            self.fr("beaucoup de", links)
        else:
            self.fr(NUMBERS[english], links)

    def subject(self, nouns: tuple[Noun, ...], role: str = "subject") -> Referent:
        """Write a subject: two joined by "and", or one, perhaps with clothes, hair or eyes."""
        noun, plural = self.pick_noun(nouns, 0.4)
        pick_other = self.pick_later(nouns)
        has = self.one_of_later(other=0.12, nothing=0.71, hair=0.05, clothes=0.12)
        if has("other") and (other := pick_other()) is not noun:
            determiner = "the" if role == "definite" else self.pick(("a", "the"))
            left = self.noun_phrase(noun, determiner=determiner, adjectives=0.15)
            self.both("and", "et")
            right = self.noun_phrase(other, determiner=determiner, adjectives=0.15)
            feminine = left.feminine and right.feminine
            adjectives = left.adjectives + right.adjectives
            return Referent((noun, other), True, True, feminine, adjectives)
        referent = self.noun_phrase(noun, plural, role=role)
        if noun in _OLDER and has("clothes"):
            self.dressed(referent)
        elif noun in _OLDER and ADJECTIVES["blond"] not in referent.adjectives and has("hair"):
            self.hair(noun)
        return referent

    def dressed(self, wearer: Referent) -> None:
        """Write "in red shirts", "en chemise rouge": French leaves the garment singular."""
        at_in = self.en("in")
        kind = "gown" if wearer.nouns[0].kind in ("woman", "girl") else "outfit"
        garment = self.pick(_OF_KIND[kind] if self.chance(0.4) else _OF_KIND["outfit"])
        self.clothed = True
        worn = Referent((garment,), False, False, garment.gender == "f")
        quality = self.pick_for(worn, tuple(q for q in QUALITIES[garment.english] if not q.before))
        several = wearer.english_plural or garment.number == "pair"
        self.en("" if several else "a")
        at_quality = self.en(quality.english)
        at_garment = self.en(garment.english_plural if several else garment.english)
        self.fr("en", at_in)
        self.fr(garment.french, at_garment)
        self.fr(quality.forms[worn.agreement], at_quality)

    def hair(self, noun: Noun) -> None:
        """Write "with long hair", "aux cheveux longs"."""
        part, qualities = self.pick((("hair", HAIR), ("hair", HAIR), ("eyes", EYES)))
        if noun.kind in NOUN_GROUPS["youth"]:
            qualities = tuple(q for q in qualities if q not in ("gray", "white"))
        quality = ADJECTIVES[self.pick(qualities)]
        before = quality.before and part == "eyes"  # de beaux yeux, but des cheveux longs
        at_with, at_quality, at_part = self.en("with"), self.en(quality.english), self.en(part)
        self.fr("à les", at_with)
        if before:
            self.fr(quality.forms["mp"], at_quality)
        self.fr(NOUNS[part].french, at_part)
        if not before:
            self.fr(quality.forms["mp"], at_quality)

    # Verbs.

    def verb(
        self,
        subject: Referent,
        english: str,
        singular: str,
        plural: str,
        negated: bool = False,
        adverb: str = "",
    ) -> None:
        """Write "is not riding", "ne monte pas": one French verb for two English words.

        Without `english`, writes "to be" alone.
        """
        at_verb = self.en("are" if subject.english_plural else "is")
        at_not = self.en("not" if negated else "")
        at_adverb = self.en(adverb)
        at_verb += self.en(english)
        if negated:
            self.fr("ne", at_not)
        self.fr(plural if subject.french_plural else singular, at_verb)
        if negated:
            self.fr("pas", at_not)
        if adverb:
            self.fr(MANNERS[adverb], at_adverb)

    def be(self, subject: Referent, negated: bool) -> None:
        self.verb(subject, "", "est", "sont", negated)

    def action(self, subject: Referent, negated: bool, modified: float) -> None:
        """Write a verb that suits the subject, its object, and perhaps how and where."""
        options = _VERBS_OF[subject.nouns[0].kind]
        for noun in subject.nouns[1:]:
            options = tuple(verb for verb in options if noun.kind in verb.subjects)
        if self.clothed:  # nobody wears a coat in a shirt
            options = tuple(verb for verb in options if verb.english != "wearing")
        chosen = self.pick_for(subject, options)
        adverb = ""
        if not negated and chosen.manners and self.chance(modified):
            adverb = self.pick(chosen.manners)
        words = chosen.english.split()
        self.verb(
            subject,
            words[0] if chosen.preposition else chosen.english,
            chosen.singular,
            chosen.plural,
            negated,
            adverb,
        )
        if chosen.preposition:
            self.both(words[1], chosen.preposition)
        if chosen.objects:
            self.object(subject, chosen, negated)
        elif not negated and not adverb and subject.nouns[0] in _OLDER and self.chance(0.15):
            self.company(subject)
        if chosen.settings and self.chance(0.45 if chosen.objects else 0.85):
            at = chosen.english not in NEVER_AT
            self.setting(chosen.settings, subject.english_plural, at=at)
        if negated:
            self.times = NOW

    def company(self, subject: Referent) -> None:
        if subject.english_plural:
            self.both("together", "ensemble")
        else:
            self.both("alone", "seule" if subject.feminine else "seul")

    def object(self, subject: Referent, verb: Verb, negated: bool) -> None:
        """Write the object: as many as suit the verb, perhaps the subject's own."""
        several = subject.nouns[0] in _PEOPLE and subject.english_plural
        chance = 1.0 if several and verb.english in EACH else 0.45
        if verb.english == "building" or verb.english in ONE_AT_A_TIME and not several:
            chance = 0.0
        noun, plural = self.pick_noun(_nouns_of(*verb.objects), chance)
        plural = several if noun.number == "pair" else plural and _counts(noun)
        role = "object"
        if negated:
            role = "lacking" if verb.english in MAY_LACK else "definite"
        determiner = ""
        owner = "their" if several else _OWNER.get(subject.nouns[0].kind)
        shared = several and not plural and noun.number == "count"  # no car is theirs in turn
        if owner and noun in OWNED and not shared and self.chance(0.45):
            determiner = owner
        elif several and (verb.english in EACH or noun.number == "pair"):
            determiner = "bare"
        self.noun_phrase(noun, plural, determiner, role=role, done=DONE.get(verb.english, ()))

    # Settings.

    def setting(
        self,
        groups: tuple[str, ...],
        several: bool = False,
        known: bool = False,
        at: bool = True,
    ) -> None:
        """Write where something is.

        `several`: the place must hold more than one; `known`: it takes "the"; `at`: it may begin
        with "at".
        """
        group = self.pick(groups)
        places = SETTINGS[group]
        if several:
            places = tuple(place for place in places if place[1].english not in FOR_ONE)
        if not at:
            places = tuple(place for place in places if place[0] != "at")
        english, place, french = self.pick(places)
        self.both(english, french)
        fixed = english == "at"
        known = known or fixed
        determiner = "the" if known or place.kind == "ground" or self.chance(0.85) else "a"
        self.noun_phrase(place, False, determiner, adjectives=0 if fixed else 0.25)
        if group in OUTDOORS:
            self.times = TIMES + tuple(w for w in WEATHER if not w[1].startswith(french))

    def time(self) -> None:
        english, french, sources = self.pick(self.times)
        start = self.en(english)[0]
        for word, source in zip(french.split(), sources.split(), strict=True):
            links = () if source == "-" else tuple(start + int(s) for s in source.split(","))
            self.fr(word, links)

    # Captions.

    def write(self) -> None:
        """Write one caption of a random shape."""
        getattr(self, f"write_{self.pick(_SHAPES)}")()

    def write_act(self) -> None:
        """ "The man is slowly eating an apple in the kitchen"."""
        negated = self.chance(0.15)
        opening = self.chance(0.06)
        if opening:
            self.times = NOW if negated else TIMES
            self.time()
            self.both(",", ",")
        nouns = _PEOPLE if self.chance(0.75) else _ANIMALS
        subject = self.subject(nouns, "definite" if negated else "subject")
        self.action(subject, negated, modified=0.25)
        if not opening and self.chance(0.25 if self.times is not TIMES else 0.12):
            self.time()

    def write_relative(self) -> None:
        """ "The woman who is wearing a hat is sad": agreement at a distance."""
        noun, plural = self.pick_noun(_PEOPLE if self.chance(0.7) else _ANIMALS, 0.4)
        there = self.chance(0.4)
        if there:
            subject = self.there(noun, plural)
        else:
            subject = self.noun_phrase(noun, plural, role="definite")
        self.both("who" if noun in _PEOPLE else "that", "qui")
        self.action(subject, negated=False, modified=0.1)
        if not there:
            self.predicate(subject)

    def write_be(self) -> None:
        """ "The doors behind the house are white"."""
        noun, plural = self.pick_noun(_DESCRIBED, 0.5)
        plural = plural and _counts(noun)
        subject = self.noun_phrase(noun, plural, adjectives=0.25, role="definite")
        if noun in _PLACED and self.chance(0.5):
            self.setting((WHERE[noun.kind],), plural, known=True)
        self.predicate(subject)

    def predicate(self, subject: Referent) -> None:
        """Write "is not very old", "n'est pas très vieille"."""
        options = tuple(
            quality
            for quality in _PREDICATES[subject.nouns[0].english]
            if not any(_clash(quality, adjective) for adjective in subject.adjectives)
        )
        self.be(subject, self.chance(0.15))
        quality = self.pick_for(subject, options)
        if quality.english not in NO_DEGREE and self.chance(0.2):
            self.both("very", "très")
        self.both(quality.english, quality.forms[subject.agreement])

    def write_posture(self) -> None:
        """ "The girl is sitting", "La fille est assise": a verb here, an adjective there."""
        negated = self.chance(0.1)
        subject = self.subject(_OLDER, "definite" if negated else "subject")
        self.be(subject, negated)
        posture = self.pick_for(subject, POSTURES)
        self.both(posture.english, posture.forms[subject.agreement])
        groups = {"sitting": ("seated",), "lying": ("lying",)}
        self.setting(groups.get(posture.english, ("outside", "public")), subject.english_plural)

    def there(self, noun: Noun, plural: bool) -> Referent:
        """Write "there is a man", "il y a un homme"."""
        self.both("there", "il y")
        self.both("are" if plural else "is", "a")
        determiner = self.pick(("some", "several", "many") * 2 + _NUMBERS) if plural else "a"
        return self.noun_phrase(noun, plural, determiner)

    def write_there(self) -> None:
        noun, plural = self.pick_noun(_PLACED, 0.45)
        if self.chance(0.8):
            self.there(noun, plural)
        else:  # il n'y a pas de chien
            at_there = self.en("there")
            at_be = self.en("are" if plural else "is")
            at_no = (len(self.english),)
            self.fr("il", at_there)
            self.fr("ne", at_no)
            self.fr("y", at_there)
            self.fr("a", at_be)
            self.fr("pas", at_no)
            self.noun_phrase(noun, plural, "no", adjectives=0.15)
        self.setting((WHERE[noun.kind],), plural)

    def write_place(self) -> None:
        """ "The cat is under the table"."""
        noun, plural = self.pick_noun(_PLACED, 0.4)
        subject = self.noun_phrase(noun, plural, role="definite")
        self.be(subject, self.chance(0.15))
        self.setting((WHERE[noun.kind],), plural)

    def write_have(self) -> None:
        """ "The men do not have a red car", "Les hommes n'ont pas de voiture rouge"."""
        subject = self.subject(_OLDER, "definite")
        negated = self.chance(0.25)
        at_not = ()
        if negated:
            at_verb = self.en("do" if subject.english_plural else "does")
            at_not = self.en("not")
            at_verb += self.en("have")
            self.fr("ne", at_not)
        else:
            at_verb = self.en("have" if subject.english_plural else "has")
        self.fr("ont" if subject.french_plural else "a", at_verb)
        if negated:
            self.fr("pas", at_not)
        noun, plural = self.pick_noun(_THINGS if self.clothed else OWNED, 0.4)
        if noun.kind != "pet" and subject.english_plural or noun.number == "pair":
            plural = subject.english_plural  # a car each
        elif negated:
            plural = False
        plural = plural and (_counts(noun) or noun.number == "pair")
        if noun.number != "count" or plural and (negated or subject.english_plural):
            determiner = "bare"
        else:
            determiner = self.pick(("two", "two", "three", "several", "many")) if plural else "a"
        role = "lacking" if negated else "object"
        self.noun_phrase(noun, plural, determiner, adjectives=0.7, role=role)

    def write_ride(self) -> None:
        """ "is riding a bicycle", "fait du vélo", but "is riding a horse", "monte un cheval"."""
        negated = self.chance(0.15)
        subject = self.subject(_OLDER, "definite" if negated else "subject")
        self.combinations += [(noun.english, "riding") for noun in subject.nouns]
        several = subject.english_plural
        if self.chance(0.5):
            self.verb(subject, "riding", "monte", "montent", negated)
            mount = NOUNS[self.pick(("horse", "donkey", "camel", "elephant"))]
            determiner = "the" if negated else "bare" if several else self.pick(("a", "the"))
            self.noun_phrase(mount, several, determiner)
        else:
            self.verb(subject, "riding", "fait", "font", negated)
            at_article = self.en("" if several else "a")
            cycle = self.pick(_OF_KIND["cycle"])
            article = "" if negated else " le" if cycle.gender == "m" else " la"
            self.fr(f"de{article}", at_article)  # font du vélo: one will do for all
            self.both(cycle.english_plural if several else cycle.english, cycle.french)
        if self.chance(0.6):
            self.setting(("road",))

    def plays(self) -> None:
        """Write who plays: "the girl is playing", "la fille joue"."""
        negated = self.chance(0.1)
        subject = self.subject(_OLDER, "definite" if negated else "subject")
        self.combinations += [(noun.english, "playing") for noun in subject.nouns]
        self.verb(subject, "playing", "joue", "jouent", negated)

    def write_instrument(self) -> None:
        """ "is playing the flute", "joue de la flûte"."""
        self.plays()
        self.fr("de")
        self.noun_phrase(self.pick(_OF_KIND["instrument"]), determiner="the", adjectives=0)
        if self.chance(0.7):
            self.setting(("show",))

    def write_sport(self) -> None:
        """ "is playing football", "joue au football"."""
        self.plays()
        sport = self.pick(_OF_KIND["sport"])
        cards = sport.number == "plural"
        self.fr("à les" if cards else "à le")
        self.both(sport.english, sport.french)
        self.setting(("home",) if cards else ("pitch",))

    # Finishing.

    def english_words(self) -> list[str]:
        """The words of the English sentence, full stop included; "a" is "an" before a vowel."""
        words = [*self.english, "."]
        for index, word in enumerate(self.english):
            following = words[index + 1].lower()
            if word == "a" and following[0] in "aeiou" and following != "uniform":
                words[index] = "an"
        return words

    def finish(self) -> Pair:
        """Apply elision and contraction, capitals and the full stop."""
        english = self.english_words()
        french: list[str] = []
        links: list[tuple[int, ...]] = []
        rest = [word for word, _ in self.french[1:]] + ["."]
        for (word, sources), following in zip(self.french, rest, strict=True):
            if starts_with_vowel_sound(following):
                word = ELIDED.get(word) or BEFORE_VOWEL_DETERMINER.get(word, word)
            if french and (french[-1], word) in CONTRACTED:
                french[-1] = CONTRACTED[french[-1], word]
                links[-1] += sources
            else:
                french.append(word)
                links.append(sources)
        french.append(".")
        links.append((len(self.english),))
        return Pair(
            english=join_words(english),
            french=join_words(french),
            english_words=tuple(english),
            french_words=tuple(french),
            links=tuple(sorted({(i, j) for j, sources in enumerate(links) for i in sources})),
            combinations=tuple(self.combinations),
        )
