"""The counts of searches on human captions (chapter 10)."""

import re

import torch
from safetensors import safe_open

from tutor.evaluation import bleu_of_counts
from tutor.models.compared import COUNTS, SEARCHES, load_counts, load_trainings


def test_the_counts_are_those_of_translations():
    counts = load_counts()
    assert list(counts) == list(SEARCHES)
    for rows in counts.values():
        assert rows.shape == (1000, 10) and (rows == rows.round()).all()
        matches, runs, ours, theirs = rows.split([4, 4, 1, 1], dim=1)
        assert (runs == (ours - torch.arange(4)).clamp(min=0)).all()
        assert (matches <= runs).all() and (matches[:, 1:] <= matches[:, :-1]).all()
        assert torch.equal(theirs, counts["greedy"][:, 9:])
        assert 50 < bleu_of_counts(rows.sum(0)) < 70


def test_the_counts_name_their_model():
    with safe_open(COUNTS, "pt") as file:
        note = file.metadata()
    assert note["command"] == "python -m course.making.compared"
    assert re.fullmatch("[0-9a-f]{64}", note["model"])


def test_the_trainings_are_compared_in_pairs():
    found = load_trainings()
    assert list(found) == ["1 less 0", "2 less 0", "2 less 1"]
    for sizes in found.values():
        assert list(sizes) == ["1,000", "9,000"]
        assert all(low < value < high for value, low, high in sizes.values())
        few, many = (high - low for _, low, high in sizes.values())
        assert 2 < few / many < 5  # the root of nine
