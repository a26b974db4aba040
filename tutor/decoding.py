"""Writing a translation: greedy, sampling and beam search (chapters 09 and 09b)."""

import math
from contextlib import contextmanager
from typing import NamedTuple

import torch

from tutor.attention import PAD
from tutor.cache import Cache
from tutor.ensemble import CacheOfSeveral, Ensemble
from tutor.text.tokenizer import BOS, EOS

EXTRA_TOKENS = 50  # that a translation may be longer than its source (Vaswani et al., section 6.1)
ALPHA = 1.4  # strength of the length penalty; the best of 0 to 1.8 on Multi30k, validation split


class Hypothesis(NamedTuple):
    """A translation: its ids without special tokens, the log-probability of all its tokens ([EOS]
    included) divided by `length_penalty`, and whether it ended by itself or was cut at the limit.
    """

    ids: list[int]
    score: float
    finished: bool


def length_penalty(length, alpha):
    """((5 + length) / 6) ** alpha, for a number or a tensor of token counts, [EOS] included.

    Source: Wu et al. 2016, section 7, equation (14).
    """
    return ((5 + length) / 6) ** alpha


def open_cache(model, source_ids, beams=1):
    """A Cache of the model, or one of several for an Ensemble."""
    if isinstance(model, Ensemble):
        return CacheOfSeveral([open_cache(each, source_ids, beams) for each in model.models])
    return Cache(model, source_ids, beams)


def limits(model, source_ids, max_len):
    """How many tokens each translation may have, [EOS] included: (N,)."""
    if max_len is not None and max_len < 1:
        raise ValueError(f"max_len must be at least 1, not {max_len!r}.")
    # Each sentence's own limit, so that its neighbours in the batch change nothing.
    limit = (source_ids != PAD).sum(1) + EXTRA_TOKENS  # (N,)
    if max_len is not None:
        limit = torch.full_like(limit, max_len)
    return limit.clamp(max=model.config.max_len)


def most_probable(Z, k):
    """Log-probabilities and ids of the k best next tokens, (..., k) each, from logits Z.

    Z: (..., vocab_size); it is overwritten. [PAD], [UNK] and [BOS] are never written.
    """
    Z[..., :EOS] = -torch.inf
    best, ids = Z.topk(min(k, Z.shape[-1]))
    top = best[..., :1]  # (..., 1)
    total = Z.sub_(top).exp_().sum(-1, keepdim=True)  # (..., 1): in place, Z is large
    return best - top - total.log(), ids


@contextmanager
def evaluating(model):
    """Dropout off and no gradients inside the `with` block; then as it was."""
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(was_training)


def check_score(score):
    """Raises ValueError for a log-probability that is no number: nothing can be chosen by it."""
    if math.isnan(score):
        raise ValueError(
            "The model's logits are not numbers (NaN): its weights are damaged, or its training "
            "went wrong. Load or train it again."
        )


def write(model, source_ids, choose, max_len=None):
    """Write N sentences; choose(Z) makes of logits (N, vocab_size) each one's next token, with its
    log-probability: (N, 1) each. See `greedy` and `sample`.
    """
    with evaluating(model):
        cache, limit = open_cache(model, source_ids), limits(model, source_ids, max_len)
        ids = source_ids.new_full((len(source_ids), 1), BOS)  # (N, t)
        score = torch.zeros(len(ids), device=ids.device)  # (N,)
        rows, written = torch.arange(len(ids), device=ids.device), [None] * len(ids)
        while len(rows):
            step, new = choose(cache.step(ids[:, -1:])[:, 0])  # (N, 1) each
            ids, score = torch.cat([ids, new], dim=1), score + step[:, 0]
            ended = ids[:, -1] == EOS
            done = ended | (ids.shape[1] > limit)
            if done.any():
                for n in done.nonzero()[:, 0].tolist():
                    words = [i for i in ids[n, 1:].tolist() if i != EOS]
                    written[rows[n]] = Hypothesis(words, score[n].item(), ended[n].item())
                    check_score(written[rows[n]].score)
                left = (~done).nonzero()[:, 0]  # a finished sentence costs nothing more
                cache.keep(left)
                ids, score, limit, rows = ids[left], score[left], limit[left], rows[left]
    return written


def greedy(model, source_ids, max_len=None):
    """The most probable next token, again and again, until [EOS].

    source_ids: (N, S), padded, each ending with [EOS]. Writes at most max_len tokens a sentence,
    and never more than the model's max_len; None: the source's length plus 50. Returns N
    Hypothesis, whose scores are log-probabilities.
    """
    return write(model, source_ids, lambda Z: most_probable(Z, 1), max_len)


def tokens_to_keep(shares, top_p=None, min_p=None):
    """Which tokens a random choice may fall on: True, False, of the shape of `shares`.

    shares: (..., vocab_size), probabilities, the largest first. top_p: the fewest tokens, the most
    probable ones, that have at least this share together (nucleus sampling, Holtzman et al. 2020,
    "The Curious Case of Neural Text Degeneration"). min_p: the tokens that are at least min_p times
    as probable as the most probable one (Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling
    for Creative and Coherent LLM Outputs"). The first token is always kept.
    """
    keep = torch.ones_like(shares, dtype=torch.bool)
    if top_p is not None:
        keep &= keep_top_p(shares, top_p)
    if min_p is not None:
        keep &= keep_min_p(shares, min_p)
    return keep


def keep_top_p(shares, top_p):
    """See `tokens_to_keep`. A token stays if those before it have less than top_p together."""
    return shares.cumsum(dim=-1) - shares < top_p  # (..., vocab_size)


def keep_min_p(shares, min_p):
    """See `tokens_to_keep`."""
    return shares >= min_p * shares[..., :1]  # (..., vocab_size)


def chooser(temperature=1.0, top_k=None, top_p=None, min_p=None, generator=None):
    """A function that draws the next token at random, by the rules of `sample`.

    It makes of logits (N, vocab_size), which it overwrites, the log-probabilities and the ids of
    what was drawn: (N, 1) each.
    """
    if isinstance(temperature, str | None) or not 1e-30 <= temperature <= 1e30:
        # float32 knows nothing much beyond
        raise ValueError(
            f"temperature must lie between 1e-30 and 1e30, not {temperature!r}; greedy() is its "
            "limit at 0."
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be None or at least 1, not {top_k!r}.")
    for name, share in (("top_p", top_p), ("min_p", min_p)):
        if share is not None and not 0 < share <= 1:
            raise ValueError(f"{name} must be None or above 0 and at most 1, not {share!r}.")

    def choose(Z):
        step, ids = most_probable(Z, top_k or Z.shape[-1])  # (N, top_k) each
        shares = ((step - step[:, :1]) / temperature).softmax(-1)  # (N, top_k)
        shares = shares * tokens_to_keep(shares, top_p, min_p)  # (N, top_k)
        at = torch.multinomial(shares, 1, generator=generator)  # (N, 1)
        return step.gather(1, at), ids.gather(1, at)

    return choose


def sample(
    model,
    source_ids,
    temperature=1.0,
    top_k=None,
    top_p=None,
    min_p=None,
    max_len=None,
    generator=None,
):
    """A random next token, again and again: each with the probability that the model gives it.

    temperature: logits are divided by it; below 1 favours the probable, above 1 the improbable.
    It may lie between 1e-30, as good as `greedy`, and 1e30, any word with equal probability.
    top_k: draw from the k most probable tokens only (Fan et al. 2018). top_p, min_p: draw from
    those that `tokens_to_keep` keeps of what the temperature has made. Otherwise as `greedy`.
    """
    choose = chooser(temperature, top_k, top_p, min_p, generator)
    return write(model, source_ids, choose, max_len)


class Pool(NamedTuple):
    """The beams of N sentences, finished and live ones together, the best first.

    ids: (N, beams, t), beginning with [BOS]; total: (N, beams), log-probabilities; length:
    (N, beams), tokens written, [EOS] included; ended: (N, beams), which are finished.
    """

    ids: torch.Tensor
    total: torch.Tensor
    length: torch.Tensor
    ended: torch.Tensor

    @classmethod
    def start(cls, N, beams, device=None):
        ids = torch.full((N, beams, 1), BOS, device=device)
        total = torch.full((N, beams), -torch.inf, device=device)
        total[:, 0] = 0  # all beams begin alike, so one proposes for all
        return cls(ids, total, torch.zeros_like(ids[..., 0]), torch.zeros_like(total).bool())

    def score(self, alpha):
        return self.total / length_penalty(self.length, alpha)  # (N, beams)


def grow(pool, step, new, alpha):
    """One step of beam search: every beam proposes, the best proposals stay.

    step, new: log-probabilities and ids of each beam's best next tokens, (N, beams, k); both are
    overwritten. Returns the new Pool and, for each of its beams, the one that it goes on from:
    (N, beams).
    """
    # A finished beam proposes itself, at no cost.
    step[pool.ended], new[pool.ended] = -torch.inf, PAD
    step[..., 0].masked_fill_(pool.ended, 0)
    length = pool.length + ~pool.ended  # (N, beams)
    total = pool.total[..., None] + step  # (N, beams, k)
    score = total / length_penalty(length, alpha)[..., None]  # (N, beams, k)
    at = score.flatten(1).topk(pool.ids.shape[1]).indices  # (N, beams)
    parents = at // step.shape[-1]  # (N, beams)
    new = new.flatten(1).gather(1, at)  # (N, beams)
    ids = pool.ids.gather(1, parents[..., None].expand_as(pool.ids))  # (N, beams, t)
    ended = pool.ended.gather(1, parents) | (new == EOS)
    total, length = total.flatten(1).gather(1, at), length.gather(1, parents)
    return Pool(torch.cat([ids, new[..., None]], dim=-1), total, length, ended), parents


def settled(pool, limit, alpha, n_best):
    """Which sentences are done, (N,): no live beam can overtake their `n_best` best finished ones.

    The best that a live beam can hope for: no further loss, and the mildest penalty, that of a
    sentence of `limit` tokens.
    """
    finished = pool.score(alpha).masked_fill(~pool.ended, -torch.inf)  # (N, beams)
    finished = finished.topk(n_best).values[:, -1]  # (N,)
    hope = pool.total / length_penalty(limit, alpha)[:, None]  # (N, beams)
    hope = hope.masked_fill(pool.ended, -torch.inf).amax(1)  # (N,)
    return (finished >= hope) | (pool.ids.shape[-1] > limit)


def check_search(beams, alpha, n_best):
    """Raises ValueError for settings with which no search is possible."""
    if not isinstance(beams, int) or beams < 1:
        raise ValueError(f"beams must be a whole number of at least 1, not {beams!r}.")
    if not 1 <= n_best <= beams:
        raise ValueError(f"n_best must lie between 1 and beams ({beams}), not {n_best!r}.")
    if not alpha >= 0:
        raise ValueError(f"alpha must be at least 0, not {alpha!r}.")


def beam_search(model, source_ids, beams=5, alpha=ALPHA, n_best=1, max_len=None, history=None):
    """The best translations found by keeping `beams` of them at every step.

    Finished and live ones stand in one pool, ranked by log-probability / length_penalty, until no
    live one can win. source_ids, max_len: as in `greedy`. history: a list that receives
    (rows, Pool, parents) of every step; rows are the sentences that were still being written.
    Returns for each sentence a list of at most `n_best` Hypothesis, the best first; finished ones
    stand before those that were cut at the limit.
    """
    check_search(beams, alpha, n_best)
    with evaluating(model):
        cache = open_cache(model, source_ids, beams)
        limit = limits(model, source_ids, max_len)
        pool = Pool.start(len(source_ids), beams, source_ids.device)
        rows = torch.arange(len(source_ids), device=source_ids.device)
        found = [None] * len(source_ids)
        while len(rows):
            Z = cache.step(pool.ids[..., -1])  # (N, beams, vocab_size)
            pool, parents = grow(pool, *most_probable(Z, beams), alpha)
            cache.follow(parents)
            if history is not None:
                history.append((rows, pool, parents))
            done = settled(pool, limit, alpha, n_best)  # (N,)
            for n in done.nonzero()[:, 0].tolist():
                found[rows[n]] = best_of(Pool(*(x[n] for x in pool)), alpha)[:n_best]
            if done.any():
                left = (~done).nonzero()[:, 0]  # a finished sentence costs nothing more
                cache.keep(left)
                pool = Pool(*(x[left] for x in pool))
                limit, rows = limit[left], rows[left]
    return found


def best_of(pool, alpha):
    """The beams of one sentence as Hypothesis, finished ones first, then by score."""
    check_score(pool.total.sum().item())
    written = [
        Hypothesis([i for i in ids if i not in (PAD, BOS, EOS)], score, ended)
        for ids, score, ended in zip(
            pool.ids.tolist(), pool.score(alpha).tolist(), pool.ended.tolist(), strict=True
        )
        if score > -math.inf
    ]
    return sorted(written, key=lambda h: (not h.finished, -h.score))
