"""What chapter 16 says and does not show: what checkpoints keep, on a CPU."""

import copy
from functools import partial

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import tutor
from tutor import compute_attention_matrix
from tutor.proof import equal, kept_bytes
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


def test_explicit_attention_keeps_bytes_like_T_squared_and_fused_like_T():
    def grown(function):
        short, long = (
            [torch.randn(1, 4, T, 32).requires_grad_() for _ in range(3)] for T in (512, 1024)
        )
        return kept_bytes(function, *long) / kept_bytes(function, *short)

    assert grown(lambda Q, K, V: compute_attention_matrix(Q, K) @ V) > 3.6
    assert grown(F.scaled_dot_product_attention) == 2
