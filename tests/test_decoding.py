"""Greedy decoding on models whose translation is known beforehand."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import random_ids, small_model
from torch import nn
from torch.nn import functional as F

from tutor.decoding import greedy
from tutor.text.tokenizer import BOS, EOS, PAD, UNK


class Copier(nn.Module):
    """A translator that copies: the logits of token t point at token t of the source."""

    def __init__(self, max_len=100, bonus=()):
        super().__init__()
        self.config, self.steps = SimpleNamespace(max_len=max_len), 0
        self.bonus = F.one_hot(torch.tensor(bonus, dtype=torch.int64), 12).sum(0)

    def encode(self, source_ids):
        assert not self.training
        return source_ids

    def decode(self, target_ids, memory, memory_mask):
        self.steps += 1
        assert memory_mask.equal((memory == PAD)[:, None, None])
        assert target_ids.shape[1] <= self.config.max_len
        # Past its end a source's last token goes on for ever.
        last = (memory != PAD).sum(1, keepdim=True) - 1  # (N, 1)
        return memory.gather(1, torch.arange(target_ids.shape[1]).minimum(last))

    def logits(self, Y):
        return F.one_hot(Y, 12) + 2.0 * self.bonus


SOURCE = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD], [EOS, PAD, PAD, PAD]])


def test_a_translation_ends_where_the_model_says():
    model = Copier()
    assert greedy(model, SOURCE) == [[5, 6, 7], [8], []]
    assert model.steps == 4  # none after the last EOS


def test_what_comes_after_the_end_is_not_written():
    source = torch.tensor([[5, EOS, 6, 7], [8, 9, 10, EOS]])
    assert greedy(Copier(), source) == [[5], [8, 9, 10]]


@pytest.mark.parametrize("special", [PAD, UNK, BOS])
def test_ids_are_words_even_of_a_model_that_prefers_special_ones(special):
    assert greedy(Copier(bonus=[special]), SOURCE) == [[5, 6, 7], [8], []]


def test_the_length_is_limited_by_caller_source_and_model():
    endless = torch.tensor([[5, 6, PAD], [7, 7, 8]])
    assert greedy(Copier(), endless, max_len=4) == [[5, 6, 6, 6], [7, 7, 8, 8]]
    assert [len(ids) for ids in greedy(Copier(), endless)] == [52, 53]  # its own length + 50
    assert [len(ids) for ids in greedy(Copier(max_len=9), endless)] == [9, 9]
    assert [len(ids) for ids in greedy(Copier(max_len=9), endless, max_len=20)] == [9, 9]
    assert greedy(Copier(), endless, max_len=0) == [[], []]


def reference(model, source, max_len):
    """One sentence, whole forward passes, no batch and no padding."""
    ids = [BOS]
    while len(ids) <= max_len:
        E = model(source[None], torch.tensor([ids]))[0, -1]
        E[[PAD, UNK, BOS]] = -torch.inf
        if E.argmax() == EOS:
            break
        ids.append(E.argmax().item())
    return ids[1:]


@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_a_batch_is_translated_like_each_sentence_alone(seed):
    model = small_model(seed, norm_first=True)
    source = random_ids(seed, 5, 6, 11)
    with torch.no_grad():
        model.decoder.norm.bias.zero_()  # otherwise one word wins everywhere
        model.embedding.weight[EOS] *= 1.5  # so that some end early
        expected = [reference(model, row[row != PAD], 12) for row in source]
    assert greedy(model, source, 12) == expected


def test_the_model_is_left_as_it_was():
    for training in (False, True):
        model = small_model(dropout=0.5).train(training)
        first = greedy(model, torch.tensor([[5, 6, EOS]]), 4)
        assert greedy(model, torch.tensor([[5, 6, EOS]]), 4) == first  # dropout was off
        assert model.training == training
        assert all(p.grad is None for p in model.parameters())
        with pytest.raises(ValueError, match="between 0 and 10"):
            greedy(model, torch.tensor([[99]]))
        assert model.training == training


def test_one_sentence_without_a_batch_is_named():
    with pytest.raises(ValueError, match=r"shape \(N, T\).*\(3,\)"):
        greedy(small_model(), torch.tensor([5, 6, EOS]))
