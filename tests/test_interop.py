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
    random_tensors,
    randomize,
    sizes,
    small_model,
)
from torch import nn

from tutor import (
    AttentionSubLayer,
    Encoder,
    MultiHeadAttention,
    TransformerConfig,
    causal_mask,
    load_pretrained,
    padding_mask,
)
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


# ---- equal results; those of to_pytorch: test_attention.py, test_layers.py


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


def test_training_moves_both_the_same_way_dropout_included():
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


# ---- what chapter 14 says of PyTorch's own surprises

SITUATIONS = [  # training, gradients, frozen, whether it takes the fused path
    (True, True, False, False), (True, False, False, False), (False, True, False, False),
    (False, True, True, True), (False, False, False, True),
]  # fmt: skip


@pytest.mark.parametrize(("training", "gradients", "frozen", "fused"), SITUATIONS)
def test_a_hint_counts_only_without_weights_and_padding(training, gradients, frozen, fused):
    attention = randomize(nn.MultiheadAttention(8, 2, batch_first=True)).float()
    attention.train(training).requires_grad_(not frozen)
    X, nothing = torch.randn(2, 5, 8), torch.zeros(5, 5, dtype=torch.bool)
    padding = torch.arange(5) >= torch.tensor([[5], [3]])
    for weights in (False, True):
        for hidden in (None, padding):
            asked = dict(need_weights=weights, key_padding_mask=hidden, attn_mask=nothing)
            with torch.set_grad_enabled(gradients):
                plain = attention(X, X, X, **asked)[0]
                hinted = attention(X, X, X, is_causal=True, **asked)[0]
            obeyed = torch.allclose(plain, hinted, atol=1e-5)
            assert obeyed == (fused or weights or hidden is not None)


@pytest.mark.parametrize(("training", "gradients", "frozen", "fused"), SITUATIONS)
def test_the_projection_out_of_attention_is_never_called(training, gradients, frozen, fused):
    calls = []

    class Counted(nn.Linear):
        def forward(self, X):
            calls.append(self.out_features)
            return super().forward(X)

    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    layer.self_attn.out_proj, layer.linear1 = Counted(8, 8), Counted(8, 12)
    layer.train(training).requires_grad_(not frozen)
    with torch.set_grad_enabled(gradients):
        layer(torch.randn(2, 5, 8))
    assert calls == ([] if fused else [12])
    fired = []
    layer.self_attn.out_proj.register_forward_hook(lambda *_: fired.append(1))
    with torch.set_grad_enabled(gradients):
        layer(torch.randn(2, 5, 8))
    assert calls[-1:] == [12] and not fired  # a hook turns the fused path off, and never fires


@pytest.mark.parametrize(("training", "gradients"), [case[:2] for case in SITUATIONS])
def test_a_decoder_layer_has_no_fast_path_and_its_attentions_skip_their_projections(
    training, gradients
):
    calls = []

    class Counted(nn.Linear):
        def forward(self, X):
            calls.append(self.out_features)
            return super().forward(X)

    layer = nn.TransformerDecoderLayer(8, 2, 12, batch_first=True).train(training)
    layer.self_attn.out_proj, layer.multihead_attn.out_proj = Counted(8, 8), Counted(8, 8)
    layer.linear1 = Counted(8, 12)
    with torch.set_grad_enabled(gradients):
        layer(torch.randn(2, 3, 8), torch.randn(2, 5, 8))
    assert calls == [12]


def test_fresh_queries_keys_and_values_are_smaller_than_ours_by_the_root_of_two():
    theirs = nn.MultiheadAttention(256, 4).in_proj_weight.std()
    ours = MultiHeadAttention(256, 4).W_Q.std()
    assert (ours / theirs - 2**0.5).abs() < 0.05


def test_an_activation_set_later_is_obeyed_with_gradients_alone():
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).eval()
    layer.activation = torch.tanh
    X = torch.randn(2, 5, 8)
    with torch.no_grad():
        fused = layer(X)
    assert not torch.allclose(fused, layer(X), atol=1e-3)


@pytest.mark.parametrize(("training", "gradients", "frozen", "fused"), SITUATIONS)
def test_where_all_keys_are_hidden_pytorch_yields_nan_or_the_bias_alone(
    training, gradients, frozen, fused
):
    attention = randomize(nn.MultiheadAttention(8, 2, batch_first=True)).float()
    attention.train(training).requires_grad_(not frozen)
    X, hidden = torch.randn(2, 5, 8), torch.tensor([[False], [True]]).expand(2, 5)
    for weights in (False, True):
        with torch.set_grad_enabled(gradients):
            Y = attention(X, X, X, key_padding_mask=hidden, need_weights=weights)[0][1]
        if fused or weights:
            assert Y.isnan().all()
        else:
            assert torch.equal(Y, attention.out_proj.bias.expand(5, 8))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@torch.no_grad()
def test_the_fast_path_of_a_whole_encoder_writes_zeros_in_padding_until_it_is_switched_off():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), 2)
    X, padding = torch.randn(2, 5, 8), torch.arange(5) >= torch.tensor([[5], [3]])

    def written_in_padding():
        return encoder.eval()(X, src_key_padding_mask=padding)[padding].any(-1)

    assert not written_in_padding().any()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        assert written_in_padding().all()
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


# ---- what cannot be converted


def encoder_layer(norm1=None, ones=None, **options):
    """One of PyTorch's, with another first norm, or with ones in a parameter of its attention."""
    layer = nn.TransformerEncoderLayer(**SIZES, **options)
    layer.norm1 = norm1 or layer.norm1
    if ones:
        nn.init.ones_(layer.self_attn.get_parameter(ones))
    return layer


def attention(**options):
    return nn.MultiheadAttention(12, 2, **options)


def around(config=(), **options):
    inside = nn.Transformer(12, 2, 2, 2, 7, **dict(batch_first=True, norm_first=True) | options)
    defaults = dict(vocab_size=11, d_model=12, num_heads=2, d_ff=7, num_layers=2, norm_first=True)
    return PyTorchTransformer(TransformerConfig(**defaults | dict(config)), inside)


WITHOUT_SCALE = nn.LayerNorm(12, elementwise_affine=False)


@pytest.mark.parametrize(
    ("ours", "kind", "words"),
    [
        (MultiHeadAttention(12, 2, d_k=3), ValueError, "6 columns with d_k=3"),
        (MultiHeadAttention(12, 2, d_v=3), ValueError, "and 6 with d_v=3"),
        (small_model(d_k=5), ValueError, "d_model=12.*15 columns with d_k=5"),
        (AttentionSubLayer(12, 2), TypeError, "no module.*AttentionSubLayer"),
        (nn.Transformer(12, 2, 1, 1, 7, batch_first=True), TypeError, "for a Transformer"),
    ],
)
def test_what_pytorch_has_no_place_for_is_named(ours, kind, words):
    with pytest.raises(kind, match=words):
        to_pytorch(ours)


@pytest.mark.parametrize(
    ("theirs", "kind", "words"),
    [
        (nn.Transformer(12, 2, 1, 1, 7, batch_first=True), TypeError, "PyTorchTransformer"),
        (Encoder(1, 12, 2, 7), TypeError, "no module for a Encoder"),
        (encoder_layer(ones="in_proj_bias"), ValueError, "biases that are not zero"),
        (encoder_layer(ones="out_proj.bias"), ValueError, "biases that are not zero"),
        (attention(kdim=5), ValueError, "kdim, vdim"),
        (attention(add_bias_kv=True), ValueError, "add_bias_kv"),
        (attention(add_zero_attn=True), ValueError, "add_zero_attn"),
        (encoder_layer(activation="gelu"), ValueError, "has a ReLU, but.*gelu"),
        (encoder_layer(layer_norm_eps=1e-6), ValueError, "eps=1e-05, not.*eps=1e-06"),
        (encoder_layer(norm1=WITHOUT_SCALE), ValueError, "elementwise_affine=False"),
        (encoder_layer(norm1=nn.RMSNorm(12)), TypeError, "no module for a RMSNorm"),
    ],
)
def test_what_cannot_be_converted_is_named(theirs, kind, words):
    with pytest.raises(kind, match=words):
        from_pytorch(theirs)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"num_heads": 3}, r"\(12, 3, .*\(12, 2, "),
        ({"d_ff": 8}, r"\(12, 2, 8.*\(12, 2, 7"),
        ({"num_layers": 3}, "3 layers.* has 2 with"),
        ({"dropout": 0.2}, r"0.2, True.*0.1, True"),
        ({"norm_first": False}, "False.*True"),
    ],
)
def test_stacks_that_are_not_as_the_configuration_says_are_named(config, words):
    with pytest.raises(ValueError, match=words):
        from_pytorch(around(config))


def test_a_transformer_that_is_not_batch_first_is_refused():
    with pytest.raises(ValueError, match="batch_first=True"):
        around(batch_first=False)


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
