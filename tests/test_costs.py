"""What chapter 16 says and does not show: what checkpoints keep, on a CPU."""

import copy
from functools import partial

import torch
from torch.utils.checkpoint import checkpoint

import tutor
from tutor.proof import equal
from tutor.text.batches import make_batch
from tutor.text.grammar import generate_pairs
from tutor.training import translation_loss


def kept(function, *inputs):
    put_away = {}

    def put(X):
        put_away[X.untyped_storage().data_ptr()] = X
        return X

    with torch.autograd.graph.saved_tensors_hooks(put, lambda X: X):
        function(*inputs)
    return list(put_away.values())


def bytes_of(tensors):
    return sum(X.untyped_storage().nbytes() for X in tensors)


def test_a_checkpoint_around_every_layer_leaves_a_tenth_of_the_bytes():
    translator = tutor.load_pretrained()
    model, encode = translator.model, translator.tokenizer.encode
    pairs = generate_pairs("val", 64, seed=0)
    batch = make_batch([(encode(p.english), encode(p.french)) for p in pairs])
    frugal = copy.deepcopy(model)
    for layer in (*frugal.encoder.layers, *frugal.decoder.layers):
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    less, full = (bytes_of(kept(translation_loss, m, batch)) for m in (frugal, model))
    assert 0.05 < less / full < 0.13
    for some in (frugal, model):
        translation_loss(some, batch).backward()
    for one, other in zip(frugal.parameters(), model.parameters(), strict=True):
        assert equal(one.grad, other.grad)
