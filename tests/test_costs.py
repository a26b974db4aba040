"""What chapter 16 says and does not show: what checkpoints keep, on a CPU."""

import copy
import itertools
from functools import partial

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

import tutor
from tutor import compute_attention_matrix
from tutor.proof import agree, equal, kept_bytes
from tutor.text.batches import make_batch
from tutor.text.grammar import generate_pairs
from tutor.training import translation_loss


def test_a_checkpoint_around_every_layer_leaves_a_tenth_of_the_bytes():
    translator = tutor.load_pretrained()
    model, encode = translator.model, translator.tokenizer.encode
    pairs = generate_pairs("val", 64, seed=0)
    batch = make_batch([(encode(p.english), encode(p.french)) for p in pairs])
    frugal = copy.deepcopy(model)
    for layer in (*frugal.encoder.layers, *frugal.decoder.layers):
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    less, full = (kept_bytes(translation_loss, m, batch) for m in (frugal, model))
    assert 0.05 < less / full < 0.13
    for some in (frugal, model):
        translation_loss(some, batch).backward()
    for one, other in zip(frugal.parameters(), model.parameters(), strict=True):
        assert equal(one.grad, other.grad)


def test_at_the_peak_checkpoints_need_about_a_quarter_of_the_memory():
    """The backward pass has the results of one layer at a time again."""
    translator = tutor.load_pretrained()
    encode = translator.tokenizer.encode
    pairs = generate_pairs("val", 64, seed=0)
    batch = make_batch([(encode(p.english), encode(p.french)) for p in pairs])

    def peak(model):
        translation_loss(model, batch).backward()  # now the gradients exist
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            translation_loss(model, batch).backward()
        moves = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
        moves.sort(key=lambda move: move.start_ns())
        return max(itertools.accumulate(move.nbytes() for move in moves))

    full = peak(translator.model)
    for layer in (*translator.model.encoder.layers, *translator.model.decoder.layers):
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    assert 0.2 < peak(translator.model) / full < 0.33


def test_a_checkpoint_around_attention_gives_the_same_gradients_for_a_sixth_more_operations():
    Q, K, V = (torch.randn(1, 4, 200, 32).requires_grad_() for _ in range(3))

    def explicit(Q, K, V):
        return compute_attention_matrix(Q, K) @ V

    again = partial(checkpoint, explicit, use_reentrant=False)
    agree(again, explicit, Q, K, V)
    counts = []
    for function in (explicit, again):
        with FlopCounterMode(display=False) as counter:
            function(Q, K, V).sum().backward()
        counts.append(counter.get_total_flops())
    assert 6 * counts[1] == 7 * counts[0]


def test_explicit_attention_keeps_bytes_like_T_squared_and_fused_like_T():
    def grown(function):
        short, long = (
            [torch.randn(1, 4, T, 32).requires_grad_() for _ in range(3)] for T in (512, 1024)
        )
        return kept_bytes(function, *long) / kept_bytes(function, *short)

    assert grown(lambda Q, K, V: compute_attention_matrix(Q, K) @ V) > 3.6
    assert grown(F.scaled_dot_product_attention) == 2
