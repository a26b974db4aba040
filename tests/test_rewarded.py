"""A second training, proved where every text can be enumerated (chapters 22 and 22b)."""

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F

from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.models import rewarded
from tutor.proof import equal
from tutor.text.grammar import Caption
from tutor.text.tokenizer import EOS, SPECIAL
from tutor.text.truth import log_probability
from tutor.training.rewarded import (
    LowRank,
    add_lora,
    allowed_next,
    as_batch,
    best_policy,
    clipped_loss,
    dpo_loss,
    group_advantages,
    imitate,
    log_probabilities,
    lora,
    matrices,
    merge_lora,
    prefer,
    reinforce,
)

SLOTS = "The This", "water cat door", "is|is not", "cold hungry open white"
TEXTS = [
    f"{d} {n} {v} {a} ."
    for d, n, v, a in itertools.product(*(s.split("|" if "|" in s else None) for s in SLOTS))
]
NUMBER = {word: i for i, word in enumerate(sorted({*" ".join(TEXTS).split()}), len(SPECIAL))}
IDS = as_batch([[NUMBER[word] for word in text.split()] for text in TEXTS])  # (48, T)
VOCAB = len(SPECIAL) + len(NUMBER)
ALLOWED = allowed_next(IDS, VOCAB)  # (48, T - 1, VOCAB)
REWARDS = torch.tensor(
    [log_probability(text.replace(" .", "."), Caption.write_be) > -torch.inf for text in TEXTS]
).double()
BETA = 0.5


def make_policy(seed=0):
    torch.manual_seed(seed)
    config = LanguageModelConfig(VOCAB, 16, 1, 2, 32, max_len=8, dropout=0.0)
    return LanguageModel(config).double()


def whole(model):
    """Log-probabilities of all texts under a policy that is held to them: (48,)."""
    return log_probabilities(model, IDS, ALLOWED).sum(dim=1)


def gradient(loss, model):
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])


def test_the_texts_are_all_there_is():
    assert len(TEXTS) == 48 and REWARDS.sum() == 14
    assert equal(whole(make_policy()).exp().sum(), torch.ones(()).double())


def test_padding_has_no_probability_and_never_written_tokens_neither():
    model = make_policy()
    found = log_probabilities(model, IDS)
    Z = model(IDS[:, :-1])
    Z[..., :EOS] = -torch.inf
    for n, row in enumerate(IDS):
        length = int((row[1:] != 0).sum())
        expected = Z[n].log_softmax(-1)[range(length), row[1 : length + 1]]  # (length,)
        assert equal(found[n, :length], expected) and not found[n, length:].any()


# ---- low rank


def adapted(rank=3):
    """A policy with LoRA as after some training, and the weights that were trained."""
    model = add_lora(make_policy(), rank, scale=2.0)
    trained = [W for W in model.parameters() if W.requires_grad]
    for W in trained:
        torch.nn.init.normal_(W, std=0.1)
    return model, trained


def merge_difference():
    model, _ = adapted()
    unmerged = whole(model)
    return (whole(merge_lora(model)) - unmerged).abs().max().item()


def test_lora_starts_at_the_model_and_merges_into_it():
    start = make_policy()
    assert equal(whole(add_lora(make_policy(), 3, scale=2.0)), whole(start))
    model, trained = adapted()
    assert len(trained) == 2 * 6 == 2 * len(matrices(start))
    assert (whole(model) - whole(start)).abs().max() > 0.1
    assert merge_difference() < 1e-12
    merge_lora(model)
    assert equal(model.embedding.weight, start.embedding.weight)  # it was frozen
    assert set(model.state_dict()) == set(start.state_dict())
    assert all(W.requires_grad for W in model.parameters())


def test_lora_freezes_w_and_trains_b_and_a():
    W, B, A = torch.randn(4, 5), torch.randn(4, 2), torch.randn(2, 5)
    for X in (W, B, A):
        X.requires_grad_()
    Y = lora(W, B, A, 3.0)
    torch.testing.assert_close(Y, W + 3 * sum(torch.outer(B[:, i], A[i]) for i in range(2)))
    assert torch.autograd.grad(Y.sum(), [W, B, A], allow_unused=True)[0] is None


def peft_difference():
    """From the LoRA of `peft`, unmerged and merged, on a layer with the same numbers."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(5, 4, bias=False)).double()
    W, X = layer[0].weight.detach().clone(), torch.randn(7, 5).double()
    theirs = get_peft_model(layer, LoraConfig(r=2, lora_alpha=6, target_modules=["0"]))
    update = theirs.base_model.model[0]
    A, B = update.lora_A["default"].weight, update.lora_B["default"].weight
    torch.nn.init.normal_(B)
    ours = X @ lora(W, B.double(), A.double(), 6 / 2).T
    found = theirs.double()(X), theirs.merge_and_unload()(X)
    return max((ours - Y).abs().max().item() for Y in found)


def test_lora_is_that_of_peft():
    pytest.importorskip("peft")
    assert peft_difference() < 1e-10


# ---- preferences: the closed form


def minimum(p, low_rank=False, steps=150):
    """The policy where DPO ends, over all pairs, and the reference: (48,) each.

    A table with a row of logits for each beginning can be any policy over the texts.
    """
    T = IDS.shape[1] - 1
    begun = IDS[:, None, :-1] * torch.ones(T, T, dtype=torch.long).tril()  # (48, T, T)
    row = begun.flatten(0, 1).unique(dim=0, return_inverse=True)[1].view(-1, T)  # (48, T)
    torch.manual_seed(0)
    W = torch.randn(row.max() + 1, VOCAB).double()
    update = LowRank(W, VOCAB) if low_rank else None
    free = list(update.parameters()) if low_rank else [W.clone().requires_grad_()]

    def policy():
        table = update(W) if low_rank else free[0]
        return log_probabilities(lambda ids: table[row], IDS, ALLOWED).sum(dim=1)

    ref = policy().detach()
    i, j = torch.triu_indices(48, 48, 1)
    optimizer = torch.optim.LBFGS(
        free, max_iter=steps, tolerance_grad=1e-13, tolerance_change=1e-18,
        history_size=50, line_search_fn="strong_wolfe",
    )  # fmt: skip

    def closure():
        optimizer.zero_grad()
        q = policy()
        loss = dpo_loss(q[i], q[j], ref[i], ref[j], BETA, p[i, j])
        loss.backward()
        return loss

    optimizer.step(closure)
    return policy().detach(), ref


SOFT = (REWARDS[:, None] - REWARDS[None, :]).sigmoid()  # (48, 48), Bradley and Terry


def closed_form_difference(low_rank=False):
    found, ref = minimum(SOFT, low_rank)
    return (found.exp() - best_policy(ref, REWARDS, BETA).exp()).abs().max().item()


@pytest.mark.parametrize("low_rank", (False, True))
def test_dpo_ends_at_the_closed_form(low_rank):
    assert closed_form_difference(low_rank) < 1e-6
    found, ref = minimum(SOFT, low_rank)
    assert (found.exp() - ref.exp()).abs().max() > 0.01  # it is not where it began


def test_the_closed_form_is_the_best_of_all():
    ref = whole(make_policy()).detach()
    best = best_policy(ref, REWARDS, BETA)

    def gain(log_q):
        return (log_q.exp() * (REWARDS - BETA * (log_q - ref))).sum()

    # its gain is beta log Z, and any other policy's is less by beta KL(policy, best)
    assert equal(gain(best), BETA * (ref + REWARDS / BETA).logsumexp(dim=0))
    for seed in range(1, 4):
        other = whole(make_policy(seed)).detach()
        less = BETA * (other.exp() * (other - best)).sum()
        assert equal(gain(best) - gain(other), less) and less > 0


def test_a_hard_judge_has_no_minimum():
    hard = 0.5 + 0.5 * (REWARDS[:, None] - REWARDS[None, :]).sign()  # (48, 48)
    right = [(minimum(hard, steps=s)[0].exp() * REWARDS).sum().item() for s in (5, 20, 80)]
    assert right == sorted(right) and right[-1] > 0.9999
    ref = minimum(hard, steps=1)[1]
    assert (best_policy(ref, REWARDS, BETA).exp() * REWARDS).sum() < 0.9


def test_dpo_prefers_and_counts_from_the_reference():
    q = torch.randn(4, 5).double()
    loss = dpo_loss(*q, beta=0.3)
    margin = 0.3 * (q[0] - q[1] - q[2] + q[3])
    torch.testing.assert_close(loss, (1 + (-margin).exp()).log().mean())
    assert equal(dpo_loss(q[0], q[1], q[0], q[1], 2.0), torch.tensor(2.0).double().log())


# ---- rewards: the gradient over all groups of two


def group_gradient(model, advantages_of, loss_of=clipped_loss):
    """The mean gradient of a loss over all groups of two texts, each as often as it is drawn."""
    new = log_probabilities(model, IDS, ALLOWED)  # (48, T - 1)
    log_q = new.sum(dim=1).detach()  # (48,)
    ref = whole(make_policy(seed=1)).detach()
    R = REWARDS - BETA * (log_q - ref)  # (48,): the KL is inside the reward
    first, second = torch.cartesian_prod(torch.arange(48), torch.arange(48)).T  # (2304,) each
    groups = torch.stack([first, second], dim=1)  # (2304, 2)
    A = advantages_of(R[groups])  # (2304, 2)
    weight = log_q[groups].sum(dim=1).exp()  # (2304,)
    # a loss is a mean over texts, so each text's is asked for alone
    each = torch.stack([loss_of(new[n : n + 1], new[n : n + 1].detach(), torch.ones(1))
                        for n in range(48)])  # (48,)  # fmt: skip
    return gradient((weight[:, None] * A * each[groups]).sum() / 2, model)


def exact_gradient(model):
    """Of minus the mean reward + beta KL."""
    log_q, ref = whole(model), whole(make_policy(seed=1)).detach()
    return gradient(-(log_q.exp() * (REWARDS - BETA * (log_q - ref))).sum(), model)


def grpo_gradient_difference():
    model = make_policy()
    return (group_gradient(model, group_advantages) - exact_gradient(model)).abs().max().item()


def test_the_gradient_over_all_groups_is_exact():
    assert grpo_gradient_difference() < 1e-10
    assert exact_gradient(make_policy()).abs().max() > 0.01


def test_the_mean_of_all_halves_the_step_of_a_pair():
    model = make_policy()
    found = group_gradient(model, lambda R: R - R.mean(dim=1, keepdim=True))
    assert equal(2 * found, exact_gradient(model))


def test_dividing_by_the_deviation_climbs_another_hill():
    """In a pair each advantage becomes a sign: what grows is the chance to win, not the reward."""
    model = make_policy()

    def divided(R):
        R = R - R.mean(dim=1, keepdim=True)
        return R / R.std(dim=1, keepdim=True).clamp(min=1e-12)

    found = group_gradient(model, divided)
    log_q, ref = whole(model), whole(make_policy(seed=1)).detach()
    R = (REWARDS - BETA * (log_q - ref)).detach()
    wins = (R[:, None] - R[None, :]).sign() @ log_q.exp().detach()  # (48,): less the losses
    other = gradient(-(log_q.exp() * wins).sum(), model) / 2**0.5
    assert (found - other).abs().max() < 1e-10
    assert F.cosine_similarity(found, exact_gradient(model), dim=0) < 0.999


def test_dividing_by_the_length_favours_long_mistakes_and_short_hits():
    model = make_policy()
    length = (IDS[:, 1:] != 0).sum(dim=1).double()  # (48,)
    number = iter(range(48))

    def by_length(new, old, A):
        return clipped_loss(new, old, A) / length[next(number)]

    found = group_gradient(model, group_advantages, by_length)
    log_q, ref = whole(model), whole(make_policy(seed=1)).detach()
    q = log_q.exp().detach()
    R = (REWARDS - BETA * (log_q - ref)).detach()
    other = gradient(-(q * (R - (q * R).sum()) / length * log_q).sum(), model)
    # the baseline is no longer free: a pair's other text is drawn apart, so the mean is q's
    assert (found - other).abs().max() < 1e-10
    assert (found * length.mean() - exact_gradient(model)).abs().max() > 1e-4


def test_the_k3_term_as_a_loss_descends_the_other_divergence():
    """Schulman's k3 estimates KL(policy, reference), but its gradient is that of the other one."""
    model, ref = make_policy(), whole(make_policy(seed=1)).detach()
    log_q = whole(model)
    k3 = (ref - log_q).exp() - 1 - (ref - log_q)  # (48,)
    q = log_q.exp().detach()
    assert equal((q * k3).sum(), (q * (log_q - ref)).sum())
    found = gradient((q * k3).sum(), model)
    there = gradient((ref.exp() * (ref - whole(model))).sum(), model)
    here = gradient((whole(model).exp() * (whole(model) - ref)).sum(), model)
    assert (found - there).abs().max() < 1e-10 and (found - here).abs().max() > 1e-3


@pytest.mark.parametrize("advantage", (1.0, -1.0))
def test_a_clipped_gain_stops_on_one_side(advantage):
    A = torch.tensor([advantage]).double()
    for shift, moves in ((0.0, True), (0.1, True), (0.5, A < 0), (-0.5, A > 0)):
        old = torch.tensor([[-1.0, 0.0]]).double()  # the second place is padding
        new = (old + torch.tensor([[shift, 0.0]])).requires_grad_()
        loss = clipped_loss(new, old, A)
        (slope,) = torch.autograd.grad(loss, new)
        assert bool(slope[0, 0]) == bool(moves) and slope[0, 1] == 0
        if not shift:
            assert loss == -A  # of the one token alone


def test_advantages_leave_the_text_itself_out():
    R = torch.randn(3, 4).double()
    for g, n in itertools.product(range(3), range(4)):
        others = [R[g, m] for m in range(4) if m != n]
        torch.testing.assert_close(group_advantages(R)[g, n], R[g, n] - sum(others) / 3)


# ---- training


def test_each_training_raises_what_it_is_told_to():
    right, wrong = IDS[REWARDS == 1], IDS[REWARDS == 0]
    good = {tuple(ids[ids > EOS].tolist()) for ids in right}

    def judge(rows):
        return [float(tuple(row) in good) for row in rows]

    def share(model):
        p_right, p_wrong = (log_probabilities(model, ids).sum(1).exp() for ids in (right, wrong))
        return (p_right.sum() / (p_right.sum() + p_wrong.sum())).item()

    def draw():
        return torch.Generator().manual_seed(0)

    start = imitate(make_policy().float(), IDS, 1e-2, 60, draw())  # so that some texts are right
    seen, before = [], share(start)
    for training in (
        lambda model: imitate(model, right, 1e-2, 20, draw()),
        lambda model: prefer(model, right, wrong, 1e-2, 20, 0.1, draw()),
        lambda model: prefer(add_lora(model, 4), right, wrong, 1e-2, 20, 0.1, draw()),
        lambda model: reinforce(
            model, judge, 1e-2, 15, 0.0, draw(), longest=7, look=lambda *x: seen.append(x)
        ),
    ):
        assert before < 0.4 < 0.5 < share(training(copy.deepcopy(start)))
    assert len(seen) == 15


# ---- what was measured


def test_what_ships_is_of_ten_seeds_and_says_what_the_page_says():
    found = rewarded.load()
    assert found["seeds"] == list(rewarded.SEEDS)
    names = ["before"]
    for arm in rewarded.ARMS:
        names += [arm, *(f"{arm}, rank {rank}" for rank in rewarded.RANKS.get(arm, ()))]
    assert sorted(found["runs"]) == sorted(names)
    assert all(len(row) == 10 for numbers in found["runs"].values() for row in numbers.values())
    before = found["runs"]["before"]
    for name in set(names) - {"before", "more captions"}:
        change = [b - a for a, b in zip(before["nats"], found["runs"][name]["nats"], strict=True)]
        mean, half = rewarded.mean_and_interval(change)
        assert mean - half > 0.5  # further from the truth, each of them
        least = rewarded.divergence_of_best(
            *(rewarded.mean_and_interval(x["right"])[0] for x in (before, found["runs"][name]))
        )
        assert rewarded.mean_and_interval(found["runs"][name]["kl"])[0] > 2 * least


def test_the_least_divergence_is_that_of_the_best_policy():
    ref = whole(make_policy()).detach()
    best = best_policy(ref, REWARDS, BETA)
    s, after = ((log_q.exp() * REWARDS).sum().item() for log_q in (ref, best))
    assert abs((best.exp() * (best - ref)).sum() - rewarded.divergence_of_best(s, after)) < 1e-12


def test_the_judge_is_the_grammars_and_knows_what_ends():
    assert rewarded.judge([rewarded.encode("The door is white."), [], [4]]) == [1.0, 0.0, 0.0]
    assert rewarded.decode(rewarded.encode("The doors are not very old.")) == (
        "The doors are not very old."
    )


def test_the_cheap_judge_knows_neighbours_alone():
    texts = "The door is white.", "The airport is beautiful.", "The door white."
    rows = [rewarded.encode(text) for text in texts]
    assert rewarded.cheap_judge([*rows, []]) == [1.0, 1.0, 0.0, 0.0]
    assert rewarded.judge(rows) == [1.0, 0.0, 0.0]


def test_the_table_has_a_row_an_arm():
    head, *rows = rewarded.table(["before", "GRPO"]).splitlines()
    assert "right of 100" in head and [row.split()[0] for row in rows] == ["before", "GRPO"]
    right = rewarded.mean_and_interval(rewarded.load()["runs"]["GRPO"]["right"])[0]
    assert f"{100 * right:.0f} ±" in rows[1]
