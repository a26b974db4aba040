"""Beams, caches and scores: what goes wrong when a model writes."""

import logging
import math

import torch
from sacrebleu.metrics import BLEU
from sacremoses import MosesTokenizer
from torch import nn

from course.museum.exhibit import LUCKY, WRONG, exhibit, what_happens
from course.museum.places import (
    CACHE_OF_BEAMS,
    KOSMIDER_BEAMS,
    KOSMIDER_CACHE,
    OFFSET,
    TOKENS_TO_SACREBLEU,
)
from tutor.proof import equal

# A toy model: after each word, the probabilities of the next. It reads the last word alone.
NEXT = {
    "": {"cats": 0.7, ".": 0.3},
    "cats": {"sleep": 0.5, "eat": 0.4, ".": 0.1},
    "sleep": {".": 0.6, "cats": 0.4},
    "eat": {".": 0.5, "cats": 0.5},
    ".": {".": 0.9, "cats": 0.1},  # nobody should ask
}


def next_log_p(words):
    """The toy model: next words after `words`, a tuple, with their log-probabilities."""
    return {word: math.log(p) for word, p in NEXT[words[-1] if words else ""].items()}


def after_cats(words):
    """The same language, where *cats* is written already."""
    return next_log_p(("cats", *words))


def short_by_a_hair(words):
    """A language in which one word alone is as likely as three, but for a hair."""
    two = {"cats": {"sleep": 0.55, "eat": 0.45}, "sleep": {".": 0.75, "cats": 0.25}}
    return {word: math.log(p) for word, p in (NEXT | two)[words[-1] if words else ""].items()}


def garden_path(words):
    """A language in which the likelier first word leads to the less likely sentences."""
    first = {"": {"ants": 0.4, "cats": 0.6}, "ants": {".": 1.0}, "cats": {"sleep": 0.5, "eat": 0.5}}
    return {word: math.log(p) for word, p in (NEXT | first)[words[-1] if words else ""].items()}


def best_of_each_length(next_log_p, max_len):
    """The likeliest sentence of each length up to max_len, by trying all."""
    grown, best = {(): 0.0}, []
    for _ in range(max_len):
        grown = {
            (*words, word): score + log_p
            for words, score in grown.items()
            for word, log_p in next_log_p(words).items()
            if words[-1:] != (".",)
        }
        best += sorted((w for w in grown if w[-1] == "."), key=grown.get)[-1:]
    return best


# ---- beam search


@exhibit(WRONG, KOSMIDER_BEAMS, task="beam_step")
class grow_the_beams:
    """Raw logits are added to log-probabilities; they have no common zero.

    Within one beam the order is right, since a softmax keeps it. Between beams it is not: a beam
    whose logits happen to be large wins, whatever its words are worth.
    """

    test = "a constant added to one beam's logits changes nothing; sure words keep the beams' order"
    shows = "parents of the two best: [1, 1]"

    def wrong(scores, logits):
        k, V = logits.shape
        total = scores[:, None] + logits  # (k, V)
        scores, place = total.flatten().topk(k)  # (k,)
        return scores, place // V, place % V

    mend = {" logits  ": " logits.log_softmax(dim=-1)  "}

    def view(grown, *inputs):  # in any order
        return [part[grown[0].argsort()] for part in grown]

    def judge(grow):
        for k in (2, 3):
            scores, logits = torch.arange(-k, 0.0), torch.randn(k, 5)
            shifted = logits + 9 * torch.arange(k)[:, None]
            assert all(map(equal, grow(scores, logits), grow(scores, shifted)))
            certain = logits + 99 * torch.eye(k, 5)  # beam j can only say word j
            _, parents, words = grow(scores, certain)
            assert parents.tolist() == words.tolist() and sorted(words.tolist()) == [*range(k)]

    def demo(grow):
        scores, logits = torch.tensor([0.9, 0.1]).log(), torch.tensor([[0.7, 0.3]] * 2).log()
        logits[1] += 9.0
        return f"parents of the two best: {grow(scores, logits)[1].tolist()}"


@exhibit(WRONG, KOSMIDER_BEAMS, task="beam_step")
class grow_and_add_up:
    """The parent's score is counted twice: it is in the totals that were compared already.

    One line adds the scores to choose, another adds them again to keep the books. From the second
    word on the sums are wrong, and from the third the choice.
    """

    test = "the score of a child is that of its parent times its own probability"
    shows = "0.5 times 0.8 is 0.20"

    def wrong(scores, logits):
        k, V = logits.shape
        total = scores[:, None] + logits.log_softmax(dim=-1)  # (k, V)
        best, place = total.flatten().topk(k)  # (k,)
        return scores[place // V] + best, place // V, place % V

    mend = {"scores[place // V] + ": ""}

    def view(grown, *inputs):  # in any order
        return [part[grown[0].argsort()] for part in grown]

    def judge(grow):
        for parent, own in ((0.5, 0.8), (0.3, 0.6)):
            logits = torch.tensor([[own, 1 - own]]).log()
            best, _, words = grow(torch.tensor([parent]).log(), logits)
            assert equal(best.exp(), torch.tensor([parent * own])) and words.tolist() == [0]
        grow(torch.randn(2), torch.randn(2, 5))

    def demo(grow):
        scores, logits = torch.tensor([0.5]).log(), torch.tensor([[0.8, 0.2]]).log()
        return f"0.5 times 0.8 is {grow(scores, logits)[0].exp().item():.2f}"


@exhibit(WRONG, "classrooms", task="beam_search")
class search_a_sentence:
    """A beam that has ended goes on: it is extended behind its full stop.

    The model was never trained on what follows the end, and its guess there is worthless but
    confident. Finished beams must be set aside.
    """

    test = "the end stands at the end, and nowhere else"
    shows = ". . . . . . . ."

    def wrong(next_log_p, width, max_len):
        beams = [((), 0.0)]
        for _ in range(max_len):
            grown = [
                (words + (word,), score + log_p)
                for words, score in beams
                for word, log_p in next_log_p(words).items()
            ]
            beams = sorted(grown, key=lambda beam: -beam[1])[:width]
        return max(beams, key=lambda beam: beam[1] / len(beam[0]))[0]

    def mended(next_log_p, width, max_len):
        beams, finished = [((), 0.0)], []
        for _ in range(max_len):
            grown = [
                (words + (word,), score + log_p)
                for words, score in beams
                for word, log_p in next_log_p(words).items()
            ]
            finished += [beam for beam in grown if beam[0][-1] == "."]
            growing = [beam for beam in grown if beam[0][-1] != "."]
            beams = sorted(growing, key=lambda beam: -beam[1])[:width]
        return max(finished, key=lambda beam: beam[1] / len(beam[0]))[0]

    view = None

    def judge(search):
        for language in (next_log_p, after_cats):
            words = tuple(search(language, width=100, max_len=5))
            assert words in best_of_each_length(language, max_len=5)
        assert search(garden_path, width=1, max_len=4)[0] == "cats"
        assert tuple(search(next_log_p, width=100, max_len=1)) == (".",)

    def demo(search):
        return " ".join(search(next_log_p, width=100, max_len=8))


@exhibit(WRONG, "classrooms", task="beam_search")
class search_and_choose:
    """Sentences of different lengths are compared by their sums; each further word costs.

    Every factor is below 1, so that short sentences are favoured, the empty one most. A wider beam
    finds them more often. Compare the score a word, or with a penalty for length.
    """

    test = "one word is likelier than three by a hair: the three are found"
    shows = "width 100: ."

    def wrong(next_log_p, width, max_len):
        beams, finished = [((), 0.0)], []
        for _ in range(max_len):
            grown = [
                (words + (word,), score + log_p)
                for words, score in beams
                for word, log_p in next_log_p(words).items()
            ]
            finished += [beam for beam in grown if beam[0][-1] == "."]
            growing = [beam for beam in grown if beam[0][-1] != "."]
            beams = sorted(growing, key=lambda beam: -beam[1])[:width]
        return max(finished, key=lambda beam: beam[1])[0]

    mend = {"[1])[0": "[1] / len(beam[0]))[0"}

    view = None

    def judge(search):
        assert tuple(search(short_by_a_hair, width=100, max_len=4)) == ("cats", "sleep", ".")
        assert tuple(search(short_by_a_hair, width=100, max_len=1)) == (".",)
        for language in (next_log_p, after_cats):
            words = tuple(search(language, width=100, max_len=4))
            assert words in best_of_each_length(language, max_len=4)
        assert search(garden_path, width=1, max_len=4)[0] == "cats"

    def demo(search):
        return f"width 100: {' '.join(search(next_log_p, width=100, max_len=4))}"


# ---- caches


@exhibit(LUCKY, CACHE_OF_BEAMS, task="extend_the_cache")
class extend_the_cache:
    """The cache is not put into the new order of the beams, and beams read each other's past.

    After a step, beam 0 may be a child of beam 1. Its words are copied along, its keys are not.
    With a single beam there is no order, so greedy search is right.
    """

    test = "cached keys equal the keys of the beam's own words, at every step"
    shows = "1 beam: equal, 2 beams: not equal"

    def wrong(cache, parents, new):
        return torch.cat([cache, new], dim=1)  # (k, t + 1, d_k)

    mend = {"[cache,": "[cache[parents],"}

    def judge(extend):
        K, words = torch.randn(9, 4), torch.tensor([[5, 6], [7, 8]])  # a key for each word
        for order in ([1, 0], [1, 1]):
            parents, new = torch.tensor(order), torch.tensor([[3], [4]])
            own = torch.cat([words[parents], new], dim=1)  # (k, t + 1)
            assert equal(extend(K[words], parents, K[new]), K[own])

    def demo(extend):
        K, said = torch.randn(9, 4), []
        for words, parents in (([[5, 6]], [0]), ([[5, 6], [7, 8]], [1, 1])):
            words, new = torch.tensor(words), torch.tensor([[3], [4]])[: len(words)]
            own = torch.cat([words[parents], new], dim=1)  # (k, t + 1)
            same = equal(extend(K[words], torch.tensor(parents), K[new]), K[own])
            said.append("equal" if same else "not equal")
        return f"1 beam: {said[0]}, 2 beams: {said[1]}"


@exhibit(LUCKY, OFFSET)
class place_the_newest:
    """With a cache one word is fed at a time, and each of them is told that it stands at place 0.

    Without a cache, the rows of the input gave the places. The first step is right, so that a test
    of one step passes.
    """

    test = "cached and uncached rows are equal, at every step"
    shows = "equal at steps 0 to 3: [True, False, False, False]"

    def wrong(X_new, table, step):
        return X_new + table[: X_new.shape[1]]  # (N, 1, d_model)

    mend = {"[: X_new": "[step : step + X_new"}

    def judge(place):
        X, table = torch.randn(2, 4, 8), torch.randn(9, 8)
        for step in range(4):
            uncached = (X + table[:4])[:, step : step + 1]
            assert equal(place(X[:, step : step + 1], table, step), uncached)

    def demo(place):
        X, table = torch.randn(2, 4, 8), torch.randn(9, 8)
        same = [
            equal(place(X[:, [step]], table, step), (X + table[:4])[:, [step]]) for step in range(4)
        ]
        return f"equal at steps 0 to 3: {same}"


@exhibit(LUCKY, KOSMIDER_CACHE, crash=IndexError)
class logits_of_the_beams:
    """`squeeze()` removes every dimension of size 1, the batch included.

    It is meant for the dimension of the one new word. As long as there are several beams nothing
    else has size 1. One sentence, one beam, and the rows are gone.
    """

    test = "try one sentence with one beam"
    shows = "3 beams: (3, 5), 1 beam: (5,)"

    def wrong(Y, W):
        return (Y @ W.T).squeeze()  # (N * k, V)

    mend = {"squeeze()": "squeeze(1)"}

    def judge(logits):
        for beams in (3, 1):
            Y, W = torch.randn(beams, 1, 4), torch.randn(5, 4)
            assert equal(logits(Y, W), torch.einsum("ktd,vd->kv", Y, W))  # (N * k, V)

    def demo(logits):
        W, shapes = torch.randn(5, 4), []
        for beams in (3, 1):
            Z = logits(torch.randn(beams, 1, 4), W)
            shapes.append(tuple(Z.shape))
        top = what_happens(lambda: tuple(Z.topk(2, dim=1).indices.shape))
        return f"3 beams: {shapes[0]}, 1 beam: {shapes[1]}\nthe two best of 1 beam: {top}"


# ---- translating and scoring


@exhibit(WRONG, "classrooms")
class translate_a_sentence:
    """Dropout is left on while translating, so that the same sentence comes out in several ways.

    A model remembers the mode that it was last set to, and that was training. `eval()` changes the
    mode, `no_grad()` does not.
    """

    test = "two translations of one sentence are equal, and equal to a model without dropout"
    shows = "two runs are equal: False"

    def wrong(model, X):
        with torch.no_grad():
            return model(X)

    def mended(model, X):
        was_training = model.training
        model.eval()
        with torch.no_grad():
            Y = model(X)
        model.train(was_training)
        return Y

    def judge(translate):
        for N, d in ((2, 8), (3, 5)):
            X, linear = torch.randn(N, d), nn.Linear(d, d)
            model = nn.Sequential(linear, nn.Dropout(0.5))
            assert equal(translate(model, X), translate(model, X))
            assert equal(translate(model, X), linear(X))

    def demo(translate):
        model, X = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5)), torch.randn(2, 64)
        return f"two runs are equal: {equal(translate(model, X), translate(model, X))}"


@exhibit(WRONG, TOKENS_TO_SACREBLEU)
class score_a_system:
    """sacreBLEU is given tokens; it wants text as people write it, and cuts it up itself.

    Its tokens are part of the signature that makes scores comparable. Here `L'homme` was cut to
    `L&apos; homme` before, sacreBLEU cuts that to five tokens, and all of them count as found.
    It warns once a hundred translations end in a separate full stop.
    """

    test = "turn sacreBLEU's warning into an error; a perfect system has 100"
    shows = "warned: True"

    def wrong(translations, references):
        cut = MosesTokenizer("fr")
        translations = [cut.tokenize(text, return_str=True) for text in translations]
        references = [cut.tokenize(text, return_str=True) for text in references]
        return BLEU().corpus_score(translations, [references]).score

    def mended(translations, references):
        return BLEU().corpus_score(translations, [references]).score

    def judge(score):
        right, wrong = ["L'homme monte un cheval."] * 100, ["Une femme fait du vélo."] * 100
        found = []
        assert not warnings_of(lambda: found.extend(score(said, right) for said in (right, wrong)))
        assert abs(found[0] - 100) < 1e-6 and 0 <= found[1] < 50
        assert score(wrong, wrong) > 99
        score(["L'homme monte un CHEVAL."], right[:1])

    def demo(score):
        translations = ["L'homme au chapeau s'assied dans l'herbe.", "Il n'est pas seul."] * 50
        references = ["L'homme au chapeau s'assied sur l'herbe.", "Il n'est pas seul."] * 50
        found = []
        warned = warnings_of(lambda: found.append(score(translations, references)))
        return f"BLEU {found[0]:.1f}, warned: {bool(warned)}"


def warnings_of(call):
    """What sacreBLEU logs while `call` runs; nothing of it is printed."""
    heard, logger = [], logging.getLogger("sacrebleu")
    handler, propagate = logging.Handler(), logger.propagate
    handler.emit = heard.append
    logger.addHandler(handler)
    logger.propagate = False
    try:
        call()
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
    return heard
