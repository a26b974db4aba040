"""What a page prints and nobody ran, and what looks right only where it was tried."""

import math

import torch
import torch.nn.functional as F

from course.museum.exhibit import CRASHES, LUCKY, Page, exhibit, what_happens
from course.museum.places import (
    KOSMIDER,
    KOSMIDER_DEMO,
    KOSMIDER_RELEASE,
    KZAJAC97,
    LEPELAARS,
    WORDEN,
)
from tutor.attention import causal_mask
from tutor.proof import equal


@exhibit(CRASHES, KOSMIDER, crash=IndexError)
class look_up_words:
    """The guard lets through the number of rows and negative ids; rows count from 0.

    "No bigger than the number of rows", said a text; the guard, which is ours, believes it. The id
    that equals the number passes the guard and falls off the table. Negative ids pass it, too, and
    down to minus the number of rows they are served from the end of the table.
    """

    test = "give the last id that is allowed, the next, and -1; the last two must be refused"
    shows = "IndexError: index 8 is out of bounds"

    def wrong(ids, table):
        if ids.max() > len(table):
            raise ValueError(f"Ids must not be bigger than {len(table)}.")
        return table[ids]  # (T, d_model)

    mend = {
        "max() >": "min() < 0 or ids.max() >=",
        "not be bigger than {len(table)": "be from 0 to {len(table) - 1",
    }

    def judge(look_up):
        table = torch.randn(8, 9)
        for ids in ([7], [0, 6, 4]):
            assert equal(look_up(torch.tensor(ids), table), table[ids])
        for ids in ([8], [-1], [-2], [3, -1, 2], [0, 8, 2]):
            said = what_happens(lambda ids=ids: look_up(torch.tensor(ids), table))
            assert "Error: " in said  # of whatever kind

    def demo(look_up):
        return what_happens(lambda: look_up(torch.tensor([8]), torch.eye(8)))


@exhibit(CRASHES, WORDEN, crash=RuntimeError)
class scores_that_learn:
    """A NumPy function is applied to tensors that learn; NumPy knows nothing of gradients.

    `np.matmul` turns its arguments into arrays. As long as nothing requires a gradient this works,
    so that the forward pass may even be tested; inside a model it stops.
    """

    test = "run it once on parameters, and call `backward`"
    shows = "RuntimeError: Can't call numpy() on Tensor that requires grad"

    def wrong(Q, K):
        import numpy as np

        return np.matmul(Q, K.transpose(-2, -1))  # (N, T, S)

    def mended(Q, K):
        return torch.matmul(Q, K.transpose(-2, -1))  # (N, T, S)

    def judge(scores):
        for T in (3, 4):
            Q, K = torch.randn(2, T, 4, requires_grad=True), torch.randn(2, 5, 4)
            E = scores(Q, K)
            E.sum().backward()
            assert equal(E, torch.einsum("ntd,nsd->nts", Q, K))  # (N, T, S)
            assert equal(Q.grad, K.sum(1, keepdim=True).expand(2, T, 4))

    def demo(scores):
        Q = torch.ones(2, 3, 4, requires_grad=True)
        return what_happens(lambda: scores(Q, Q).shape)


@exhibit(CRASHES, LEPELAARS, crash=NameError)
class first_scores:
    """`math` is used and never imported.

    In a long session a name lives on after its cell was deleted. For the reader, who starts with an
    empty session, it does not exist.
    """

    test = "restart, and run all cells from top to bottom"
    shows = "NameError: name 'math' is not defined"

    wrong = Page("""
        import torch

        X = torch.arange(96.0).reshape(2, 3, 16)  # (N, T, d_model)
        E = X @ X.transpose(-2, -1) / math.sqrt(16)  # (N, T, T)
    """)

    mended = Page("""
        import math

        import torch

        X = torch.arange(96.0).reshape(2, 3, 16)  # (N, T, d_model)
        E = X @ X.transpose(-2, -1) / math.sqrt(16)  # (N, T, T)
    """)

    view = None

    def judge(run_all):
        X = torch.arange(96.0).reshape(2, 3, 16)  # (N, T, d_model)
        assert equal(run_all()["E"], torch.einsum("ntd,nsd->nts", X, X) / 4)  # (N, T, T)

    def demo(run_all):
        return what_happens(lambda: run_all()["E"].shape)


@exhibit(CRASHES, WORDEN, crash=RuntimeError)
class inputs_and_their_mask:
    """The mask is made from the whole target, and the model is fed all of it but the last token.

    The shift by one happens in the call, the mask is made two lines above. Make the mask from what
    the model gets, or inside the model.
    """

    test = "the mask has one row and one column for each token of the inputs, at two lengths"
    shows = "RuntimeError: The size of tensor a (5) must match the size of tensor b (4)"

    def wrong(target):
        mask = causal_mask(target.shape[1])
        return target[:, :-1], mask

    def mended(target):
        inputs = target[:, :-1]  # (N, T - 1)
        return inputs, causal_mask(inputs.shape[1])

    def judge(prepare):
        for T in (4, 6):
            target = torch.arange(3, T + 4).repeat(2, 1)  # (N, T + 1)
            inputs, mask = prepare(target)
            assert inputs.tolist() == target[:, :T].tolist()
            assert mask.tolist() == [[key > row for key in range(T)] for row in range(T)]

    def demo(prepare):
        inputs, mask = prepare(torch.ones(2, 5, dtype=torch.long))
        T = inputs.shape[1]
        return what_happens(lambda: torch.zeros(2, T, T).masked_fill(mask, 1.0).shape)


@exhibit(CRASHES, KZAJAC97, crash=TypeError)
class transform_each_word:
    """The function has a heading and no body, so it returns None.

    On the page, the section was a heading above an empty cell; the function is ours. Python does
    not mind one like that; the residual connection does.
    """

    test = "add the result to X, and compare with a sum written out"
    shows = "TypeError: unsupported operand type(s) for +: 'Tensor' and 'NoneType'"

    def wrong(X, W_1, W_2):
        """The feed-forward network: two products with a ReLU between."""

    def mended(X, W_1, W_2):
        """The feed-forward network: two products with a ReLU between."""
        return F.relu(X @ W_1) @ W_2  # (N, T, d_model)

    def judge(transform):
        for T in (3, 5):
            X, W_1, W_2 = torch.randn(2, T, 4), torch.randn(4, 8), torch.randn(8, 4)
            Y = X + torch.einsum("ntf,fd->ntd", F.relu(X @ W_1), W_2)  # (N, T, d_model)
            assert equal(X + transform(X, W_1, W_2), Y)

    def demo(transform):
        X, W_1, W_2 = torch.ones(2, 3, 4), torch.ones(4, 8), torch.ones(8, 4)
        return what_happens(lambda: (X + transform(X, W_1, W_2)).shape)


@exhibit(LUCKY, f"{KOSMIDER}; {KOSMIDER_RELEASE}")
class mask_with_a_help_text:
    """The description stands before the `def`, so it does not belong to the function.

    It reads well in the file. `help`, the editor and the documentation show nothing.
    """

    test = "`help(function)` shows the text"
    shows = "__doc__ is None"

    wrong = Page('''
        """
        causal_mask - a T by T boolean mask, where True means do not attend.
        """
        def hide(scores, causal_mask):
            return scores.masked_fill(causal_mask, float("-inf"))
    ''')

    mended = Page('''
        def hide(scores, causal_mask):
            """
            causal_mask - a T by T boolean mask, where True means do not attend.
            """
            return scores.masked_fill(causal_mask, float("-inf"))
    ''')

    view = None

    def judge(run_all):
        hide = run_all()["hide"]
        assert hide(torch.ones(2, 2), causal_mask(2)).tolist() == [[1.0, -math.inf], [1.0, 1.0]]
        assert "True means do not attend" in (hide.__doc__ or "")

    def demo(run_all):
        doc = run_all()["hide"].__doc__
        return f"__doc__ is {doc if doc is None else ' '.join(doc.split())[:30] + '...'}"


@exhibit(LUCKY, KOSMIDER_DEMO)
class judge_a_translator:
    """The model is judged by a sentence that it was trained on.

    The translation looks perfect, and so does that of a phrase book. A page owes its readers a
    score on sentences that the model has never seen, BLEU for example.
    """

    test = "a phrase book of the training pairs must score 0, and one that knows half the test 0.5"
    shows = "a phrase book scores 1.0"

    def wrong(translate, train_pairs, test_pairs):
        return sum(translate(x) == y for x, y in train_pairs) / len(train_pairs)

    mend = {"train_pairs) / len(train_pairs": "test_pairs) / len(test_pairs"}

    def judge(score):
        train, test = [("a cat", "un chat")], [("a dog", "un chien"), ("a cow", "une vache")]
        assert score(dict(train).get, train, test) == 0
        assert score(dict(test[:1]).get, train, test) == 0.5
        score(dict(test).get, train, [*test, *train])

    def demo(score):
        train, test = [("a cat", "un chat")], [("a dog", "un chien")]
        return f"a phrase book scores {score(dict(train).get, train, test):.1f}"
