"""To PyTorch's modules and back: equal results, exact copies, refusals that say why."""

import copy

import pytest
import torch
from hypothesis import given, settings
from pytorch_twins import (
    PAD,
    assert_equal,
    assert_same,
    random_ids,
    random_mask,
    random_tensors,
    randomize,
    sizes,
    small_model,
)
from torch import nn

from tutor import (
    AttentionSubLayer,
    Decoder,
    Encoder,
    MultiHeadAttention,
    TransformerConfig,
    causal_mask,
    load_pretrained,
    padding_mask,
)
from tutor.encoder import Dropout
from tutor.exchange.pytorch import PyTorchTransformer, encoder_sides, from_pytorch, to_pytorch
from tutor.proof import agree
from tutor.text.batches import pad
from tutor.text.tokenizer import BOS, EOS

few = settings(max_examples=12)
both_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

SOURCE = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 6, 9, 8], [2, 5, 7, 10], [2, 4, 0, 0]])
SIZES = dict(d_model=12, nhead=2, dim_feedforward=7)


def random_pytorch(module, seed=0):
    """The module with random numbers everywhere but in the biases of its attentions."""
    randomize(module, seed)
    for m in module.modules():
        if isinstance(m, nn.MultiheadAttention) and m.in_proj_bias is not None:
            for bias in (m.in_proj_bias, m.out_proj.bias):
                nn.init.zeros_(bias).requires_grad_(False)
    return module


def assert_same_states(a, b):
    a, b = a.state_dict(), b.state_dict()
    assert a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# ---- equal results; attention, layers and the whole model: test_attention.py, test_layers.py


@both_orders
@given(sizes())
@few
def test_stacks_equal_pytorchs(norm_first, size):
    N, T, S, h, d_model, seed = size
    source, target = random_ids(seed, N, S, 9), random_ids(seed + 1, N, T, 9)
    X, memory = random_tensors(seed, (N, T, d_model), (N, S, d_model))
    encoder = randomize(Encoder(2, d_model, h, 7, dropout=0, norm_first=norm_first), seed)
    decoder = randomize(Decoder(2, d_model, h, 7, dropout=0, norm_first=norm_first), seed)
    theirs, mask = to_pytorch(encoder), random_mask(seed, S, S).fill_diagonal_(False)
    mask[:, 0] = False  # the first key is never padding, so no row is empty
    assert_same(
        lambda X: encoder(X, mask | padding_mask(source)),
        lambda X: theirs(X, mask, source == PAD),
        [memory],
        (encoder, theirs),
    )
    theirs = to_pytorch(decoder)
    assert_same(
        lambda X, M: decoder(X, M, causal_mask(T) | padding_mask(target), padding_mask(source)),
        lambda X, M: theirs(
            X, M, causal_mask(T), None, target == PAD, memory_key_padding_mask=source == PAD
        ),
        [X, memory],
        (decoder, theirs),
    )


@both_orders
@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("batch_first", [True, False], ids=["batch first", "sequence first"])
@given(sizes())
@settings(max_examples=5)
def test_from_pytorch_equals_what_it_was_made_from(norm_first, bias, batch_first, size):
    N, T, S, h, d_model, seed = size
    theirs = nn.Transformer(
        d_model, h, 2, 2, 7, 0.0, norm_first=norm_first, bias=bias, batch_first=batch_first
    )
    theirs = random_pytorch(theirs, seed)
    encoder, decoder = from_pytorch(theirs.encoder), from_pytorch(theirs.decoder)
    source = random_ids(seed, N, S, 9)

    def their_order(X):
        return X if batch_first else X.transpose(0, 1)

    assert_same(
        lambda M, X: decoder(
            X, encoder(M, padding_mask(source)), causal_mask(T), padding_mask(source)
        ),
        lambda M, X: their_order(
            theirs(
                their_order(M), their_order(X), tgt_mask=causal_mask(T),
                src_key_padding_mask=source == PAD, memory_key_padding_mask=source == PAD,
            )
        ),
        random_tensors(seed, (N, S, d_model), (N, T, d_model)),
    )  # fmt: skip


@both_orders
def test_the_steps_of_a_converted_model_and_pytorchs_fast_path(norm_first):
    ours = small_model(norm_first=norm_first, num_heads=2).eval()  # odd heads have no fast path
    theirs = to_pytorch(ours)
    with torch.no_grad():
        memory, mask = theirs.encode(SOURCE), padding_mask(SOURCE)
        assert_equal(memory, ours.encode(SOURCE))
        Y = theirs.decode(TARGET, memory, mask)
        assert_equal(Y, ours.decode(TARGET, memory, mask))
        assert_equal(theirs.logits(Y), ours(SOURCE, TARGET))


def test_training_moves_both_the_same_way_dropout_included(monkeypatch):
    monkeypatch.setattr(Dropout, "forward", nn.Dropout.forward)  # both draw in the same way
    ours = small_model(dropout=0.3, positions="learned")
    theirs = to_pytorch(ours)
    for _ in range(3):
        for model in (ours, theirs):
            torch.manual_seed(0)  # drops the same places, as long as both drop equally often
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
            model(SOURCE[1:2], TARGET[:1]).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    back = from_pytorch(theirs)  # its biases have stayed zeros
    assert back.config == ours.config
    start = small_model(positions="learned")
    for p, q, r in zip(*(m.parameters() for m in (back, ours, start)), strict=True):
        assert_equal(p.data, q.data)
        assert not p.equal(r)


# ---- copies


@both_orders
def test_there_and_back_changes_no_bit_and_shares_nothing(norm_first):
    ours = small_model(norm_first=norm_first, positions="learned").float().eval()
    before = copy.deepcopy(ours)
    theirs = to_pytorch(ours)
    back = from_pytorch(theirs)
    assert not theirs.training and not back.training and back.embed(SOURCE).dtype == torch.float32
    assert_same_states(back, ours)
    assert_same_states(to_pytorch(back), theirs)
    for p in theirs.parameters():
        p.data.fill_(7.0)
    assert_same_states(back, before)
    assert_same_states(ours, before)


def test_biases_that_theirs_lacks_become_zeros():
    layer = from_pytorch(nn.TransformerDecoderLayer(**SIZES, bias=False))
    biases = [p for name, p in layer.named_parameters() if name.endswith("bias")]
    assert len(biases) == 5 and not any(p.any() for p in biases)


@both_orders
def test_a_final_norm_stays_in_a_stack_and_has_no_place_in_a_post_norm_model(norm_first):
    layer = nn.TransformerEncoderLayer(**SIZES, norm_first=norm_first)
    final = randomize(nn.LayerNorm(12)).float()
    assert_same_states(from_pytorch(nn.TransformerEncoder(layer, 2, final)).norm, final)
    assert isinstance(from_pytorch(nn.TransformerEncoder(layer, 2)).norm, nn.Identity)
    inside = nn.Transformer(12, 2, 2, 2, 7, batch_first=True, norm_first=norm_first)
    config = TransformerConfig(11, 12, 2, 7, 2, norm_first=norm_first)
    if norm_first:
        inside.decoder.norm = None
    with pytest.raises(ValueError, match="post-norm stacks with none"):
        from_pytorch(PyTorchTransformer(config, inside))


# ---- the model that ships


def test_the_shipped_model_translates_the_same_inside_nn_transformer():
    translator = load_pretrained()
    ours = translator.model
    theirs = to_pytorch(ours)
    assert type(theirs.inside) is nn.Transformer and not hasattr(theirs, "decoder")
    texts = [
        "A man is riding a horse.",
        "Two dogs are running on the beach.",
        "A little girl in a red dress sings.",
        "An old woman reads a newspaper in the park while three boys play football.",
    ]
    source = pad([ids + [EOS] for ids in translator.tokenizer.encode(texts)])  # (N, S)
    written = source.new_full((len(texts), 1), BOS)  # (N, T)
    with torch.no_grad():
        memory = theirs.encode(source)
        while not (written == EOS).any(dim=1).all():
            assert written.shape[1] < 40
            E = theirs.logits(theirs.decode(written, memory, padding_mask(source))[:, -1])
            E[:, :EOS] = -torch.inf  # padding, unknown and the beginning are never written
            written = torch.cat([written, E.argmax(dim=-1, keepdim=True)], dim=1)
        ended = [row[1 : row.index(EOS)] for row in written.tolist()]
        assert list(map(translator.tokenizer.decode, ended)) == translator.translate(texts)
        target = pad([[BOS] + ids for ids in ended])
        difference = ours.double()(source, target) - theirs.double()(source, target)
    assert difference.abs().max() < 1e-12


# ---- what cannot be converted


def changed(module, **changes):
    for name, value in changes.items():
        module.set_submodule(name, value) if "." in name else setattr(module, name, value)
    return module


def with_bias(of):
    layer = nn.TransformerEncoderLayer(**SIZES)
    nn.init.ones_(of(layer.self_attn))
    return layer


def around(config=(), **options):
    inside = nn.Transformer(12, 2, 2, 2, 7, **dict(batch_first=True, norm_first=True) | options)
    defaults = dict(vocab_size=11, d_model=12, num_heads=2, d_ff=7, num_layers=2, norm_first=True)
    return PyTorchTransformer(TransformerConfig(**defaults | dict(config)), inside)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: to_pytorch(MultiHeadAttention(12, 2, d_k=3)), ValueError, "6 columns with d_k=3"),
        (lambda: to_pytorch(MultiHeadAttention(12, 2, d_v=3)), ValueError, "and 6 with d_v=3"),
        (lambda: to_pytorch(small_model(d_k=5)), ValueError, "d_model=12.*15 columns with d_k=5"),
        (lambda: to_pytorch(AttentionSubLayer(12, 2)), TypeError, "no module.*AttentionSubLayer"),
        (lambda: to_pytorch(nn.Transformer(12, 2, 1, 1, 7)), TypeError, "for a Transformer"),
        (lambda: from_pytorch(nn.Transformer(12, 2, 1, 1, 7)), TypeError, "PyTorchTransformer"),
        (lambda: from_pytorch(Encoder(1, 12, 2, 7)), TypeError, "no module for a Encoder"),
        (
            lambda: from_pytorch(with_bias(lambda attention: attention.in_proj_bias)),
            ValueError,
            "biases that are not zero",
        ),
        (
            lambda: from_pytorch(with_bias(lambda attention: attention.out_proj.bias)),
            ValueError,
            "biases that are not zero",
        ),
        (lambda: from_pytorch(nn.MultiheadAttention(12, 2, kdim=5)), ValueError, "kdim, vdim"),
        (
            lambda: from_pytorch(nn.MultiheadAttention(12, 2, add_bias_kv=True)),
            ValueError,
            "add_bias_kv",
        ),
        (
            lambda: from_pytorch(nn.MultiheadAttention(12, 2, add_zero_attn=True)),
            ValueError,
            "add_zero_attn",
        ),
        (
            lambda: from_pytorch(nn.TransformerEncoderLayer(**SIZES, activation="gelu")),
            ValueError,
            "has a ReLU, but.*gelu",
        ),
        (
            lambda: from_pytorch(nn.TransformerDecoderLayer(**SIZES, layer_norm_eps=1e-6)),
            ValueError,
            "eps=1e-05, not.*eps=1e-06",
        ),
        (
            lambda: from_pytorch(
                changed(
                    nn.TransformerEncoderLayer(**SIZES),
                    norm1=nn.LayerNorm(12, elementwise_affine=False),
                )
            ),
            ValueError,
            "elementwise_affine=False",
        ),
        (
            lambda: from_pytorch(
                changed(nn.TransformerEncoderLayer(**SIZES), norm1=nn.RMSNorm(12))
            ),
            TypeError,
            "no module for a RMSNorm",
        ),
        (lambda: around(batch_first=False), ValueError, "batch_first=True"),
        (lambda: from_pytorch(around({"num_heads": 3})), ValueError, r"\(12, 3, .*\(12, 2, "),
        (lambda: from_pytorch(around({"d_ff": 8})), ValueError, r"\(12, 2, 8.*\(12, 2, 7"),
        (lambda: from_pytorch(around({"num_layers": 3})), ValueError, "3 layers.* has 2 with"),
        (lambda: from_pytorch(around({"dropout": 0.2})), ValueError, r"0.2, True.*0.1, True"),
        (lambda: from_pytorch(around({"norm_first": False})), ValueError, "False.*True"),
    ],
)
def test_what_cannot_be_converted_is_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@both_orders
def test_the_sides_of_a_proof_compute_on_the_same_tensors(norm_first, capsys):
    ours = Encoder(2, 8, 2, 12, dropout=0.0, norm_first=norm_first)
    ours_run, theirs_run = encoder_sides(ours, padding_mask(SOURCE))
    parameters = [torch.randn_like(p) for p in ours.parameters()]
    X = torch.randn(3, 5, 8)
    agree(ours_run, theirs_run, X, *parameters)
    assert f"the gradients of {len(parameters) + 1} inputs" in capsys.readouterr().out
    changed = [p + 0.1 * (p is parameters[-1]) for p in parameters]
    with pytest.raises(AssertionError):
        agree(lambda *given: theirs_run(X.double(), *(p.double() for p in changed)), ours_run,
              X, *parameters)  # fmt: skip
