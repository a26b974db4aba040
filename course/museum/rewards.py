"""Preferences and rewards: what goes wrong in a second training (chapters 22 and 22b)."""

import torch
from torch import nn

from course.museum.exhibit import WRONG, exhibit, to_digits
from course.museum.places import BOTH_ARE_ONE, MEAN_OVER_TOKENS, PADDED_PREFERENCE
from tutor.attention import PAD
from tutor.proof import equal


@exhibit(WRONG, PADDED_PREFERENCE)
class log_probability_of_texts:
    """The log-probability of a text counts its padding, so it hangs on the longest text beside it.

    DPO compares a chosen text with a rejected one. The shorter of the two carries more padding,
    which the policy soon finds as probable as the loss wants it to be, and the words are left
    as they were.
    """

    test = "a text has the same log-probability alone as with padding behind it"
    shows = "alone [-1.39], with two places of padding [-2.77]"

    def wrong(logits, ids):
        """logits: (N, T, V), of what follows each of the ids (N, T). Returns (N,)."""
        log_p = logits[:, :-1].log_softmax(-1)  # (N, T - 1, V)
        of_tokens = log_p.gather(-1, ids[:, 1:, None]).squeeze(-1)  # (N, T - 1)
        return of_tokens.sum(1)

    mend = {"of_tokens.sum(1)": "(of_tokens * (ids[:, 1:] != PAD)).sum(1)"}

    def judge(of_texts):
        logits = torch.randn(2, 6, 7)
        ids = torch.tensor([[2, 5, 6, 3, PAD, PAD], [2, 4, 3, 5, 6, 3]])
        found = of_texts(logits, ids)
        assert equal(found[:1], of_texts(logits[:1, :4], ids[:1, :4]))
        for n, length in ((0, 3), (1, 5)):
            log_p = logits[n].log_softmax(-1)
            assert equal(found[n], sum(log_p[t, ids[n, t + 1]] for t in range(length)))

    def demo(of_texts):
        logits, ids = torch.zeros(1, 5, 2), torch.tensor([[1, 1, 1, PAD, PAD]])
        alone, padded = of_texts(logits[:, :3], ids[:, :3]), of_texts(logits, ids)
        return f"alone {to_digits(alone)}, with two places of padding {to_digits(padded)}"


@exhibit(WRONG, BOTH_ARE_ONE)
class moved_from_the_reference:
    """The reference is the policy under another name, so that nothing seems to move.

    The divergence is 0 and the margin of DPO is 0 however long one trains: nothing holds the policy
    any more. `state_dict` is no copy either, since it holds the tensors that are trained.
    """

    test = "take a step; what the policy says must then differ from what the reference says"
    shows = "after a step the policy has moved by 0.0"

    def wrong(make_policy, step, X):
        """log-probabilities of a policy after `step`, less those before it."""
        policy = make_policy()
        start = policy.state_dict()
        step(policy)
        reference = make_policy()
        reference.load_state_dict(start)
        with torch.no_grad():
            return policy(X).log_softmax(-1) - reference(X).log_softmax(-1)

    mend = {"= policy.state_dict()": "= {key: W.clone() for key, W in policy.state_dict().items()}"}

    def judge(moved):
        for width, by in ((3, [1.0, 0.0, -2.0, 3.0]), (2, [0.5, 2.0, 1.0])):
            made, by = [], torch.tensor(by)

            def make_policy(width=width, by=by, made=made):
                made.append(nn.Linear(width, len(by), bias=False))
                made.append(made[-1].weight.detach().clone())
                return made[-2]

            def step(policy, by=by):
                with torch.no_grad():
                    policy.weight *= by[:, None]

            X = torch.randn(2, width)
            found = moved(make_policy, step, X)
            Y = X @ made[1].T  # (2, V)
            assert equal(found, (Y * by).log_softmax(-1) - Y.log_softmax(-1))

    def demo(moved):
        def make_policy():
            torch.manual_seed(0)
            return nn.Linear(2, 2)

        def step(policy):
            with torch.no_grad():
                policy.bias[0] += 1.0

        far = moved(make_policy, step, torch.zeros(1, 2)).abs().max().item()
        return f"after a step the policy has moved by {far:.1f}"


@exhibit(WRONG, MEAN_OVER_TOKENS)
class loss_of_written_texts:
    """The gain of a text is a mean over its tokens, so a token of a long text counts for less.

    Among wrong texts the long ones are then punished least, and among right ones the short ones are
    praised most: mistakes grow long. The gradient of the mean reward has the sum.
    """

    test = "each real token of every text has the same gradient, but for the advantage of its text"
    shows = "gradient of a token: short text -0.5, long text -0.17"

    def wrong(log_p, advantages, real):
        """log_p, real: (n, T), of the tokens of n texts; advantages: (n,)."""
        per_text = (log_p * real).sum(1) / real.sum(1)  # (n,)
        return -(advantages * per_text).mean()

    mend = {" / real.sum(1)": ""}

    def judge(loss):
        log_p, advantages = -torch.rand(3, 5), torch.tensor([1.0, -2.0, 0.5])
        real = torch.arange(5) < torch.tensor([5, 2, 3])[:, None]  # (n, T)
        found = loss(log_p, advantages, real)
        assert equal(found, -(advantages[:, None] * log_p)[real].sum() / 3)
        leaf = log_p.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(leaf, advantages, real), leaf)
        assert equal(gradient, -advantages[:, None] * real / 3)

    def demo(loss):
        log_p = torch.zeros(2, 3, requires_grad=True)
        real = torch.tensor([[True, False, False], [True, True, True]])
        (gradient,) = torch.autograd.grad(loss(log_p, torch.ones(2), real), log_p)
        short, long = to_digits(gradient[:, 0])
        return f"gradient of a token: short text {short}, long text {long}"
