"""What a page prints and nobody ran, and what looks right only where it was tried."""

import math

import torch
import torch.nn.functional as F

from tutor.attention import MultiHeadAttention, causal_mask
from tutor.museum.exhibit import CRASHES, LUCKY, Page, agree, exhibit, what_happens
from tutor.museum.places import (
    KOSMIDER,
    KOSMIDER_DEMO,
    KOSMIDER_MENDED,
    KOSMIDER_RELEASE,
    KZAJAC97,
    LEPELAARS,
    WORDEN,
)
from tutor.text.multi30k import PAIRS


@exhibit(CRASHES, KOSMIDER, crash=IndexError)
class look_up_words:
    """Ids may be as large as the number of rows; they must be smaller, for rows count from 0.

    "No bigger than the number of rows", said a text, and a guard was written from it. The id that
    equals the number passes the guard and falls off the table.
    """

    test = "give the last id that is allowed, and the next"
    shows = "IndexError: index 8 is out of bounds"

    def wrong(ids, table):
        if ids.max() > len(table):
            raise ValueError(f"Ids must not be bigger than {len(table)}.")
        return table[ids]  # (T, d_model)

    def mended(ids, table):
        if ids.max() >= len(table):
            raise ValueError(f"Ids must be below {len(table)}, the number of rows.")
        return table[ids]  # (T, d_model)

    def judge(look_up):
        table = torch.eye(8)
        assert agree(look_up(torch.tensor([7]), table), table[7:])
        assert what_happens(lambda: look_up(torch.tensor([8]), table)).startswith("ValueError")

    def demo(look_up):
        return what_happens(lambda: look_up(torch.tensor([8]), torch.eye(8)))


@exhibit(CRASHES, WORDEN, crash=TypeError)
class scores_of_words:
    """`transpose()` is called without dimensions; in torch it must be told which two to swap.

    In NumPy the call is legal and reverses all dimensions, which is not wanted either: a batch
    would end up last. Code that was written for NumPy and renamed carries it along.
    """

    test = "run it once"
    shows = "TypeError: transpose() missing 2 required positional argument"

    def wrong(Q, K):
        return Q @ K.transpose()  # (N, T, S)

    def mended(Q, K):
        return Q @ K.transpose(-2, -1)  # (N, T, S)

    def judge(scores):
        assert scores(torch.ones(2, 3, 4), torch.ones(2, 5, 4)).shape == (2, 3, 5)

    def demo(scores):
        return what_happens(lambda: scores(torch.ones(2, 3, 4), torch.ones(2, 5, 4)).shape)


@exhibit(CRASHES, WORDEN, crash=AttributeError)
class weights_from_scores:
    """`nn.softmax` does not exist; the function is `F.softmax` or a method, the layer `nn.Softmax`.

    `torch.nn` holds layers, `torch.nn.functional` functions. One run would have told them apart.
    """

    test = "run it once"
    shows = "AttributeError: module 'torch.nn' has no attribute 'softmax'"

    def wrong(E):
        return torch.nn.softmax(E, dim=-1)  # (N, T, S)

    def mended(E):
        return torch.nn.functional.softmax(E, dim=-1)  # (N, T, S)

    def judge(weights):
        assert agree(weights(torch.zeros(2, 3, 4)), torch.full((2, 3, 4), 1 / 4))

    def demo(weights):
        return what_happens(lambda: weights(torch.zeros(1, 4)).tolist())


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
        Q = torch.ones(2, 3, 4, requires_grad=True)
        scores(Q, torch.ones(2, 5, 4)).sum().backward()
        assert agree(Q.grad, torch.full((2, 3, 4), 5.0))

    def demo(scores):
        Q = torch.ones(2, 3, 4, requires_grad=True)
        return what_happens(lambda: scores(Q, Q).shape)


@exhibit(CRASHES, LEPELAARS, crash=TypeError)
class factor_of_embeddings:
    """torch is asked for the square root of a Python number; that is what `math.sqrt` is for.

    The width of a model is an int and never becomes a tensor. The model fails as it is built.
    """

    test = "build the model once"
    shows = "TypeError: sqrt(): argument 'input' (position 1) must be Tensor, not int"

    def wrong(d_model):
        return torch.sqrt(d_model)

    def mended(d_model):
        return math.sqrt(d_model)

    def judge(factor):
        assert factor(64) == 8.0

    def demo(factor):
        return what_happens(lambda: factor(64))


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

        X = torch.ones(2, 3, 16)
        E = X @ X.transpose(-2, -1) / math.sqrt(16)  # (N, T, T)
    """)

    mended = Page("""
        import math

        import torch

        X = torch.ones(2, 3, 16)
        E = X @ X.transpose(-2, -1) / math.sqrt(16)  # (N, T, T)
    """)

    def judge(run_all):
        assert run_all()["E"].shape == (2, 3, 3)

    def demo(run_all):
        return what_happens(lambda: run_all()["E"].shape)


@exhibit(CRASHES, KOSMIDER_MENDED, crash=NameError)
class stack_of_layers:
    """The class was renamed, and the stack still asks for it by its old name.

    One half of the page used one name, the other half the other. Nothing notices until somebody
    builds the stack.
    """

    test = "restart, and run all cells from top to bottom"
    shows = "NameError: name 'TransformerEncoderLayer' is not defined"

    wrong = Page("""
        from torch import nn


        class EncoderLayer(nn.Linear):
            pass  # attention and feed-forward


        def encoder(num_layers, d_model):
            layers = [TransformerEncoderLayer(d_model, d_model) for _ in range(num_layers)]
            return nn.Sequential(*layers)
    """)

    mended = Page("""
        from torch import nn


        class EncoderLayer(nn.Linear):
            pass  # attention and feed-forward


        def encoder(num_layers, d_model):
            layers = [EncoderLayer(d_model, d_model) for _ in range(num_layers)]
            return nn.Sequential(*layers)
    """)

    def judge(run_all):
        assert len(run_all()["encoder"](6, 8)) == 6

    def demo(run_all):
        return what_happens(lambda: f"{len(run_all()['encoder'](6, 8))} layers")


@exhibit(CRASHES, KOSMIDER_MENDED, crash=TypeError)
class attend_with_a_mask:
    """The masks are passed by names that the called function does not have.

    The caller knows two masks, the called function one. Python checks names when the call happens,
    not before.
    """

    test = "call it once with every argument that it offers"
    shows = "got an unexpected keyword argument 'causal_mask'"

    def wrong(attention, X, hidden, padded):
        return attention(X, X, causal_mask=hidden, key_padding_mask=padded)  # (N, T, d_model)

    def mended(attention, X, hidden, padded):
        return attention(X, X, mask=hidden | padded)  # (N, T, d_model)

    def judge(attend):
        attention, X = MultiHeadAttention(d_model=8, num_heads=2), torch.randn(1, 3, 8)
        padded = torch.tensor([False, False, True])
        Y = attend(attention, X, causal_mask(3), padded)
        assert agree(Y, attention(X, X, causal_mask(3) | padded))

    def demo(attend):
        attention, X = MultiHeadAttention(d_model=8, num_heads=2), torch.ones(1, 3, 8)
        return what_happens(lambda: attend(attention, X, causal_mask(3), causal_mask(3)).shape)


@exhibit(CRASHES, LEPELAARS, crash=SyntaxError)
class words_and_places:
    """An object was lost in front of its brackets, so that the line is no Python at all.

    A search-and-replace can do that, or a hand that retypes code for the web, or a program that
    makes text of a page. If you copy the line, you find out at once; its author ran another.
    """

    test = "let Python parse it"
    shows = "SyntaxError"

    wrong = Page("""
        import torch
        from torch.autograd import Variable

        table = torch.arange(8.0)[:, None].expand(8, 4)  # (max_len, d_model)


        def add_places(X):
            return X + Variable([:, : X.shape[1]])
    """)

    mended = Page("""
        import torch

        table = torch.arange(8.0)[:, None].expand(8, 4)  # (max_len, d_model)


        def add_places(X):
            return X + table[: X.shape[1]]
    """)

    def judge(run_all):
        Y = run_all()["add_places"](torch.zeros(2, 3, 4))
        assert Y[:, :, 0].tolist() == [[0.0, 1.0, 2.0]] * 2

    def demo(run_all):
        answer = what_happens(lambda: run_all()["add_places"](torch.zeros(2, 3, 4)).shape)
        return answer.split(":")[0]  # each version of Python words it in its own way


@exhibit(CRASHES, LEPELAARS, crash=KeyError)
class ids_of_a_text:
    """The key of the result is misspelled.

    The output that the page printed below was right, so it came from other code. A page that is
    executed as a whole cannot have this mistake.
    """

    test = "run it once"
    shows = "KeyError: 'inputs_ids'"

    def wrong(tokenizer, text):
        return tokenizer(text)["inputs_ids"]

    def mended(tokenizer, text):
        return tokenizer(text)["input_ids"]

    def judge(ids):
        assert ids(lambda text: {"input_ids": [5, 6], "attention_mask": [1, 1]}, "hello") == [5, 6]

    def demo(ids):
        return what_happens(lambda: ids(lambda text: {"input_ids": [5, 6]}, "hello"))


@exhibit(CRASHES, WORDEN, crash=IndexError)
class add_the_places:
    """The table of positions has two dimensions and is indexed with three.

    Elsewhere the table has a first dimension of size 1, for the batch. Broadcasting makes it
    needless, but the index was copied along.
    """

    test = "run it once"
    shows = "IndexError: too many indices for tensor of dimension 2"

    def wrong(X, table):
        return X + table[:, : X.shape[1], :]  # (N, T, d_model)

    def mended(X, table):
        return X + table[: X.shape[1]]  # (N, T, d_model)

    def judge(add):
        table = torch.arange(8.0)[:, None].expand(8, 4)  # (max_len, d_model)
        assert add(torch.zeros(2, 3, 4), table)[:, :, 0].tolist() == [[0.0, 1.0, 2.0]] * 2

    def demo(add):
        return what_happens(lambda: add(torch.zeros(2, 3, 4), torch.ones(8, 4)).shape)


@exhibit(CRASHES, WORDEN, crash=RuntimeError)
class inputs_and_their_mask:
    """The mask is made from the whole target, and the model is fed all of it but the last token.

    The shift by one happens in the call, the mask is made two lines above. Make the mask from what
    the model gets, or inside the model.
    """

    test = "apply the mask to scores of the inputs"
    shows = "RuntimeError: The size of tensor a (5) must match the size of tensor b (4)"

    def wrong(target):
        mask = causal_mask(target.shape[1])
        return target[:, :-1], mask

    def mended(target):
        inputs = target[:, :-1]  # (N, T - 1)
        return inputs, causal_mask(inputs.shape[1])

    def judge(prepare):
        inputs, mask = prepare(torch.ones(2, 5, dtype=torch.long))
        T = inputs.shape[1]
        assert torch.zeros(2, T, T).masked_fill(mask, 1.0).sum() == 2 * T * (T - 1) / 2

    def demo(prepare):
        inputs, mask = prepare(torch.ones(2, 5, dtype=torch.long))
        T = inputs.shape[1]
        return what_happens(lambda: torch.zeros(2, T, T).masked_fill(mask, 1.0).shape)


@exhibit(CRASHES, WORDEN, crash=ValueError)
class load_the_pairs:
    """Multi30k is asked for Spanish, which it does not have.

    It has English, German, French and Czech. A page that names a corpus and shows no line of it
    may never have loaded it.
    """

    test = "load three lines and print them"
    shows = "ValueError: Multi30k has no pair 'en-es'"

    def wrong(load):
        return load("train", "en-es")

    def mended(load):
        return load("train", "en-fr")

    def judge(read):
        asked = []
        read(lambda split, pair: asked.append(pair))
        assert set(asked) <= set(PAIRS)

    def demo(read):
        def load(split, pair):
            if pair not in PAIRS:
                raise ValueError(f"Multi30k has no pair {pair!r}.")
            return f"the pair {pair} is there"

        return what_happens(lambda: read(load))


@exhibit(CRASHES, WORDEN, crash=ImportError)
class old_imports:
    """The page imports classes that its library removed years ago.

    `Field` and `BucketIterator` were set aside in torchtext 0.9 and removed in 0.12. Code that does
    not name the versions that it was tested with grows old fast.
    """

    test = "install from the page's own list of versions, and import"
    shows = "ImportError"

    wrong = Page("""
        from torchtext.data import BucketIterator, Field

        source = Field(init_token="[BOS]", eos_token="[EOS]", batch_first=True)
    """)

    mended = Page("""
        from tutor.text.batches import make_batch

        batch = make_batch([([5, 6], [7]), ([8], [9, 10])])
    """)

    def judge(run_all):
        run_all()

    def demo(run_all):
        try:
            return f"made: {[name for name in run_all() if name in ('source', 'batch')]}"
        except ImportError:  # with or without the library, which need not be here
            return "ImportError"


@exhibit(CRASHES, KZAJAC97, crash=IndexError)
class leftover_cell:
    """A cell was left behind that looks at a second sentence, and the batch has one.

    *Run all* stops here. On the page the cells below were numbered 87 and 222: it was not run in
    one go.
    """

    test = "restart, and run all cells from top to bottom"
    shows = "IndexError: index 1 is out of bounds for dimension 0 with size 1"

    wrong = Page("""
        import torch

        x = torch.rand(1, 4, 32)  # (N, T, d_model)
        shapes = x[0].shape, x[1].shape, len(x)
    """)

    mended = Page("""
        import torch

        x = torch.rand(1, 4, 32)  # (N, T, d_model)
        shapes = x.shape
    """)

    def judge(run_all):
        run_all()

    def demo(run_all):
        return what_happens(lambda: run_all()["shapes"])


@exhibit(CRASHES, KZAJAC97, crash=TypeError)
class transform_each_word:
    """The function has a heading and no body, so it returns None.

    On the page, the section was a heading with nothing below it. Python does not mind a function
    like that; the residual connection does.
    """

    test = "run it once, and look at the result's shape"
    shows = "TypeError: unsupported operand type(s) for +: 'Tensor' and 'NoneType'"

    def wrong(X, W_1, W_2):
        """The feed-forward network: two products with a ReLU between."""

    def mended(X, W_1, W_2):
        """The feed-forward network: two products with a ReLU between."""
        return F.relu(X @ W_1) @ W_2  # (N, T, d_model)

    def judge(transform):
        X, W_1, W_2 = -torch.ones(2, 3, 4), torch.ones(4, 8), torch.ones(8, 4)
        assert agree(X + transform(X, W_1, W_2), X)

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

    def judge(run_all):
        assert run_all()["hide"].__doc__

    def demo(run_all):
        doc = run_all()["hide"].__doc__
        return f"__doc__ is {doc if doc is None else ' '.join(doc.split())[:30] + '...'}"


@exhibit(LUCKY, KOSMIDER_DEMO)
class judge_a_translator:
    """The model is judged by a sentence that it was trained on.

    The translation looks perfect, and so does that of a phrase book. A page owes its readers a
    score on sentences that the model has never seen, BLEU for example.
    """

    test = "a phrase book of the training pairs must score 0"
    shows = "a phrase book scores 1.0"

    def wrong(translate, train_pairs, test_pairs):
        return sum(translate(x) == y for x, y in train_pairs) / len(train_pairs)

    def mended(translate, train_pairs, test_pairs):
        return sum(translate(x) == y for x, y in test_pairs) / len(test_pairs)

    def judge(score):
        train, test = [("a cat", "un chat")], [("a dog", "un chien")]
        assert score(dict(train).get, train, test) == 0

    def demo(score):
        train, test = [("a cat", "un chat")], [("a dog", "un chien")]
        return f"a phrase book scores {score(dict(train).get, train, test):.1f}"
