"""Several models that write one translation together: a teacher for a small model to copy."""

from dataclasses import replace

import torch
from torch import nn


class Ensemble(nn.Module):
    """Models with one vocabulary as one: its scores are the means of their log-probabilities.

    It can search (`tutor.decoding`), nothing else. Raises ValueError for no model, and for
    vocabularies of different sizes. Source: Freitag et al. 2017, "Ensemble Distillation for Neural
    Machine Translation", whose students learn from such a teacher.
    """

    def __init__(self, models):
        super().__init__()
        sizes = [model.config.vocab_size for model in models]
        if not models or len(set(sizes)) > 1:
            raise ValueError(f"An ensemble needs models of one vocabulary, not of sizes {sizes}.")
        self.models = nn.ModuleList(models)
        shortest = min(model.config.max_len for model in models)
        self.config = replace(models[0].config, max_len=shortest)


class CacheOfSeveral:
    """The caches of an Ensemble's models, which go one way. See `tutor.cache.Cache`."""

    def __init__(self, caches):
        self.caches = caches

    def step(self, ids):
        """Mean log-probabilities of the next tokens: (N, beams, vocab_size)."""
        return torch.stack([each.step(ids).log_softmax(-1) for each in self.caches]).mean(0)

    def follow(self, parents):
        for each in self.caches:
            each.follow(parents)

    def keep(self, rows):
        for each in self.caches:
            each.keep(rows)
