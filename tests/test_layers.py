"""Layers, stacks and the whole model: equal to PyTorch's, and what may change what."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import (
    PAD,
    TransformerTwin,
    assert_equal,
    assert_same,
    random_ids,
    random_mask,
    random_tensors,
    randomize,
    sizes,
    small_model,
)

from tutor import (
    AttentionSubLayer,
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForwardSubLayer,
    Transformer,
    TransformerConfig,
    causal_mask,
    padding_mask,
)
from tutor.exchange.pytorch import to_pytorch
from tutor.transformer import check_ids

few = settings(max_examples=20)
both_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
all_kinds = pytest.mark.parametrize(
    "kind",
    [
        dict(norm_first=False, positions="sinusoidal"),
        dict(norm_first=True, positions="learned"),
        dict(norm_first=True, d_k=3, d_v=5, num_heads=2),
    ],
    ids=["post-norm", "pre-norm", "own widths"],
)

SOURCE = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 6, 9, 8], [2, 5, 7, 10], [2, 4, 0, 0]])


# ---- equal to PyTorch's


layer_and_stack = pytest.mark.parametrize("stacked", [False, True], ids=["a layer", "a stack"])


@both_orders
@layer_and_stack
@given(sizes())
@few
def test_encoders_equal_pytorchs(norm_first, stacked, size):
    N, _, S, h, d_model, seed = size
    make = partial(Encoder, 2) if stacked else EncoderLayer
    ours = randomize(make(d_model, h, 7, dropout=0, norm_first=norm_first), seed)
    theirs = to_pytorch(ours)
    ids, mask = random_ids(seed, N, S, 9), random_mask(seed, S, S).fill_diagonal_(False)
    mask[:, 0] = False  # the first key is never padding, so no row is empty
    assert_same(
        lambda X: ours(X, mask | padding_mask(ids)),
        lambda X: theirs(X, mask, src_key_padding_mask=ids == PAD),
        random_tensors(seed, (N, S, d_model)),
        (ours, theirs),
    )


@both_orders
@layer_and_stack
@given(sizes())
@few
def test_decoders_equal_pytorchs(norm_first, stacked, size):
    N, T, S, h, d_model, seed = size
    make = partial(Decoder, 2) if stacked else DecoderLayer
    ours = randomize(make(d_model, h, 7, dropout=0, norm_first=norm_first), seed)
    theirs = to_pytorch(ours)
    source, target = random_ids(seed, N, S, 9), random_ids(seed + 1, N, T, 9)
    assert_same(
        lambda X, memory: ours(
            X, memory, causal_mask(T) | padding_mask(target), padding_mask(source)
        ),
        lambda X, memory: theirs(
            X, memory, tgt_mask=causal_mask(T),
            tgt_key_padding_mask=target == PAD, memory_key_padding_mask=source == PAD,
        ),
        random_tensors(seed, (N, T, d_model), (N, S, d_model)),
        (ours, theirs),
    )  # fmt: skip


@both_orders
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@given(sizes())
@settings(max_examples=8)
def test_whole_model_equals_nn_transformer(norm_first, positions, size):
    N, T, S, h, d_model, seed = size
    config = TransformerConfig(
        vocab_size=9, d_model=d_model, num_heads=h, d_ff=7, num_layers=2, dropout=0, max_len=6,
        norm_first=norm_first, positions=positions,
    )  # fmt: skip
    ours = randomize(Transformer(config), seed)
    theirs = TransformerTwin(ours)
    source, target = random_ids(seed, N, S, 9), random_ids(seed + 1, N, T, 9)
    assert_same(lambda: ours(source, target), lambda: theirs(source, target), (), (ours, theirs))


# ---- the two orders of LayerNorm, and dropout


def test_pre_norm_stacks_end_with_a_norm_and_post_norm_ones_need_none():
    for norm_first in (False, True):
        model = Transformer(TransformerConfig(9, 12, 3, 8, 2, norm_first=norm_first)).eval()
        memory = model.encode(SOURCE.clamp(max=8))
        Y = model.decode(TARGET.clamp(max=8), memory, None)
        for X in (memory, Y):
            torch.testing.assert_close(X.mean(-1), torch.zeros(X.shape[:2]))
            torch.testing.assert_close(
                X.var(-1, correction=0), torch.ones(X.shape[:2]), rtol=0, atol=1e-3
            )


def test_dropout_falls_on_each_sub_layers_work_and_on_the_embedding():
    (X,) = random_tensors(0, (2, 3, 6))
    attention = randomize(AttentionSubLayer(6, 2, dropout=0.5, norm_first=True))
    feed_forward = randomize(FeedForwardSubLayer(6, 8, dropout=0.5, norm_first=True))
    model = small_model(dropout=0.5)
    cases = [
        (lambda: attention(X) - X, 2 * attention.attention(*[attention.norm(X)] * 2)),
        (lambda: feed_forward(X) - X, 2 * feed_forward.feed_forward(feed_forward.norm(X))),
        (lambda: model.embed(TARGET), 2 * small_model(dropout=0.0).embed(TARGET)),
    ]
    for dropped, doubled in cases:
        Y = dropped()
        zero = Y.abs() < 1e-12
        assert_equal(Y[~zero], doubled[~zero])
        assert 0.2 < zero.double().mean() < 0.8


@all_kinds
def test_dropout_off_is_repeatable_and_on_is_not(kind):
    model = small_model(dropout=0.3, **kind)
    assert not model(SOURCE, TARGET).equal(model(SOURCE, TARGET))
    model.eval()
    assert model(SOURCE, TARGET).equal(model(SOURCE, TARGET))


# ---- what may change what


@all_kinds
@given(seed=st.integers(0, 1000))
@settings(max_examples=5)
def test_a_future_token_changes_nothing_before_it(kind, seed):
    model = small_model(seed, **kind)
    before = model(SOURCE, TARGET)
    for t in range(TARGET.shape[1]):
        target = TARGET.clone()
        target[:, t] = TARGET[:, t] % 10 + 1  # another word, in the place of padding too
        after = model(SOURCE, target)
        assert_equal(after[:, :t], before[:, :t])
        assert ((after[:, t] - before[:, t]).abs().amax(-1) > 1e-6).all()


@all_kinds
@given(seed=st.integers(0, 1000), columns=st.integers(1, 4))
@settings(max_examples=5)
def test_padding_changes_nothing(kind, seed, columns):
    model = small_model(seed, **kind)
    logits, T = model(SOURCE, TARGET), TARGET.shape[1]
    pad = torch.full((3, columns), PAD)
    wide_source, wide_target = torch.cat([SOURCE, pad], 1), torch.cat([TARGET, pad], 1)
    assert_equal(model(wide_source, TARGET), logits)
    assert_equal(model(SOURCE, wide_target)[:, :T], logits)
    for n in range(3):  # alone, without any padding
        source, target = SOURCE[n][SOURCE[n] != PAD], TARGET[n][TARGET[n] != PAD]
        alone = model(source[None], target[None])
        assert_equal(alone[0], logits[n, : len(target)])


@all_kinds
def test_words_and_their_order_matter_but_not_the_order_of_the_sentences(kind):
    model, order = small_model(**kind), [2, 0, 1]
    logits = model(SOURCE, TARGET)
    another, swapped, target = SOURCE.clone(), SOURCE.clone(), TARGET.clone()
    another[:, 0] = 10
    assert ((model(another, TARGET) - logits).abs().amax(-1) > 1e-6).all()  # at every position
    swapped[:, [0, 1]], target[:, [1, 2]] = SOURCE[:, [1, 0]], TARGET[:, [2, 1]]
    assert (model(swapped, TARGET) - logits).abs().amax() > 1e-6
    # The last position has seen the same words, in another order.
    assert (model(SOURCE, target)[0, -1] - logits[0, -1]).abs().amax() > 1e-6
    assert_equal(model(SOURCE[order], TARGET[order]), logits[order])


@all_kinds
def test_a_source_of_padding_alone_gives_finite_numbers_and_gradients(kind):
    model = small_model(**kind)
    source = SOURCE.clone()
    source[1] = PAD
    with torch.autograd.set_detect_anomaly(True):
        logits = model(source, TARGET)
        logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters())
    assert_equal(logits[[0, 2]], model(SOURCE, TARGET)[[0, 2]])


@all_kinds
def test_a_batch_without_sentences(kind):
    model = small_model(**kind)
    logits = model(SOURCE[:0], TARGET[:0])
    assert logits.shape == (0, 4, 11)
    logits.sum().backward()
    assert not any(p.grad.any() for p in model.parameters())


@all_kinds
def test_the_callers_tensors_stay_as_they_were(kind):
    model = small_model(**kind)
    ids = [SOURCE.clone(), TARGET.clone()]
    model(*ids).sum().backward()
    assert ids[0].equal(SOURCE) and ids[1].equal(TARGET)
    memory, mask = model.encode(SOURCE), padding_mask(SOURCE)
    before = memory.clone(), mask.clone()
    model.decode(TARGET, memory, mask)
    assert memory.equal(before[0]) and mask.equal(before[1])


@all_kinds
def test_the_three_steps_make_the_whole(kind):
    model = small_model(**kind)
    memory = model.encode(SOURCE)
    Y = model.decode(TARGET, memory, padding_mask(SOURCE))
    assert memory.shape == (3, 5, 12) and Y.shape == (3, 4, 12)
    assert_equal(model.logits(Y), model(SOURCE, TARGET))
    assert_equal(model.embed(SOURCE)[:, 2:], model.embed(SOURCE[:, 2:], start=2))


def test_widths_of_the_heads_come_from_the_configuration():
    model = small_model(d_k=3, d_v=5, num_heads=2)
    layers = [*model.encoder.layers, *model.decoder.layers]
    attentions = [m for layer in layers for m in layer.modules() if hasattr(m, "W_Q")]
    assert len(attentions) == 2 + 2 * 2
    for a in attentions:
        assert a.W_Q.shape == a.W_K.shape == (12, 6)
        assert a.W_V.shape == (12, 10) and a.W_O.shape == (10, 12)


# ---- as a graph


@pytest.mark.parametrize("training", [True, False])
def test_the_model_compiles_into_one_graph(training):
    torch.compiler.reset()
    model = small_model(num_layers=1, dropout=0.3).train(training)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    expected, actual = (f(SOURCE, TARGET) for f in (model, compiled))
    assert actual.shape == expected.shape
    assert training or actual.equal(expected)


@all_kinds
def test_the_model_exports_with_free_sizes(kind):
    model = small_model(num_layers=1, **kind).eval()
    N, S, T = (torch.export.Dim(name, min=2, max=16) for name in "NST")
    sizes = {"source_ids": {0: N, 1: S}, "target_ids": {0: N, 1: T}}
    graph = torch.export.export(model, (SOURCE, TARGET), dynamic_shapes=sizes).module()
    for ids in ((SOURCE, TARGET), (TARGET.repeat(2, 1), SOURCE.repeat(2, 1))):
        assert_equal(graph(*ids), model(*ids))


# ---- bad input


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ([[4, 11]], [[2]], "between 0 and 10.*found 4 to 11"),
        ([[4]], [[2, 11]], "between 0 and 10.*found 2 to 11"),
        ([[4, -1]], [[2]], "between 0 and 10.*found -1 to 4"),
        ([[4] * 17], [[2]], "17 tokens.*positions for 16.*max_len"),
        ([[4]], [[2] * 17], "17 tokens.*positions for 16.*max_len"),
        ([[]], [[2]], "sentence is empty"),
        (torch.zeros(0, 0).long(), [[2]], "sentence is empty"),
        (torch.zeros(0, 3).long(), [[2]], "source has 0 sentences and the target 1"),
        ([[4]], torch.zeros(1, 0).long(), "empty"),
        ([[4.0]], [[2]], "whole numbers.*float32"),
        ([[4]], [[2.0]], "whole numbers.*float32"),
        ([4, 5], [[2]], r"shape \(N, T\).*\(2,\)"),
        ([[4, 5]], [2, 6], r"shape \(N, T\).*\(2,\)"),
        ([[4], [5]], [[2]], "source has 2 sentences and the target 1"),
    ],
)
def test_bad_ids_are_named(source, target, words):
    source, target = torch.as_tensor(source), torch.as_tensor(target)
    if source.numel() == 0:
        source = source.long()
    with pytest.raises(ValueError, match=words):
        small_model()(source, target)


class OfAnotherDevice(torch.Tensor):
    """Ids on the CPU that say they lie elsewhere: a stand-in for those of a GPU."""

    @property
    def device(self):
        return self.elsewhere


@pytest.mark.parametrize(("elsewhere", "looks"), [("mps", True), ("xpu", True), ("cuda", False)])
def test_ids_are_looked_at_wherever_the_embedding_does_not_check_itself(elsewhere, looks):
    ids = torch.tensor([[4, 11]]).as_subclass(OfAnotherDevice)
    ids.elsewhere = torch.device(elsewhere)
    if looks:
        with pytest.raises(ValueError, match="between 0 and 10.*found 4 to 11"):
            check_ids(ids, 11)
        ids[0, 1] = 10
    check_ids(ids, 11)


def test_ids_without_numbers_pass_for_their_shape():
    check_ids(torch.ones(2, 3, dtype=torch.int64, device="meta"), 11)
    with pytest.raises(ValueError, match=r"shape \(N, T\).*\(3,\)"):
        check_ids(torch.ones(3, dtype=torch.int64, device="meta"), 11)


def test_lists_instead_of_tensors_are_named():
    with pytest.raises(TypeError, match="ids must be a tensor.*not list"):
        small_model()([[4, 5]], [[2]])


def test_a_memory_mask_of_another_batch_is_named():
    model = small_model()
    with pytest.raises(ValueError, match="does not broadcast"):
        model.decode(TARGET, model.encode(SOURCE), padding_mask(SOURCE[:2]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(num_heads=5), "d_model=12.*num_heads=5.*divides"),
        (dict(num_heads=0), "num_heads must be a whole number of at least 1, not 0"),
        (dict(d_model=12.0), "d_model must be a whole number.*12.0"),
        (dict(num_layers=True), "num_layers must be a whole number.*True"),
        (dict(d_k=0, d_v=4), "d_k must be None or a whole number above 0, not 0"),
        (dict(num_heads=5, d_k=3), "both d_k and d_v"),
        (dict(dropout=1.0), "dropout must be a number of at least 0 and below 1, not 1.0"),
        (dict(dropout="0.1"), "dropout must be a number.* not '0.1'"),
        (dict(dropout=None), "dropout must be a number.* not None"),
        (dict(dropout=False), "dropout must be a number.* not False"),
        (dict(norm_first="False"), "norm_first must be True or False, not 'False'"),
        (dict(norm_first=0), "norm_first must be True or False, not 0"),
        (dict(norm_first=None), "norm_first must be True or False, not None"),
        (dict(positions="rotary"), '"sinusoidal" or "learned", not \'rotary\''),
    ],
)
def test_bad_configurations_are_named(changes, words):
    with pytest.raises(ValueError, match=words):
        small_model(**changes)
