"""Recorded attention is that of the very forward pass, and nothing stays behind."""

import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest
import torch
from pytorch_twins import all_ways_to_compile, assert_equal, compiled, small_model

from tutor import MultiHeadAttention, record_attention

SOURCE = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
TARGET = torch.tensor([[2, 6, 9], [2, 5, 0]])


def hooks(model):
    return sum(len(module._forward_hooks) for module in model.modules())


@pytest.mark.parametrize("norm_first", [False, True])
def test_matrices_are_those_of_this_forward_pass(norm_first):
    # Dropout is on, so a second pass would compute others.
    model = small_model(dropout=0.4, norm_first=norm_first, d_k=4, d_v=5)
    seen = []  # what went into each attention, in the order of the pass
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.register_forward_pre_hook(lambda module, args: seen.append((module, *args)))
    with record_attention(model) as attention:
        model(SOURCE, TARGET)
    assert list(attention) == ["encoder", "decoder", "cross"]
    recorded = attention["encoder"] + [
        A for pair in zip(attention["decoder"], attention["cross"], strict=True) for A in pair
    ]
    assert len(recorded) == len(seen) == 2 + 2 * 2
    for A, (module, X_Q, X_KV, mask) in zip(recorded, seen, strict=True):
        assert not A.requires_grad and A.shape == (2, 3, X_Q.shape[1], X_KV.shape[1])
        for head in range(3):
            columns = slice(4 * head, 4 * head + 4)
            Q, K = X_Q @ module.W_Q[:, columns], X_KV @ module.W_K[:, columns]
            E = torch.einsum("ntd,nsd->nts", Q, K) / math.sqrt(4)
            weights = E.exp() * ~mask[:, 0]
            assert_equal(A[:, head], (weights / weights.sum(-1, keepdim=True)).detach())


def test_recording_changes_nothing_and_leaves_nothing_behind():
    model = small_model()
    plain = model(SOURCE, TARGET)
    with record_attention(model):
        assert hooks(model) == 6
        assert model(SOURCE, TARGET).equal(plain)
    assert hooks(model) == 0
    with pytest.raises(ZeroDivisionError), record_attention(model) as attention:
        model(SOURCE, TARGET)
        raise ZeroDivisionError
    assert hooks(model) == 0
    assert attention["cross"][1].shape == (2, 3, 3, 5)  # what was seen before is still there


def test_a_second_pass_replaces_the_first_and_one_outside_does_not():
    model = small_model()
    with record_attention(model) as attention:
        model(SOURCE, TARGET)
        first = attention["encoder"][0]
        model(SOURCE[:1], TARGET[:1])
    assert [len(kind) for kind in attention.values()] == [2, 2, 2]
    assert_equal(attention["encoder"][0], first[:1])
    model(SOURCE, TARGET)
    assert attention["encoder"][0].shape == (1, 3, 5, 5)


def test_one_layer_alone_can_be_recorded():
    layer = small_model().encoder.layers[1]
    with record_attention(layer) as attention:
        layer(torch.ones(1, 4, 12, dtype=torch.float64))
    assert_equal(attention["encoder"][0], torch.full((1, 3, 4, 4), 0.25, dtype=torch.float64))


def test_threads_that_share_a_model_record_their_own_passes():
    model, sources = small_model(), [SOURCE[:1], SOURCE[:1].flip(1)]
    start = Barrier(2, timeout=60)

    def record(source, alone=False):
        with record_attention(model) as attention:
            for _ in range(3):
                model(source, TARGET[:1])
            if alone:
                return attention
            other = Thread(target=model, args=(SOURCE[1:], TARGET[:1]))  # it does not record
            other.start()
            other.join()
        return attention

    def together(source):
        start.wait()
        return record(source)

    expected = [record(source, alone=True) for source in sources]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            for one, other in zip(expected, pool.map(together, sources), strict=True):
                for kind in one:
                    for A, B in zip(one[kind], other[kind], strict=True):
                        assert_equal(A, B)
    assert hooks(model) == 0


@all_ways_to_compile
def test_a_compiled_model_is_recorded_as_well(way):
    with record_attention(model := small_model(num_layers=1)) as expected:
        model(SOURCE, TARGET)
    run, model = compiled(model, way, SOURCE, TARGET)
    with record_attention(model) as attention:
        run(SOURCE, TARGET)
    for kind in expected:
        for A, B in zip(attention[kind], expected[kind], strict=True):
            assert_equal(A, B)
    torch.compiler.set_stance("fail_on_recompile")  # afterwards compiled code runs again
    try:
        run(SOURCE, TARGET)
    finally:
        torch.compiler.set_stance("default")


def test_recording_does_not_load_the_compiler_which_takes_a_second():
    code = """if True:
        import sys, torch, tutor
        from tutor.evaluation.ablation import without_heads
        model = tutor.Transformer(tutor.TransformerConfig(9, 4, 1, 4, 1))
        ids = torch.ones(1, 1, dtype=int)
        with tutor.record_attention(model), without_heads(model, [("cross", 0, 0)]):
            model(ids, ids)
        print("torch._dynamo" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
