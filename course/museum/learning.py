"""Losses, targets and batches: what a model learns when nobody looks."""

import torch
import torch.nn.functional as F
from torch import nn

from course.museum.exhibit import LUCKY, WRONG, exhibit, to_digits
from course.museum.places import (
    KERAS_TRANSLATOR,
    LEFT_IN_EVAL,
    MICRO_BATCHES,
    PADDED_WITH_EOS,
    PLACES_OF_PADDING,
    SUM_OF_LOSSES,
    TWO_SOFTMAXES,
    TWO_STARTS,
    WARM_UP_BY_EPOCHS,
)
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
        for targets, V, smoothing in (([2, 3], 5, 0.1), ([1, 6, 4], 7, 0.3), ([3], 6, 0.2)):
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
        logits, targets = torch.randn(2, 5, 7), torch.tensor([[5, 6, 3, 0, 0], [4, 0, 0, 0, 0]])
        assert equal(loss(logits, targets, 0.1), loss(logits[:, :3], targets[:, :3], 0.1))
        real = targets != PAD
        for smoothing in (0.0, 0.2):
            theirs = F.cross_entropy(logits[real], targets[real], label_smoothing=smoothing)
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
        for V in (12, 13):
            model = Transformer(TransformerConfig(V, 8, 2, d_ff=16, num_layers=1, dropout=0.0))
            source, other = torch.randint(4, 12, (2, 2, 5))
            target = torch.randint(4, 12, (2, 3))
            Z = logits(model, source, target)
            assert Z.shape == (2, 3, V) and not equal(logits(model, other, target), Z)
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


@exhibit(LUCKY, MICRO_BATCHES)
class loss_in_pieces:
    """The mean of the pieces' means is taken, so that a token in a short piece counts for more.

    A batch that is too large for the memory is cut into micro-batches, and their gradients are
    added up. Each piece divides by its own number of tokens. Divide by the number in the whole
    batch: with equally many in each piece the two agree.
    """

    test = "the loss is that of the uncut batch, however it is cut"
    shows = "cut into 1 and 3: 0.69"

    def wrong(logits, targets, sizes):
        pieces = zip(logits.split(sizes), targets.split(sizes), strict=True)
        return sum(F.cross_entropy(Z, ids) for Z, ids in pieces) / len(sizes)

    mend = {"(Z, ids)": '(Z, ids, reduction="sum")', "/ len(sizes)": "/ len(targets)"}

    def judge(loss):
        for sizes in ([1, 4], [2, 3, 5], [4, 1, 2]):
            logits, targets = torch.randn(sum(sizes), 7), torch.randint(7, (sum(sizes),))
            assert equal(loss(logits, targets, sizes), F.cross_entropy(logits, targets))

    def demo(loss):
        logits, targets = 50.0 * F.one_hot(torch.tensor([0]), 4), torch.tensor([0, 1, 2, 3])
        logits = torch.cat([logits, torch.zeros(3, 4)])  # sure and right once, then no idea
        cuts = ([1, 3], [2, 2], [4])
        said = [f"cut into {' and '.join(map(str, cut))}" for cut in cuts]
        losses = [loss(logits, targets, cut).item() for cut in cuts]
        return ", ".join(f"{what}: {x:.2f}" for what, x in zip(said, losses, strict=True))


@exhibit(WRONG, TWO_SOFTMAXES)
class loss_of_outputs:
    """A softmax stands before `F.cross_entropy`, which takes the softmax of logits itself.

    Probabilities lie between 0 and 1, and as logits they hardly differ. So no answer has a loss
    near 0, a sure mistake costs little, and its gradient vanishes. The loss does fall.
    """

    test = "sure and right costs nothing; sure and wrong costs as much as one is sure"
    shows = "4 words, sure and right: 0.74, sure and wrong: 1.74"

    def wrong(outputs, targets):
        p = outputs.softmax(dim=-1)  # (tokens, V)
        return F.cross_entropy(p, targets)

    def mended(outputs, targets):
        return F.cross_entropy(outputs, targets)

    def judge(loss):
        for V in (4, 7):
            sure = 50.0 * torch.eye(V)
            assert loss(sure, torch.arange(V)) < 1e-9
            assert 45 < loss(sure, torch.arange(V).roll(1)) < 55
        loss(torch.randn(5, 6), torch.tensor([0, 3, 3, 5, 1]))

    def demo(loss):
        sure = 50.0 * torch.eye(4)
        right, wrong = (loss(sure, torch.arange(4).roll(n)).item() for n in (0, 1))
        return f"4 words, sure and right: {right:.2f}, sure and wrong: {wrong:.2f}"


@exhibit(WRONG, PADDED_WITH_EOS)
class labels_of_a_batch:
    """The end of a sentence is left out of the loss, because padding has the same id.

    Many tokenizers have no token for padding, so that people pad with [EOS]. Whoever then hides all
    that looks like padding hides the end as well, and the model never learns to stop. Hide by
    place, not by id.
    """

    test = "each sentence keeps exactly one end, and all of its words"
    shows = "labels [5, 6, -100, -100]"

    def wrong(ids, eos):
        return ids.masked_fill(ids == eos, -100)  # (N, T): -100 does not count

    mend = {"ids == eos,": "(ids == eos).cumsum(dim=1) > 1,"}

    def judge(labels):
        for eos in (2, 9):
            ids = torch.tensor([[5, 6, eos, eos, eos], [7, 3, 8, 4, eos]])
            told = labels(ids, eos)
            assert told.tolist() == [[5, 6, eos, -100, -100], [7, 3, 8, 4, eos]]

    def demo(labels):
        return f"labels {labels(torch.tensor([[5, 6, 2, 2]]), 2)[0].tolist()}"


@exhibit(WRONG, LEFT_IN_EVAL)
class loss_on_other_sentences:
    """The model is put into eval mode and never back, so that it trains on without dropout.

    The first validation comes after some steps, and from then on nothing is dropped. The training
    loss falls faster, and so the mistake looks like progress. Remember the mode, and restore it.
    """

    test = "the loss has no dropout in it, and afterwards the model is in the mode it was in"
    shows = "in training mode before: True, after: False"

    def wrong(model, X, Y):
        model.eval()
        with torch.no_grad():
            return F.mse_loss(model(X), Y)

    def mended(model, X, Y):
        was_training = model.training
        model.eval()
        with torch.no_grad():
            loss = F.mse_loss(model(X), Y)
        model.train(was_training)
        return loss

    def judge(validate):
        for mode, d in ((True, 8), (False, 5)):
            (X, Y), linear = torch.randn(2, 3, d), nn.Linear(d, d)  # each (N, d)
            model = nn.Sequential(linear, nn.Dropout(0.5)).train(mode)
            assert equal(validate(model, X, Y), F.mse_loss(linear(X), Y))
            assert model.training == mode

    def demo(validate):
        model, (X, Y) = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)), torch.randn(2, 3, 8)
        before = model.training
        validate(model, X, Y)
        return f"in training mode before: {before}, after: {model.training}"


@exhibit(WRONG, WARM_UP_BY_EPOCHS)
class shares_of_the_rate:
    """The warm-up is counted in epochs where steps are meant, and it never ends.

    A schedule moves when its `step` is called. Called once an epoch, with a warm-up of 4000, it
    reaches the full learning rate after 4000 epochs, and the model hardly learns.
    """

    test = "step s has the share s / warm-up, whatever the number of batches in an epoch"
    shows = "10 epochs of 400 steps, warm-up 4000: at the end 0.2 %"

    def wrong(warm_up, epochs, batches):
        shares = []
        for epoch in range(epochs):
            for _ in range(batches):
                shares.append(min(1.0, (epoch + 1) / warm_up))
        return shares

    mend = {"(epoch + 1)": "(len(shares) + 1)"}

    def judge(shares):
        for warm_up, epochs, batches in ((5, 2, 4), (4, 3, 2)):
            steps = range(1, epochs * batches + 1)
            told = torch.tensor(shares(warm_up, epochs, batches))
            assert equal(told, torch.tensor([min(1.0, s / warm_up) for s in steps]))

    def demo(shares):
        at_the_end = shares(4000, 10, 400)[-1]
        return f"10 epochs of 400 steps, warm-up 4000: at the end {100 * at_the_end:.1f} %"


@exhibit(LUCKY, PLACES_OF_PADDING)
class places_of_tokens:
    """Padding on the left is counted, so that a short sentence does not begin at place 0.

    A model that writes is padded on the left, and a mask hides the padding from attention. The
    positions know nothing of masks. Without padding, or with padding on the right, all is well.
    """

    test = "the first token of each sentence stands at 0, however much padding precedes it"
    shows = "two of padding, then places [2, 3, 4]"

    def wrong(real):
        N, T = real.shape  # 1 for a token, 0 for padding
        return torch.arange(T).expand(N, T)

    def mended(real):
        return (real.cumsum(dim=1) - 1).clamp(min=0)  # (N, T)

    def view(places, real):  # what stands at padding is hidden from all
        return places[real == 1]

    def judge(places):
        for lengths in ([4, 2, 3], [1, 5]):
            T = max(lengths)
            real = torch.tensor([[0] * (T - n) + [1] * n for n in lengths])  # (N, T)
            told = [row[-n:].tolist() for row, n in zip(places(real), lengths, strict=True)]
            assert told == [list(range(n)) for n in lengths] and places(real).min() >= 0
        assert places(torch.tensor([[1, 1, 0]]))[0, :2].tolist() == [0, 1]

    def demo(places):
        return (
            f"two of padding, then places {places(torch.tensor([[0, 0, 1, 1, 1]]))[0, 2:].tolist()}"
        )


def to_lengths(text, add_start=True):
    """A tokenizer: the length of each word, 1 for [BOS], 7 for [USER]."""
    ids = [{"[BOS]": 1, "[USER]": 7}.get(word) or len(word) for word in text.split()]
    return [1] * add_start + ids


@exhibit(WRONG, TWO_STARTS)
class ids_of_a_question:
    """The template writes [BOS], and the tokenizer adds another.

    A chat template puts all special tokens into the text, and a tokenizer adds its own unless it is
    told not to. No model was trained on two starts. Most answer all the same, if not as well.
    """

    test = "the ids begin with one start, and a text without a template has one, too"
    shows = "ids [1, 1, 7, 4]"

    def wrong(text, template, encode):
        return encode(template(text))

    mend = {"(text))": "(text), False)"}

    def judge(ids_of):
        for text, lengths in (("a black horse", [1, 5, 5]), ("who rides", [3, 5])):
            assert ids_of(text, "[BOS] [USER] {}".format, to_lengths) == [1, 7, *lengths]
            assert ids_of(text, "[BOS] {}".format, to_lengths) == [1, *lengths]
        ids_of(
            "a black horse", "[BOS] {}".format, lambda *asked: [2 * id for id in to_lengths(*asked)]
        )

    def demo(ids_of):
        return f"ids {ids_of('look', '[BOS] [USER] {}'.format, to_lengths)}"
