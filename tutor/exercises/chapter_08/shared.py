"""What several exercises of chapter 08 use."""

import torch

from tutor.museum import EXHIBITS
from tutor.text.tokenizer import PAD

RAW = EXHIBITS["grow_the_beams"]


def step_with(total, step):
    """A step whose numbers are added as they are."""
    return RAW.wrong(total, step)


def step_of(log_p, ended):
    """The steps of all beams, in which a finished one proposes itself."""
    step = log_p.masked_fill(ended[:, None], -torch.inf)
    step[:, PAD] = step[:, PAD].masked_fill(ended, 0.0)
    return step


def one_child_each(total, log_p, ended):
    best, tokens = (total[:, None] + step_of(log_p, ended)).max(-1)
    best, parents = best.sort(descending=True)
    return best, parents, tokens[parents]
