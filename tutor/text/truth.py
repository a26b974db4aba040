"""What the grammar knows about its own English: the probability of a sentence (chapter 18).

A caption is written by a program that makes choices, so its probability is the product of theirs.
Here the program is run once for each way in which its choices can go; a way is given up at the
first word that is not the sentence's. What several ways write has the sum of their probabilities.
"""

import math
import random
from collections import Counter
from functools import cache, lru_cache

from tutor.text.grammar import Caption, Referent, join_words
from tutor.text.lexicon import Adjective, Noun, Verb


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


@lru_cache(1024)  # `known` is another one for each sentence
def shares_within(options, known):
    """As `shares`, of the options that the words in `known` could write."""
    return [(p, option) for p, option in shares(options) if could_stand(option, known)]


@lru_cache(1024)
def adjectives_within(noun, done, known):
    """As `choices_of_adjectives`, of those that the words in `known` could write."""
    choices = choices_of_adjectives(noun, done)
    return [(p, chosen) for p, chosen in choices if all(could_stand(x, known) for x in chosen)]


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
