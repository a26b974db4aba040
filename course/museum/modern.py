"""Rotations, groups of heads, windows, packed documents: what goes wrong since 2017."""

import torch
import torch.nn.functional as F

from course.museum.exhibit import LUCKY, WRONG, exhibit, to_digits
from course.museum.places import (
    ALIBI_SIGN,
    CACHE_AT_ZERO,
    GROUPS_IN_ORDER,
    LATENT_SCALE,
    NORM_AND_ROTATION,
    PACKED_DOCUMENTS,
    RMS_OR_VARIANCE,
    ROTATED_VALUES,
    ROWS_OF_ZEROS,
    SHIFTED_TWICE,
    TURNED_BEFORE,
    TWO_LAYOUTS,
    WINDOW_BY_ONE,
)
from tutor.attention import causal_mask
from tutor.language_model import places_of
from tutor.modern import rotate
from tutor.proof import equal

# ---- rotation


@exhibit(LUCKY, TWO_LAYOUTS, task="rotate")
class rotate_for_llama:
    """Columns 2i and 2i + 1 are turned together; these weights pair column i with i + d_k / 2.

    Both layouts are in use, and in both a score depends on the distance alone, so that a model
    trained with either is right. Weights of the one run with the other without complaint, and
    attend to the wrong words. Converters put the columns of W_Q and W_K in the other order.
    """

    test = "equal to complex numbers of which column i is the real part, i + d_k / 2 the other"
    shows = "column 0 is mixed into columns [0, 1]"

    def wrong(X, places):
        """RoPE for the weights of a `LlamaForCausalLM` from `transformers`."""
        d_k = X.shape[-1]
        angle = places[:, None] * 10_000 ** (-torch.arange(0, d_k, 2) / d_k)  # (T, d_k / 2)
        x, y = X[..., 0::2], X[..., 1::2]  # (..., T, d_k / 2) each
        turned = x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()
        return torch.stack(turned, dim=-1).flatten(-2)  # (..., T, d_k)

    mend = {
        "[..., 0::2], X[..., 1::2]": ".chunk(2, dim=-1)",
        "stack(turned, dim=-1).flatten(-2": "cat(turned, dim=-1",
    }

    def judge(turn):
        for half in (3, 5):
            X, places = torch.randn(2, 5, 2 * half), torch.arange(3, 8)
            angle = places[:, None] * 10_000 ** (-torch.arange(half) / half)  # (T, half)
            Z = torch.complex(*X.chunk(2, dim=-1)) * torch.polar(torch.ones(5, half), angle)
            assert equal(turn(X, places), torch.cat([Z.real, Z.imag], dim=-1))
        turn(X, places + 2)

    def demo(turn):
        columns = turn(torch.eye(4)[:1], torch.tensor([1]))[0].nonzero().flatten().tolist()
        Q, K = torch.randn(2, 5, 4)
        E, later = (turn(Q, p) @ turn(K, p).mT for p in (torch.arange(5), torch.arange(7, 12)))
        return f"column 0 is mixed into columns {columns}\nonly distances count: {equal(E, later)}"


@exhibit(WRONG, ROTATED_VALUES)
class attend_by_distance:
    """The values are rotated as well, so that results depend on where a sentence stands.

    In the product of a query and a key the two places cancel to a distance. A value meets no
    partner that would turn it back: the same words, further on in a text, give other results.
    """

    test = "move all places by the same number: no result may change; move them apart: some must"
    shows = "equal 100 places further on: False"

    def wrong(Q, K, V, places):
        Q, K, V = (rotate(X, places) for X in (Q, K, V))  # (N, T, d_k) each
        return F.scaled_dot_product_attention(Q, K, V, is_causal=True)  # (N, T, d_k)

    mend = {", V = (rotate(X, places) for X in (Q, K, V": " = (rotate(X, places) for X in (Q, K"}

    def judge(attend):
        for T in (3, 5):
            (Q, K, V), places = torch.randn(3, 2, T, 4), torch.arange(T)
            Y, unturned = attend(Q, K, V, places), attend(Q, K, V, 0 * places)
            assert equal(attend(Q, K, V, places + 7), Y) and not equal(Y, unturned)
            assert equal(unturned, F.scaled_dot_product_attention(Q, K, V, is_causal=True))

    def demo(attend):
        Q, K, V = torch.randn(3, 2, 5, 4)
        Y, later = (attend(Q, K, V, torch.arange(5) + start) for start in (0, 100))
        return f"equal 100 places further on: {equal(Y, later)}"


@exhibit(LUCKY, NORM_AND_ROTATION)
class queries_by_place:
    """The norm comes after the rotation, and its gain stretches the pairs that were turned.

    A rotation keeps the length of a vector, so that the two may trade places as long as all gains
    are 1. They are in a fresh model. Later, scores depend on more than the distance. Some models
    are trained like this; the weights of Qwen3 are not.
    """

    test = "with a gain that is not 1 throughout: equal distances give equal scores"
    shows = "only distances count, with gains of 1: True, with others: False"

    def wrong(Q, gain, places):
        return F.rms_norm(rotate(Q, places), Q.shape[-1:], gain)  # (T, d_k)

    mend = {
        "F.rms_norm(rotate(Q, places), Q": "rotate(F.rms_norm(Q, Q",
        "gain)  #": "gain), places)  #",
    }

    def judge(prepare):
        for T, d_k in ((3, 4), (4, 6)):
            (Q, K), gain = 1e4 * torch.randn(2, T, d_k), torch.rand(d_k)  # any epsilon will do
            places = torch.arange(T)
            E, later, unturned = (
                prepare(Q, gain, p) @ prepare(K, gain, p).mT
                for p in (places, places + 7, 0 * places)
            )  # (T, T) each
            assert equal(E, later) and not equal(E, unturned)
            assert equal(prepare(Q, gain, 0 * places), F.rms_norm(Q, (d_k,)) * gain)

    def demo(prepare):
        Q, K, gain = torch.randn(3, 5, 4)
        said = []
        for g in (torch.ones(4), gain[0]):
            E, later = (
                prepare(Q, g, p) @ prepare(K, g, p).mT
                for p in (torch.arange(5), torch.arange(7, 12))
            )  # (T, T) each
            said.append(equal(E, later))
        return f"only distances count, with gains of 1: {said[0]}, with others: {said[1]}"


@exhibit(WRONG, ALIBI_SIGN)
class scores_by_distance:
    """The distance is added to the scores, and far words win; ALiBi subtracts it.

    The slopes are right, and so are all shapes. On a long text most of the weight goes to its
    beginning, whatever is asked.
    """

    test = "of equal scores, the nearest key gets the most weight, by the right factor"
    shows = "weights of equal scores: [0.51, 0.31, 0.19]"

    def wrong(E):
        h, T = E.shape[-3:-1]
        slope = 2 ** (-8 * torch.arange(1, h + 1) / h)  # (h,)
        distance = torch.arange(T)[:, None] - torch.arange(T)  # (T, T): from key to query
        return E + slope[:, None, None] * distance  # (..., h, T, T)

    mend = {" + slope": " - slope"}

    def view(E, *inputs):  # what a whole row has in common is free, and so is the future
        return E.masked_fill(causal_mask(E.shape[-1]), -torch.inf).softmax(dim=-1)

    def judge(add_bias):
        for h, T in ((2, 3), (4, 5)):
            E = torch.randn(2, h, T, T)
            bias = add_bias(E) - E  # (N, h, T, T): what a whole row has in common is free
            nearer = bias[..., 1:, 1:].tril() - bias[..., 1:, :-1].tril()  # (N, h, T - 1, T - 1)
            slope = torch.tensor([0.5 ** (8 * i / h) for i in range(1, h + 1)])  # (h,)
            past = torch.ones(2, 1, T - 1, T - 1).tril()  # (N, 1, T - 1, T - 1)
            assert equal(nearer, slope[:, None, None] * past)

    def demo(add_bias):
        E = add_bias(torch.zeros(8, 3, 3))  # (h, T, T)
        return f"weights of equal scores: {to_digits(E[0, 2].softmax(dim=-1))}"


# ---- heads, norms


@exhibit(LUCKY, GROUPS_IN_ORDER, task="repeat_heads")
class keys_for_all_heads:
    """The key heads are repeated in turn, 0, 1, 0, 1; a group sits together: 0, 0, 1, 1.

    A model trained like this is as good as any, with its heads in another order. With weights that
    were trained elsewhere, many heads read the keys of another group. With one key head, or with
    one for each head, nobody can tell.
    """

    test = "equal to `F.scaled_dot_product_attention(..., enable_gqa=True)` with 2 and 3 key heads"
    shows = "query heads 0 to 3 read key heads [0, 1, 0, 1]"

    def wrong(K, times):
        return K.repeat(1, times, 1, 1)  # (N, h, S, d_k)

    mend = {"repeat(1, times, 1, ": "repeat_interleave(times, dim="}

    def judge(repeat):
        for h_kv, times in ((2, 2), (3, 3)):
            K, V = torch.randn(2, 2, h_kv, 5, 4)
            Q = torch.randn(2, h_kv * times, 5, 4)
            Y = F.scaled_dot_product_attention(Q, K, V, enable_gqa=True)  # (N, h, T, d_k)
            assert equal(F.scaled_dot_product_attention(Q, repeat(K, times), repeat(V, times)), Y)

    def demo(repeat):
        K = torch.arange(2)[None, :, None, None]  # (N, h_kv, S, d_k)
        return f"query heads 0 to 3 read key heads {repeat(K, 2).flatten().tolist()}"


@exhibit(WRONG, RMS_OR_VARIANCE, task="rms_norm")
class normalise_by_size:
    """The variance is taken for the mean square; it leaves the mean out, RMSNorm does not.

    The two agree for vectors whose mean is 0, and fresh embeddings nearly are. A vector that is far
    from 0 and nearly constant comes out huge.
    """

    test = "equal to `nn.RMSNorm` for vectors whose mean is not 0"
    shows = "[1, 7, 7, 9] becomes [0.33, 2.33, 2.33, 3.0]"

    def wrong(X, eps=1e-6):
        variance = X.var(-1, keepdim=True, correction=0)
        return X / (variance + eps).sqrt()

    def mended(X, eps=1e-6):
        mean_square = X.square().mean(-1, keepdim=True)
        return X / (mean_square + eps).sqrt()

    def judge(normalise):
        for d, eps in ((4, 1e-6), (6, 0.1)):
            X = torch.randn(3, d) + 1
            assert equal(normalise(X, eps=eps), F.rms_norm(X, (d,), eps=eps))
        normalise(0.001 * X)

    def demo(normalise):
        return f"[1, 7, 7, 9] becomes {to_digits(normalise(torch.tensor([1.0, 7.0, 7.0, 9.0])))}"


# ---- masks, places, labels


@exhibit(WRONG, WINDOW_BY_ONE, task="window_mask")
class mask_of_a_window:
    """Each token sees one key too many, for the window counts the token itself.

    In some libraries a window of 3 is three tokens in all, in others three tokens back. A cache
    that keeps as many keys as the window says gives other results than a whole pass.
    """

    test = "count what the last row may see, and compare with a loop"
    shows = "with a window of 3, row 5 may see [2, 3, 4, 5]"

    def wrong(T, window):
        old = torch.ones(T, T, dtype=torch.bool).tril(diagonal=-window - 1)
        return causal_mask(T) | old  # (T, T)

    mend = {"window - 1": "window"}

    def judge(mask):
        for T, window in ((6, 3), (5, 1), (3, 4), (1, 2)):
            seen = [[t - window < s <= t for s in range(T)] for t in range(T)]
            assert (~mask(T, window)).tolist() == seen

    def demo(mask):
        row = [key for key in range(6) if not mask(6, 3)[5, key]]
        return f"with a window of 3, row 5 may see {row}"


@exhibit(WRONG, PACKED_DOCUMENTS)
class pack_documents:
    """The places begin anew with each document, and its tokens still see the documents before it.

    A place says where a token stands, and nothing of what it may see. Each document is read as if
    the one before, drawn by chance, were its beginning.
    """

    test = "the mask hides the future and all other documents; the places count from 0 in each"
    shows = "the first token of document 1 may see: [0, 1, 2, 3]"

    def wrong(documents):
        """Places and mask of tokens, from the number of the document of each, (N, T)."""
        places = places_of(documents, documents)  # (N, T)
        mask = causal_mask(documents.shape[1])  # (T, T)
        return places, mask.expand(len(documents), -1, -1)  # (N, T, T)

    mend = {".expand(len(documents), -1, -1": " | (documents[:, :, None] != documents[:, None]"}

    def view(packed, documents):
        places, mask = packed
        return places, mask.reshape(*documents.shape, -1)  # (N, 1, T, T) will do, too

    def judge(pack):
        for row in ([0, 0, 0, 1, 1], [0, 1, 2, 2, 2, 3]):
            T = len(row)
            places, mask = pack(torch.tensor([row]))
            assert places.tolist() == [[row[:t].count(row[t]) for t in range(T)]]
            seen = [[s <= t and row[s] == row[t] for s in range(T)] for t in range(T)]
            assert (mask.reshape(1, T, T) == 0).tolist() == [seen]
        pack(torch.tensor([[0, 0, 1], [0, 1, 1]]))

    def demo(pack):
        places, mask = pack(torch.tensor([[0, 0, 0, 1, 1]]))
        seen = (~mask[0, 3]).nonzero().flatten().tolist()
        return f"the first token of document 1 may see: {seen}, its place is {places[0, 3]}"


@exhibit(LUCKY, CACHE_AT_ZERO)
class keys_with_a_cache:
    """With each call the places begin at 0 again; they should go on where the cache ends.

    The prompt is read in one piece and comes out right, and so passes the test of a single call.
    Then tokens come one by one, and each is turned as if it were the first.
    """

    test = "keys that are read in pieces are equal to keys that are read at once"
    shows = "equal after the prompt: True, after one more token: False"

    def wrong(kept, K):
        places = torch.arange(K.shape[-2])  # (T,)
        return torch.cat([kept, rotate(K, places)], dim=-2)  # (N, S + T, d_k)

    mend = {"= torch": "= kept.shape[-2] + torch"}

    def judge(append):
        for pieces in ([3, 1, 1], [2, 2]):
            K = torch.randn(2, sum(pieces), 4)
            kept = K[:, :0]
            for piece in K.split(pieces, dim=1):
                kept = append(kept, piece)
            assert equal(kept, rotate(K, torch.arange(sum(pieces))))

    def demo(append):
        K, said = torch.randn(2, 4, 4), []
        kept = append(K[:, :0], K[:, :3])
        for keys in (kept, append(kept, K[:, 3:])):
            said.append(equal(keys, rotate(K, torch.arange(4))[:, : keys.shape[1]]))
        return f"equal after the prompt: {said[0]}, after one more token: {said[1]}"


@exhibit(WRONG, SHIFTED_TWICE)
class loss_of_labels:
    """The labels are shifted twice, so that the model learns the word after the next.

    Once where the batch is made and once in the loss, and each is right by itself. A causal model
    of `transformers` shifts, too: its labels are the inputs. The loss falls, if not as far,
    and a text that is written so leaves words out.
    """

    test = "a model that counts on has no loss, and one that leaves a number out has a large one"
    shows = "the loss of a model that counts 2, 3, 4: 20.0, 2, 4, 6: 0.0"

    def wrong(model, ids):
        inputs, labels = ids[:, :-1], ids[:, 1:]  # (N, T) each
        logits = model(inputs)  # (N, T, V)
        return F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:])  # (N, V, T - 1)

    mend = {
        "[:, :-1].transpose": ".transpose",
        "labels[:, 1:])  # (N, V, T - 1)": "labels)  # (N, V, T)",
    }

    def judge(loss):
        for T in (4, 5):
            ids = torch.arange(2, 2 + T)[None]  # (N, T)
            assert loss(counts_by(1), ids) < 0.01
            assert 10 < loss(counts_by(2), ids) < 30
        loss(lambda ids: torch.eye(12)[ids], torch.tensor([[3, 7, 9], [5, 4, 4]]))

    def demo(loss):
        said = [loss(counts_by(step), torch.arange(2, 7)[None]).item() for step in (1, 2)]
        return f"the loss of a model that counts 2, 3, 4: {said[0]:.1f}, 2, 4, 6: {said[1]:.1f}"


def counts_by(step):
    """A model that is sure of the number `step` above each that it reads."""
    return lambda ids: 20.0 * F.one_hot(ids + step, 12)  # (N, T, V)


# ---- longer and smaller


@exhibit(LUCKY, TURNED_BEFORE)
class keys_of_a_longer_text:
    """Keys are turned when they are read, and the speeds change later, as the text grows.

    Dynamic scaling chooses its base by the length of the text so far. A cache that holds turned
    keys holds those of several bases, and no query fits them all. Within the trained length, and
    for a text that is read at once, nothing of this is seen.
    """

    test = "keys that are read in pieces are equal to keys that are read at once, beyond training"
    shows = "equal to reading at once, 4 tokens: True, 8 tokens: False"

    def wrong(pieces):
        """The keys of a text that comes in pieces; its model was trained on 4 tokens."""
        kept, length = [], 0
        for K in pieces:
            start, length = length, length + K.shape[-2]
            base = 10_000 * max(1, length / 4) ** (K.shape[-1] / (K.shape[-1] - 2))
            kept.append(rotate(K, torch.arange(start, length), base))
        return torch.cat(kept, dim=-2)  # (N, S, d_k)

    def mended(pieces):
        """The keys of a text that comes in pieces; its model was trained on 4 tokens."""
        K = torch.cat(pieces, dim=-2)  # (N, S, d_k)
        length, d_k = K.shape[-2:]
        base = 10_000 * max(1, length / 4) ** (d_k / (d_k - 2))
        return rotate(K, torch.arange(length), base)  # (N, S, d_k)

    def judge(keys_of):
        for N, sizes, d_k in ((2, [1, 1], 4), (2, [4, 3, 1], 4), (1, [3, 5, 4], 6)):
            pieces = [torch.randn(N, size, d_k) for size in sizes]
            assert equal(keys_of(pieces), keys_of([torch.cat(pieces, dim=1)]))

    def demo(keys_of):
        K, said = torch.randn(2, 8, 4), []
        for length in (4, 8):
            text = K[:, :length]
            said.append(equal(keys_of(list(text.split(2, dim=1))), keys_of([text])))
        return f"equal to reading at once, 4 tokens: {said[0]}, 8 tokens: {said[1]}"


@exhibit(LUCKY, LATENT_SCALE)
class scores_of_latents:
    """The scores are divided by the root of the latent's width, and not by that of the keys.

    Queries that have absorbed the matrix of the keys are as wide as the latent. That is another way
    to compute the same products, and their scale must stay: the model was trained with it. With the
    wrong one, attention is too flat, and where both widths are the same nobody notices.
    """

    test = "equal to scores of keys that are computed, with a latent wider than a key"
    shows = "[4.0, 8.0] becomes [2.0, 4.0]"

    def wrong(Q, C, W_K):
        Q = Q @ W_K.mT  # (N, h, T, latent)
        return Q @ C[:, None].mT / Q.shape[-1] ** 0.5  # (N, h, T, S)

    mend = {"Q.shape[-1] **": "W_K.shape[-1] **"}

    def judge(scores):
        for T, S, d_k, latent in ((2, 3, 4, 6), (3, 3, 5, 2)):
            Q, C = torch.randn(2, 3, T, d_k), torch.randn(2, S, latent)
            W_K = torch.randn(3, latent, d_k)
            K = C[:, None] @ W_K  # (N, h, S, d_k)
            assert equal(scores(Q, C, W_K), Q @ K.mT / d_k**0.5)

    def demo(scores):
        Q, C, W_K = (
            torch.ones(1, 1, 1, 1),
            torch.tensor([[[1.0] * 4, [2.0] * 4]]),
            torch.ones(1, 4, 1),
        )
        return f"[4.0, 8.0] becomes {to_digits(scores(Q, C, W_K)[0, 0, 0])}"


@exhibit(LUCKY, ROWS_OF_ZEROS)
class round_keys:
    """A row of zeros has the scale 0, and zero divided by zero is no number.

    Padding, and tokens that a layer leaves empty, make such rows. One of them is enough: through
    the softmax and the sum of the values, its NaN reaches every token that looks at it.
    """

    test = "large rows, small rows and a row of zeros come back as they should, one by one"
    shows = "zeros come back as numbers: False"

    def wrong(X):
        """Keys or values as a cache of int8 gives them back, with a scale for each row."""
        scale = X.abs().amax(dim=-1, keepdim=True) / 127  # (..., 1)
        return (X / scale).round() * scale

    mend = {"(X / scale)": "(X / scale).nan_to_num()"}
    view = None  # a cache asks for no gradients

    def judge(rounded):
        sizes = torch.tensor([1.0, 1000.0, 0.0, 0.01])[:, None]
        for shape in ((4, 5), (1, 4, 6)):
            X = torch.randn(shape) * sizes
            step = (X.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-9)  # (..., 1)
            assert equal(rounded(X), (X / step).round() * step)

    def demo(rounded):
        return f"zeros come back as numbers: {rounded(torch.zeros(2)).isfinite().all()}"
