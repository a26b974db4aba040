"""Code that is right and does too much. Work is counted, not timed."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from course.museum.exhibit import SLOW, exhibit
from course.museum.places import LEPELAARS
from tutor.attention import PAD
from tutor.proof import equal


class CallCounter:
    """A function that counts: its calls, and the rows of its first argument in all calls."""

    def __init__(self, function):
        self.function, self.calls, self.rows = function, 0, 0

    def __call__(self, *inputs):
        self.calls += 1
        self.rows += math.prod(getattr(inputs[0], "shape", ())[:-1])  # a vector is one
        return self.function(*inputs)


PRODUCTS = (torch.ops.aten.mm, torch.ops.aten.bmm, torch.ops.aten.addmm)


class ProductCounter(TorchDispatchMode):
    """While it is on, counts matrix products, and T d V multiplications in one (T, d) (d, V)."""

    def __init__(self):
        super().__init__()
        self.products, self.multiplications = 0, 0

    def __torch_dispatch__(self, operation, types, inputs=(), options=None):
        result = operation(*inputs, **(options or {}))
        if operation.overloadpacket in PRODUCTS:
            self.products += 1
            self.multiplications += result.numel() * inputs[-2].shape[-1]
        return result


def count_multiplications(call):
    with ProductCounter() as counter:
        call()
    return counter.multiplications


@exhibit(SLOW, "classrooms")
class write_a_translation:
    """The encoder reads the same source again for every word that is written.

    The loop calls the whole model, because training does. The source does not change while one
    writes: read it once, before the loop.
    """

    test = "the encoder is called once"
    shows = "20 words: the encoder is called 20 times"

    def wrong(encode, next_word, source, length):
        words = []
        for _ in range(length):
            memory = encode(source)
            words.append(next_word(words, memory))
        return words

    def mended(encode, next_word, source, length):
        words = []
        memory = encode(source)
        for _ in range(length):
            words.append(next_word(words, memory))
        return words

    def judge(write):
        encode = CallCounter(sum)
        assert write(encode, lambda words, memory: len(words) + memory, [1, 2], 3) == [3, 4, 5]
        assert encode.calls == 1
        write(max, lambda words, memory: memory - len(words), [3, 5], 2)

    def demo(write):
        encode = CallCounter(sum)
        write(encode, lambda words, memory: memory, [1, 2], 20)
        return f"20 words: the encoder is called {encode.calls} times"


@exhibit(SLOW, "classrooms")
class keys_while_writing:
    """The keys of all words so far are computed anew in every step.

    A word's key never changes once it is written. Without a cache T words cost T (T + 1) / 2 rows,
    with one they cost T.
    """

    test = "T words cost T rows"
    shows = "20 words: 210 rows projected"

    def wrong(project, X):
        steps = []
        for t in range(1, len(X) + 1):
            steps.append(project(X[:t]))  # (t, d_k)
        return steps

    def mended(project, X):
        steps, cache = [], X.new_empty(0, X.shape[1])
        for t in range(1, len(X) + 1):
            cache = torch.cat([cache, project(X[t - 1 : t])])  # (t, d_k)
            steps.append(cache)
        return steps

    def judge(keys):
        X, project = torch.randn(6, 4), CallCounter(lambda X: 2 * X)
        assert all(equal(K, 2 * X[:t]) for t, K in enumerate(keys(project, X), start=1))
        assert project.rows == 6

    def demo(keys):
        project = CallCounter(lambda X: 2 * X)
        keys(project, torch.randn(20, 4))
        return f"20 words: {project.rows} rows projected"


@exhibit(SLOW, "classrooms")
class logits_while_writing:
    """The logits of all T places are computed, and all but the last are thrown away.

    Training needs them all, writing needs one. The vocabulary is the widest matrix of the model, so
    that this product is often the most expensive.
    """

    test = "the work does not grow with T"
    shows = "T = 50: 409600 multiplications"

    def wrong(Y, W):
        return (Y @ W.T)[:, -1]  # (N, T, V), then (N, V)

    mend = {"(Y @ W.T)[:, -1]  # (N, T, V), then": "Y[:, -1] @ W.T  #"}

    def judge(logits):
        Y, W = torch.randn(2, 50, 8), torch.randn(512, 8)
        for place in (50, 49):
            newest = torch.einsum("nd,vd->nv", Y[:, place - 1], W)  # (N, V)
            assert equal(logits(Y[:, :place], W), newest)
        one = count_multiplications(lambda: logits(Y[:, :1], W))
        assert count_multiplications(lambda: logits(Y, W)) == one

    def demo(logits):
        Y, W = torch.randn(2, 50, 8), torch.randn(512, 8)
        work = count_multiplications(lambda: logits(Y, W))
        return f"T = 50: {work} multiplications"


@exhibit(SLOW, "classrooms")
class vectors_of_words:
    """Rows are looked up by multiplying one-hot vectors; almost all of the work multiplies by 0.

    As an explanation of the embedding table it is right, and chapter 01 uses it so. As code it
    builds a matrix of T times V numbers to copy T rows.
    """

    test = "no product is needed"
    shows = "4 words of 1000: 32000 multiplications"

    def wrong(ids, W):
        S = F.one_hot(ids, len(W)).to(W.dtype)  # (T, V)
        return S @ W  # (T, d_model)

    def mended(ids, W):
        return W[ids]  # (T, d_model)

    def judge(embed):
        W = torch.randn(1000, 8)
        for words in ([3, 1, 4, 1], [5, 9]):
            ids = torch.tensor(words)
            assert equal(embed(ids, W), torch.stack([W[word] for word in words]))
            assert count_multiplications(lambda ids=ids: embed(ids, W)) == 0

    def demo(embed):
        ids, W = torch.tensor([3, 1, 4, 1]), torch.ones(1000, 8)
        return f"4 words of 1000: {count_multiplications(lambda: embed(ids, W))} multiplications"


@exhibit(SLOW, "classrooms")
class queries_of_all_heads:
    """A loop over the heads makes many small products where one large one does the same.

    The sum of the work is equal. But each call has a price of its own, and processors are fastest
    on large matrices.
    """

    test = "one product for all heads"
    shows = "8 heads: 8 products"

    def wrong(X, W, num_heads, product=torch.mm):
        return torch.stack([product(X, W_m) for W_m in W.chunk(num_heads, dim=1)])  # (h, T, d_k)

    mend = {
        "torch.stack([": "",
        "W_m) for W_m in": "W).unflatten(-1, (num_heads, -1))",
        " W.chunk(num_heads, dim=1)])": ".transpose(0, 1)",
    }

    def judge(queries):
        X, W = torch.randn(3, 16), torch.randn(16, 16)
        with ProductCounter() as counter:
            Q = queries(X, W, 4)  # (h, T, d_k)
        assert equal(Q[1], torch.mm(X, W[:, 4:8])) and counter.products == 1
        queries(X[:2], W[:, :15], 3)

    def demo(queries):
        product = CallCounter(torch.mm)
        queries(torch.ones(3, 16), torch.ones(16, 16), 8, product)
        return f"8 heads: {product.calls} products"


@exhibit(SLOW, LEPELAARS)
class layers_of_a_stack:
    """Each layer is made, copied, and the original thrown away.

    `deepcopy` is needed where one layer that somebody handed over becomes many. Around a layer that
    was made on the spot it only makes it twice. (Taken out of the loop it does worse: then all
    copies start with equal weights.)
    """

    test = "n layers are made for a stack of n"
    shows = "a stack of 6: 12 layers made or copied"

    def wrong(make, n):
        return nn.ModuleList(copy.deepcopy(make()) for _ in range(n))

    mend = {"copy.deepcopy(make()": "make("}

    view = None

    def judge(stack):
        layer = counted_layer()
        layers = stack(lambda: layer(4, 4), 3)
        assert len({tuple(one.weight.flatten().tolist()) for one in layers}) == 3
        assert layer.made == 3 and len(stack(lambda: layer(5, 5), 2)) == 2
        assert stack(lambda: layer(5, 5), 1)[0].weight.shape == (5, 5)

    def demo(stack):
        layer = counted_layer()
        stack(lambda: layer(4, 4), 6)
        return f"a stack of 6: {layer.made} layers made or copied"


def counted_layer():
    """A kind of nn.Linear that counts in `made` how many were made or copied."""

    class Layer(nn.Linear):
        made = 0

        def __init__(self, *sizes):
            super().__init__(*sizes)
            Layer.made += 1

        def __deepcopy__(self, memo):
            twin = Layer(self.in_features, self.out_features)
            twin.load_state_dict(self.state_dict())
            return twin

    return Layer


@exhibit(SLOW, "classrooms")
class loss_of_a_test_set:
    """The losses are added up as tensors, and each keeps its whole forward pass alive.

    Nobody calls `backward` on a test set, so nothing lets go of what it would need. The printed
    number is right, and memory grows with every batch. `item()` takes the number alone; better
    still, evaluate under `torch.no_grad()`.
    """

    test = "the sum has no gradient"
    shows = "after 10 batches the sum holds on to 10 of them"

    def wrong(losses):
        total = 0.0
        for loss in losses:
            total += loss
        return total

    mend = {"= loss": "= loss.item()"}

    def judge(add_up):
        W = torch.full((1,), 0.5, requires_grad=True)
        for numbers, right in (((1, 2, 3), 3.5), ((1, 4), 4.25)):
            total = add_up((W * x).square().sum() for x in numbers)
            assert not torch.is_tensor(total) or not total.requires_grad
            assert abs(total - right) < 1e-9

    def demo(add_up):
        W = torch.ones(1, requires_grad=True)
        total = add_up((W * x).square().sum() for x in range(10))
        waiting, held = [getattr(total, "grad_fn", None)], 0
        while waiting:
            node = waiting.pop()
            if node is not None:
                held += node.name() == "PowBackward0"
                waiting += [before for before, _ in node.next_functions]
        return f"after 10 batches the sum holds on to {held} of them"


@exhibit(SLOW, "classrooms")
class batches_of_sentences:
    """Every batch is padded to the longest sentence of the corpus; its own longest is enough.

    One long sentence makes all batches wide, and the work of attention grows with the square of
    the width. Sorting by length first saves once more.
    """

    test = "no batch is wider than its longest sentence"
    shows = "96 places for 30 words"

    def wrong(sentences, size):
        T = max(map(len, sentences))
        padded = [ids + [PAD] * (T - len(ids)) for ids in sentences]
        return [torch.tensor(padded[i : i + size]) for i in range(0, len(padded), size)]

    def mended(sentences, size):
        batches = []
        for i in range(0, len(sentences), size):
            group = sentences[i : i + size]
            T = max(map(len, group))
            batches.append(torch.tensor([ids + [PAD] * (T - len(ids)) for ids in group]))
        return batches

    def view(batches, *inputs):  # sorted by length will do, too
        return sorted(row[row != PAD].tolist() for batch in batches for row in batch)

    def judge(make):
        for sentences in ([[5], [6, 7], [8, 9, 5, 6], [7], [4]], [[4, 5], [6]]):
            batches = make(sentences, 2)
            words = torch.cat([batch[batch != PAD] for batch in batches])
            assert sorted(words.tolist()) == sorted(sum(sentences, []))
            assert all((b != PAD).any(dim=0).all() for b in batches)
            assert [len(b) for b in batches] == ([2, 2, 1] if len(sentences) == 5 else [2])
        assert len(make([[5], [6, 7], [8, 9, 5, 6]], 1)) == 3

    def demo(make):
        sentences = [[5] * length for length in (2, 3, 3, 3, 3, 2, 2, 12)]
        places = sum(batch.numel() for batch in make(sentences, 2))
        return f"{places} places for {sum(map(len, sentences))} words"
