"""A second training: low-rank updates, preferences and rewards (chapters 22 and 22b).

A policy is a LanguageModel that is trained, its reference a frozen copy of where it began. A text's
log-probability is the sum over its tokens, [EOS] included and padding not.
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrize

from tutor.attention import PAD
from tutor.decoding import chooser
from tutor.language_model import write_on
from tutor.text.batches import pad
from tutor.text.tokenizer import BOS, EOS

# ---- low rank


def lora(W, B, A, scale):
    """W + scale B A, without a gradient for W.

    W: (rows, columns), B: (rows, rank), A: (rank, columns). Source: Hu et al. 2021, section 4.1.
    """
    return W.detach() + scale * B @ A  # (rows, columns)


class LowRank(nn.Module):
    """What stands for a frozen matrix W: W + scale B A, at first W itself, because B is zero."""

    def __init__(self, W, rank, scale=1.0):
        super().__init__()
        self.B = nn.Parameter(W.new_zeros(W.shape[0], rank))
        self.A = nn.Parameter(torch.randn_like(W[:1].expand(rank, -1)) * W.shape[1] ** -0.5)
        self.scale = scale

    def forward(self, W):
        return lora(W, self.B, self.A, self.scale)


def matrices(model):
    """The matrices inside the layers of a LanguageModel: a list of (module, name)."""
    named = [(m, n) for m in model.layers.modules() for n, _ in m.named_parameters(recurse=False)]
    return [(m, n) for m, n in named if getattr(m, n).ndim == 2]


def add_lora(model, rank, scale=1.0):
    """Freeze a LanguageModel, and give each matrix of its layers a low-rank update, in place."""
    model.requires_grad_(False)
    for module, name in matrices(model):
        update = LowRank(getattr(module, name), rank, scale)
        parametrize.register_parametrization(module, name, update)
    return model


def merge_lora(model):
    """Write each update into its matrix, in place: the model is again as large as it was."""
    for module in list(model.modules()):
        for name in list(getattr(module, "parametrizations", ())):
            parametrize.remove_parametrizations(module, name, leave_parametrized=True)
    return model.requires_grad_(True)


# ---- texts and their probabilities


def as_batch(rows):
    """Lists of ids without special tokens, as `write_on` returns them, as one tensor (N, T)."""
    return pad([[BOS, *row, EOS] for row in rows])


def allowed_next(ids, vocab_size):
    """Which tokens follow each prefix in *some* of the texts ids (N, T): (N, T - 1, vocab_size).

    A policy that is held to them writes nothing but these texts, so all can be enumerated.
    """
    allowed = torch.zeros(*ids[:, 1:].shape, vocab_size, dtype=torch.bool)
    for t in range(ids.shape[1] - 1):
        same = (ids[:, None, : t + 1] == ids[None, :, : t + 1]).all(-1)  # (N, N)
        allowed[:, t] = same.double() @ F.one_hot(ids[:, t + 1], vocab_size).double() > 0
    return allowed


def log_probabilities(model, ids, allowed=None):
    """Log-probability of each token after [BOS] in ids (N, T), 0 for padding: (N, T - 1).

    allowed: (N, T - 1, vocab_size), what may be written; None: all but [PAD], [UNK] and [BOS].
    """
    Z = model(ids[:, :-1])  # (N, T - 1, vocab_size)
    if allowed is None:
        allowed = torch.arange(Z.shape[-1]) >= EOS  # (vocab_size,)
    Z = Z.masked_fill(~allowed, -torch.inf)  # (N, T - 1, vocab_size)
    return -F.cross_entropy(Z.mT, ids[:, 1:], ignore_index=PAD, reduction="none")


# ---- preferences and rewards


def best_policy(log_ref, rewards, beta):
    """Log-probabilities (texts,) with the highest mean reward - beta KL(policy, reference).

    log_ref, rewards: (texts,), of all texts. Source: Rafailov et al. 2023, equation (4).
    """
    return (log_ref + rewards / beta).log_softmax(dim=0)


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta, p=1.0):
    """Direct preference optimization: the mean over pairs, in nats.

    All (pairs,): log-probabilities of whole texts, of the policy and of the reference. p: how
    probable it is that the chosen text is the better one. Source: Rafailov et al. 2023, section 4.
    """
    margin = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))  # (pairs,)
    return -(p * F.logsigmoid(margin) + (1 - p) * F.logsigmoid(-margin)).mean()


def group_advantages(rewards):
    """Each reward less the mean of the *others* in its group: (groups, n), from (groups, n).

    Source: Ahmadian et al. 2024, section 2.3 (RLOO); Shao et al. 2024 (GRPO) takes the mean of all
    and divides by the standard deviation.
    """
    n = rewards.shape[1]
    return (rewards - rewards.mean(dim=1, keepdim=True)) * n / (n - 1)  # (groups, n)


def clipped_loss(new, old, advantages, epsilon=0.2):
    """Minus the clipped gain, summed over tokens, as the mean over texts.

    new, old: (N, T), log-probabilities of tokens under the policy and under the one that wrote,
    0 for padding in both. advantages: (N,). Source: Schulman et al. 2017, equation (7).
    """
    ratio = (new - old).exp()  # (N, T), 1 for padding
    A = advantages[:, None]  # (N, 1)
    gain = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)  # (N, T)
    return -(gain * (old != 0)).sum(dim=1).mean()


# ---- training


def adam_steps(model, lr, losses):
    """One step of Adam for each loss that the generator yields; it computes it when asked."""
    model.train()
    parameters = [W for W in model.parameters() if W.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=lr)
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
    return model.eval()


def imitate(model, ids, lr, steps, generator, batch=64):
    """More steps of language modelling on texts ids (N, T), in place: demonstrations."""

    def losses():
        for _ in range(steps):
            some = ids[torch.randint(len(ids), (batch,), generator=generator)]  # (batch, T)
            yield -log_probabilities(model, some).sum() / (some[:, 1:] != PAD).sum()

    return adam_steps(model, lr, losses())


def prefer(model, better, worse, lr, steps, beta, generator, batch=32):
    """DPO on pairs of a text of `better` and one of `worse`, (N, T) and (M, T), in place."""
    reference = copy.deepcopy(model).requires_grad_(False)

    def losses():
        for _ in range(steps):
            both = torch.cat([ids[torch.randint(len(ids), (batch,), generator=generator)]
                              for ids in (better, worse)])  # (2 batch, T)  # fmt: skip
            ours, theirs = (log_probabilities(m, both).sum(1) for m in (model, reference))
            yield dpo_loss(*ours.chunk(2), *theirs.chunk(2), beta)

    return adam_steps(model, lr, losses())


def reinforce(model, reward_of, lr, steps, beta, generator, n=32, longest=16, look=None):
    """GRPO with leave-one-out advantages and the KL inside the reward, in place.

    reward_of(rows): lists of ids -> a list of numbers. Each step writes a group of n texts and
    takes two steps of Adam on it. look(rows, rewards, divergence) is called with each group;
    divergence: (n,), log-probability less that under the reference.
    """
    reference = copy.deepcopy(model).requires_grad_(False)

    def losses():
        for _ in range(steps):
            start = torch.full((n, 1), BOS)
            rows = write_on(model, start, chooser(generator=generator), longest)
            ids, rewards = as_batch(rows), torch.tensor(reward_of(rows)).float()
            with torch.no_grad():
                old, ref = (log_probabilities(m, ids) for m in (model, reference))  # (n, T - 1)
            divergence = (old - ref).sum(dim=1)  # (n,)
            A = group_advantages((rewards - beta * divergence)[None])[0]  # (n,)
            if look:
                look(rows, rewards, divergence)
            for _ in range(2):
                yield clipped_loss(log_probabilities(model, ids), old, A)

    return adam_steps(model, lr, losses())
