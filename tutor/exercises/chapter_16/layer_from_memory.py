"""A layer from memory."""

import itertools
import math

import torch
import torch.nn.functional as F

from tutor.check.exercise import MEND, Exercise
from tutor.modern import rotate

NORM = """\
from tutor.modern import rotate


def rms_norm(X, weight):
    return X / (X.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt() * weight
"""


def _rms_norm(X, weight):
    return X / (X.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt() * weight


def _normed_then_turned(X, weight, places):
    return rotate(_rms_norm(X, weight), places)


def _turned_then_normed(X, weight, places):
    return _rms_norm(rotate(X, places), weight)


def _only_turned(X, weight, places):
    return rotate(X, places)


def _only_normed(X, weight, places):
    return _rms_norm(X, weight)


def _gated(Y, p):
    return F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])


def _gated_up(Y, p):
    return Y @ p["W_gate"] * F.silu(Y @ p["W_up"])


def _layer(
    queries=_normed_then_turned, keys=None, values=lambda V, places: V, middle=_gated,
    keeps="X", reads="normed", keeps_too="X", hidden=1, swapped=False, scale=None,
    norm_2=_rms_norm,
):  # fmt: skip
    """The layer, with its steps by name."""
    keys = keys or queries

    def answer(X, places, p):
        normed = _rms_norm(X, p["norm_1"])
        read = normed if reads == "normed" else X
        names = ("norm_K", "norm_Q") if swapped else ("norm_Q", "norm_K")
        Q = queries(read @ p["W_Q"], p[names[0]], places)
        K = keys(read @ p["W_K"], p[names[1]], places)
        V = values(read @ p["W_V"], places)
        mask = torch.ones(len(X), len(X), dtype=torch.bool)
        mask = mask.tril(-1) if hidden is None else mask.triu(hidden)
        E = (Q @ K.T / math.sqrt(scale(X) if scale else Q.shape[1])).masked_fill(mask, -torch.inf)
        X = {"X": X, "normed": normed, "nothing": 0}[keeps] + E.softmax(-1) @ V @ p["W_O"]
        Y = norm_2(X, p["norm_2"])
        kept = {"X": X, "normed": Y, "nothing": 0}[keeps_too]
        return kept + middle(Y, p) @ p["W_down"]

    return answer


def _weights(d_model, d_k, d_ff, seed):
    draw = torch.Generator().manual_seed(seed)
    sizes = dict(W_Q=d_k, W_K=d_k, W_V=d_k, W_gate=d_ff, W_up=d_ff)
    p = {name: torch.randn(d_model, size, generator=draw) for name, size in sizes.items()}
    p["W_O"] = torch.randn(d_k, d_model, generator=draw)
    p["W_down"] = torch.randn(d_ff, d_model, generator=draw)
    norms = dict(norm_1=d_model, norm_2=d_model, norm_Q=d_k, norm_K=d_k)
    return p | {name: 0.5 + torch.rand(size, generator=draw) for name, size in norms.items()}


def _with_weights(answer, X, places, d_k, d_ff, seed):
    return answer(X, places, _weights(X.shape[1], d_k, d_ff, seed))


def _cases_of_texts():
    for places, d_model, d_k, d_ff in [
        ([0], 2, 2, 2),
        ([0, 1], 3, 2, 2),
        ([7, 8, 10, 13], 6, 4, 5),
    ]:
        X, seed = torch.randn(len(places), d_model), int(torch.randint(1000, ()))
        yield X, torch.tensor(places), d_k, d_ff, seed


_WHERE = {
    "keeps": "what goes around the attention is not what came in",
    "queries": "scores still depend on more than distances",
    "middle": "the gate is not the one with SiLU",
}
_SLIPS = dict(keeps="normed", queries=_turned_then_normed, middle=_gated_up)


def _what_is_left():
    """Each set of mistakes that may be left, with what is said of it."""
    counts = {1: "One mistake is left", 2: "Two mistakes are left"}
    for size in (1, 2):
        for names in itertools.combinations(_SLIPS, size):
            where = ", and ".join(_WHERE[name] for name in names)
            yield f"{counts[size]}: {where}.", _layer(**{name: _SLIPS[name] for name in names})


layer_from_memory = Exercise(
    name="layer_from_memory",
    chapter="16",
    section="Reading a Llama",
    kind=MEND,
    title="A layer from memory",
    goal="Read a layer of today line by line, and see what no shape complains about.",
    difficulty=4,
    importance=5,
    minutes=10,
    text="""\
Somebody wrote down a layer of a Llama with QK-norm from memory: norm first, RoPE by halves, SwiGLU,
here with one head and one text. It runs, and all shapes are right. But with published weights it
writes nonsense. It has **three silent mistakes. Find and mend them.**

Each name in `p` says what its weights are for, and can be trusted; so can `rotate` and `rms_norm`
of the cell above. `norm_Q` and `norm_K` are learned, and *not* all ones. Ask of each line: what
does the chapter promise of this step?""",
    hints=(
        "Three places to look at: what the two residual connections carry around, whether scores "
        "depend on distances alone, and which of two matrices is the gate.",
        "A residual connection adds to what came *in*, before the norm. And can a learned scale of "
        "each column come after the turning, where two columns are one point?",
        "Keep `X` for the sum and give the attention `rms_norm(X, ...)` under another name; norm "
        "queries and keys before they are turned; `F.silu` belongs to `W_gate`.",
    ),
    setup=NORM,
    stub='''\
def layer_from_memory(X, places, p):
    """One layer of a Llama with QK-norm. It has three mistakes: mend them.

    X: float tensor (T, d_model); places: int tensor (T,); p: dict of weights, used as X @ W
    Returns float tensor (T, d_model)
    """
    X = rms_norm(X, p["norm_1"])
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]  # (T, d_k) each
    Q, K = rotate(Q, places), rotate(K, places)
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)  # (T, T)
    E = Q @ K.T / math.sqrt(Q.shape[1])  # (T, T)
    A = E.masked_fill(hidden, -torch.inf).softmax(dim=-1)  # (T, T)
    X = X + A @ V @ p["W_O"]  # (T, d_model)
    Y = rms_norm(X, p["norm_2"])
    gate, up = Y @ p["W_gate"], Y @ p["W_up"]  # (T, d_ff) each
    return X + (gate * F.silu(up)) @ p["W_down"]  # (T, d_model)
''',
    solution='''\
def layer_from_memory(X, places, p):
    """One layer of a Llama with QK-norm.

    X: float tensor (T, d_model); places: int tensor (T,); p: dict of weights, used as X @ W
    Returns float tensor (T, d_model)
    """
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]  # (T, d_k) each
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)  # (T, T)
    E = Q @ K.T / math.sqrt(Q.shape[1])  # (T, T)
    A = E.masked_fill(hidden, -torch.inf).softmax(dim=-1)  # (T, T)
    X = X + A @ V @ p["W_O"]  # (T, d_model)
    Y = rms_norm(X, p["norm_2"])
    gate, up = Y @ p["W_gate"], Y @ p["W_up"]  # (T, d_ff) each
    return X + (F.silu(gate) * up) @ p["W_down"]  # (T, d_model)
''',
    because="A swapped gate is the same model with two names exchanged, and would train as well. "
    "Only weights that others trained can show it.",
    reference=_layer(),
    call=_with_weights,
    cases=_cases_of_texts,
    mistakes=(
        ("As it was: all three mistakes are still there.", _layer(**_SLIPS)),
        *_what_is_left(),
        (
            "The values are turned too. They say what a token hands over, wherever it stands.",
            _layer(values=rotate),
        ),
        (
            "The norms of queries and keys are gone. They belong there, before the turning.",
            _layer(queries=_only_turned),
        ),
        (
            "You number the places yourself. Take those in `places`: they may have gaps.",
            _layer(lambda Q, w, places: rotate(_rms_norm(Q, w), torch.arange(len(places)))),
        ),
        (
            "Queries and keys are turned the other way round. `rotate` was right.",
            _layer(lambda Q, w, places: rotate(_rms_norm(Q, w), -places)),
        ),
        (
            "Queries and keys are no longer turned.",
            _layer(queries=_only_normed),
        ),
        *(
            (
                "Queries and keys are not treated alike: one is turned before its norm, the other "
                "after it.",
                _layer(queries=one, keys=other),
            )
            for one, other in itertools.permutations((_normed_then_turned, _turned_then_normed))
        ),
        (
            "Queries and keys are normed twice, before the turning and after it. Once, before it, "
            "is enough.",
            _layer(lambda Q, w, places: _rms_norm(_normed_then_turned(Q, w, places), w)),
        ),
        (
            "The scores are no longer divided. The root of $d_k$ was right.",
            _layer(scale=lambda X: 1),
        ),
        (
            "The scores are divided by the root of $d_model$. The root of $d_k$ was right.",
            _layer(scale=lambda X: X.shape[1]),
        ),
        ("The norm before the feed-forward layer is gone.", _layer(norm_2=lambda X, weight: X)),
        *(
            (
                "The gate's bend is SiLU, `F.silu`.",
                _layer(middle=lambda Y, p, bend=bend: bend(Y @ p["W_gate"]) * (Y @ p["W_up"])),
            )
            for bend in (F.relu, F.gelu, torch.tanh)
        ),
        ("`norm_Q` and `norm_K` have changed places.", _layer(swapped=True)),
        *(
            (
                "The attention reads X without its norm. The norm comes first; what goes around it "
                "is X itself.",
                _layer(reads="X", queries=queries, middle=middle),
            )
            for queries in (_normed_then_turned, _turned_then_normed)
            for middle in (_gated, _gated_up)
        ),
        ("What goes around the attention is gone: add X to its result.", _layer(keeps="nothing")),
        (
            "What goes around the feed-forward layer has passed the norm. That one was right: it "
            "adds X.",
            _layer(keeps_too="normed"),
        ),
        ("What goes around the feed-forward layer is gone.", _layer(keeps_too="nothing")),
        (
            "SiLU is applied to both. The other matrix has no bend at all.",
            _layer(middle=lambda Y, p: F.silu(Y @ p["W_gate"]) * F.silu(Y @ p["W_up"])),
        ),
        (
            "SiLU is applied to the product. It bends the gate alone, before they are multiplied.",
            _layer(middle=lambda Y, p: F.silu(Y @ p["W_gate"] * (Y @ p["W_up"]))),
        ),
        (
            "That is a sigmoid; SiLU is x times its sigmoid.",
            _layer(middle=lambda Y, p: (Y @ p["W_gate"]).sigmoid() * (Y @ p["W_up"])),
        ),
        (
            "Your mask hides each token from itself. The mask was right.",
            _layer(hidden=0),
        ),
        (
            "Your mask hides the past and shows the future. The mask was right.",
            _layer(hidden=None),
        ),
        (
            "Tokens now see the next one. The mask was right.",
            _layer(hidden=2),
        ),
    ),
    wrong={
        """\
def layer_from_memory(X, places, p):
    X = rms_norm(X, p["norm_1"])
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    Q, K = rotate(Q, places), rotate(K, places)
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (Y @ p["W_gate"] * F.silu(Y @ p["W_up"])) @ p["W_down"]
""": "As it was",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rotate(Q, places), rotate(K, places)
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (Y @ p["W_gate"] * F.silu(Y @ p["W_up"])) @ p["W_down"]
""": "Two mistakes are left: scores still depend",
        """\
def layer_from_memory(X, places, p):
    X = rms_norm(X, p["norm_1"])
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (Y @ p["W_gate"] * F.silu(Y @ p["W_up"])) @ p["W_down"]
""": "Two mistakes are left: what goes around the attention is not what came in, and the gate",
        """\
def layer_from_memory(X, places, p):
    X = rms_norm(X, p["norm_1"])
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    Q, K = rotate(Q, places), rotate(K, places)
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "Two mistakes are left: what goes around the attention is not what came in, and scores",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rotate(Q, places), rotate(K, places)
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "One mistake is left: scores",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (Y @ p["W_gate"] * F.silu(Y @ p["W_up"])) @ p["W_down"]
""": "One mistake is left: the gate",
        """\
def layer_from_memory(X, places, p):
    X = rms_norm(X, p["norm_1"])
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "One mistake is left: what goes",
        """\
def layer_from_memory(X, places, p):
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "reads X without its norm",
        """\
def layer_from_memory(X, places, p):
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    Q, K = rotate(Q, places), rotate(K, places)
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (Y @ p["W_gate"] * F.silu(Y @ p["W_up"])) @ p["W_down"]
""": "reads X without its norm",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    V = rotate(V, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "values are turned too",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "norms of queries and keys are gone",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "What goes around the attention is gone",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return Y + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "has passed the norm",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * F.silu(Y @ p["W_up"])) @ p["W_down"]
""": "applied to both",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).triu(1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (torch.sigmoid(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "a sigmoid",
        """\
def layer_from_memory(X, places, p):
    Y = rms_norm(X, p["norm_1"])
    Q, K, V = Y @ p["W_Q"], Y @ p["W_K"], Y @ p["W_V"]
    Q, K = rms_norm(Q, p["norm_Q"]), rms_norm(K, p["norm_K"])
    Q, K = rotate(Q, places), rotate(K, places)
    hidden = torch.ones(len(X), len(X), dtype=torch.bool).tril(-1)
    E = (Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(hidden, -torch.inf)
    X = X + E.softmax(dim=-1) @ V @ p["W_O"]
    Y = rms_norm(X, p["norm_2"])
    return X + (F.silu(Y @ p["W_gate"]) * (Y @ p["W_up"])) @ p["W_down"]
""": "The mask was right",
    },
    right=(
        """\
def layer_from_memory(X, places, p):
    T, normed = len(X), rms_norm(X, p["norm_1"])
    Q = rotate(rms_norm(normed @ p["W_Q"], p["norm_Q"]), places)
    K = rotate(rms_norm(normed @ p["W_K"], p["norm_K"]), places)
    Y = F.scaled_dot_product_attention(Q[None], K[None], (normed @ p["W_V"])[None], is_causal=True)
    X = X + Y[0] @ p["W_O"]
    Z = rms_norm(X, p["norm_2"])
    gate, up = Z @ p["W_gate"], Z @ p["W_up"]
    return X + (gate * gate.sigmoid() * up) @ p["W_down"]
""",
        """\
def layer_from_memory(X, places, p):
    came_in = X
    X = F.rms_norm(X, (X.shape[1],), p["norm_1"], 1e-6)
    Q = rotate(rms_norm(X @ p["W_Q"], p["norm_Q"]), places)
    K = rotate(rms_norm(X @ p["W_K"], p["norm_K"]), places)
    V = X @ p["W_V"]
    rows = []
    for t in range(len(X)):
        A = (K[: t + 1] @ Q[t] / Q.shape[1] ** 0.5).softmax(0)
        rows.append(A @ V[: t + 1] @ p["W_O"])
    X = came_in + torch.stack(rows)
    Y = rms_norm(X, p["norm_2"])
    return X + (Y @ p["W_up"] * F.silu(Y @ p["W_gate"])) @ p["W_down"]
""",
    ),
)
