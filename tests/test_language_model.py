"""The language model: packing, cache and padding, each against every text alone."""

import math
from collections import Counter, defaultdict

import pytest
import torch
from damage import edit_config, exchange
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import random_ids
from torch.nn import functional as F

from course.making import translation
from tutor import EncoderLayer, causal_mask, record_attention
from tutor.attention import PAD
from tutor.evaluation import without_heads
from tutor.language_model import Cache, LanguageModel, LanguageModelConfig, places_of, write_on
from tutor.models import language
from tutor.models.language import in_context
from tutor.proof import equal
from tutor.text.batches import make_batch
from tutor.text.packing import fill_rows, pack
from tutor.text.tokenizer import BOS, EOS, Tokenizer
from tutor.text.truth import generate_english, log_probability, written_words
from tutor.training import language_loss
from tutor.training.checkpoint import load_language_model, save_language_model

SEEDS = st.integers(0, 10_000)
DOCUMENTS = st.lists(st.lists(st.integers(4, 11), max_size=6), min_size=1, max_size=7)


def small_model(seed=0, **changes):
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "num_heads": 2, "d_ff": 12, "max_len": 16, "dropout": 0.0, **changes}
    return LanguageModel(LanguageModelConfig(12, **sizes)).double()


@pytest.mark.parametrize("tied", [True, False])
def test_the_loss_is_that_of_its_logits(tied):
    model, batch = small_model(tied=tied), make_batch([([], [5, 6, 7]), ([], [8])])
    wanted = F.cross_entropy(
        model(batch.target_in).flatten(0, 1), batch.target_out.flatten(), ignore_index=PAD
    )
    assert equal(language_loss(model, batch), wanted)


@settings(max_examples=10)
@given(seed=SEEDS, norm_first=st.booleans(), positions=st.sampled_from(["learned", "sinusoidal"]))
def test_it_is_an_encoder_that_sees_no_future(seed, norm_first, positions):
    model = small_model(seed, norm_first=norm_first, positions=positions)
    layers = [EncoderLayer(8, 2, 12, 0.0, norm_first).double() for _ in model.layers]
    for ours, theirs in zip(model.layers, layers, strict=True):
        theirs.load_state_dict(ours.state_dict())
    ids = torch.randint(1, 12, (2, 5))
    X = model.embedding(ids) * 8**0.5 + model.positions.table[:5]
    for layer in layers:
        X = layer(X, causal_mask(5))
    assert equal(model(ids), model.norm(X) @ model.embedding.weight.T)


@settings(max_examples=15)
@given(documents=DOCUMENTS, seed=SEEDS, length=st.integers(7, 16))
def test_packed_documents_are_read_as_if_alone(documents, seed, length):
    model, batch = small_model(seed), pack(documents, length)
    packed = model(batch.ids, batch.documents)
    losses = F.cross_entropy(packed.flatten(0, 1), batch.targets.flatten(), reduction="none")
    together = (losses * (batch.targets != PAD).flatten()).sum()
    alone = sum(
        F.cross_entropy(
            model(torch.tensor([[BOS, *ids]]))[0], torch.tensor([*ids, EOS]), reduction="sum"
        )
        for ids in documents
    )
    assert equal(together, alone)
    grads = [torch.autograd.grad(loss, list(model.parameters())) for loss in (together, alone)]
    assert all(equal(a, b) for a, b in zip(*grads, strict=True))


def test_no_document_leaks_into_its_neighbours():
    model, batch = small_model(), pack([[4, 5, 6], [7, 8], [9, 10, 11]], 12)
    assert len(batch.ids) == 1 and batch.documents[0].tolist() == [1] * 4 + [2] * 3 + [3] * 4 + [0]
    seen = []
    model.layers[0].register_forward_pre_hook(lambda layer, args: seen.append(args[0]))
    changed = batch.ids.clone()
    changed[0, 5] = 11  # inside the second document
    before, after = model(batch.ids, batch.documents), model(changed, batch.documents)
    moved = (before != after).any(-1)[0]  # (T,)
    assert moved.tolist() == [False] * 5 + [True] * 2 + [False] * 5
    (gradient,) = torch.autograd.grad(before[0, 4:7].sum(), seen[0])
    reached = gradient[0].abs().sum(-1) > 0  # (T,)
    assert not reached[:4].any() and not reached[7:].any() and reached[4:7].all()
    assert (model(batch.ids) != before).any()  # without the mask they would leak


@given(sizes=st.lists(st.integers(1, 9), max_size=30))
def test_rows_hold_every_document_once_and_none_too_much(sizes):
    rows = fill_rows(sizes, 9)
    assert sorted(index for row in rows for index in row) == list(range(len(sizes)))
    assert all(sum(sizes[index] for index in row) <= 9 for row in rows)
    assert sum(2 * sum(sizes[index] for index in row) <= 9 for row in rows) <= 1  # first fit


@settings(max_examples=15)
@given(seed=SEEDS, cuts=st.lists(st.integers(1, 7), max_size=3, unique=True), left=st.booleans())
def test_reading_piece_by_piece_is_reading_at_once(seed, cuts, left):
    model, ids = small_model(seed), random_ids(seed, 3, 8, 12)
    ids = ids.flip(1) if left else ids
    cache, borders = Cache(model), [0, *sorted(cuts), 8]
    pieces = [model(ids[:, a:b], cache=cache) for a, b in zip(borders, borders[1:], strict=False)]
    real = ids != PAD
    whole = model(ids)
    assert equal(torch.cat(pieces, dim=1)[real], whole[real])
    assert cache.size() == 2 * 2 * 3 * 8 * 8 * 8  # layers, K and V, N, S, d_model, bytes
    row = ids[:1][:, real[0]]
    assert equal(model(row)[0], whole[0, real[0]])  # padding on either side changes nothing


def test_keeping_some_texts_goes_on_with_these():
    model, ids = small_model(), torch.randint(4, 12, (3, 6))
    cache, rows = Cache(model), torch.tensor([2, 0])
    model(ids[:, :4], cache=cache)
    cache.keep(rows)
    assert equal(model(ids[rows, 4:], cache=cache), model(ids[rows])[:, 4:])


def test_positions_begin_anew_with_each_document():
    batch = pack([[4, 5], [6], [7, 8, 9]], 9)
    assert places_of(batch.ids, batch.documents)[0].tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]


def test_its_attention_is_recorded_as_a_decoders():
    model = small_model()
    with record_attention(model) as attention:
        model(torch.tensor([[2, 5, 6]]))
    assert [A.shape for A in attention["decoder"]] == [(1, 2, 3, 3)] * 2
    assert not attention["encoder"] and not attention["cross"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.full((1, 17), 4), "A document has 17 tokens, but the model has positions for 16"),
        (torch.tensor([[12]]), "ids must lie between 0 and 11"),
        (torch.zeros((1, 0), dtype=torch.long), "The sentence is empty"),
    ],
)
def test_bad_ids_are_named(ids, message):
    with pytest.raises(ValueError, match=message):
        small_model()(ids)


def test_a_document_that_fits_nowhere_and_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="Document 1 has 5 tokens, more than a row's 4"):
        pack([[4], [5, 6, 7, 8]], 4)
    with pytest.raises(ValueError, match="num_layers must be a whole number"):
        LanguageModelConfig(12, num_layers=0)


SHIPPED = [
    dict(dtype=torch.float32), dict(dtype=torch.float64, positions="sinusoidal", norm_first=False),
    dict(dtype=torch.bfloat16, positions="rope", norm="rms", feed_forward="swiglu", window=2,
         unwindowed=(1,), unturned=(0,), tied=False, qk_norm="joint", norm_out=True, qkv_bias=True,
         rope_scaling={"rope_type": "linear", "factor": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize("changes", SHIPPED)
@pytest.mark.parametrize("tokenizer", [None, Tokenizer.train(["a red dog"], 267)])
def test_a_saved_model_is_loaded_and_goes_on_writing(changes, tokenizer, tmp_path):
    dtype = changes["dtype"]
    config = LanguageModelConfig(267, **{k: v for k, v in changes.items() if k != "dtype"})
    model = LanguageModel(config).to(dtype).eval()
    save_language_model(tmp_path / "model", model, tokenizer)
    again, with_it = load_language_model(tmp_path / "model")
    assert again.config == config and not again.training
    assert (with_it and with_it.encode("red")) == (tokenizer and tokenizer.encode("red"))
    ids = torch.tensor([[BOS, 5, 6, 7], [BOS, 8, PAD, PAD]])
    assert torch.equal(again(ids), model(ids)) and again(ids).dtype == dtype
    texts = [write_on(m, ids[:, :2], lambda Z: Z.max(-1, keepdim=True), 4) for m in (model, again)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "change, said",
    [
        (dict(d_ff=9), "do not belong together"),
        (dict(num_layers=10**9), "do not belong together"),
        (dict(qk_norm="wide"), "describes no model: qk_norm must be"),
        (dict(rope_scaling={"rope_type": "yarn"}), "rope_scaling is not complete"),
        (dict(colour=1), "unknown field 'colour'"),
    ],
)
def test_a_damaged_model_is_named(change, said, tmp_path):
    save_language_model(tmp_path / "model", small_model())
    edit_config(**change)(tmp_path / "model")
    with pytest.raises(ValueError, match=said):
        load_language_model(tmp_path / "model")


def test_two_tensors_exchanged_are_named(tmp_path):
    save_language_model(tmp_path / "model", small_model())
    exchange(*(f"layers.1.self_attention.attention.W_{name}" for name in "QV"))(tmp_path / "model")
    with pytest.raises(ValueError, match="its SHA-256 is another"):
        load_language_model(tmp_path / "model")


def test_a_head_can_be_switched_off():
    model, ids = small_model(), torch.randint(4, 12, (2, 5))
    with without_heads(model, [("decoder", 1, 0)]):
        without = model(ids)
    with torch.no_grad():
        model.layers[1].self_attention.attention.W_O[:4] = 0.0  # the rows of head 0
    assert equal(without, model(ids))


def test_two_heads_follow_examples():
    ids = in_context.rows(50, seed=5)
    assert (ids[:, :16:2].sort(1).values == ids[:, 16::2].sort(1).values).all()  # the same keys
    one, two = in_context.load(1), in_context.load(2)
    before, answer = in_context.measure(two, ids)
    pair = [in_context.best(before), in_context.best(answer)]
    assert [layer for _, layer, _ in pair] == [0, 1]
    others = [("decoder", n, m) for n in (0, 1) for m in range(4) if ("decoder", n, m) not in pair]
    assert in_context.accuracy(one, ids) < 0.5 < 0.98 < in_context.accuracy(two, ids)
    with without_heads(two, pair[:1]):
        assert in_context.accuracy(two, ids) < 0.5
    with without_heads(two, others):
        assert in_context.accuracy(two, ids) > 0.9


@settings(max_examples=8)
@given(pairs=st.lists(st.tuples(*[st.lists(st.integers(4, 11), max_size=5)] * 2), min_size=1,
                      max_size=4), seed=SEEDS)  # fmt: skip
def test_a_pair_is_read_as_one_text_whatever_its_neighbours(pairs, seed):
    model, batch = small_model(seed), make_batch(pairs)
    alone = [
        F.cross_entropy(
            model(torch.tensor([[*source, EOS, BOS, *target]]))[0, len(source) + 1 :],
            torch.tensor([*target, EOS]),
            reduction="none",
        )
        for source, target in pairs
    ]
    assert equal(translation.french_loss(model, batch), torch.cat(alone).mean())
    for written, (source, _) in zip(
        translation.continued(model, batch.source, longest=3), pairs, strict=True
    ):
        ids = [*source, EOS, BOS]
        for expected in [*written, EOS][:3]:
            assert model(torch.tensor([ids]))[0, -1, EOS:].argmax() + EOS == expected
            ids.append(expected)


def test_the_rivals_have_as_many_parameters_and_their_gains_are_those_of_the_runs():
    results = language.load("translation")
    few, many = sorted({run["parameters"] for run in results["runs"]})
    assert many / few < 1.03
    bleu = {(run["system"], run["seed"]): run["bleu"] for run in results["runs"]}
    for seed, (gain, low, high) in zip(
        translation.TRANSLATION_SEEDS, results["gains"], strict=True
    ):
        ours, theirs = (bleu[name, seed] for name in translation.SYSTEMS)
        assert low < gain < high and gain == pytest.approx(ours - theirs, abs=0.01)


def test_the_trainings_in_context_are_ten_of_each_size():
    runs = language.load("in_context")["runs"]
    assert [(run["layers"], run["seed"]) for run in runs] == [
        (layers, seed) for layers in in_context.LAYERS for seed in in_context.IN_CONTEXT_SEEDS
    ]
    for run in runs:
        assert (run["accuracy"] < 0.35) if run["layers"] == 1 else (run["accuracy"] > 0.95)


def test_kneser_ney_almost_stops_the_rise_and_leaves_nearly_half_of_the_gap():
    rows = [["^"] * 4 + written_words(text) for text in generate_english(40_000)]
    follows, lefts = defaultdict(Counter), defaultdict(Counter)
    for words in rows:
        for i in range(4, len(words)):
            for n in range(5):
                follows[tuple(words[i - n : i])][words[i]] += 1
    for before, counts in follows.items():  # Kneser-Ney: in how many longer contexts a word came
        if before:
            lefts[before[1:]].update(counts.keys())

    def probability(word, before, table, shorter_table):
        shorter = 1 / len(follows[()])
        if before:
            shorter = probability(word, before[1:], shorter_table, shorter_table)
        if before not in table:
            return shorter
        counts = table[before]
        given = 0.75 * len(counts) * shorter
        return (max(counts[word] - 0.75, 0) + given) / counts.total()

    test = generate_english(300, seed=1)
    entropy = -sum(map(log_probability, test)) / 300

    def nats(n, shorter_table):
        return -sum(
            math.log(probability(words[i], tuple(words[i - n + 1 : i]), follows, shorter_table))
            for words in (["^"] * 4 + written_words(text) for text in test)
            for i in range(4, len(words))
        ) / len(test)

    page = {n: nats(n, follows) for n in (2, 4, 5)}
    better = {n: nats(n, lefts) for n in (4, 5)}
    assert better[5] - better[4] < 0.25 < 0.5 < page[5] - page[4]
    assert 0.5 < page[4] - better[4] < 1
    assert 0.4 < (better[4] - entropy) / (page[2] - entropy) < 0.5
