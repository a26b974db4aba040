"""Building a model: what goes wrong when layers, tables and adapters become one."""

import torch
import torch.nn.functional as F
from torch import nn

from course.museum.exhibit import LUCKY, WRONG, exhibit
from course.museum.places import (
    DEAD_PROJECTION,
    LOST_TIE,
    ONE_LAYER_MANY_TIMES,
    PLACES_OF_SENTENCES,
    PLAIN_LIST,
)
from tutor.proof import equal


@exhibit(WRONG, PLACES_OF_SENTENCES)
class add_the_places:
    """The table of positions is cut by the size of the batch, and each sentence has one position.

    `X.size(0)` is the number of tokens if the sequence comes first, as in the tutorial from which
    the line is copied. Batch first, all words of a sentence are told the same place, and the model
    is blind to order.
    """

    test = "the words of one sentence get different positions, and all sentences the same ones"
    shows = "places of two sentences: [[0, 0, 0], [1, 1, 1]]"

    def wrong(X, P):
        return X + P[: X.size(0)]  # (N, T, d_model); P is (max_len, 1, d_model)

    def mended(X, P):
        return X + P[: X.size(1), 0]  # (N, T, d_model); P is (max_len, 1, d_model)

    def judge(add):
        for N, T in ((2, 3), (4, 5)):
            X, P = torch.randn(N, T, 8), torch.randn(9, 1, 8)
            assert equal(add(X, P) - X, P[:T, 0].expand(N, T, 8))

    def demo(add):
        places = add(torch.zeros(2, 3, 1), torch.arange(6.0)[:, None, None])  # (N, T, 1)
        return f"places of two sentences: {places[..., 0].int().tolist()}"


@exhibit(WRONG, PLAIN_LIST)
class stack_of_layers:
    """The layers stand in a plain Python list, where PyTorch does not look for parameters.

    The stack runs and its loss may fall, since what is around it learns. Its own layers are missing
    from `parameters()`, from the saved file and from `to(device)`.
    """

    test = "the stack has the parameters of n layers, and applies the layers in turn"
    shows = "3 layers: 0 parameters"

    def wrong(make, n):
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [make() for _ in range(n)]

            def forward(self, X):
                for layer in self.layers:
                    X = layer(X)
                return X

        return Stack()

    mend = {"[make() for _ in range(n)]": "nn.ModuleList([make() for _ in range(n)])"}

    view = None

    def judge(build):
        for n, N in ((2, 3), (3, 1)):
            made = []
            stack = build(lambda made=made: made.append(nn.Linear(4, 4)) or made[-1], n)
            Y = X = torch.randn(N, 4)
            for layer in made:
                Y = layer(Y)
            assert len(made) == n and equal(stack(X), Y)
            assert len(list(stack.parameters())) == 2 * n

    def demo(build):
        stack = build(lambda: nn.Linear(4, 4), 3)
        return f"3 layers: {sum(p.numel() for p in stack.parameters())} parameters"


@exhibit(WRONG, ONE_LAYER_MANY_TIMES)
class layers_of_a_model:
    """`[layer] * n` repeats one layer n times; all places of the list hold the same object.

    The model has the depth that was asked for and the parameters of one layer. It trains, only not
    as well as it should, and the count of parameters is the only witness.
    """

    test = "n layers have n times the parameters of one, and no two start alike"
    shows = "6 layers: 20 parameters"

    def wrong(make, n):
        return nn.ModuleList([make()] * n)

    mend = {"[make()] * n": "[make() for _ in range(n)]"}

    view = None

    def judge(build):
        for n, d in ((2, 4), (5, 3)):
            layers = build(lambda d=d: nn.Linear(d, d), n)
            assert len(layers) == n and len(list(layers.parameters())) == 2 * n
            assert len({tuple(layer.weight.flatten().tolist()) for layer in layers}) == n
            assert all(layer.weight.shape == (d, d) for layer in layers)

    def demo(build):
        layers = build(lambda: nn.Linear(4, 4), 6)
        return f"6 layers: {sum(p.numel() for p in layers.parameters())} parameters"


@exhibit(LUCKY, LOST_TIE)
class load_a_table:
    """Table and output layer were one matrix, and after loading they are two that are equal.

    Nothing differs until the first step of training, or until one of the two is resized. A loader
    that forgets the second one altogether leaves it random, and the model writes gibberish.
    """

    test = "the loaded model has one matrix, and a step of training moves both of its uses"
    shows = "matrices: 2, equal: True, after a step: False"

    def wrong(saved):
        V, d_model = saved.shape
        model = nn.Sequential(nn.Embedding(V, d_model), nn.Linear(d_model, V, bias=False))
        model[0].weight = nn.Parameter(saved.clone())
        model[1].weight = nn.Parameter(saved.clone())
        return model

    mend = {"model[1].weight = nn.Parameter(saved.clone())": "model[1].weight = model[0].weight"}

    view = None

    def judge(load):
        for V in (5, 7):
            saved = torch.randn(V, 4)
            model, before = load(saved), saved.clone()
            assert equal(model(torch.arange(V)), saved @ saved.T)
            assert [p.shape for p in model.parameters()] == [saved.shape]
            a_step(model)
            assert equal(saved, before) and not equal(model[0].weight, saved)

    def demo(load):
        model = load(torch.eye(5))
        said = [f"matrices: {len(list(model.parameters()))}"]
        said.append(f"equal: {equal(model[0].weight, model[1].weight)}")
        a_step(model)
        return ", ".join([*said, f"after a step: {equal(model[0].weight, model[1].weight)}"])


def a_step(model):
    """One step of training on which word follows which."""
    F.cross_entropy(model(torch.tensor([0, 1, 2])), torch.tensor([1, 2, 3])).backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()


@exhibit(WRONG, DEAD_PROJECTION)
class attention_with_an_adapter:
    """The adapter hangs on `out_proj`, which `nn.MultiheadAttention` never calls.

    The module hands the matrix of `out_proj` to a function of its own and does not call the layer,
    so a hook on it never runs and an adapter in its place never learns. Hang it on the attention.
    """

    test = "the result has the adapter's part in it, and the adapter gets a gradient"
    shows = "the adapter has a gradient: False"

    def wrong(attention, adapter):
        attention.out_proj.register_forward_hook(lambda layer, inputs, Y: Y + adapter(Y))
        return attention

    def mended(attention, adapter):
        attention.register_forward_hook(lambda layer, inputs, Y: (Y[0] + adapter(Y[0]), *Y[1:]))
        return attention

    view = None

    def judge(adapt):
        for N, training in ((2, True), (1, False)):
            attention = nn.MultiheadAttention(8, 2, batch_first=True).train(training)
            X, adapter = torch.randn(N, 3, 8), nn.Linear(8, 8, bias=False).train(training)
            Y, A = attention(X, X, X)
            adapted = adapt(attention, adapter)
            new, weights = adapted(X, X, X)
            assert equal(new, Y + adapter(Y)) and equal(weights, A)
            assert attention.training == adapter.training == training
            new.square().sum().backward()
            assert adapter.weight.grad.any()

    def demo(adapt):
        attention, adapter = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 8)
        X = torch.randn(2, 3, 8)
        adapt(attention, adapter)(X, X, X)[0].square().sum().backward()
        return f"the adapter has a gradient: {adapter.weight.grad is not None}"
