"""How good is a translation, and how good is an alignment?

Two flavours of BLEU stand side by side and must never share a column: cased, detokenised
sacreBLEU (`bleu`) and BLEU on lower-cased Moses tokens (`moses_bleu`), which most papers on
Multi30k print. Each score carries the signature that makes it reproducible.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import version
from numbers import Integral
from typing import NamedTuple

import torch
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacremoses import MosesTokenizer

MOSES_LANGUAGES = ("de", "en", "fr")


class Score(NamedTuple):
    """A corpus score between 0 and 100, and how it was computed."""

    value: float
    signature: str


class Gain(NamedTuple):
    """How much BLEU a system has more than another, and the ends of an interval around it."""

    value: float
    low: float
    high: float


def bleu(hypotheses: Iterable[str], references: Iterable[str]) -> Score:
    """Return cased, detokenised sacreBLEU of N sentences (Papineni et al. 2002; Post 2018).

    Pass plain text, as a person would write it: the standard tokeniser (13a) is applied inside.
    BLEU counts word sequences up to length four: where no hypothesis has four tokens it is 0.

    Raises:
        TypeError: an argument is not a list of strings.
        ValueError: no sentences, unequal numbers, or hypotheses that look tokenised.
    """
    hypotheses, references = _check_pairs(hypotheses, references)
    tokenised = sum(hypothesis.endswith(" .") for hypothesis in hypotheses)
    # sacreBLEU only warns, and only from 100 such sentences on.
    if tokenised >= 100 or 2 * tokenised >= len(hypotheses):
        raise ValueError(
            f"{tokenised} of {len(hypotheses)} hypotheses end in ' .', so they look tokenised: "
            "pass detokenised text, or use moses_bleu."
        )
    return _score(BLEU(), hypotheses, references)


def bleu_counts(hypotheses: Iterable[str], references: Iterable[str]) -> torch.Tensor:
    """Return the ten numbers of which BLEU is made, for each of N sentences: (N, 10), doubles.

    Matches of one to four words, each clipped to what the reference has; how many such runs the
    hypothesis has; its words and those of its reference. The sum over sentences is what
    `bleu_of_counts` wants.
    """
    hypotheses, references = _check_pairs(hypotheses, references)
    cut, rows = Tokenizer13a(), []
    for pair in zip(hypotheses, references, strict=True):
        ours, theirs = (cut(sentence).split() for sentence in pair)
        matches, runs = [], []
        for n in (1, 2, 3, 4):
            a, b = (Counter(zip(*(s[i:] for i in range(n)))) for s in (ours, theirs))  # noqa: B905
            matches.append((a & b).total())
            runs.append(a.total())
        rows.append([*matches, *runs, len(ours), len(theirs)])
    return torch.tensor(rows, dtype=torch.float64)


def bleu_of_counts(counts: torch.Tensor) -> torch.Tensor:
    """Return BLEU, 0 to 100, of summed `bleu_counts`: (..., 10) to (...).

    As sacreBLEU's where every length has a match. Where one has none, BLEU is 0 here; sacreBLEU
    puts a small number in its place (it smooths).
    """
    matches, runs, ours, theirs = counts.split([4, 4, 1, 1], dim=-1)
    mean = (matches / runs).log().mean(dim=-1)  # (...)
    return 100 * (mean + (1 - theirs / ours).clamp(max=0)[..., 0]).exp().nan_to_num(0.0)


def gains(
    systems: dict, baseline: Iterable[str], references: Iterable[str], level=0.95, draws=10_000
) -> dict:
    """Return by how much BLEU several systems are above a baseline: a dict from name to Gain.

    systems: a dict from name to N hypotheses. The intervals come from a paired bootstrap (Koehn
    2004): N sentences are drawn with repetition, `draws` times, and both systems are scored on the
    same ones. With m systems each interval holds with 1 - (1 - level) / m (Bonferroni), so that
    all of them hold together with at least `level`.
    """
    base = bleu_counts(baseline, references)  # (N, 10)
    N, tail = len(base), (1 - level) / len(systems) / 2
    drawn = torch.randint(N, (draws, N), generator=torch.Generator().manual_seed(0))
    # How often each sentence is drawn: (draws, N).
    often = torch.zeros(draws, N, dtype=base.dtype).scatter_add_(1, drawn, base.new_ones(draws, N))
    found = {}
    for name, hypotheses in systems.items():
        counts = bleu_counts(hypotheses, references)
        spread = bleu_of_counts(often @ counts) - bleu_of_counts(often @ base)  # (draws,)
        low, high = spread.quantile(torch.tensor([tail, 1 - tail], dtype=base.dtype)).tolist()
        value = bleu_of_counts(counts.sum(0)) - bleu_of_counts(base.sum(0))
        found[name] = Gain(value.item(), low, high)
    return found


def moses_bleu(hypotheses: Iterable[str], references: Iterable[str], language: str = "fr") -> Score:
    """Return BLEU of N sentences on lower-cased Moses tokens, the flavour of Multi30k papers.

    Pass plain text. Both sides are lower-cased, then tokenised by sacremoses for `language`
    ("de", "en" or "fr"). That is the order of Multi30k's own script (task1-tokenize.sh), without
    the normalised punctuation that it puts in between. Characters such as the apostrophe are
    not escaped as XML, which renames tokens on both sides alike and leaves BLEU as it is.

    Raises:
        TypeError: an argument is not a list of strings.
        ValueError: no sentences, unequal numbers, or an unknown language.
    """
    hypotheses, references = _check_pairs(hypotheses, references)
    # sacremoses would fall back to English without a word.
    if language not in MOSES_LANGUAGES:
        raise ValueError(f"Unknown language {language!r}: use one of {', '.join(MOSES_LANGUAGES)}.")
    tokenizer = _moses_tokenizer(language)

    def prepare(sentence: str) -> str:
        return tokenizer.tokenize(sentence.lower(), escape=False, return_str=True)

    # The text is lower-cased already; lowercase=True makes the signature say so.
    value, signature = _score(
        BLEU(lowercase=True, tokenize="none", force=True),
        [prepare(sentence) for sentence in hypotheses],
        [prepare(sentence) for sentence in references],
    )
    moses = f"lower+sacremoses.{version('sacremoses')}.{language}.escape-no"
    return Score(value, f"{signature}|prepared:{moses}")


def chrf(hypotheses: Iterable[str], references: Iterable[str]) -> Score:
    """Return chrF2 of N sentences: F-score of character 1- to 6-grams (Popovic 2015).

    Raises:
        TypeError: an argument is not a list of strings.
        ValueError: no sentences, or unequal numbers.
    """
    return _score(CHRF(), *_check_pairs(hypotheses, references))


def exact_match(hypotheses: Iterable[str], references: Iterable[str]) -> float:
    """Return the share, from 0 to 1, of N sentences equal to their reference in every character.

    Raises:
        TypeError: an argument is not a list of strings.
        ValueError: no sentences, or unequal numbers.
    """
    hypotheses, references = _check_pairs(hypotheses, references)
    equal = sum(a == b for a, b in zip(hypotheses, references, strict=True))
    return equal / len(references)


def alignment_error_rate(
    predicted: Iterable[tuple[int, ...]],
    sure: Iterable[tuple[int, ...]],
    possible: Iterable[tuple[int, ...]] | None = None,
) -> float:
    """Return AER = 1 - (|A & S| + |A & P|) / (|A| + |S|) (Och & Ney 2003, section 5).

    A holds the predicted links, S the sure ones, which a good alignment must have, and P the
    possible ones, which it may have. Sure links are possible too, whether `possible` repeats
    them or not. 0 is perfect, 1 is all wrong.

    A link is a tuple (source position, target position). For a whole corpus, which is not the
    mean over sentences, use (sentence, source position, target position).

    Raises:
        TypeError: something is not a collection of links.
        ValueError: links of both kinds are mixed, or there is no predicted and no sure link.
    """
    A, S, P = (_check_links(links) for links in (predicted, sure, possible or ()))
    P = P | S
    if len({len(link) for link in A | P}) > 1:
        raise ValueError(
            "Links of two and of three numbers are mixed: use (source, target) everywhere, or "
            "(sentence, source, target) everywhere."
        )
    if not A and not S:
        raise ValueError("Without predicted and sure links AER is undefined: leave that pair out.")
    return 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))


@lru_cache
def _moses_tokenizer(language: str) -> MosesTokenizer:
    return MosesTokenizer(language)


def _score(metric: BLEU | CHRF, hypotheses: list[str], references: list[str]) -> Score:
    value = metric.corpus_score(hypotheses, [references]).score
    return Score(value, str(metric.get_signature()))


def _check_pairs(
    hypotheses: Iterable[str], references: Iterable[str]
) -> tuple[list[str], list[str]]:
    checked = []
    for name, sentences in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise TypeError(
                f"{name} must be a list of strings, not {type(sentences).__name__}: put a single "
                "sentence in brackets."
            )
        sentences = list(sentences)
        for position, sentence in enumerate(sentences):
            if not isinstance(sentence, str):
                raise TypeError(
                    f"{name}[{position}] must be a string, not {type(sentence).__name__}: pass a "
                    "flat list with one string per sentence."
                )
        checked.append(sentences)
    hypotheses, references = checked
    if len(hypotheses) != len(references):
        raise ValueError(
            f"There are {len(hypotheses)} hypotheses but {len(references)} references: pass one "
            "reference per hypothesis."
        )
    if not hypotheses:
        raise ValueError("There is nothing to score: pass at least one sentence.")
    return hypotheses, references


def _check_links(links: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
    links = list(links) if isinstance(links, Iterable) else [links]
    for link in links:
        if not (
            isinstance(link, tuple)
            and len(link) in (2, 3)
            and all(isinstance(position, Integral) for position in link)
        ):
            raise TypeError(
                f"{link!r} is not a link: pass a set of tuples (source, target), or for several "
                "sentences one set of tuples (sentence, source, target)."
            )
    return set(links)
