"""Batches of like length, with the target shifted by one (chapter 07)."""

import random
from typing import NamedTuple

import torch

from tutor.attention import PAD
from tutor.text.tokenizer import BOS, EOS


class Batch(NamedTuple):
    """Ids padded with 0. source: (N, S), ends with EOS; target_in: (N, T), begins with BOS;
    target_out: (N, T), the same sentence one step later, ends with EOS.
    """

    source: torch.Tensor
    target_in: torch.Tensor
    target_out: torch.Tensor

    def to(self, device):
        return Batch(*(ids.to(device, non_blocking=True) for ids in self))


def pad(sentences):
    """Lists of ids of different lengths as one tensor (N, longest), filled up with PAD."""
    longest = max(map(len, sentences))
    return torch.tensor([ids + [PAD] * (longest - len(ids)) for ids in sentences])


def make_batch(pairs):
    """A Batch from (source ids, target ids) pairs, lists of int without special tokens."""
    return Batch(
        source=pad([source + [EOS] for source, _ in pairs]),
        target_in=pad([[BOS] + target for _, target in pairs]),
        target_out=pad([target + [EOS] for _, target in pairs]),
    )


def longer_side(pair):
    """Tokens of the longer side of a pair of ids, with its BOS or EOS."""
    return max(map(len, pair)) + 1


def cut_by_tokens(pairs, max_tokens):
    """Cut pairs, sorted by `longer_side`, into groups of at most `max_tokens` places, padding too.

    A pair that is longer than that stands alone. Returns a list of lists of pairs.
    """
    groups = []
    for pair in pairs:  # ascending, so the newest pair is the longest
        if groups and longer_side(pair) * (len(groups[-1]) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups


def bucket(pairs, max_tokens, seed=None):
    """Cut (source ids, target ids) pairs into batches of like length.

    No batch holds more than `max_tokens` tokens on its longer side, padding included (a pair that
    is longer stands alone). With a seed, pairs of the same length and the batches themselves come
    in random order; without one, in order of length. Returns a list of Batch.
    """
    order = random.Random(seed)
    pairs = list(pairs)
    if seed is not None:
        order.shuffle(pairs)
    groups = cut_by_tokens(sorted(pairs, key=lambda p: (longer_side(p), len(p[0]))), max_tokens)
    if seed is not None:
        order.shuffle(groups)
    return [make_batch(group) for group in groups]
