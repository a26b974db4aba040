"""Norms, residuals, positions, bounds: what goes wrong in and around a layer."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from course.museum.exhibit import LUCKY, WRONG, exhibit, to_digits, what_happens
from course.museum.places import (
    ANNOTATED_ORDER,
    ANNOTATED_VARIANCE,
    BERT_EPSILON,
    BERT_POSITIONS,
    DOUBLED_EXPONENT,
    KZAJAC97,
    LEPELAARS,
    NORM_AND_RESIDUAL,
    ODD_WIDTH,
    WORDEN,
)
from tutor.proof import equal

# ---- LayerNorm: the task is F.layer_norm, without gain and bias


@exhibit(WRONG, f"{ANNOTATED_VARIANCE}; {LEPELAARS}", task="layer_norm")
class normalise_words:
    """The variance is divided by d - 1; LayerNorm divides by d.

    `var` and `std` estimate the variance of a population unless they are told otherwise. LayerNorm
    estimates nothing. At width 512 the results differ by a thousandth, and nobody notices.
    """

    test = "equal to `nn.LayerNorm` at a small d"
    shows = "[1, 7, 7, 9] becomes [-1.44, 0.29, 0.29, 0.87]"

    def wrong(X, eps=1e-5):
        variance = X.var(-1, keepdim=True)
        return (X - X.mean(-1, keepdim=True)) / (variance + eps).sqrt()

    mend = {"var(-1, keepdim=True)": "var(-1, keepdim=True, correction=0)"}

    def judge(normalise):
        for d in (4, 6):
            X = torch.randn(3, d)
            assert equal(normalise(X, eps=0.0), F.layer_norm(X, (d,), eps=0.0))
        normalise(0.001 * torch.randn(2, 5))

    def demo(normalise):
        return f"[1, 7, 7, 9] becomes {to_digits(normalise(torch.tensor([1.0, 7.0, 7.0, 9.0])))}"


@exhibit(WRONG, f"{BERT_EPSILON}; {LEPELAARS}", task="layer_norm")
class normalise_quiet_words:
    """Epsilon is added to the deviation; in LayerNorm it stands under the root, with the variance.

    For vectors of ordinary size nobody can tell. A quiet vector, whose variance is no larger than
    epsilon, comes out too loud.
    """

    test = "equal to `nn.LayerNorm` for a vector that is nearly constant"
    shows = "[1, 7, 7, 9] / 1000 becomes [-1.66, 0.33, 0.33, 1.0]"

    def wrong(X, eps=1e-5):
        deviation = X.std(-1, keepdim=True, correction=0) + eps
        return (X - X.mean(-1, keepdim=True)) / deviation

    mend = {"X.std(": "(X.var(", "=0) + eps": "=0) + eps).sqrt()"}

    def judge(normalise):
        for d, eps in ((4, 1e-5), (6, 1e-3)):
            X = 0.001 * torch.randn(3, d)
            assert equal(normalise(X, eps=eps), F.layer_norm(X, (d,), eps=eps))
        normalise(X)

    def demo(normalise):
        row = torch.tensor([1.0, 7.0, 7.0, 9.0]) / 1000
        return f"[1, 7, 7, 9] / 1000 becomes {to_digits(normalise(row))}"


# ---- a layer, step by step


@exhibit(WRONG, KZAJAC97)
class rebuild_a_layer:
    """The second residual adds the attention's output; it must add what the feed-forward was given.

    One name, `outputs`, served two steps. The shapes agree, the layer trains, and the road past the
    feed-forward network leads to the wrong place.
    """

    test = "equal to `nn.TransformerEncoderLayer` with random parameters"
    shows = "equal to the layer: False"

    def wrong(layer, X):
        outputs, _ = layer.self_attn(X, X, X)  # (N, T, d_model)
        X = layer.norm1(X + outputs)
        X = layer.linear2(layer.linear1(X).relu())  # (N, T, d_model)
        return layer.norm2(X + outputs)

    mend = {"    X = layer.linear2": "    outputs = layer.linear2"}

    def judge(rebuilt):
        for T, d in ((3, 8), (5, 6)):
            layer = nn.TransformerEncoderLayer(d, 2, 16, dropout=0.0, batch_first=True)
            for p in layer.parameters():
                nn.init.normal_(p)
            X = torch.randn(2, T, d)
            assert equal(rebuilt(layer, X), layer(X))

    def demo(rebuilt):
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        X = torch.randn(2, 3, 8)
        return f"equal to the layer: {equal(rebuilt(layer, X), layer(X))}"


@exhibit(LUCKY, KZAJAC97)
class rebuild_a_new_layer:
    """`norm1` is used twice and `norm2` never.

    In a fresh layer both are the same: gains of 1, biases of 0. So the comparison with PyTorch's
    layer succeeds. After the first training step it does not.
    """

    test = "compare with parameters that are not those of a fresh layer"
    shows = "equal to a fresh layer: True, to a trained one: False"

    def wrong(layer, X):
        X = layer.norm1(X + layer.self_attn(X, X, X)[0])
        return layer.norm1(X + layer.linear2(layer.linear1(X).relu()))  # (N, T, d_model)

    mend = {"return layer.norm1(X +": "return layer.norm2(X +"}

    def judge(rebuilt):
        for T, d in ((3, 8), (5, 6)):
            layer = nn.TransformerEncoderLayer(d, 2, 16, dropout=0.0, batch_first=True)
            for p in layer.parameters():
                nn.init.normal_(p)
            X = torch.randn(2, T, d)
            assert equal(rebuilt(layer, X), layer(X))

    def demo(rebuilt):
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        X = torch.randn(2, 3, 8)
        fresh = equal(rebuilt(layer, X), layer(X))
        layer(X)[0].sum().backward()
        torch.optim.SGD(layer.parameters(), lr=0.1).step()
        trained = equal(rebuilt(layer, X), layer(X))
        return f"equal to a fresh layer: {fresh}, to a trained one: {trained}"


@exhibit(WRONG, NORM_AND_RESIDUAL)
class add_what_was_found:
    """The residual is taken after the norm, so that X itself is lost.

    The normalised X overwrites the old one. The first version of PyTorch's own `norm_first` did it,
    until a user compared it with the papers on pre-norm. The free road for the gradient now leads
    through every norm.
    """

    test = "a pre-norm sub-layer whose work returns zeros leaves X as it was; other work is added"
    shows = "with work that returns zeros, [2, 4] becomes [-1.0, 1.0]"

    def wrong(X, norm, work):
        X = norm(X)
        return X + work(X)

    def mended(X, norm, work):
        return X + work(norm(X))

    def judge(step):
        for d in (4, 6):
            X = torch.randn(2, 3, d)
            assert equal(step(X, nn.LayerNorm(d), torch.zeros_like), X)
            assert equal(step(X, nn.LayerNorm(d), torch.exp) - X, F.layer_norm(X, (d,)).exp())

    def demo(step):
        Y = step(torch.tensor([2.0, 4.0]), nn.LayerNorm(2), torch.zeros_like)
        return f"with work that returns zeros, [2, 4] becomes {to_digits(Y)}"


@exhibit(WRONG, ANNOTATED_ORDER)
class step_as_in_the_paper:
    """The text says LayerNorm(X + work(X)), the code norms first: two models, and not the same.

    The paper's order is called post-norm, the code's pre-norm; it trains more easily and needs one
    more norm at the end of the stack. Readers have asked about that line for years.
    """

    test = "equal to PyTorch's layer, with the `norm_first` that the text means"
    shows = "norm_first=False: False, norm_first=True: True"

    def wrong(X, norm, work):
        return X + work(norm(X))

    mend = {"X + work(norm": "norm(X + work"}

    def judge(step):
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        for T in (3, 5):
            X = torch.randn(2, T, 8)
            Y = step(X, layer.norm1, lambda X: layer.self_attn(X, X, X)[0])
            Y = step(Y, layer.norm2, lambda X: layer.linear2(layer.linear1(X).relu()))
            assert equal(Y, layer(X))

    def demo(step):
        found, X = [], torch.randn(2, 3, 8)
        for norm_first in (False, True):
            layer = nn.TransformerEncoderLayer(
                8, 2, 16, dropout=0.0, batch_first=True, norm_first=norm_first
            )
            Y = step(X, layer.norm1, lambda X, layer=layer: layer.self_attn(X, X, X)[0])
            Y = step(Y, layer.norm2, lambda X, layer=layer: layer.linear2(layer.linear1(X).relu()))
            found.append(equal(Y, layer(X)))
        return f"equal to norm_first=False: {found[0]}, norm_first=True: {found[1]}"


@exhibit(WRONG, "classrooms")
class decode_a_step:
    """The source is ignored: cross-attention is given the target where the memory belongs.

    The decoder becomes a language model. It writes fluent sentences that have nothing to do with
    the source, and its loss does fall.
    """

    test = "another source, another output; a source of zeros hands over nothing"
    shows = "another source, another output: False"

    def wrong(X, memory, attend):
        X = X + attend(X, X)  # self-attention
        return X + attend(X, X)  # cross-attention

    mend = {"X, X)  # cross": "X, memory)  # cross"}

    def judge(step):
        X, memory, other = torch.randn(3, 2, 4, 8)

        def attend(X, Z):
            return F.scaled_dot_product_attention(X, Z, Z)

        assert not equal(step(X, memory, attend), step(X, other, attend))
        for Y in (X, other):  # a source of zeros hands over nothing
            assert equal(step(Y, torch.zeros(2, 3, 8), attend), Y + attend(Y, Y))

    def demo(step):
        X, memory, other = torch.randn(3, 2, 4, 8)

        def attend(X, Z):
            return F.scaled_dot_product_attention(X, Z, Z)

        changed = not equal(step(X, memory, attend), step(X, other, attend))
        return f"another source, another output: {changed}"


# ---- positions: the task is tutor.sinusoidal_positions


@exhibit(WRONG, BERT_POSITIONS, task="sinusoidal_positions")
class table_of_positions:
    """The exponents are whole numbers, so that all columns have the same frequency.

    In 2018 PyTorch multiplied whole numbers by a fraction in whole numbers, and a BERT had one
    frequency for all columns. Today it promotes; `//` in place of `/` does the same harm.
    """

    test = "column 0 is the sine of the place, and column 2 another"
    shows = "different frequencies among 4 pairs: 1"

    def wrong(max_len, d_model):
        pos = torch.arange(max_len)[:, None]
        angle = pos / 10_000 ** (torch.arange(0, d_model, 2) // d_model)
        P = torch.empty(max_len, d_model)
        P[:, 0::2] = angle.sin()
        P[:, 1::2] = angle[:, : d_model // 2].cos()
        return P

    mend = {"// d_model": "/ d_model"}

    def judge(positions):
        for max_len in (9, 12):
            P = positions(max_len, 8)
            assert P.shape == (max_len, 8) and P.abs().max() <= 1
            assert equal(P[:, 0], torch.arange(max_len).sin()) and not equal(P[:, 0], P[:, 2])
        positions(5, 6), positions(1, 6)

    def demo(positions):
        first_steps = to_digits(positions(2, 8)[1, 0::2], digits=6)  # sin(1 / 10000^...)
        return f"different frequencies among 4 pairs: {len(set(first_steps))}"


@exhibit(WRONG, f"{DOUBLED_EXPONENT}; {WORDEN}", task="sinusoidal_positions")
class table_by_loops:
    """The exponent is doubled: `i` counts in twos already.

    The formula says 2i, the loop steps by two, and both are taken. Every second frequency is
    skipped, and as many are so slow that their columns hardly move within a sentence.
    """

    test = "the sine columns have their closed form, at several widths"
    shows = "at d_model = 8 the slowest pair takes 1000000 steps for one radian"

    def wrong(max_len, d_model):
        P = torch.empty(max_len, d_model)
        for pos in range(max_len):
            for i in range(0, d_model, 2):
                angle = pos / 10_000 ** (2 * i / d_model)
                P[pos, i] = math.sin(angle)
                if i + 1 < d_model:
                    P[pos, i + 1] = math.cos(angle)
        return P

    mend = {"(2 * ": "("}

    def judge(positions):
        for d_model in (4, 6, 64):
            expected = [math.sin(3 / 10_000 ** (i / d_model)) for i in range(0, d_model, 2)]
            assert equal(positions(4, d_model)[3, 0::2], torch.tensor(expected))
        positions(5, 6), positions(1, 6)

    def demo(positions):
        radians = positions(2, 8)[1, 6].asin().item()
        return f"at d_model = 8 the slowest pair takes {1 / radians:.0f} steps for one radian"


@exhibit(WRONG, f"{DOUBLED_EXPONENT}; {WORDEN}", task="sinusoidal_positions")
class table_of_pairs:
    """The cosine has a frequency of its own; sine and cosine of a pair share one angle.

    Then a pair is a hand on a dial, and a step of k words turns it by the same angle everywhere.
    With two frequencies nothing rotates, and the dot product of two rows depends on more than their
    distance.
    """

    test = "the squares of a pair add up to 1, and each begins at 0 and 1"
    shows = "sine squared plus cosine squared, pair 0: [1.0, 1.7, 1.79]"

    def wrong(max_len, d_model):
        pos = torch.arange(max_len)[:, None]
        angle = pos / 10_000 ** (torch.arange(d_model) / d_model)  # (max_len, d_model)
        P = angle.sin()
        P[:, 1::2] = angle[:, 1::2].cos()
        return P

    mend = {" / d_model": " // 2 * 2 / d_model"}

    def judge(positions):
        for max_len in (9, 12):
            sines, cosines = positions(max_len, 8).unflatten(-1, (4, 2)).unbind(-1)  # (max_len, 4)
            assert equal(sines**2 + cosines**2, torch.ones(max_len, 4))
            assert (sines[1] > 0).all() and (cosines[0] == 1).all()
        positions(5, 6), positions(1, 6)

    def demo(positions):
        pair = positions(3, 4)[:, :2]
        return f"sine squared plus cosine squared, pair 0: {to_digits((pair**2).sum(-1))}"


@exhibit(LUCKY, ODD_WIDTH, task="sinusoidal_positions", crash=RuntimeError)
class table_of_halves:
    """An odd d_model has one sine more than cosines, and the cosines do not fit.

    Published widths are usually even, so it works until somebody tries 5. Either serve odd widths
    or refuse them in a sentence.
    """

    test = "try odd widths: column 2i has the angle of column 4i in a table twice as wide"
    shows = "d_model = 5: RuntimeError"

    def wrong(max_len, d_model):
        pos = torch.arange(max_len)[:, None]
        angle = pos / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
        P = torch.empty(max_len, d_model)
        P[:, 0::2] = angle.sin()
        P[:, 1::2] = angle.cos()
        return P

    mend = {" angle.cos": " angle[:, : d_model // 2].cos"}

    def judge(positions):
        for d_model in (5, 7):
            wide = positions(3, 2 * d_model)
            said = what_happens(lambda d=d_model: positions(3, d))
            if said.startswith(("ValueError: ", "AssertionError: ")):
                continue  # refused in a sentence
            odd = positions(3, d_model)
            assert odd.shape == (3, d_model)
            assert equal(odd[1, :2], torch.tensor([math.sin(1), math.cos(1)]))
            assert equal(odd[:, 0::2], wide[:, 0::4]) and equal(odd[:, 1::2], wide[:, 1:-1:4])
        positions(4, 6), positions(1, 6)

    def demo(positions):
        said = [what_happens(lambda d=d: tuple(positions(3, d).shape)) for d in (4, 5)]
        return f"d_model = 4: {said[0]}, d_model = 5: {said[1].split(':')[0]}"


# ---- the two ends of a model


@exhibit(WRONG, LEPELAARS)
class bound_of_first_weights:
    """Glorot's bound is given as 1 / sqrt(n); it is sqrt(6 / (fan_in + fan_out)).

    The first is the older rule, which Glorot and Bengio set out to improve. For a square matrix its
    variance is a third of theirs, and signals fade from layer to layer.
    """

    test = "the variance, bound^2 / 3, is 2 / (fan_in + fan_out)"
    shows = "512 x 512: 0.044"

    def wrong(fan_in, fan_out):
        return 1 / math.sqrt(fan_in)

    mend = {"1 / math.sqrt(fan_in": "math.sqrt(6 / (fan_in + fan_out)"}

    def judge(bound):
        for fan_in, fan_out in ((512, 512), (512, 2048), (2048, 512)):
            assert abs(bound(fan_in, fan_out) ** 2 / 3 - 2 / (fan_in + fan_out)) < 1e-12

    def demo(bound):
        return f"512 x 512: {bound(512, 512):.3f}, 2048 x 512: {bound(2048, 512):.3f}"


@exhibit(WRONG, LEPELAARS)
class chances_of_words:
    """A ReLU stands before the softmax, so that all negative logits become the same 0.

    The published formula had it, its code did not. A model that is built from the formula cannot
    tell a bad token from a worse one, and no gradient reaches negative logits.
    """

    test = "a smaller logit, a smaller probability, by a factor of e for each unit"
    shows = "logits [ln 4, 0, -ln 2] give [0.67, 0.17, 0.17]"

    def wrong(logits):
        return F.relu(logits).softmax(dim=-1)

    mend = {"F.relu(logits)": "logits"}

    def judge(chances):
        for logits in ([1.0, 0.0, -1.0, -2.0], [2.0, -1.0, -3.0]):
            p = chances(torch.tensor(logits))
            assert (p.diff() < 0).all() and equal(p.sum(), torch.tensor(1.0))
            assert equal((p[0] / p[-1]).log(), torch.tensor(logits[0] - logits[-1]))
        chances(torch.randn(2, 3))

    def demo(chances):
        p = chances(torch.tensor([4.0, 1.0, 0.5]).log())
        return f"logits [ln 4, 0, -ln 2] give {to_digits(p)}"
