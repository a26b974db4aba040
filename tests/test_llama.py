"""Llama and Qwen3 in our model: logits, gradients, padding and cache, both directions."""

import pytest
import torch

pytest.importorskip("transformers")

import transformers
from llamas import SIZES, Precise

from tutor.exchange.llama import config_from, from_llama, to_llama
from tutor.language_model import Cache, LanguageModel
from tutor.models import since_2017
from tutor.transformer import count_parameters

KINDS = [
    ("Llama", dict(num_key_value_heads=2, pad_token_id=0)),
    ("Llama", dict(num_key_value_heads=1, pad_token_id=0, tie_word_embeddings=True)),
    (
        "Qwen3",
        dict(num_key_value_heads=2, pad_token_id=29, head_dim=6,
             rope_parameters={"rope_type": "default", "rope_theta": 1e6}),
    ),
]  # fmt: skip
PADDED = {"right": [[4, 5, 6, 7, 8], [9, 10, 11]], "left": [[4, 5, 6, 7, 8], [12, 13]]}


def batch(side, pad, length=5):
    rows = []
    for row in PADDED[side]:
        fill = [pad] * (length - len(row))
        rows.append(row + fill if side == "right" else fill + row)
    return torch.tensor(rows)


def close(a, b):
    return (a - b).abs().max().item() < 1e-10


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]} {kind[1]['num_key_value_heads']}")
def pair(request):
    kind, changes = request.param
    theirs = Precise(kind, **changes)
    return theirs, from_llama(theirs.config, theirs.model.state_dict())


@pytest.mark.parametrize("side", PADDED)
def test_logits_and_gradients_with_padding(pair, side):
    theirs, ours = pair
    ids = batch(side, theirs.config.pad_token_id)
    keep = ids != theirs.config.pad_token_id
    found = ours(ids)[keep]
    wanted = theirs(ids, attention_mask=keep.long()).logits[keep]
    assert close(found, wanted)
    from_above = torch.randn_like(wanted)
    for Z in (found, wanted):
        (Z * from_above).sum().backward()
    gradients = {name: p.grad for name, p in theirs.model.named_parameters()}
    for p in ours.parameters():
        p.data = p.grad
    for name, grad in to_llama(ours).items():
        if name in gradients:
            assert close(grad, gradients.pop(name)), name
    assert not gradients


@torch.no_grad()
def test_with_padding_and_a_cache(pair):
    theirs, ours = pair
    ids, cache = batch("left", theirs.config.pad_token_id), Cache(ours)
    keep = (ids != theirs.config.pad_token_id).long()
    kept, whole = None, ids
    for new in (ids, torch.tensor([[4], [9]]), torch.tensor([[15], [16]])):
        if kept is not None:
            whole, keep = torch.cat([whole, new], 1), torch.cat([keep, torch.ones_like(new)], 1)
        step = theirs(new, attention_mask=keep, past_key_values=kept, use_cache=True)
        kept = step.past_key_values
        found = ours(new, cache=cache)[:, -1]
        assert close(found, step.logits[:, -1])
        assert close(found, ours(whole)[:, -1])


def test_there_and_back(pair):
    theirs, ours = pair
    state = theirs.model.state_dict()
    back = to_llama(ours)
    assert back.keys() == state.keys()
    assert all(torch.equal(back[name], state[name]) for name in state)
    fresh = theirs.again()
    for p in ours.parameters():
        torch.nn.init.normal_(p, std=0.3)
    fresh.model.load_state_dict(to_llama(ours))
    ids = batch("right", 4)  # no padding: every id is a word
    with torch.no_grad():
        assert close(fresh(ids).logits, ours(ids))


def test_their_own_float32_agrees_as_far_as_it_goes():
    """The same without our changes to their precision: only float32 is lost."""
    config = transformers.LlamaConfig(**SIZES, num_key_value_heads=2, pad_token_id=0)
    torch.manual_seed(0)
    theirs = transformers.LlamaForCausalLM(config).double().eval()
    ours, ids = from_llama(config, theirs.state_dict()), torch.arange(4, 16).reshape(2, 6)
    with torch.no_grad():
        assert (ours(ids) - theirs(ids).logits).abs().max() < 1e-6


@pytest.mark.parametrize(
    "changes, said",
    [
        (dict(hidden_act="gelu"), "hidden_act"),
        (dict(attention_bias=True, mlp_bias=True), "attention_bias, mlp_bias"),
        (dict(rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor=2.0)), "rope_type"),
    ],
)
def test_what_ours_lacks_is_named(changes, said):
    with pytest.raises(ValueError, match=said):
        config_from(transformers.LlamaConfig(**SIZES | changes))


def test_weights_that_do_not_fit_are_named():
    theirs = Precise("Llama")
    weights = theirs.model.state_dict()
    weights["model.layers.0.mlp.extra.weight"] = weights.pop("model.norm.weight")
    with pytest.raises(ValueError, match="mlp.extra.weight, model.norm.weight"):
        from_llama(theirs.config, weights)
    with pytest.raises(ValueError, match="gpt2"):
        config_from(transformers.GPT2Config())


def test_llama_7b_has_as_many_parameters_as_theirs():
    config = transformers.LlamaConfig()
    with torch.device("meta"):
        theirs = transformers.LlamaForCausalLM(config)
        ours = LanguageModel(config_from(config))
    assert count_parameters(ours) == sum(p.numel() for p in theirs.parameters()) == 6_738_415_616


OURS = {  # in published.json: in their classes
    "num_layers": "num_hidden_layers",
    "d_model": "hidden_size",
    "d_ff": "intermediate_size",
    "num_heads": "num_attention_heads",
    "num_kv_heads": "num_key_value_heads",
    "d_k": "head_dim",
    "vocab_size": "vocab_size",
    "context": "max_position_embeddings",
    "tied": "tie_word_embeddings",
}
EXPERTS = {"experts": "num_local_experts", "active": "num_experts_per_tok"}
ROUTED = {
    "experts": "n_routed_experts",
    "active": "num_experts_per_tok",
    "shared": "n_shared_experts",
    "d_expert": "moe_intermediate_size",
    "dense_layers": "first_k_dense_replace",
    "latent": "kv_lora_rank",
    "d_turned": "qk_rope_head_dim",
    "latent_Q": "q_lora_rank",
    "d_v": "v_head_dim",
    "d_k": "qk_head_dim",
}


@pytest.mark.parametrize("row", since_2017.load("published"), ids=lambda row: row["model"])
def test_the_table_of_published_models_has_the_defaults_of_their_classes(row):
    d_k = row["d_model"] // row["num_heads"]
    if row["class"] is None:  # from a paper
        assert "table" in row["source"] and row["d_k"] == d_k
        return
    theirs = getattr(transformers, row["class"])()
    usual = {
        "intermediate_size": 4 * row["d_model"], "head_dim": d_k, "num_key_value_heads":
        row["num_heads"],
    }  # fmt: skip
    more = ROUTED if "latent" in row else EXPERTS if "experts" in row else {}
    for our, name in (OURS | more).items():
        if f"{our}_from" in row:  # the class has another default
            assert row[our] != getattr(theirs, name)
            continue
        found = getattr(theirs, name, None)
        assert row[our] == (usual[name] if found is None else found), our
    if row["class"] != "SmolLM3Config":  # whose window is switched off by use_sliding_window
        assert row["window"] == getattr(theirs, "sliding_window", None)


@pytest.mark.parametrize(
    "name, billions, met", [("DeepSeek-V3", 671, 37), ("gpt-oss 120B", 117, 5.1)]
)
def test_experts_are_counted_as_in_the_reports_of_their_makers(name, billions, met):
    (row,) = (row for row in since_2017.load("published") if row["model"] == name)
    every, active = since_2017.parameters(row)
    assert every / 1e9 == pytest.approx(billions, rel=0.005)
    assert active / 1e9 == pytest.approx(met, rel=0.02)
