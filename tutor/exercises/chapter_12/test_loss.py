"""A test of a loss over the next tokens."""

import torch.nn.functional as F

from tutor.attention import PAD
from tutor.check.exercise import TEST, Exercise


def _loss(inputs=lambda ids: ids[:, :-1], answers=lambda ids: ids[:, 1:], **options):
    """A loss that gives a model some columns and asks it for others."""

    def loss(model, ids):
        return F.cross_entropy(
            model(inputs(ids)).flatten(0, 1), answers(ids).flatten(), ignore_index=PAD, **options
        )

    return loss


def _token_after_token(model, ids):
    losses = [
        F.cross_entropy(model(ids[:, :t])[:, -1], ids[:, t], ignore_index=PAD, reduction="sum")
        for t in range(1, ids.shape[1])
    ]
    return sum(losses) / (ids[:, 1:] != PAD).sum()


def _losses(model, ids):
    """The loss of each place, (N, T - 1), and which places count."""
    log_p = model(ids[:, :-1]).log_softmax(-1)
    losses = -log_p.gather(-1, ids[:, 1:, None])[..., 0]
    return losses, ids[:, 1:] != PAD


def _chosen_by_mask(model, ids):
    losses, real = _losses(model, ids)
    return losses[real].mean()


def _sentence_by_sentence(model, ids):
    losses, real = _losses(model, ids)
    return ((losses * real).sum(-1) / real.sum(-1)).mean()


def _over_all_places(model, ids):
    losses, real = _losses(model, ids)
    return (losses * real).mean()


test_loss = Exercise(
    name="test_loss",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=TEST,
    title="Test a loss",
    goal="Test a loss with a model made by hand, of which you know what it must get.",
    difficulty=4,
    importance=5,
    minutes=12,
    text="""\
Write the test of a loss that teaches a model to say the next token. It gets a model and ids; it is
the mean of the cross-entropy over all tokens that are to be predicted, padding not counted.

You need no trained model: any function from ids (N, T) to logits (N, T, 10) will do, if row $t$
depends on the ids up to $t$ alone. A loss may give it fewer columns than you have, so the function
has to look at the ids that it gets. There are three right losses and eight mutants.""",
    hints=(
        "A model that knows nothing is useful: with logits of zeros each token costs $\\ln 10$. So "
        "is one that always says id + 1, for a sentence that counts up.",
        "One model does it all: a table of random logits, `W = torch.randn(10, 10)`, with "
        "`lambda ids: W[ids]`. Then the loss of `b` after `a` is `-W[a].log_softmax(-1)[b]`.",
        "Take two sentences of different lengths, filled up with 0. Go through each, "
        "`zip(sentence, sentence[1:])`, leave out pairs whose second is 0, and compare the mean of "
        "all pairs with the loss, by `torch.isclose`.",
    ),
    stub='''\
def test_loss(loss):
    """Raises AssertionError if loss is wrong.

    loss: from a model and ids to one number, a float tensor
        model: function from ids (N, t) to float logits (N, t, 10)
        ids: integer tensor (N, T), whole sentences; 0 is padding behind them
    """
    raise NotImplementedError
''',
    solution='''\
def test_loss(loss):
    """Raises AssertionError if loss is wrong."""
    W = torch.randn(10, 10)  # logits of the next token, a row for each token
    ids = torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]])
    losses = [
        -W[a].log_softmax(-1)[b]
        for sentence in ids
        for a, b in zip(sentence, sentence[1:])
        if b != 0
    ]
    wanted = sum(losses) / len(losses)
    assert torch.isclose(loss(lambda ids: W[ids], ids), wanted)
''',
    because="A model made by hand is the cheapest judge of a loss.",
    twins={
        "cuts off the last column for the model and the first for the answers": _loss(),
        "asks the model for one token after another": _token_after_token,
        "chooses the places that count with a mask": _chosen_by_mask,
    },
    mutants={
        "compares each output with the token that was read": _loss(
            lambda ids: ids, lambda ids: ids
        ),
        "asks for the token before": _loss(lambda ids: ids[:, 1:], lambda ids: ids[:, :-1]),
        "asks for the token after the next": _loss(lambda ids: ids[:, :-2], lambda ids: ids[:, 2:]),
        "counts padding as a token to be predicted": lambda model, ids: _losses(model, ids)[
            0
        ].mean(),
        "never asks for the last column": _loss(lambda ids: ids[:, :-2], lambda ids: ids[:, 1:-1]),
        "adds up and takes no mean": _loss(reduction="sum"),
        "divides by the number of all places, padding included": _over_all_places,
        "takes the mean of each sentence, and then the mean of these": _sentence_by_sentence,
    },
    wrong={
        """\
def test_loss(loss):
    def counts_up(ids):
        return 20.0 * F.one_hot(ids + 1, 10)

    assert loss(counts_up, torch.tensor([[1, 2, 3, 4]])) < 0.01
""": "counts padding as a token",
        """\
def test_loss(loss):
    def knows_nothing(ids):
        return torch.zeros(*ids.shape, 10)

    ids = torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]])
    assert abs(loss(knows_nothing, ids) - math.log(10)) < 1e-4
""": "compares each output with the token that was read",
        """\
def test_loss(loss):
    def counts_up(ids):
        return 20.0 * F.one_hot(ids + 1, 10)

    def knows_nothing(ids):
        return torch.zeros(*ids.shape, 10)

    ids = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
    assert loss(counts_up, ids) < 0.01
    assert abs(loss(knows_nothing, ids) - math.log(10)) < 1e-4
""": "never asks for the last column",
        """\
def test_loss(loss):
    W = torch.randn(10, 10)
    ids = torch.tensor([[1, 5, 3, 9, 0, 0]])
    wanted = sum(-W[a].log_softmax(-1)[b] for a, b in [(1, 5), (5, 3), (3, 9)]) / 3
    assert torch.isclose(loss(lambda ids: W[ids], ids), wanted)
""": "never asks for the last column",
        """\
def test_loss(loss):
    W = torch.randn(10, 10)
    ids = torch.tensor([[1, 5, 3, 9, 0], [1, 4, 2, 5, 0], [1, 6, 2, 4, 7]])
    for sentence in ids:
        n = (sentence != 0).sum()
        s = sentence[:n]
        wanted = F.cross_entropy(W[s[:-1]], s[1:])
        assert torch.isclose(loss(lambda ids: W[ids], sentence[None]), wanted)
""": "lets 1 of 8 wrong functions pass. It is one that takes the mean of each sentence",
        """\
def test_loss(loss):
    ids = torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]])
    Z = torch.randn(2, 4, 10)
    wanted = F.cross_entropy(Z.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
    assert torch.isclose(loss(lambda ids: Z, ids), wanted)
""": "fails a right function, one that asks the model for one token after another",
        """\
def test_loss(loss):
    ids = torch.tensor([[1, 2, 3, 4]])
    assert loss(lambda ids: F.one_hot(ids + 1, 10), ids) < 0.01
""": "crashes on a right function",
        """\
def test_loss(loss):
    W = torch.randn(10, 10)
    ids = torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]])
    wanted = F.cross_entropy(W[ids].flatten(0, 1), ids.flatten(), ignore_index=0)
    assert torch.isclose(loss(lambda ids: W[ids], ids), wanted)
""": "And it passes a function that compares each output with the token that was read",
        """\
def test_loss(loss):
    W = torch.randn(10, 10)
    ids = torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]])
    wanted = F.cross_entropy(W[ids[:, :-1]].flatten(0, 1), ids[:, 1:].flatten())
    assert torch.isclose(loss(lambda ids: W[ids], ids), wanted)
""": "And it passes a function that counts padding",
        """\
def test_loss(loss):
    W = torch.randn(10, 10)
    value = loss(lambda ids: W[ids], torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]]))
    assert value.shape == () and value > 0
""": "wrong functions pass",
        """\
def test_loss(loss):
    W = torch.randn(10, 10)
    ids = torch.tensor([[1, 5, 3, 9, 2]])
    wanted = F.cross_entropy(W[ids[0, :-1]], ids[0, 1:])
    return loss(lambda ids: W[ids], ids) - wanted
""": "returns a tensor",
        """\
def test_loss(loss):
    def parrot(ids):
        return 20.0 * F.one_hot(ids, 10)

    assert loss(parrot, torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])) > 1
""": "asks for the token before",
    },
    right=(
        """\
def test_loss(loss):
    W = torch.randn(10, 10, dtype=torch.double)
    ids = torch.tensor([[1, 5, 3, 9, 2], [1, 4, 2, 0, 0]])
    answers = ids[:, 1:].flatten()
    wanted = F.cross_entropy(W[ids[:, :-1].flatten()], answers, ignore_index=0)
    return torch.isclose(loss(lambda ids: W[ids], ids), wanted)
""",
        """\
def test_loss(loss):
    def counts_up(ids):
        return 20.0 * F.one_hot(ids + 1, 10)

    def knows_nothing(ids):
        return torch.zeros(*ids.shape, 10)

    assert loss(counts_up, torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])) < 0.01
    assert abs(loss(knows_nothing, torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])) - 2.302585) < 1e-3
    # one of four tokens costs 20, the last one
    assert abs(loss(counts_up, torch.tensor([[1, 2, 3, 9], [5, 6, 0, 0]])) - 5) < 1e-3
""",
    ),
)
