"""What the grammar knows about its own English: the probability of a sentence (chapter 18).

A caption is written by a program that makes choices, so its probability is the product of theirs.
Here the program is run once for each way in which its choices can go; a way is given up at the
first word that is not the sentence's. What several ways write has the sum of their probabilities.
"""

import math
import random
from collections import Counter
from functools import cache, lru_cache

from tutor.text.grammar import OWNED, Caption, Referent, join_words
from tutor.text.lexicon import QUALITIES, Adjective, Noun, Verb


def generate_english(size, seed=0, write=Caption.write):
    """`size` independent English captions, drawn by the grammar: a list of str.

    Unlike those of `generate_pairs` none is sorted out: they may be short or long, come twice, and
    name the same noun twice. So each has the probability that `log_probability` computes.
    write: the method of Caption that writes one.
    """
    rng = random.Random(f"English {seed}")
    texts = []
    for _ in range(size):
        caption = Caption(rng, used=None, testing=False)
        write(caption)
        texts.append(join_words(caption.english_words()))
    return texts


class Mismatch(Exception):
    """Ends a way that does not write the sentence."""


class Way(Caption):
    """One way through the choices: follows `path`, then takes the first option each time.

    The other options are put on `stack`, as paths. `weight` is the probability of the choices.
    """

    def __init__(self, words, path, stack):
        super().__init__(None, used=None, testing=False)
        self.words = words
        self.path, self.stack = path, stack
        self.taken, self.weight = [], 1.0

    def branch(self, options):
        """Choose among (probability, option)."""
        if not options:
            raise Mismatch
        index = 0
        if len(options) > 1:
            at = len(self.taken)
            if at < len(self.path):
                index = self.path[at]
            else:
                self.stack += [[*self.taken, other] for other in range(1, len(options))]
            self.taken.append(index)
        self.weight *= options[index][0]
        return options[index][1]

    def chance(self, probability):
        options = ((probability, True), (1 - probability, False))
        return self.branch([option for option in options if option[0]])

    def one_of_later(self, **chances):
        left, drawn = 1.0, None

        def is_it(name):
            nonlocal left, drawn
            if drawn is None:
                if self.chance(chances[name] / left):
                    drawn = name
                left -= chances[name]
            return name == drawn

        return is_it

    def pick(self, options):
        return self.branch(shares(tuple(options)))

    def pick_later(self, options):
        return lambda: self.pick(options)

    def en(self, words):
        start = len(self.english)
        at = super().en(words)
        for index in range(start, len(self.english)):
            self.emit(index, self.english[index])
        return at

    def emit(self, index, word):
        if index >= len(self.words) or word != self.words[index]:
            raise Mismatch


class WholeWay(Way):
    """Leaves out the options that would write words which the sentence does not have."""

    def pick(self, options):
        return self.branch(shares_within(tuple(options), frozenset(self.words)))

    def pick_determiner(self, noun, plural, role):
        known = {"bare", *self.words}
        choices = choices_of_determiner(noun, plural, role)
        return self.branch([(p, word) for p, word in choices if word in known])

    def pick_adjectives(self, referent, done):
        known = frozenset(self.words)
        return self.branch(adjectives_within(referent.nouns[0], frozenset(done), known))


class NextWordWay(Way):
    """Notes which words it could write after `words`, in `after`, and gives up there.

    begun[i] gathers the probability that a caption begins with words[: i + 1].
    """

    def __init__(self, words, path, stack, begun, after):
        super().__init__(words, path, stack)
        self.begun, self.after = begun, after

    def emit(self, index, word):
        if self.english[:index][-1:] == ["a"]:
            self.note(index - 1, article(word))
        if word != "a":
            self.note(index, word)
        elif index < len(self.words) and self.words[index].lower() not in ("a", "an"):
            raise Mismatch  # otherwise the next word says which of the two it is

    def note(self, index, word):
        word = capital(word) if index == 0 else word
        new = self.weight if len(self.taken) >= len(self.path) else 0.0  # else noted already
        if index == len(self.words):
            self.after[word] += new
        elif word == self.words[index]:
            self.begun[index] += new
            return
        raise Mismatch

    def pick_determiner(self, noun, plural, role):
        index, choices = len(self.english), choices_of_determiner(noun, plural, role)
        if index < len(self.words):
            wanted = self.words[index].lower()
            known = ("bare", "a" if wanted == "an" else wanted)
            choices = [(p, word) for p, word in choices if word in known]
        return self.branch(choices)

    def pick_adjectives(self, referent, done):
        index = len(self.english)
        wanted = self.words[index] if index < len(self.words) else None
        after_article = self.english[-1:] == ["a"]
        noun, done = referent.nouns[0], frozenset(done)
        return self.branch(adjectives_from(noun, done, wanted, index == 0, after_article))


class AnyWay(NextWordWay):
    """Takes one noun for all that make no difference to how far `words` can be followed."""

    def pick(self, options):
        if isinstance(options[0], Noun):
            known = frozenset([*self.words, self.words[0].lower()])
            options = told_apart(tuple(options), known)
        return super().pick(options)


def capital(word):
    return word[0].upper() + word[1:]


@cache
def shares(options):
    """The different ones among `options`, each with its probability: [(probability, option)]."""
    return [(count / len(options), option) for option, count in Counter(options).items()]


def all_choices(method, *arguments):
    """What a method of Caption may return, before any word: [(probability, result)]."""
    found, stack = Counter(), [[]]
    while stack:
        way = Way([], stack.pop(), stack)
        chosen = method(way, *arguments)
        found[chosen] += way.weight
    return [(weight, chosen) for chosen, weight in found.items()]


@cache
def choices_of_adjectives(noun, done):
    referent = Referent((noun,), False, False, False)  # its number changes no choice
    return all_choices(Caption.pick_adjectives, referent, done)


@cache
def choices_of_determiner(noun, plural, role):
    return all_choices(Caption.pick_determiner, noun, plural, role)


@cache
def adjectives_from(noun, done, wanted, first, after_article):
    """Choices of adjectives that begin with the word `wanted`, or with any if it is None.

    Where no more needs to be told apart, one choice stands for all with the same first word, or,
    after an article, for all with the same form of it. first: whether a capital is wanted.
    """
    kept, merged = [], {}
    for probability, chosen in choices_of_adjectives(noun, done):
        word = min(chosen, key=lambda adjective: adjective.rank).english
        if wanted in (word, capital(word) if first else word):
            kept.append((probability, chosen))
        elif wanted is None or after_article:
            key = article(word) if after_article else word
            total = merged.get(key, (0.0,))[0]
            merged[key] = total + probability, chosen
    return kept + list(merged.values())


@lru_cache(1024)  # `known` is another one for each sentence
def shares_within(options, known):
    """As `shares`, of the options that the words in `known` could write."""
    return [(p, option) for p, option in shares(options) if could_stand(option, known)]


@lru_cache(1024)
def adjectives_within(noun, done, known):
    """As `choices_of_adjectives`, of those that the words in `known` could write."""
    choices = choices_of_adjectives(noun, done)
    return [(p, chosen) for p, chosen in choices if all(could_stand(x, known) for x in chosen)]


@lru_cache(1024)
def told_apart(nouns, known):
    """The nouns that the words in `known` could begin, and one for all others of a sort.

    A caption with one of the others is followed up to the noun at most. What comes before it hangs
    on the noun's kind and number, on whose it may be, and on its adjectives.
    """
    sorts = {}
    for noun in nouns:
        described = noun.english in QUALITIES  # football is not
        chosen = choices_of_adjectives(noun, frozenset()) if described else []
        firsts = {min(one, key=lambda adjective: adjective.rank).english for _, one in chosen}
        articles = frozenset(map(article, firsts | {noun.english}))
        sort = noun.kind, noun.number, noun in OWNED, frozenset(firsts & known), articles
        names = noun.english.split()[0], noun.english_plural.split()[0]
        sorts[sort if known.isdisjoint(names) else noun] = noun
    return tuple(sorts.values())


def article(following):
    """The form of "a" before a word."""
    return "an" if following[0] in "aeiou" and following != "uniform" else "a"


def could_stand(option, known):
    """Whether the words that an option of a choice would write are all among `known`."""
    if isinstance(option, Noun):
        names = (option.english, option.english_plural)
    elif isinstance(option, Adjective | Verb):
        names = (option.english,)
    elif isinstance(option, tuple) and isinstance(option[-1], str):  # a place or a time
        names = (option[0],)
    else:
        return True
    return any(known.issuperset(name.split()) for name in names)


def written_words(sentence):
    """The words of a caption, commas and the full stop among them: a list of str."""
    return sentence.replace(",", " ,").replace(".", " .").split()


def words_of(sentence):
    """The words of a caption as the grammar's program writes them, without the full stop."""
    words = written_words(sentence.removesuffix("."))
    words = ["a" if word in ("an", "An", "A") else word for word in words]
    if words and words[0] not in ("French", "Italian"):  # these keep their capital
        words[0] = words[0][0].lower() + words[0][1:]
    return words


def followed(words, way_of_words):
    """Run the grammar's program in every way that begins with `words`; see `NextWordWay`."""
    begun, after, stack = [0.0] * len(words), Counter(), [[]]
    while stack:
        way = way_of_words(words, stack.pop(), stack, begun, after)
        try:
            Caption.write(way)
            way.note(len(way.english), ".")
        except Mismatch:
            continue
    return begun, after


def next_words(words):
    """What the grammar may write after the first words of a caption, and how probable these are.

    words: list of str, as a caption has them ("An", "apple"); "." is the last of a whole one.
    Returns (after, begun): a dict next word -> probability, empty after "."; and a list, begun[i]
    is the probability that a caption begins with words[: i + 1].
    """
    begun, after = followed(words, NextWordWay)
    total = after.total()
    return {word: weight / total for word, weight in after.most_common()}, begun


def beginning(words):
    """How many of these words, from the first on, a caption of the grammar can begin with.

    words: list of str, at least one, as `next_words` takes them.
    """
    begun, _ = followed(words, AnyWay)
    return sum(map(bool, begun))


def ways(sentence, write=Caption.write):
    """Yields the probability of every way in which the grammar can write `sentence`."""
    words, stack = words_of(sentence), [[]]
    while stack:
        way = WholeWay(words, stack.pop(), stack)
        try:
            write(way)
        except Mismatch:
            continue
        if join_words(way.english_words()) == sentence:
            yield way.weight


def log_probability(sentence, write=Caption.write):
    """The natural logarithm of a caption's probability under the grammar; -inf if it writes none.

    sentence: str, as `generate_english` writes it. write: as there.
    """
    total = math.fsum(ways(sentence, write))
    return math.log(total) if total else -math.inf


def is_grammatical(sentence):
    """Whether the built-in grammar can write this English sentence."""
    return any(ways(sentence))
