"""What might make the model that ships better: one change at a time, judged on validation alone.

    TUTOR_DATA=... python tests/benchmarks/trials.py --steps 3000 --factor 0.3 [--strength 5]

Trains the shipped weights on, from `--factor` times its learning rates down a cosine, on the
training split of Multi30k. --strength above 0 adds R-Drop (Liang et al. 2021): each batch is read
twice with other dropout, and the two predictions are pulled together. The second row is the mean
of the weights over the last 30 % of the steps. Products are in "medium" precision, on one thread.
The last line is one JSON object: lower-cased Moses BLEU on the validation split, greedy and with 5
beams; the gain over the shipped model in cased BLEU with 5 beams, with its paired 95 % interval.
"""

import argparse
import json

import torch
import torch.nn.functional as F

from tutor import load_pretrained
from tutor.attention import PAD, padding_mask
from tutor.evaluation import gains, moses_bleu
from tutor.text.multi30k import load_multi30k
from tutor.training import Recipe, train, translation_loss

MEAN_FROM, MEAN_EVERY = 0.7, 25  # of the steps; steps


def r_drop(strength):
    """A loss for `train`: the smoothed cross-entropy of two passes, and how far apart they are.

    Source: Liang et al. 2021, section 2.2; divided by 2, as a mean over both passes.
    """

    def loss(model, batch, smoothing):
        source, target_in = (torch.cat([ids, ids]) for ids in (batch.source, batch.target_in))
        Y = model.decode(target_in, model.encode(source), padding_mask(source))  # (2 N, T, d_model)
        targets = batch.target_out.flatten()  # (N * T,)
        real = (targets != PAD).nonzero()[:, 0]
        first, second = (
            model.logits(half.flatten(0, 1)[real]).log_softmax(-1) for half in Y.chunk(2)
        )  # (tokens, vocab_size) each
        wanted = sum(
            F.nll_loss(log_p, targets[real]) * (1 - smoothing) - smoothing * log_p.mean()
            for log_p in (first, second)
        )
        apart = ((first.exp() - second.exp()) * (first - second)).sum(-1).mean() / 2
        return wanted / 2 + strength / 2 * apart

    return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--factor", type=float, required=True, help="of the learning rates")
    parser.add_argument("--strength", type=float, default=0.0, help="of R-Drop; 0 is without")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("medium")
    translator = load_pretrained()
    model, tokenizer = translator.model, translator.tokenizer
    sources, targets = load_multi30k("train")
    pairs = list(zip(tokenizer.encode(sources), tokenizer.encode(targets), strict=True))
    sources, references = load_multi30k("val")
    shipped = translator.translate(sources, beams=5)
    total, count = {name: torch.zeros_like(w) for name, w in model.state_dict().items()}, 0

    def on_step(step, history):
        nonlocal count
        if step % MEAN_EVERY == 0 and step >= MEAN_FROM * args.steps:
            count += 1
            for name, weight in model.state_dict().items():
                total[name] += weight
        if step % 500 == 0:
            print(f"step {step}, loss {sum(history.loss[-100:]) / len(history.loss[-100:]):.3f}")

    recipe = Recipe(
        args.steps, max_tokens=2048, lr=5e-3 * args.factor, lr_rest=4e-3 * args.factor, warmup=100,
        seed=args.seed,
    )  # fmt: skip
    loss = r_drop(args.strength) if args.strength else translation_loss
    history = train(model, pairs, recipe, on_step, loss_of=loss)
    result = vars(args) | {"seconds": round(history.seconds)}
    for name in ("last", "mean"):
        if name == "mean":
            model.load_state_dict({name: weight / count for name, weight in total.items()})
        greedy, best = (translator.translate(sources, beams) for beams in (1, 5))
        gain = gains({name: best}, shipped, references)[name]
        result[name] = {
            "greedy": round(moses_bleu(greedy, references).value, 2),
            "beam5": round(moses_bleu(best, references).value, 2),
            "gain": [round(number, 2) for number in gain],
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
