"""Rounding, or a mistake?"""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import PREDICT, Exercise


def _ported(layer, X, eps=1e-5, gelu="none"):
    """An encoder layer of PyTorch written anew: head by head, the feed-forward in two halves."""
    d_k = X.shape[-1] // layer.self_attn.num_heads

    def normed(norm, Z):
        return F.layer_norm(Z, Z.shape[-1:], norm.weight, norm.bias, eps)

    def attend(Z):
        a = layer.self_attn
        bands = [W.split(d_k) for W in a.in_proj_weight.chunk(3)]
        biases = [b.split(d_k) for b in a.in_proj_bias.chunk(3)]
        Y = a.out_proj.bias
        for i, W_O in enumerate(a.out_proj.weight.split(d_k, dim=1)):
            Q, K, V = (Z @ W[i].T + b[i] for W, b in zip(bands, biases, strict=True))
            A = (Q / d_k**0.5 @ K.mT).softmax(-1)  # (N, T, T)
            Y = Y + A @ V @ W_O.T  # (N, T, d_model)
        return Y

    def feed(Z):
        Y = layer.linear2.bias
        middle = zip(layer.linear1.weight.chunk(2), layer.linear1.bias.chunk(2), strict=True)
        for (W, b), out in zip(middle, layer.linear2.weight.chunk(2, dim=1), strict=True):
            Y = Y + F.gelu(Z @ W.T + b, approximate=gelu) @ out.T  # (N, T, d_model)
        return Y

    if layer.norm_first:
        X = X + attend(normed(layer.norm1, X))
        return X + feed(normed(layer.norm2, X))
    X = normed(layer.norm1, X + attend(X))
    return normed(layer.norm2, X + feed(X))


PORTS = {
    "A": ({"norm_first": False}, {}, 1),
    "B": ({"norm_first": False}, {"eps": 1e-12}, 4),
    "C": ({"norm_first": True}, {}, 4),
    "D": ({"norm_first": True}, {"gelu": "tanh"}, 1),
}


def measure(options, mistake, scale, dtype):
    """The largest difference of six layers and their port; `scale` multiplies all matrices."""
    torch.manual_seed(0)
    layers = [
        nn.TransformerEncoderLayer(64, 4, 256, 0.0, "gelu", batch_first=True, **options)
        for _ in range(6)
    ]
    ours = theirs = torch.randn(20, 30, 64).to(dtype)
    for layer in layers:
        layer.to(dtype).requires_grad_(False)
        for p in layer.parameters():
            p.mul_(scale if p.dim() > 1 else 1)
        ours, theirs = layer(ours), _ported(layer, theirs, **mistake)
    return (ours - theirs).abs().max().item()


size_of_mistake = Exercise(
    name="size_of_mistake",
    chapter="11",
    section="One machine, six sets of names",
    kind=PREDICT,
    title="Rounding, or a mistake?",
    goal="Tell from two numbers whether a port computes the same function.",
    difficulty=3,
    importance=5,
    minutes=7,
    text="""\
Four models were ported to other code, each by somebody else. Each port was given the same weights
and the same 20 sentences as its original, once in float32 and once with all numbers in float64. The
table holds the largest difference between the two results. (The entries of the results are of about
size 1; in model C they reach 80.)

| port | in float32 | in float64 |
|---|---|---|
| A | 1.4e-06 | 2.7e-15 |
| B | 2.2e-05 | 3.9e-06 |
| C | 5.8e-04 | 1.5e-12 |
| D | 5.6e-04 | 5.6e-04 |

Two differ from their originals by rounding alone: they add in another order. The others contain a
mistake, which does not go away however exact the numbers are. **Decide** for each port, and
**predict** how much of its difference, in float32, is due to the mistake: a list of four numbers,
for A to D, **in millionths** (1e-06 is 1). Give 0 where there is no mistake.""",
    hints=(
        "float64 has 29 bits more than float32. What does that do to a rounding error, and what to "
        "a wrong formula?",
        "A and C shrink by a factor of some hundred millions, as rounding does. B and D do not.",
        "What is left in float64 is the mistake. So B has 3.9 millionths; the rest of its 22 is "
        "rounding.",
    ),
    stub="size_of_mistake = None  # a list of four numbers, such as [1, 2, 3, 4]",
    solution="size_of_mistake = [0, 3.9, 0, 560]",
    because="B has another epsilon in its norms, D the tanh formula of GELU. In float32, no "
    "tolerance would refuse these two and let the others pass.",
    reference=[0.0, 3.9, 0.0, 560.0],
    tolerance=0.06,
    mistakes=(
        (
            "Those are the differences in float32, rounding included. The mistake is what is left "
            "when rounding is almost gone.",
            [1.4, 22.0, 580.0, 560.0],
        ),
        (
            "You judge by the size in float32. C differs by as much as D, but its difference "
            "vanishes with exact numbers, and B's does not.",
            [0.0, 0.0, 580.0, 560.0],
        ),
        (
            "C has large entries, so its rounding is large, too. In float64 the difference is "
            "gone: no wrong formula would go away.",
            [0.0, 22.0, 580.0, 560.0],
        ),
        (
            "C has large entries, so its rounding is large, too. In float64 the difference is "
            "gone: no wrong formula would go away.",
            [0.0, 3.9, 580.0, 560.0],
        ),
        (
            "B's difference is small, and yet it hardly shrinks: float64 would bring rounding down "
            "to about 1e-14.",
            [0.0, 0.0, 0.0, 560.0],
        ),
        (
            "The two ports with a mistake are found. But most of B's 22 is rounding: look at what "
            "is left in float64.",
            [0.0, 22.0, 0.0, 560.0],
        ),
        (
            "That is what went away in float64, which is rounding. The mistake is what stayed.",
            [1.4, 18.1, 580.0, 0.0],
        ),
        (
            "You took the difference of the columns for B. What float64 leaves is the mistake; the "
            "difference of the columns is rounding.",
            [0.0, 18.1, 0.0, 560.0],
        ),
        (
            "You turned it over: these are the two ports without a mistake.",
            [1.4, 0.0, 580.0, 0.0],
        ),
        (
            "All four are 0 in millionths. Two ports do have a mistake; and 5.6e-04 is 560 "
            "millionths.",
            [0.0, 0.0, 0.0, 0.0],
        ),
        (
            "That counts in thousandths. A millionth is 1e-06, so 5.6e-04 is 560 of them.",
            [0.0, 0.0039, 0.0, 0.56],
        ),
        (
            "D's two numbers are equal, which is no good sign: what exact numbers leave as it was "
            "is no rounding.",
            [0.0, 3.9, 0.0, 0.0],
        ),
    ),
    wrong={
        "size_of_mistake = [0, 3.9, 0, 0]": "no good sign",
        "size_of_mistake = [1.4, 22, 580, 560]": "rounding included",
        "size_of_mistake = [0, 0, 580, 560]": "by the size in float32",
        "size_of_mistake = [0, 22, 580, 560]": "large entries",
        "size_of_mistake = [0, 0, 0, 560]": "hardly shrinks",
        "size_of_mistake = [0, 22, 0, 560]": "most of B's 22",
        "size_of_mistake = [1.4, 22 - 3.9, 580, 0]": "which is rounding",
        "size_of_mistake = [0, 3.9e-6, 0, 5.6e-4]": "millionths",
        "size_of_mistake = [1.4, 0, 580, 0]": "turned it over",
        "size_of_mistake = {'B': 3.9, 'D': 560}": "wanted",
        "size_of_mistake = ['no', 'yes', 'no', 'yes']": "a number is wanted",
    },
    right=(
        """\
float64 = [2.7e-15, 3.9e-06, 1.5e-12, 5.6e-04]
size_of_mistake = [round(x * 1e6, 1) for x in float64]
""",
        "size_of_mistake = torch.tensor([0, 4, 0, 560])",
    ),
)

if __name__ == "__main__":
    for name, port in PORTS.items():
        print(name, *(f"{measure(*port, kind):.1e}" for kind in (torch.float32, torch.float64)))
