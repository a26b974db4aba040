"""Which model is better, if their tokens differ?"""

import math
from unittest.mock import ANY

from tutor.check.exercise import PREDICT, Exercise

ENTROPY, BYTES = 19.47, 44.1
RUNS = {"A": (46.10, 2.674), "B": (21.61, 3.265), "C": (10.64, 7.189)}  # tokens, perplexity


def measure():
    """Print the table of the exercise (three minutes on a quiet core)."""
    import torch

    from tutor.attention import PAD
    from tutor.language_model import LanguageModel, LanguageModelConfig
    from tutor.text.packing import pack
    from tutor.text.tokenizer import Tokenizer
    from tutor.text.truth import generate_english, log_probability
    from tutor.training import Recipe, language_loss, train

    captions, test = generate_english(40_000), generate_english(300, seed=1)
    print(f"entropy: {-sum(map(log_probability, test)) / len(test):.2f} nats a caption")
    print(f"bytes a caption: {sum(len(text.encode()) for text in test) / len(test):.1f}")
    for vocab_size in (260, 400, 1500):
        tokenizer = Tokenizer.train(captions, vocab_size=vocab_size)
        sizes = dict(d_model=96, num_heads=4, d_ff=384, num_layers=2, max_len=192, dropout=0.0)
        torch.manual_seed(0)
        model = LanguageModel(LanguageModelConfig(vocab_size, **sizes))
        pairs = [([], ids) for ids in tokenizer.encode(captions)]
        recipe = Recipe(steps=700, max_tokens=1024, smoothing=0.0)
        train(model, pairs, recipe, loss_of=language_loss)
        rows = pack(tokenizer.encode(test), 192)
        tokens = (rows.targets != PAD).sum().item() / len(test)
        with torch.no_grad():
            loss = language_loss(model.eval(), rows).item()
        print(f"{vocab_size}: {tokens:.2f} tokens a caption, perplexity {math.exp(loss):.3f}")


def _nats(name):
    tokens, perplexity = RUNS[name]
    return tokens * math.log(perplexity)


def _answer(name, bits=None):
    return (
        name,
        _nats(name) - ENTROPY,
        (_nats(name) / math.log(2) / BYTES) if bits is None else bits,
    )


_RIGHT = _answer("C")

same_captions = Exercise(
    name="same_captions",
    chapter="15",
    section="Training, with the floor in sight",
    kind=PREDICT,
    title="The same captions, other tokens",
    goal="Compare models that cut their texts into different tokens.",
    difficulty=3,
    importance=5,
    minutes=7,
    text=f"""\
The model of this chapter was trained three times (with 192 positions), 700 steps of 1,024 tokens
each. Only the tokenizer differs. All three were tested on the same 300 captions, and perplexity is
that of a token, as always:

| | vocabulary | tokens a caption | perplexity |
|---|---|---|---|
| A | {260:,} (bytes) | {RUNS["A"][0]:.2f} | {RUNS["A"][1]} |
| B | 400 | {RUNS["B"][0]:.2f} | {RUNS["B"][1]} |
| C | 1,500 | {RUNS["C"][0]:.2f} | {RUNS["C"][1]} |

(`[EOS]` is among the tokens of a caption.) The grammar itself needs {ENTROPY} nats for one of
these captions, and a caption has {BYTES} bytes.

**Work out** three things: which model knows the language best; how many *nats a caption* it is
above the entropy; and its *bits a byte* (1 bit is $\\log 2$ nats). In this last measure papers
compare models whose tokenizers differ. Two decimals, please.""",
    hints=(
        "A token of A is a letter, one of C often a word. Among how many things must each choose "
        "to write a whole caption?",
        "The logarithm of the perplexity is the mean of the nats a token. Times the tokens of a "
        "caption: nats a caption, which no tokenizer changes.",
        "C: $10.64 \\cdot \\log 7.189$ nats a caption. Less the entropy: the second number. "
        "For the third, divide all of it by $\\log 2$ and by the bytes.",
    ),
    stub="""\
same_captions = (
    "A, B or C",  # the best
    None,  # its nats a caption above the entropy
    None,  # its bits a byte
)
""",
    solution="""\
nats = 10.64 * math.log(7.189)
same_captions = ("C", nats - 19.47, nats / math.log(2) / 44.1)
""",
    because="A has the lowest perplexity and needs more than twice the nats: it is asked 46 easy "
    "questions a caption, C 11 hard ones.",
    reference=_RIGHT,
    tolerance=0.012,
    mistakes=(
        (
            "A has the lowest perplexity, but it chooses 46 times a caption. Perplexities of "
            "different tokens cannot be compared: compare nats a caption.",
            ("A", ANY, ANY),
        ),
        (
            "B is neither the one with the fewest nats a token nor the one with the fewest nats a "
            "caption. Work out the nats a caption of all three.",
            ("B", ANY, ANY),
        ),
        ("C it is, and you round too much. Two decimals, please.", ("C", _RIGHT[1], 0.7)),
        (
            "C it is. But its perplexity is times the tokens here: take the logarithm first, which "
            "makes nats of it.",
            ("C", 10.64 * 7.189 - ENTROPY, ANY),
        ),
        (
            "C it is. But the second number is all nats of a caption: take the entropy away.",
            ("C", _nats("C"), ANY),
        ),
        (
            "C it is. But the second number compares nats a token with nats a caption: multiply by "
            "the tokens of a caption first.",
            ("C", math.log(7.189) - ENTROPY, ANY),
        ),
        (
            "C it is. But the second number is in bits on one side: natural logarithms give nats.",
            ("C", _nats("C") / math.log(2) - ENTROPY, ANY),
        ),
        (
            "C it is. But the second number is in bits: nats are asked for there.",
            ("C", (_nats("C") - ENTROPY) / math.log(2), ANY),
        ),
        (
            "C it is. But its distance from the entropy is turned over: the model needs more.",
            ("C", ENTROPY - _nats("C"), ANY),
        ),
        (
            "C it is, and its distance from the entropy is right. The third number is nats a byte: "
            "a bit is log 2 = 0.693 nats, so there are more bits than nats.",
            _answer("C", _nats("C") / BYTES),
        ),
        (
            "C it is, and its distance from the entropy is right. For the third you multiply by "
            "log 2: a bit is smaller than a nat, so there are more of them.",
            _answer("C", _nats("C") * math.log(2) / BYTES),
        ),
        (
            "C it is, and its distance from the entropy is right. The third number is bits a "
            "token: divide a caption's bits by its bytes.",
            _answer("C", _nats("C") / math.log(2) / 10.64),
        ),
        (
            "C it is, and its distance from the entropy is right. The third number is bits a "
            "caption: divide by its bytes.",
            _answer("C", _nats("C") / math.log(2)),
        ),
        (
            "C it is, and its distance from the entropy is right. The third number takes only what "
            "is above the entropy: all nats of the caption count.",
            _answer("C", (_nats("C") - ENTROPY) / math.log(2) / BYTES),
        ),
        (
            "C it is, and its distance from the entropy is right. The third number is turned over: "
            "bytes a bit.",
            _answer("C", BYTES / (_nats("C") / math.log(2))),
        ),
        (
            "C it is. But the second number is nats a token: multiply by the tokens of a caption.",
            ("C", math.log(7.189) - ENTROPY / 10.64, ANY),
        ),
        (
            "C it is, and its distance from the entropy is right. For the third number take all "
            "nats of a caption, turn them into bits, and divide by its bytes.",
            ("C", _RIGHT[1], ANY),
        ),
        (
            "C it is. But the second number is not its nats a caption less the entropy. Nats a "
            "caption: the logarithm of the perplexity, times the tokens.",
            ("C", ANY, ANY),
        ),
    ),
    wrong={
        'same_captions = ("C", math.log(7.189) - 19.47 / 10.64, 0.69)\n': "is nats a token",
        'same_captions = ("C", 1.52, math.log2(7.189) / 44.1)\n': "turn them into bits",
        'same_captions = ("C", 7.189 / 19.47, 0.69)\n': "less the entropy",
        'same_captions = ("A", 45.34 - 19.47, 1.45)\n': "cannot be compared",
        'same_captions = ("A", math.log(2.674), math.log2(2.674))\n': "cannot be compared",
        'same_captions = ("B", 6.1, 0.82)\n': "of all three",
        'same_captions = ("C", 10.64 * 7.189 - 19.47, 1.2)\n': "take the logarithm first",
        'same_captions = ("C", 20.99, 0.69)\n': "take the entropy away",
        'same_captions = ("C", math.log(7.189) - 19.47, 0.69)\n': "multiply by the tokens",
        'same_captions = ("C", 10.64 * math.log2(7.189) - 19.47, 0.69)\n': "natural logarithms",
        'same_captions = ("C", 1.52, 20.99 / 44.1)\n': "nats a byte",
        'same_captions = ("C", 1.52, 20.99 * 0.693 / 44.1)\n': "more of them",
        'same_captions = ("C", 1.52, math.log2(7.189))\n': "bits a token",
        'same_captions = ("C", 1.52, 20.99 / 0.6931)\n': "bits a caption",
        'same_captions = ("C", 1.52, 1.52 / 0.6931 / 44.1)\n': "all nats",
        'same_captions = ("C", -1.52, 0.69)\n': "turned over",
        'same_captions = ("C", 1.5, 0.7)\n': "Two decimals",
    },
    right=(
        'same_captions = ["C", 1.52, 0.69]\n',
        """\
bits = 10.64 * math.log2(7.189)
same_captions = ("c", torch.tensor(bits * math.log(2) - 19.47), bits / 44.1)
""",
    ),
)

if __name__ == "__main__":
    measure()
