"""Losses, targets and batches: what a model learns when nobody looks."""

import torch
import torch.nn.functional as F

from course.museum.exhibit import LUCKY, WRONG, exhibit, to_digits
from course.museum.places import KERAS_TRANSLATOR, SUM_OF_LOSSES
from tutor.attention import PAD
from tutor.proof import equal
from tutor.transformer import Transformer, TransformerConfig


@exhibit(WRONG, "classrooms", task="next_token_loss")
class loss_of_the_next_word:
    """The target is not shifted: at each place the model is asked for the word it is reading.

    A causal mask does not help, since a word may see itself. Copying is all that is asked, and the
    loss falls to 0.
    """

    test = "a parrot, which repeats its input, has a large loss, and one that can count has none"
    shows = "the loss of a parrot: 0.0"

    def wrong(model, ids):
        logits = model(ids)  # (N, T, V)
        return F.cross_entropy(logits.transpose(1, 2), ids)  # (N, V, T) against (N, T)

    def mended(model, ids):
        logits = model(ids[:, :-1])  # (N, T - 1, V)
        return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:])  # (N, V, T - 1)

    def judge(loss):
        def parrot(ids):
            return 20.0 * F.one_hot(ids, 9)

        loss(lambda ids: torch.eye(9)[ids], torch.tensor([[3, 7, 8], [5, 4, 4]]))

        def counter(ids):
            return 20.0 * F.one_hot(ids + 1, 9)

        for words in ([2, 5, 6, 7, 3], [2, 4, 7]):
            ids = torch.tensor([words])
            assert 10 < loss(parrot, ids) < 30
            assert loss(counter, torch.arange(2, 7)[None]) < 0.01

    def demo(loss):
        answer = loss(lambda ids: 20.0 * F.one_hot(ids, 9), torch.tensor([[2, 5, 6, 7, 3]]))
        return f"the loss of a parrot: {answer.item() + 0:.1f}"


@exhibit(WRONG, KERAS_TRANSLATOR, task="token_loss")
class loss_of_a_batch:
    """The loss counts padding, which is easy to predict, so it looks better than it is.

    The longer the longest sentence of a batch, the more places are padding. A model that has
    learned to say padding there, and nothing else, has a small loss already.
    """

    test = "the loss is the same when padding is added, and small for right answers alone"
    shows = "loss 1.39, with two places of padding 0.69"

    def wrong(logits, targets):
        return F.cross_entropy(logits.transpose(1, 2), targets)  # (N, V, T) against (N, T)

    def mended(logits, targets):
        real = targets != PAD  # (N, T)
        return F.cross_entropy(logits[real], targets[real])

    def judge(loss):
        logits, targets = torch.randn(1, 5, 7), torch.tensor([[5, 6, 3, PAD, PAD]])
        assert equal(loss(logits, targets), loss(logits[:, :3], targets[:, :3]))
        loss(torch.randn(2, 5, 7), torch.tensor([[5, 6, 3, PAD, PAD], [4, 6, 5, 2, 3]]))
        right = F.one_hot(targets, 7).to(logits)  # (N, T, V)
        assert loss(50 * right, targets) < 1e-9 < 20 < loss(-50 * right, targets)

    def demo(loss):
        logits, targets = torch.zeros(1, 4, 4), torch.tensor([[1, 2, PAD, PAD]])
        logits[:, 2:, PAD] = 50.0  # sure of the padding, and of nothing else
        short_one = loss(logits[:, :2], targets[:, :2]).item()
        return f"loss {short_one:.2f}, with two places of padding {loss(logits, targets):.2f}"


@exhibit(WRONG, SUM_OF_LOSSES, task="token_loss")
class loss_to_compare:
    """The loss is a sum over tokens, so that it measures the size of the batch.

    Twice the batch, twice the loss: two runs cannot be compared. The gradient grows along, and with
    plain SGD a learning rate that suits one batch is wrong for one of another size.
    """

    test = "the loss is the same when every sentence comes twice, and ln V for equal logits"
    shows = "loss 2.77, the batch twice: 5.55"

    def wrong(logits, targets):
        real = targets != PAD  # (N, T)
        return F.cross_entropy(logits[real], targets[real], reduction="sum")

    mend = {', reduction="sum"': ""}

    def judge(loss):
        logits, targets = torch.randn(2, 3, 7), torch.tensor([[5, 6, 3], [4, 3, PAD]])
        assert equal(loss(logits, targets), loss(logits.repeat(2, 1, 1), targets.repeat(2, 1)))
        for V in (7, 9):
            answer = loss(torch.zeros(2, 3, V), targets)
            assert equal(answer, torch.tensor(V).log())

    def demo(loss):
        logits, targets = torch.zeros(1, 2, 4), torch.tensor([[1, 2]])
        twice = loss(logits.repeat(2, 1, 1), targets.repeat(2, 1))
        return f"loss {loss(logits, targets):.2f}, the batch twice: {twice:.2f}"


@exhibit(WRONG, "classrooms", task="smoothed_targets")
class smooth_the_target:
    """Smoothing gives a share of the probability to padding, which no sentence should contain.

    `F.cross_entropy(label_smoothing=0.1)` does so as well. In a vocabulary of thousands, with
    padding forbidden when the model writes, that is harmless: 0.1 / V. With a small vocabulary the
    model learns to want padding.
    """

    test = "the column of padding is 0, every row sums to 1, and the right token has the most"
    shows = "4 tokens, smoothing 0.3: [0.1, 0.1, 0.7, 0.1]"

    def wrong(targets, V, smoothing):
        P = torch.full((len(targets), V), smoothing / (V - 1))
        P[range(len(targets)), targets] = 1 - smoothing
        return P

    def mended(targets, V, smoothing):
        P = torch.full((len(targets), V), smoothing / (V - 2))
        P[:, PAD] = 0.0
        P[range(len(targets)), targets] = 1 - smoothing
        return P

    view = None

    def judge(smooth):
        for targets, V, smoothing in (([2, 3], 5, 0.1), ([1, 6, 4], 7, 0.3)):
            P = smooth(torch.tensor(targets), V, smoothing)
            assert P.shape == (len(targets), V) and (P[:, PAD] == 0).all()
            assert equal(P.sum(-1), torch.ones(len(targets))) and P.argmax(-1).tolist() == targets
            assert ((P.amax(-1) - (1 - smoothing)).abs() <= smoothing / (V - 1)).all()

    def demo(smooth):
        return f"4 tokens, smoothing 0.3: {to_digits(smooth(torch.tensor([2]), 4, 0.3)[0])}"


@exhibit(WRONG, "classrooms", task="smoothed_loss")
class loss_with_smoothing:
    """One half of the smoothed loss leaves padding out, the other half counts it.

    `ignore_index` guards the term of the right word. The term of all words is written by hand, and
    its mean runs over every place.
    """

    test = "the loss is the same when padding is added, and without padding that of PyTorch"
    shows = "loss 1.39, with two places of padding 3.19"

    def wrong(logits, targets, smoothing):
        log_p = logits.log_softmax(dim=-1)  # (N, T, V)
        right = F.nll_loss(log_p.transpose(1, 2), targets, ignore_index=PAD)  # (N, V, T)
        return (1 - smoothing) * right - smoothing * log_p.mean()

    def mended(logits, targets, smoothing):
        real = targets != PAD  # (N, T)
        log_p = logits[real].log_softmax(dim=-1)  # (tokens, V)
        right = F.nll_loss(log_p, targets[real])
        return (1 - smoothing) * right - smoothing * log_p.mean()

    def judge(loss):
        logits, targets = torch.randn(1, 5, 7), torch.tensor([[5, 6, 3, PAD, PAD]])
        assert equal(loss(logits, targets, 0.1), loss(logits[:, :3], targets[:, :3], 0.1))
        for smoothing in (0.0, 0.2):
            theirs = F.cross_entropy(logits[0, :3], targets[0, :3], label_smoothing=smoothing)
            assert equal(loss(logits, targets, smoothing), theirs)

    def demo(loss):
        logits, targets = torch.zeros(1, 4, 4), torch.tensor([[1, 2, PAD, PAD]])
        logits[:, 2:, PAD] = 50.0  # sure of the padding, and of nothing else
        plain = loss(logits[:, :2], targets[:, :2], 0.1)
        return f"loss {plain:.2f}, with two places of padding {loss(logits, targets, 0.1):.2f}"


@exhibit(LUCKY, KERAS_TRANSLATOR)
class logits_of_a_pair:
    """Source and target are swapped, so that the encoder reads the answer.

    The encoder has no causal mask, and the model is trained in the wrong direction besides. With
    T = S even the shapes agree.
    """

    test = "T rows, with T different from S; another source moves them, a later token does not"
    shows = "T = 3, S = 3: 3 rows, see the future: True; T = 3, S = 5: 5 rows"

    def wrong(model, source, target):
        return model(target, source)  # (N, T, V)

    mend = {"target, source": "source, target"}

    def judge(logits):
        model = Transformer(TransformerConfig(12, 8, 2, d_ff=16, num_layers=1, dropout=0.0))
        source, other = torch.randint(4, 12, (2, 2, 5))
        target = torch.randint(4, 12, (2, 3))
        Z = logits(model, source, target)
        assert Z.shape == (2, 3, 12) and not equal(logits(model, other, target), Z)
        changed = torch.cat([target[:, :2], (target[:, 2:] - 3) % 8 + 4], dim=1)  # (N, T)
        after = logits(model, source, changed)
        assert equal(after[:, :2], Z[:, :2]) and not equal(after[:, 2], Z[:, 2])

    def demo(logits):
        model = Transformer(TransformerConfig(12, 8, 2, d_ff=16, num_layers=1, dropout=0.0))
        source, target = torch.randint(4, 12, (2, 5)), torch.tensor([[4, 5, 6], [7, 8, 9]])
        changed = target + torch.tensor([0, 0, 1])  # another last token
        before, after = (logits(model, source[:, :3], ids) for ids in (target, changed))
        peeks = not equal(before[:, :2], after[:, :2])
        return (
            f"T = 3, S = 3: {before.shape[1]} rows, see the future: {peeks}; "
            f"T = 3, S = 5: {logits(model, source, target).shape[1]} rows"
        )
