"""Weights, masks and heads: what goes wrong in attention."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from course.museum.exhibit import (
    CRASHES,
    LUCKY,
    WRONG,
    exhibit,
    moving_rows,
    to_digits,
    what_happens,
)
from course.museum.places import (
    EMPTY_ROW,
    FILL_TOO_LARGE,
    FLOAT_MASK,
    KZAJAC97,
    LEPELAARS,
    OPPOSITE_MASKS,
    WORDEN,
)
from tutor.attention import causal_mask
from tutor.proof import equal

# ---- weights: the task is tutor.compute_attention_matrix


@exhibit(LUCKY, "classrooms", task="compute_attention_matrix")
class weights_of_a_sentence:
    """The softmax runs over a dimension that is counted from the front; count from the back.

    For one sentence the scores are (T, S), and dimension 1 holds the keys. With a batch the same
    number means the queries, with heads it means the heads.
    """

    test = "the rows of A sum to 1, with two, three and four dimensions, and follow the scores"
    shows = "rows sum to [1.0, 1.0] in shape (2, 2), to [1.25, 0.75] in shape (1, 2, 2)"

    def wrong(Q, K, mask=None):
        E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
        if mask is not None:
            E = E.masked_fill(mask, torch.finfo(E.dtype).min)
        return E.softmax(dim=1)

    mend = {"dim=1": "dim=-1"}

    def judge(weights):
        for shape in [(3, 4), (2, 3, 4), (2, 5, 3, 4)]:
            Q, K = torch.randn(2, *shape)
            A, E = weights(Q, K), torch.einsum("...td,...sd->...ts", Q, K)  # (..., T, S)
            assert equal(A.sum(-1), torch.ones(shape[:-1]))
            assert (A.argmax(-1) == E.argmax(-1)).all() and (A.argmin(-1) == E.argmin(-1)).all()
        weights(torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.arange(4) > 2)

    def demo(weights):
        Q, K = torch.tensor([[math.log(3.0)], [0.0]]), torch.tensor([[1.0], [0.0]])
        one, batch = weights(Q, K), weights(Q[None], K[None])[0]  # (T, S)
        return (
            f"rows sum to {to_digits(one.sum(-1))} in shape (2, 2), "
            f"to {to_digits(batch.sum(-1))} in shape (1, 2, 2)"
        )


@exhibit(WRONG, "classrooms", task="compute_attention_matrix")
class weights_of_wide_words:
    """The scores are not divided by the square root of d_k, so that they grow with the width.

    With few dimensions few notice it. With many the softmax is nearly one-hot from the
    start, and its gradient nearly zero.
    """

    test = "for vectors of ones, the score is the square root of d_k"
    shows = "d_k = 4: score 4, d_k = 16: score 16"

    def wrong(Q, K, mask=None):
        E = Q @ K.transpose(-2, -1)  # (..., T, S)
        if mask is not None:
            E = E.masked_fill(mask, torch.finfo(E.dtype).min)
        return E.softmax(dim=-1)

    mend = {")  #": ") / math.sqrt(Q.shape[-1])  #"}

    def judge(weights):
        for d_k in (1, 4, 16):
            one, two_keys = torch.ones(1, d_k), torch.stack([torch.ones(d_k), torch.zeros(d_k)])
            A = weights(one, two_keys)  # (1, 2): the second key has score 0
            assert abs((A[0, 0] / A[0, 1]).log().item() - math.sqrt(d_k)) < 1e-9
        weights(torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.arange(4) > 2)

    def demo(weights):
        said = []
        for d_k in (4, 16):
            K = torch.stack([torch.ones(d_k), torch.zeros(d_k)])
            A = weights(torch.ones(1, d_k), K)[0]
            said.append(f"d_k = {d_k}: score {(A[0] / A[1]).log().item():.0f}")
        return ", ".join(said)


@exhibit(WRONG, FLOAT_MASK, task="compute_attention_matrix")
class weights_with_a_mask:
    """A mask of zeros and ones is added to the scores, which moves weights and hides nothing.

    `nn.MultiheadAttention` adds float masks, made of 0 and -inf. Whoever hands it zeros and
    ones gets no error. With equal scores a hidden key even gains: e / (1 + e) = 0.73.
    """

    test = "weights at masked places are exactly 0, and the others share the whole"
    shows = "weights [0.27, 0.73], where the second key is masked"

    def wrong(Q, K, mask=None):
        E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
        if mask is not None:
            E = E + mask.to(E.dtype)
        return E.softmax(dim=-1)

    mend = {" + mask.to(E.dtype": ".masked_fill(mask, torch.finfo(E.dtype).min"}

    def judge(weights):
        for T in (3, 5):
            Q, K, mask = torch.randn(T, 4), torch.randn(T, 4), causal_mask(T)
            A, visible = weights(Q, K, mask), weights(Q, K) * ~mask  # (T, S)
            assert (A[mask] == 0).all() and equal(A, visible / visible.sum(-1, keepdim=True))
            assert equal(A[1, 1].logit(), Q[1] @ (K[1] - K[0]) / math.sqrt(4))  # (): scaled scores
        weights(torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.arange(4) > 2)

    def demo(weights):
        A = weights(torch.zeros(1, 4), torch.zeros(2, 4), torch.tensor([[False, True]]))
        return f"weights {to_digits(A)[0]}, where the second key is masked"


@exhibit(LUCKY, EMPTY_ROW, task="compute_attention_matrix")
class weights_of_an_empty_row:
    """A row in which everything is masked becomes 0 / 0, and its gradient ruins all weights.

    It works until a sentence is empty, or two masks meet. Then one row of NaN is enough, even if
    the loss leaves it out: the gradient of V is A^T times that of Y, and NaN times 0 is NaN.
    In PyTorch 2.13 `F.scaled_dot_product_attention` answers such a row with zeros, and
    `nn.MultiheadAttention`, if it returns its weights, with NaN.
    """

    test = "finite outputs and finite gradients with a row that is all masked; the others stay"
    shows = "weights are finite: False, gradients are finite: False"

    def wrong(Q, K, mask=None):
        E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
        if mask is not None:
            E = E.masked_fill(mask, float("-inf"))
        return E.softmax(dim=-1)

    def mended(Q, K, mask=None):
        E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
        if mask is None:
            return E.softmax(dim=-1)
        A = E.masked_fill(mask, torch.finfo(E.dtype).min).softmax(dim=-1)
        return A.masked_fill(mask, 0.0)

    def view(A, Q, K, mask=None):  # an empty row may hold anything finite
        return A if mask is None else A[~mask.all(dim=-1)]

    def judge(weights):
        for T in (3, 4):
            X, W = torch.randn(T, 4), torch.randn(4, 4, requires_grad=True)
            empty = torch.arange(T)[:, None].expand(T, T) == 1  # (T, S): all of row 1
            A = weights(X, X, empty)
            (A @ (X @ W))[0].sum().backward()  # ()
            assert A.isfinite().all() and W.grad.isfinite().all()
            assert equal(A[[0, 2]], weights(X, X)[[0, 2]]) and W.grad.any()
            assert equal(A[0, 0].log() - A[0, 1].log(), X[0] @ (X[0] - X[1]) / math.sqrt(4))  # ()
        weights(torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.ones(4, dtype=torch.bool))

    def demo(weights):
        X, W = torch.ones(2, 4), torch.eye(4).requires_grad_()
        A = weights(X, X, torch.tensor([[False, False], [True, True]]))  # (T, S)
        (A @ (X @ W))[0].sum().backward()  # ()
        finite = [bool(numbers.isfinite().all()) for numbers in (A, W.grad)]
        return f"weights are finite: {finite[0]}, gradients are finite: {finite[1]}"


@exhibit(CRASHES, FILL_TOO_LARGE, crash=RuntimeError)
class weights_of_scores:
    """The fill for hidden scores, -1e9, is larger than float16 can hold.

    The largest number of float16 is 65504. In float32 the code is right, and it stops on the day
    on which somebody saves memory. Ask the type for its smallest number.
    """

    test = "weights at hidden places are 0 in every type of numbers that the model may use"
    shows = "RuntimeError: value cannot be converted to type"

    def wrong(E, hidden):
        return E.masked_fill(hidden, -1e9).softmax(dim=-1)

    mend = {"-1e9": "torch.finfo(E.dtype).min"}

    view = None

    def judge(weights):
        for dtype, seen in ((torch.float64, 3), (torch.bfloat16, 2), (torch.float16, 3)):
            E = torch.randn(3, 4, dtype=dtype, requires_grad=True)
            assert (weights(E - 5_000, torch.arange(4) >= seen)[:, seen:] == 0).all()
            A = weights(E, torch.arange(4) >= seen)
            assert A.dtype == dtype and (A[:, seen:] == 0).all()
            assert torch.allclose(A[:, :seen].double(), E[:, :seen].double().softmax(-1), atol=0.01)
            A[:, 0].sum().backward()
            assert E.grad[:, :seen].all() and not E.grad[:, seen:].any()

    def demo(weights):
        E, hidden = torch.zeros(2, dtype=torch.float16), torch.tensor([False, True])
        return what_happens(lambda: to_digits(weights(E, hidden)))


# ---- masks


@exhibit(WRONG, "classrooms", task="causal_mask")
class mask_of_the_future:
    """True marks what may be seen; in this course, as in `nn.MultiheadAttention`, it hides.

    The lower triangle is what `F.scaled_dot_product_attention` wants. Both conventions are common,
    and a mask does not say which one it follows.
    """

    test = "token 1 may see token 0, and not token 2"
    shows = "row 1 may see: [2, 3]"

    def wrong(T):
        return torch.ones(T, T, dtype=torch.bool).tril()

    mend = {"tril(": "triu(diagonal=1"}

    def judge(mask):
        for T in (3, 5):
            M = mask(T)
            assert M.shape == (T, T) and not M[1, 0] and M[1, 2]
        mask(1)

    def demo(mask):
        return f"row 1 may see: {[key for key in range(4) if not mask(4)[1, key]]}"


@exhibit(WRONG, "classrooms", task="causal_mask")
class mask_of_what_follows:
    """The diagonal is hidden too, so that a token does not see itself and the first sees nothing.

    `triu()` keeps the diagonal. A decoder needs it: its input is shifted, so that row t may read
    token t, the last one written.
    """

    test = "row t hides what follows it, and not itself"
    shows = "row 0 may see: [], row 1: [0]"

    def wrong(T):
        return torch.ones(T, T, dtype=torch.bool).triu()

    mend = {"triu()": "triu(diagonal=1)"}

    def judge(mask):
        for T in (3, 5):
            future = [[key > row for key in range(T)] for row in range(T)]
            assert (mask(T) != 0).tolist() == future
        mask(1)

    def demo(mask):
        seen = [[key for key in range(4) if not mask(4)[row, key]] for row in (0, 1)]
        return f"row 0 may see: {seen[0]}, row 1: {seen[1]}"


@exhibit(WRONG, OPPOSITE_MASKS)
class attend_to_the_past:
    """The mask says True for hidden, and `F.scaled_dot_product_attention` reads True as kept.

    `nn.MultiheadAttention` reads it the other way round. Code that is moved from one to the other
    keeps its mask, and from then on every word sees only its future; the last has none and gets
    zeros.
    """

    test = "the first token sees itself alone, the last one all"
    shows = "rows that move with the last token: [0, 1, 2]"

    def wrong(Q, K, V, hidden):
        return F.scaled_dot_product_attention(Q, K, V, attn_mask=hidden)  # (N, T, d_v)

    mend = {"=hidden": "=~hidden"}

    def judge(attend):
        for T in (3, 4):
            X, Z = torch.randn(2, 2, T, 8)  # queries and keys, values
            Y = attend(X, X, Z, causal_mask(T))
            assert equal(Y[:, 0], Z[:, 0])
            assert equal(Y[:, -1], F.scaled_dot_product_attention(X, X, Z)[:, -1])
        attend(-100 * X, X, Z, causal_mask(T))

    def demo(attend):
        rows = moving_rows(lambda X: attend(X, X, X, causal_mask(4)), torch.randn(2, 4, 8), t=3)
        return f"rows that move with the last token: {rows}"


@exhibit(WRONG, LEPELAARS)
class read_what_is_written:
    """The decoder attends without a causal mask, so that each word reads the answer next to it.

    The toy example of a tutorial masked the padding and not the future. The loss of a model that is
    trained so falls to nearly nothing, and its translations are worthless: what it learned to copy
    is not there yet.
    """

    test = "change the last token: earlier rows must not move; change the first: all rows must"
    shows = "rows that move with the last token: [0, 1, 2, 3]"

    def wrong(X):
        E = X @ X.transpose(-2, -1) / math.sqrt(X.shape[-1])  # (N, T, T)
        return E.softmax(dim=-1) @ X  # (N, T, d_model)

    def mended(X):
        E = X @ X.transpose(-2, -1) / math.sqrt(X.shape[-1])  # (N, T, T)
        E = E.masked_fill(causal_mask(X.shape[-2]), float("-inf"))
        return E.softmax(dim=-1) @ X  # (N, T, d_model)

    def judge(read):
        for T in (3, 4):
            X = torch.randn(2, T, 8)
            assert moving_rows(read, X, T - 1) == [T - 1]
            assert moving_rows(read, X, 0) == [*range(T)]

    def demo(read):
        rows = moving_rows(read, torch.randn(2, 4, 8), t=3)
        return f"rows that move with the last token: {rows}"


# ---- heads


@exhibit(WRONG, "widespread", task="slice_vertically")
class cut_into_heads:
    """`reshape` fills the heads in the order of memory, and one word's numbers end up in many rows.

    The shape (h, T, width) is right, and so are all sizes that follow. But rows are words only if
    one cuts within the rows first, and swaps then.
    """

    test = "change a word: in each head its own row may change, and no other"
    shows = "rows that move with word 2: [[], [1, 2]]"

    def wrong(X, width):
        *N, T, columns = X.shape
        return X.reshape(*N, columns // width, T, width)  # (..., h, T, width)

    mend = {"columns // width, T, width": "T, columns // width, width).transpose(-3, -2"}

    def judge(cut):
        X = torch.randn(2, 3, 4)
        for t in range(3):
            assert moving_rows(lambda X: cut(X, 2), X, t) == [t]
        for width in (1, 2):
            for some in (X, X[0], X[None]):  # (..., T, columns)
                heads = some.split(width, dim=-1)  # h times (..., T, width)
                assert equal(cut(some, width), torch.stack(heads, dim=-3))  # (..., h, T, width)

    def demo(cut):
        X = 10 * torch.arange(3)[:, None] + torch.arange(4)  # (T, columns)
        changed = X.clone()
        changed[2] += 100
        moved = (cut(changed, 2) != cut(X, 2)).any(dim=-1)  # (h, T)
        return f"rows that move with word 2: {[row.nonzero().flatten().tolist() for row in moved]}"


@exhibit(WRONG, "widespread", task="unslice_vertically")
class join_the_heads:
    """The heads are joined without swapping back, and a word gets pieces of its neighbours.

    The way back needs the swap as well. `reshape` does not complain while the sizes multiply up,
    and copies if it must.
    """

    test = "cut and join: what comes back is what went in"
    shows = "word 0 is [0, 1, 10, 11]"

    def wrong(X):
        *N, h, T, width = X.shape
        return X.reshape(*N, T, h * width)  # (..., T, h * width)

    mend = {".reshape": ".transpose(-3, -2).reshape"}

    def judge(join):
        for width in (2, 4):
            X = torch.randn(2, 3, 8)
            assert equal(join(torch.stack(X.split(width, dim=-1), dim=-3)), X)  # (N, h, T, width)

    def demo(join):
        X = 10 * torch.arange(3)[:, None] + torch.arange(4)  # (T, h * width)
        return f"word 0 is {join(torch.stack(X.split(2, dim=-1)))[0].tolist()}"  # (h, T, 2)


@exhibit(LUCKY, KZAJAC97)
class scores_of_all_heads:
    """The scores are divided by the square root of d_model; a head is d_k wide.

    With one head the two are the same number. With h heads the variance of the scores is 1 / h,
    and the weights start out nearly even.
    """

    test = "the variance of the scores is about 1 for unit inputs, at several h"
    shows = "variance 1 / [1, 2, 4] with 1, 2 and 4 heads"

    def wrong(Q, K, d_model, num_heads):
        Q, K = (X.unflatten(-1, (num_heads, -1)).transpose(-3, -2) for X in (Q, K))  # (h, T, d_k)
        return Q @ K.transpose(-2, -1) / math.sqrt(d_model)  # (h, T, S)

    mend = {"d_model)": "d_model // num_heads)"}

    def judge(scores):
        for h in (1, 2, 4):
            Q, K = torch.randn(2, 300, 64)
            E = scores(Q, K, 64, h)
            assert 0.8 < E.var() < 1.25
            first = Q[:, : 64 // h] @ K[:, : 64 // h].T  # (T, S)
            assert equal(E[0] / E[0].std(), first / first.std())
        scores(torch.randn(3, 8), torch.randn(4, 8), 8, 2)

    def demo(scores):
        Q, K = torch.randn(300, 64), torch.randn(300, 64)
        parts = [round(1 / scores(Q, K, 64, h).var().item()) for h in (1, 2, 4)]
        return f"variance 1 / {parts} with 1, 2 and 4 heads"


@exhibit(LUCKY, KZAJAC97)
class attend_with_heads:
    """The heads are never split: all columns go into one set of weights.

    The shapes are right, and with one head so are the numbers. The tutorial built four heads,
    computed one, and did not compare.
    """

    test = "equal to `nn.MultiheadAttention`, at more than one h"
    shows = "equal with 1 head: True, with 2: False"

    def wrong(Q, K, V, num_heads):
        d_k = Q.shape[-1] // num_heads
        E = Q @ K.transpose(-2, -1) / math.sqrt(d_k)  # (N, T, S)
        return E.softmax(dim=-1) @ V  # (N, T, d_model)

    def mended(Q, K, V, num_heads):
        Q, K, V = (X.unflatten(-1, (num_heads, -1)).transpose(1, 2) for X in (Q, K, V))  # (N, h,..
        E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (N, h, T, S)
        return (E.softmax(dim=-1) @ V).transpose(1, 2).flatten(2)  # (N, T, d_model)

    def judge(attend):
        for h in (1, 2, 4):
            theirs = nn.MultiheadAttention(8, h, bias=False, batch_first=True)
            X = torch.randn(2, 3, 8)  # (N, T, d_model)
            Q, K, V = F.linear(X, theirs.in_proj_weight).chunk(3, dim=-1)
            assert equal(theirs.out_proj(attend(Q, K, V, h)), theirs(X, X, X)[0])

    def demo(attend):
        Q, K, V = torch.randn(3, 2, 3, 8)  # (N, T, d_model) each
        said = []
        for h in (1, 2):
            heads = zip(*(X.split(8 // h, dim=-1) for X in (Q, K, V)), strict=True)
            loop = [F.scaled_dot_product_attention(q, k, v) for q, k, v in heads]
            said.append(equal(attend(Q, K, V, h), torch.cat(loop, dim=-1)))
        return f"equal with 1 head: {said[0]}, with 2: {said[1]}"


@exhibit(WRONG, KZAJAC97)
class project_by_hand:
    """A `nn.Linear` keeps its matrix transposed: the layer computes X @ W.T, the code X @ W.

    In the paper, and in this course's attention, a matrix stands as it multiplies. PyTorch stores
    (out, in). A square matrix fits both ways, so nothing complains.
    """

    test = "equal to the layer itself, square and not"
    shows = "y_0 = x_0 + x_1, y_1 = 0: x = [1, 2] becomes [1, 1]"

    def wrong(linear, X):
        return X @ linear.weight  # (T, d_out)

    mend = {"weight": "weight.T"}

    def judge(project):
        for d_out in (5, 6):
            linear, X = nn.Linear(5, d_out, bias=False), torch.randn(3, 5)
            assert equal(project(linear, X), linear(X))

    def demo(project):
        linear = nn.Linear(2, 2, bias=False)
        linear.weight.data = torch.tensor([[1.0, 1.0], [0.0, 0.0]])
        y = project(linear, torch.tensor([[1.0, 2.0]]))[0]
        return f"y_0 = x_0 + x_1, y_1 = 0: x = [1, 2] becomes {y.int().tolist()}"


@exhibit(WRONG, KZAJAC97)
class weights_of_one_head:
    """`nn.MultiheadAttention` returns the mean over the heads, and it is shown as a head's weights.

    That is the default. No head of the model has these weights: two sharp heads that look at
    different words look like one that cannot decide.
    """

    test = "there is one matrix for each head, no two are equal, and their mean is what it was"
    shows = "shape (1, 3, 3)"

    def wrong(attention, X):
        _, A = attention(X, X, X)
        return A

    mend = {"X, X)": "X, X, average_attn_weights=False)"}

    def judge(weights):
        for T, h in ((3, 2), (5, 4)):
            attention, X = nn.MultiheadAttention(8, h, batch_first=True), torch.randn(1, T, 8)
            A, mean = weights(attention, X), attention(X, X, X)[1]
            assert A.shape == (1, h, T, T)
            assert equal(A.sum(-1), torch.ones(1, h, T)) and equal(A.mean(1), mean)
            assert not equal(A[:, 0], A[:, 1])
        weights(attention, torch.randn(2, 4, 8))

    def demo(weights):
        attention = nn.MultiheadAttention(8, 2, batch_first=True)
        with torch.no_grad():  # head 0 finds the word itself, head 1 the next one
            X, W = 30 * torch.eye(4)[None, :3].repeat(1, 1, 2), torch.zeros(24, 8)
            W[:4, :4] = W[8:12, :4] = torch.eye(4)
            W[4:8, :4], W[12:16, :4] = torch.eye(4).roll(1, dims=0), torch.eye(4)
            attention.in_proj_weight.copy_(W)
            A = weights(attention, X)
        return f"shape {tuple(A.shape)}, word 0 weighs {to_digits(A.flatten(0, -3)[:, 0])}"


@exhibit(WRONG, LEPELAARS)
class attend_by_projections:
    """Four projections are made, three meet an input: `zip` stops at the shortest and is silent.

    In the tutorial the fourth was left over, beside an output layer of its own. It has parameters,
    it is saved and loaded, and it never learns. Here it was meant to bring the heads together.
    """

    test = "every parameter gets a gradient; values twice as loud, a result twice as loud"
    shows = "has a gradient: [True, True, True, False]"

    def wrong(projections, X):
        Q, K, V = (W(X) for W, X in zip(projections, (X, X, X), strict=False))
        return F.scaled_dot_product_attention(Q, K, V)  # (N, T, d_model)

    def mended(projections, X):
        W_Q, W_K, W_V, W_O = projections
        return W_O(F.scaled_dot_product_attention(W_Q(X), W_K(X), W_V(X)))  # (N, T, d_model)

    def judge(attend):
        projections, X = [nn.Linear(4, 4, bias=False) for _ in range(4)], torch.randn(2, 3, 4)
        Y = attend(projections, X)
        Y.square().sum().backward()
        assert all(W.weight.grad is not None and W.weight.grad.any() for W in projections)
        louder = [*projections[:2], lambda X: 2 * projections[2](X), projections[3]]
        assert equal(attend(louder, X), 2 * Y) and equal(attend(projections, X[:1]), Y[:1])

    def demo(attend):
        projections = [nn.Linear(4, 4, bias=False) for _ in range(4)]
        attend(projections, torch.randn(2, 3, 4)).square().sum().backward()
        return f"has a gradient: {[W.weight.grad is not None for W in projections]}"


@exhibit(LUCKY, WORDEN, crash=RuntimeError)
class look_across:
    """Cross-attention is called as (memory, memory, X); the target asks, the memory answers.

    With source and target of one length the shape is right. But every row of the result is a mean
    over all target tokens, those to come included. It is right if `memory` is `X`.
    """

    test = "run it with T different from S"
    shows = "T = S: rows that move with the last token: [0, 1, 2]"

    def wrong(attend, X, memory):
        return attend(memory, memory, X)  # (N, T, d_model)

    mend = {"memory, memory, X": "X, memory, memory"}

    def judge(look):
        for T, S in ((3, 5), (5, 3)):
            X, memory = torch.randn(2, T, 4), torch.randn(2, S, 4)
            Y = look(F.scaled_dot_product_attention, X, memory)
            assert equal(Y, F.scaled_dot_product_attention(X, memory, memory))
        look(F.scaled_dot_product_attention, X, X.flip(1))

    def demo(look):
        def run(X, S=3):
            return look(F.scaled_dot_product_attention, X, torch.ones(2, S, 4).cumsum(1))

        X = torch.randn(2, 3, 4)
        return (
            f"T = S: rows that move with the last token: {moving_rows(run, X, t=2)}\n"
            f"T = 3, S = 5: {what_happens(lambda: tuple(run(X, S=5).shape)).split(':')[0]}"
        )


@exhibit(WRONG, "classrooms")
class layer_for_a_batch:
    """The layer expects the sequence first, and is fed batch first: sentences attend to each other.

    `batch_first=False` is PyTorch's default. Swapping two sentences does not reveal it: attention
    along the wrong dimension is as blind to order as along the right one.
    """

    test = "change one sentence: the others must not move; change a word: its whole sentence must"
    shows = "swapped sentences, swapped outputs: True; the others stay: False"

    def wrong():
        return nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, dropout=0.0)

    mend = {"0.0)": "0.0, batch_first=True)"}

    view = None

    def judge(build):
        X, run = torch.randn(3, 5, 8), build()  # (N, T, d_model)
        other = torch.cat([torch.randn(1, 5, 8), X[1:]])
        assert equal(run(X)[1:], run(other)[1:]) and equal(run(X)[:1], run(X[:1]))
        changed = torch.cat([X[:, :4], torch.randn(3, 1, 8)], dim=1)  # another last word
        moved = (run(changed) - run(X)).abs() > 1e-9  # (N, T, d_model)
        assert moved.any(-1).all()

    def demo(build):
        X = torch.randn(3, 5, 8)  # (N, T, d_model)
        run, other = build(), torch.cat([torch.randn(1, 5, 8), X[1:]])
        swapped = equal(run(X.flip(0)), run(X).flip(0))
        return (
            f"swapped sentences, swapped outputs: {swapped}; "
            f"the others stay: {equal(run(X)[1:], run(other)[1:])}"
        )
