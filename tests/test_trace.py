"""The numbers of a trace are those of the model's own forward pass, every one of them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import HEADS, PLACES, small_model
from torch.nn import functional as F

from tutor import load_pretrained
from tutor.evaluation.ablation import all_heads, without_heads
from tutor.proof import equal
from tutor.text.tokenizer import BOS
from tutor.trace import added_parts, check_scales, scaled, sub_layers, trace

SOURCE, TARGET = [4, 5, 6, 7, 3], [BOS, 6, 9]
ATTENTION = {"before", "read", "Q", "K", "V", "E", "A", "Y", "parts", "adds", "after"}
NAMES = {"self": ATTENTION, "cross": ATTENTION, "ff": {"before", "read", "hidden", "adds", "after"}}
WIDE = {"d_k": 4, "d_v": 5, "dropout": 0.4}


def run(model, source=SOURCE, target=TARGET):
    with torch.no_grad():
        return model(torch.tensor([source]), torch.tensor([target]))[0]  # (T, vocab_size)


def caught(model, source, target):
    """What hooks on the modules catch in a forward pass of the model: name -> tensor."""
    found, hooks = {}, []

    def listen(module, name_in, name_out):
        def hook(module, args, out):
            if name_in:
                found[name_in] = args[0][0]
            found[name_out] = out[0]
            if len(args) > 1 and name_out.endswith("adds"):
                found[name_out.replace("adds", "asked")] = args[1][0]

        hooks.append(module.register_forward_hook(hook))

    for side in ("encoder", "decoder"):
        for number, layer in enumerate(getattr(model, side).layers):
            for name, attribute in layer.named_children():
                place = f"{side}.{number}.{ {'feed_forward': 'ff'}.get(name, name.split('_')[0]) }"
                listen(attribute, f"{place}.before", f"{place}.after")
                if place.endswith("ff"):
                    listen(attribute.feed_forward, f"{place}.read", f"{place}.adds")
                    listen(attribute.feed_forward[1], None, f"{place}.hidden")
                else:
                    listen(attribute.attention, f"{place}.read", f"{place}.adds")
                    listen(attribute.attention.weights, None, f"{place}.A")
        listen(getattr(model, side).norm, None, f"{side}.out")
    found["logits"] = run(model, source, target)
    for hook in hooks:
        hook.remove()
    return found


def expected(model, source, target):
    """Every number: caught by hooks, or computed from what they caught, head by head."""
    numbers = caught(model, source, target)
    W = model.embedding.weight.detach()
    for side, ids in (("source", source), ("target", target)):
        numbers[f"{side}.embedding"] = W[ids] * math.sqrt(W.shape[1])
        numbers[f"{side}.positions"] = model.positions.table[: len(ids)]
    numbers["source.stream"] = numbers["encoder.0.self.before"]
    numbers["target.stream"] = numbers["decoder.0.self.before"]
    for place, sub_layer in sub_layers(model).items():
        if place.endswith("ff"):
            continue
        attention, asked = sub_layer.attention, numbers.pop(f"{place}.asked")
        h, d_k, d_v = model.config.num_heads, attention.d_k, attention.d_v
        made = {name: [] for name in ("Q", "K", "V", "E", "Y", "parts")}
        for m in range(h):
            keys, values = slice(m * d_k, (m + 1) * d_k), slice(m * d_v, (m + 1) * d_v)
            made["Q"].append(F.linear(numbers[f"{place}.read"], attention.W_Q[:, keys].T))
            made["K"].append(F.linear(asked, attention.W_K[:, keys].T))
            made["V"].append(F.linear(asked, attention.W_V[:, values].T))
            made["E"].append(torch.einsum("td,sd->ts", made["Q"][m], made["K"][m]) / d_k**0.5)
            # PyTorch's own attention; it wants True where a key may be seen.
            causal = place.startswith("decoder") and place.endswith("self")
            Q, K, V = (made[name][m][None] for name in ("Q", "K", "V"))
            made["Y"].append(F.scaled_dot_product_attention(Q, K, V, is_causal=causal)[0])
            made["parts"].append(F.linear(made["Y"][m], attention.W_O[values].T))
        numbers |= {f"{place}.{name}": torch.stack(X).detach() for name, X in made.items()}
    return numbers


def assert_same(found, numbers):
    assert set(found) == set(numbers)
    for name, X in numbers.items():
        scale = max(1, X.abs().max().item())
        bound = (1e-11 if X.dtype == torch.float64 else 2e-5) * scale
        assert found[name].dtype == X.dtype, name
        assert found[name].shape == X.shape and (found[name] - X).abs().max() <= bound, name


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_every_number_is_that_of_the_forward_pass(norm_first, positions):
    for convert in (torch.nn.Module.double, torch.nn.Module.float):
        model = convert(small_model(norm_first=norm_first, positions=positions, **WIDE))
        numbers = expected(model.eval(), SOURCE, TARGET)
        model.train()  # a trace has no dropout, and leaves the model as it was
        found = trace(model, SOURCE, TARGET)
        assert model.training and not any(X.requires_grad for X in found.values())
        assert_same(found, numbers)
        names = {f"{p}.{name}" for p in PLACES for name in NAMES[p.rpartition(".")[2]]}
        names |= {f"{side}.{x}" for side in ("source", "target")
                  for x in ("embedding", "positions", "stream")}  # fmt: skip
        assert set(found) == names | {"encoder.out", "decoder.out", "logits"}


def test_every_number_of_the_model_that_ships():
    translator = load_pretrained()
    [source] = translator.encode(["A man is riding a white horse on the beach."])
    target = [BOS, *translator.tokenizer.encode("Un homme chevauche un cheval.")]
    assert len(source) != len(target)
    numbers = expected(translator.model.eval(), source, target)
    assert_same(trace(translator.model, source, target), numbers)


@settings(max_examples=25)
@given(
    scales=st.dictionaries(
        st.sampled_from(PLACES + HEADS), st.sampled_from([0, 0.5, 1, -1.5]), max_size=6
    ),
    norm_first=st.booleans(),
    ids=st.lists(st.integers(3, 10), min_size=1, max_size=6),
)
def test_a_factor_scales_what_is_added(scales, norm_first, ids):
    """The same as other rows of W_O, and another last linear layer of a feed-forward one."""
    model = small_model(norm_first=norm_first, **WIDE).eval()
    found = trace(model, ids, TARGET, scales)
    with scaled(model, scales):
        torch.testing.assert_close(run(model, ids), found["logits"])
    assert not any(module._forward_hooks for module in model.modules())
    with torch.no_grad():
        for place, factor in scales.items():
            of, _, head = place.partition(".head.")
            sub_layer = sub_layers(model)[of]
            if of.endswith("ff"):
                for parameter in sub_layer.feed_forward[2].parameters():
                    parameter *= factor
            else:
                rows = slice(5 * int(head), 5 * int(head) + 5) if head else slice(None)
                sub_layer.attention.W_O[rows] *= factor
    assert_same(found, expected(model, ids, TARGET))


def test_switched_off_is_without_heads():
    model = small_model(**WIDE).eval()
    places = [("encoder", 0, 1), ("decoder", 1, 0), ("cross", 1, 2)]
    scales = {"encoder.0.self.head.1": 0, "decoder.1.self.head.0": 0, "decoder.1.cross.head.2": 0.0}
    with without_heads(model, places):
        logits = run(model)
    found = trace(model, SOURCE, TARGET, scales)
    torch.testing.assert_close(found["logits"], logits)
    assert (found["decoder.1.cross.parts"][2] == 0).all()
    # What the head looked at is still there to be seen.
    assert found["decoder.1.cross.A"][2].sum(-1).allclose(torch.ones(3, dtype=torch.float64))
    assert not found["logits"].allclose(trace(model, SOURCE, TARGET)["logits"])


def test_a_factor_of_one_changes_nothing():
    model = small_model().eval()
    assert check_scales(model, dict.fromkeys(PLACES + HEADS, 1)) == {}
    with scaled(model, dict.fromkeys(PLACES + HEADS, 1.0)):
        assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("scales", "words"),
    [
        ({"decoder.0.ff.head.0": 0}, "no place 'decoder.0.ff.head.0'"),
        ({"encoder.0.cross": 0}, "no place 'encoder.0.cross'"),
        ({"encoder.0.self.head.3": 0}, "no place 'encoder.0.self.head.3'"),
        ({"encoder.0.ff": "0"}, "factor of encoder.0.ff must be a number from -100 to 100"),
        ({"encoder.0.ff": math.nan}, "not nan"),
        ({"encoder.0.ff": True}, "not True"),
        ({"encoder.0.ff": 1e30}, "not 1e"),
        ([("encoder.0.ff", 0)], "must be a dict from place to factor"),
    ],
)
def test_what_is_no_scale_is_said(scales, words):
    with pytest.raises(ValueError, match=words):
        trace(small_model(), SOURCE, TARGET, scales)


def test_bad_ids_are_said():
    with pytest.raises(ValueError, match="between 0 and 10"):
        trace(small_model(), [11], TARGET)
    with pytest.raises(ValueError, match="positions for 16"):
        trace(small_model(), SOURCE, [2] * 17)


def test_the_parts_sum_to_the_last_vector_of_the_stream():
    model = small_model(norm_first=True).eval()
    with torch.no_grad():
        parts = added_parts(model, SOURCE, TARGET)
        last = model.config.num_layers - 1
        x = trace(model, SOURCE, TARGET)[f"decoder.{last}.ff.after"][-1]  # (d_model)
    assert equal(sum(parts.values()), x)
    assert {name for name in parts if name[0] == "cross"} == {
        head for head in all_heads(model) if head[0] == "cross"
    }
