"""Loss, schedule and optimiser against PyTorch's; the loop learns, and repeats itself."""

import contextlib
import itertools
import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import (
    PAIRS,
    assert_equal,
    assert_same,
    random_tensors,
    randomize,
    small_model,
    tiny,
)
from torch.nn import functional as F
from torch.testing import assert_close

from tutor.decoding import greedy
from tutor.exchange.pytorch import to_pytorch
from tutor.text.batches import Batch, make_batch
from tutor.text.tokenizer import PAD
from tutor.training import (
    History,
    Muon,
    Recipe,
    batches_forever,
    in_bfloat16,
    inverse_square_root,
    loop,
    make_optimizers,
    orthogonalize,
    smoothed_cross_entropy,
    train,
    translation_loss,
    warmup_cosine,
)

# ---- loss


@given(
    st.integers(1, 9), st.integers(2, 7), st.integers(1, 5), st.integers(1, 10),
    st.sampled_from([0.0, 0.1, 0.5]), st.integers(0, 1000),
)  # fmt: skip
@settings(max_examples=50)
def test_loss_is_pytorchs_in_chunks(tokens, vocabulary, d_model, chunk, smoothing, seed):
    targets = torch.randint(vocabulary, (tokens,), generator=torch.Generator().manual_seed(seed))
    targets[-1] = 1  # a mean needs one real token; others may be padding
    assert_same(
        lambda Y, W: smoothed_cross_entropy(Y, W, targets, smoothing, chunk),
        lambda Y, W: F.cross_entropy(Y @ W.T, targets, label_smoothing=smoothing, ignore_index=PAD),
        random_tensors(seed, (tokens, d_model), (vocabulary, d_model)),
    )


def test_loss_by_hand():
    # Logits ln 3 and 0: the model says 3/4 and 1/4; the smoothed target says 0.95 and 0.05.
    Y, W = torch.tensor([[math.log(3)]]), torch.tensor([[0.0], [1.0]])
    loss = smoothed_cross_entropy(Y, W, torch.tensor([1]), smoothing=0.1)
    assert loss.item() == pytest.approx(-0.95 * math.log(3 / 4) - 0.05 * math.log(1 / 4))


def test_loss_of_huge_logits_is_finite():
    Y, W = torch.tensor([[1e4], [-1e4]]), torch.tensor([[1.0], [-1.0], [0.0]])
    targets = torch.tensor([1, 2])
    loss = smoothed_cross_entropy(Y, W, targets)
    torch.testing.assert_close(loss, F.cross_entropy(Y @ W.T, targets, label_smoothing=0.1))


@pytest.mark.parametrize("of", [lambda loss: loss, torch.square], ids=["itself", "squared"])
def test_a_gradient_that_is_to_be_differentiated_is_refused(of):
    """Of the loss itself it would be a constant: a penalty on it would train nothing."""
    Y, W = random_tensors(0, (3, 2), (5, 2))
    loss = of(smoothed_cross_entropy(Y.requires_grad_(), W, torch.tensor([1, 2, 3])))
    with pytest.raises(RuntimeError, match="cannot be differentiated twice: take F.cross_entropy"):
        torch.autograd.grad(loss, Y, create_graph=True)


@pytest.mark.parametrize("norm_first", [False, True])
def test_translation_loss_is_the_mean_over_real_target_tokens(norm_first):
    ours, theirs = (small_model(norm_first=norm_first, max_len=20) for _ in range(2))
    batch = make_batch(PAIRS)
    wide = Batch(*(F.pad(ids, (0, 3), value=PAD) for ids in batch))  # more padding, same loss
    logits = theirs(batch.source, batch.target_in)
    expected = F.cross_entropy(
        logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=PAD, label_smoothing=0.2
    )
    expected.backward()
    for same in (batch, wide):
        ours.zero_grad()
        loss = translation_loss(ours, same, smoothing=0.2)
        loss.backward()
        assert_equal(loss, expected)
        for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert_equal(p.grad, q.grad)


def test_a_loss_in_bfloat16_is_pytorchs_of_short_factors_and_long_sums():
    Y, W = (X.float().requires_grad_() for X in random_tensors(0, (50, 16), (40, 16)))
    targets = torch.arange(50) % 40
    short = Y.bfloat16() @ W.bfloat16().T
    expected = F.cross_entropy(short.float(), targets, label_smoothing=0.1, ignore_index=PAD)
    with torch.autocast("cpu", torch.bfloat16):
        loss = smoothed_cross_entropy(Y, W, targets, chunk=7)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected)
    for ours, theirs in zip(
        torch.autograd.grad(loss, (Y, W)), torch.autograd.grad(expected, (Y, W)), strict=True
    ):
        assert ours.dtype == torch.float32 and (ours - theirs).norm() < 0.01 * theirs.norm()


def test_chunks_in_bfloat16_are_added_up_in_float32():
    # A thousand equal shares: in bfloat16 the 257th would change nothing.
    Y, W, targets = torch.ones(1000, 1), torch.zeros(3, 1, requires_grad=True), torch.ones(1000)
    with torch.autocast("cpu", torch.bfloat16):
        smoothed_cross_entropy(Y, W, targets.long(), smoothing=0, chunk=1).backward()
    torch.testing.assert_close(W.grad[:, 0], torch.tensor([1, -2, 1]) / 3, rtol=0.005, atol=0)


def test_bfloat16_changes_a_loss_and_its_gradient_by_little():
    model, batch = tiny(0, dropout=0.0), make_batch(PAIRS)
    parameters = list(model.parameters())
    expected, loss = (f(model, batch) for f in (translation_loss, in_bfloat16(translation_loss)))
    assert loss.dtype == torch.float32 and loss.item() != expected.item()
    assert loss.item() == pytest.approx(expected.item(), abs=0.02)
    for mine, gradient in zip(
        torch.autograd.grad(loss, parameters), torch.autograd.grad(expected, parameters),
        strict=True,
    ):  # fmt: skip
        assert mine.dtype == torch.float32
        assert (mine - gradient).norm() < 0.05 * gradient.norm() + 1e-4


def test_a_step_never_waits_for_a_number(monkeypatch):
    # Tensors without numbers: what needs one (a size, an if) raises here, and stops a GPU.
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    with torch.device("meta"):
        model, batch = tiny(0), Batch(*(torch.ones(3, 7, dtype=torch.int64) for _ in range(3)))
        translation_loss(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        Muon([p for p in model.decoder.parameters() if p.dim() == 2], lr=0.01).step()


# ---- schedules


def test_warmup_then_cosine():
    def factor(step):
        return warmup_cosine(step, steps=110, warmup=10, last=0.02)

    assert [factor(0), factor(4), factor(9), factor(10)] == pytest.approx([0.1, 0.5, 1, 1])
    assert factor(35) == pytest.approx(0.02 + 0.98 * (1 + math.sqrt(0.5)) / 2)  # a quarter down
    assert factor(60) == pytest.approx(0.51)
    assert factor(110) == pytest.approx(0.02)
    assert all(factor(step) > factor(step + 1) for step in range(10, 110))
    assert warmup_cosine(0, steps=5, warmup=0) == 1


def test_the_papers_schedule():
    assert inverse_square_root(0, 512) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert inverse_square_root(3999, 512) == pytest.approx((512 * 4000) ** -0.5)  # the peak
    assert inverse_square_root(15999, 512) == pytest.approx((512 * 16000) ** -0.5)


# ---- optimisers


def test_muon_is_pytorchs_step_for_step():
    shapes = [(6, 4), (4, 6), (5, 5), (6, 4), (1, 3), (16, 2)]
    start = [X.float() for X in random_tensors(0, *shapes)]
    ours, theirs = ([torch.nn.Parameter(X.clone()) for X in start] for _ in range(2))
    optimizers = [
        Muon(ours, lr=0.02, momentum=0.9),
        torch.optim.Muon(
            theirs, lr=0.02, momentum=0.9, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"
        ),
    ]
    for step in range(1, 5):
        gradients = [X.float() for X in random_tensors(step, *shapes)]
        gradients[2] = None if step == 2 else gradients[2]  # a matrix that was not used
        gradients[4] = torch.zeros(1, 3) if step == 1 else gradients[4]
        for parameters in (ours, theirs):
            for p, gradient in zip(parameters, gradients, strict=True):
                p.grad = None if gradient is None else gradient.clone()
        for optimizer in optimizers:
            optimizer.step()
        for p, q, X in zip(ours, theirs, start, strict=True):
            # bfloat16 inside: equal to 1 % of what the step moves.
            moved = (q - X).abs().max().item()
            torch.testing.assert_close(p, q, rtol=0, atol=0.01 * moved + 1e-7)


def test_muon_takes_a_closure_as_every_optimizer_does():
    (X,) = random_tensors(0, (4, 3))
    by_hand, by_closure = (torch.nn.Parameter(X.clone()) for _ in range(2))
    by_hand.square().sum().backward()
    assert Muon([by_hand], lr=0.1).step() is None
    muon = Muon([by_closure], lr=0.1)

    def closure():
        muon.zero_grad()
        loss = by_closure.square().sum()
        loss.backward()
        return loss

    assert_equal(muon.step(closure).item(), X.square().sum().item())
    assert by_closure.equal(by_hand) and not by_hand.equal(X)


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
def test_muon_takes_matrices_alone(shape):
    parameters = [torch.nn.Parameter(torch.zeros(each)) for each in ((2, 3), shape)]
    with pytest.raises(ValueError, match=rf"Muon trains matrices.*{re.escape(str(shape))}.*AdamW"):
        Muon(parameters, lr=0.1)


@pytest.mark.parametrize("shape", [(64, 128), (128, 64), (128, 128)])
def test_all_but_the_smallest_singular_values_are_moved_near_1(shape):
    G = torch.randn(10, *shape, generator=torch.Generator().manual_seed(0))
    U, S, R = torch.linalg.svd(G, full_matrices=False)
    share = S / G.norm(dim=(-2, -1))[:, None]  # (10, rows or columns)
    after = U.mT @ orthogonalize(G).float() @ R.mT  # with values alone: diagonal
    values = after.diagonal(dim1=-2, dim2=-1)
    assert (after - values.diag_embed()).abs().max() < 0.03  # the directions stay
    large, small = share > 0.002, share < 0.0005
    assert (values[large] > 0.65).all() and (values[large] < 1.25).all()
    assert_close(values[small], 3.4445**5 * share[small], rtol=0, atol=0.03)
    assert small.any() == (values < 0.6).any() == (shape == (128, 128))


def names_of(model, optimizer):
    names = {p: name for name, p in model.named_parameters()}
    return [names[p] for group in optimizer.param_groups for p in group["params"]]


def test_muon_gets_the_matrices_of_the_layers_and_adamw_the_rest():
    model = small_model(positions="learned")
    recipe = Recipe(steps=1)
    muon, adamw = make_optimizers(model, recipe)
    inside = [
        name for name, p in model.named_parameters()
        if name.startswith(("encoder.", "decoder.")) and p.dim() == 2
    ]  # fmt: skip
    assert len(inside) == 2 * (6 + 10) and names_of(model, muon) == inside
    rest = [name for name, _ in model.named_parameters() if name not in inside]
    assert {"embedding.weight", "positions.table"} < {*rest} and names_of(model, adamw) == rest
    assert muon.defaults["lr"] == recipe.lr and adamw.defaults["lr"] == recipe.lr_rest
    assert adamw.defaults["weight_decay"] == 0


def test_muon_gets_the_same_matrices_however_the_model_is_wrapped():
    model = small_model(num_heads=2, positions="learned")
    names = names_of(model, make_optimizers(model, Recipe(steps=1))[0])
    compiled = torch.compile(model, backend="eager")
    muon, _ = make_optimizers(compiled, Recipe(steps=1))
    assert names_of(compiled, muon) == [f"_orig_mod.{name}" for name in names]
    theirs = to_pytorch(model)
    muon, adamw = make_optimizers(theirs, Recipe(steps=1))
    kinds = {tuple(name.split(".")[-2:]) for name in names_of(theirs, muon)}
    assert kinds == {
        ("self_attn", "in_proj_weight"), ("multihead_attn", "in_proj_weight"),
        ("out_proj", "weight"), ("linear1", "weight"), ("linear2", "weight"),
    }  # fmt: skip
    others = names_of(theirs, adamw)
    assert {"embedding.weight", "positions.table"} < {*others}
    assert {name.split(".")[-1] for name in others if "proj" in name} <= {"in_proj_bias", "bias"}


def test_matrices_outside_of_layers_are_not_muons():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.output = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 9)
            self.blocks = torch.nn.ModuleList([torch.nn.Linear(4, 4)])

    muon, adamw = make_optimizers(model := Model(), Recipe(steps=1))
    assert names_of(model, muon) == ["blocks.0.weight"]
    assert "output.weight" in names_of(model, adamw)
    with pytest.raises(ValueError, match="no matrices inside an nn.ModuleList"):
        make_optimizers(torch.nn.Linear(4, 9), Recipe(steps=1))


# ---- the loop


def test_a_small_batch_is_learned_by_heart():
    model = tiny(0, dropout=0.0)
    batch = make_batch(PAIRS)
    assert translation_loss(model, batch).item() > 1.5
    seen = []
    recipe = Recipe(steps=80, lr=0.03, lr_rest=0.03, warmup=5, smoothing=0.0)
    history = train(model, PAIRS, recipe, on_step=lambda step, history: seen.append(step))
    assert translation_loss(model, batch, smoothing=0.0).item() < 0.01
    assert [h.ids for h in greedy(model, batch.source)] == [target for _, target in PAIRS]
    assert seen == list(range(80)) and len(history.loss) == 80
    assert history.tokens == [14] * 80  # ten words and four EOS
    assert history.loss[-1] < 0.01 < history.loss[0] and history.seconds > 0
    assert not model.training


@pytest.fixture
def watched(monkeypatch):
    """A list that fills with (learning rates, gradients), a pair for every step of `train`."""
    steps = []

    def spy(model, recipe):
        optimizers = make_optimizers(model, recipe)

        def note(*_):
            rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
            steps.append((rates, [p.grad.clone() for p in model.parameters()]))

        optimizers[0].register_step_pre_hook(note)
        return optimizers

    monkeypatch.setattr(loop, "make_optimizers", spy)
    return steps


def test_training_follows_the_schedule(watched):
    train(tiny(0), PAIRS, Recipe(steps=6, warmup=2, lr=0.5, lr_rest=0.25))
    assert len(watched) == 6
    for step, (rates, _) in enumerate(watched):
        factor = warmup_cosine(step, 6, 2)
        assert rates == pytest.approx([0.5 * factor, 0.25 * factor])


@pytest.mark.parametrize("clip", [100.0, 0.01])
def test_every_step_has_its_own_gradient_clipped(watched, clip):
    model = tiny(0, dropout=0.0)
    translation_loss(model, make_batch(PAIRS)).backward()
    expected = [p.grad for p in model.parameters()]
    norm = torch.cat([g.flatten() for g in expected]).norm().item()
    assert 0.01 < norm < 100
    model.zero_grad()
    train(model, PAIRS, Recipe(steps=3, lr=0.0, lr_rest=0.0, clip=clip))  # stands still
    assert len(watched) == 3
    for _, gradients in watched:
        for actual, g in zip(gradients, expected, strict=True):
            torch.testing.assert_close(actual, g * min(1, clip / norm), rtol=1e-3, atol=1e-6)


def test_the_same_seed_gives_the_same_weights():
    def weights(seed, drawn_before):
        model = tiny(0)
        torch.rand(drawn_before)
        train(model, PAIRS, Recipe(steps=4, max_tokens=8, seed=seed))
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    assert weights(1, drawn_before=0).equal(weights(1, drawn_before=9))
    assert not weights(1, drawn_before=0).equal(weights(2, drawn_before=0))


def test_batches_are_a_function_of_seed_and_step():
    def first(count, seed):
        batches = batches_forever(PAIRS, 5, seed)
        return [next(batches).source.tolist() for _ in range(count)]

    assert first(20, seed=0) == first(20, seed=0) != first(20, seed=1)
    epochs = [first(20, seed=0)[i : i + 4] for i in range(0, 20, 4)]  # one pair a batch
    assert len({str(sorted(epoch)) for epoch in epochs}) == 1  # every epoch has every pair
    assert len({str(epoch) for epoch in epochs}) > 1  # in another order


@given(st.integers(0, 30), st.integers(3, 30), st.integers(0, 5))
@settings(max_examples=30)
def test_batches_can_be_taken_up_at_any_step(first, max_tokens, seed):
    def batches(count, first=0):
        found = itertools.islice(batches_forever(PAIRS * 3, max_tokens, seed, first), count)
        return [[ids.tolist() for ids in batch] for batch in found]

    assert batches(5, first) == batches(first + 5)[first:]


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_named_and_does_not_reach_the_weights(number):
    model, losses = tiny(0), []

    def loss_of(model, batch, smoothing):
        losses.append(translation_loss(model, batch, smoothing))
        before[:] = [p.detach().clone() for p in model.parameters()]
        return losses[-1] * (number if len(losses) == 4 else 1)

    before = []
    tokens = (next(batches_forever(PAIRS, 6, seed=1, first=3)).target_out != PAD).sum()
    words = f"step 3, counted from 0, is {number}: .* batch has {tokens} target tokens; .*first=3"
    with pytest.raises(ValueError, match=words):
        train(model, PAIRS, Recipe(steps=9, max_tokens=6, seed=1), loss_of=loss_of)
    assert len(losses) == 4
    for p, q in zip(model.parameters(), before, strict=True):
        assert torch.equal(p, q)


def test_losses_on_a_gpu_stay_there_for_a_while(monkeypatch):
    """Tensors of another device, which nobody may read: a stand-in for those of a GPU."""
    history, batch, read = History(), make_batch(PAIRS), []
    monkeypatch.setattr(loop, "SETTLE", 3)

    def stack(losses):
        read.append(len(losses))
        return torch.zeros(len(losses))

    monkeypatch.setattr(torch, "stack", stack)
    for _ in range(7):
        history.note(torch.empty((), device="meta"), batch)
    assert read == [3, 3] and history.loss[:6] == [0.0] * 6
    assert history.loss[6].is_meta and history.tokens == [14] * 7
    history.settle()
    history.settle()
    assert read == [3, 3, 1] and history.loss == [0.0] * 7


@pytest.mark.parametrize("wrap", [to_pytorch, lambda model: torch.compile(model, backend="eager")])
def test_a_wrapped_model_learns_as_the_bare_one_does(wrap):
    torch.compiler.reset()
    bare, wrapped = tiny(0, dropout=0.0), wrap(tiny(0, dropout=0.0))
    losses = [train(model, PAIRS, Recipe(steps=30, warmup=5)).loss for model in (bare, wrapped)]
    assert losses[0] == pytest.approx(losses[1], abs=0.2) and losses[1][-1] < losses[1][0] - 1
    assert losses[0][0] == pytest.approx(losses[1][0], abs=1e-5)


def test_a_compiled_loss_trains_a_model():
    torch.compiler.reset()
    graphs = []
    backend = lambda graph, _: graphs.append(graph) or graph  # noqa: E731
    loss_of = torch.compile(translation_loss, backend=backend, fullgraph=True)
    plain, compiled = (
        train(tiny(0, dropout=0.0), PAIRS, Recipe(steps=3, warmup=1), loss_of=each).loss
        for each in (translation_loss, loss_of)
    )
    assert plain == pytest.approx(compiled, abs=1e-4) and graphs


def test_a_wrapper_that_hides_the_steps_of_the_model_is_named():
    model = torch.nn.DataParallel(tiny(0))
    with pytest.raises(TypeError, match=r"A DataParallel has no encode\(\).*model inside"):
        train(model, PAIRS, Recipe(steps=1))


def test_training_without_pairs_is_named(monkeypatch):
    batches = iter([[], []])  # not for ever, should nobody stop
    monkeypatch.setattr(loop, "bucket", lambda *args, **kwargs: next(batches))
    with pytest.raises(ValueError, match="no pairs"):
        train(randomize(tiny(0)), [], Recipe(steps=1))
