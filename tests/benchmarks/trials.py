"""What might make the model that ships better: one change at a time, judged on validation alone.

    TUTOR_DATA=... python tests/benchmarks/trials.py --steps 3000 --factor 0.3 [--strength 5]
    TUTOR_DATA=... python tests/benchmarks/trials.py --steps 19000 --dropout 0.3 --folder F

Trains on the training split of Multi30k: the shipped weights with --factor, from so much of their
learning rates down a cosine, else a model of the same sizes from nothing. --strength above 0 adds
R-Drop (Liang et al. 2021): each batch is read twice with other dropout, and the two predictions
are pulled together. --folder keeps checkpoints; the same command goes on from the last one.
Products are in "medium" precision, on one thread. The last line is one JSON object: lower-cased
Moses BLEU on the validation split, greedy and with 5 beams; the gain over the shipped model in
cased BLEU with 5 beams, with its paired 95 % interval. The same of the mean of the weights over
the last 30 % of the steps, if all of them were done at once.
"""

import argparse
import dataclasses
import json

import torch
import torch.nn.functional as F

from tutor import load_pretrained
from tutor.attention import PAD, padding_mask
from tutor.evaluation import gains, moses_bleu
from tutor.text.multi30k import load_multi30k
from tutor.training import Recipe, train, translation_loss
from tutor.training.resume import Checkpoints
from tutor.transformer import Transformer
from tutor.translator import Translator

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
    parser.add_argument("--factor", type=float, help="of the learning rates, for shipped weights")
    parser.add_argument("--strength", type=float, default=0.0, help="of R-Drop; 0 is without")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--d-ff", type=int, default=512, help="of a model from nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="where checkpoints are kept")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("medium")
    translator = load_pretrained()
    tokenizer = translator.tokenizer
    sources, targets = load_multi30k("train")
    pairs = list(zip(tokenizer.encode(sources), tokenizer.encode(targets), strict=True))
    sources, references = load_multi30k("val")
    shipped = translator.translate(sources, beams=5)
    config = dataclasses.replace(translator.model.config, dropout=args.dropout, d_ff=args.d_ff)
    torch.manual_seed(args.seed)
    model = Transformer(config)
    if args.factor is not None:
        model.load_state_dict(translator.model.state_dict())
    total, count = {name: torch.zeros_like(w) for name, w in model.state_dict().items()}, 0
    about = {name: value for name, value in vars(args).items() if name != "folder"}
    checkpoints = Checkpoints(args.folder, model, about) if args.folder else None
    first = None

    def on_step(step, history):
        nonlocal count, first
        first = step if first is None else first
        if checkpoints:
            checkpoints.on_step(step, history)
        if step % MEAN_EVERY == 0 and step >= MEAN_FROM * args.steps:
            count += 1
            for name, weight in model.state_dict().items():
                total[name] += weight
        if step % 500 == 0:
            print(f"step {step}, loss {sum(history.loss[-100:]) / len(history.loss[-100:]):.3f}")

    factor = 1.0 if args.factor is None else args.factor
    recipe = Recipe(
        args.steps, max_tokens=2048, lr=5e-3 * factor, lr_rest=4e-3 * factor,
        warmup=200 if args.factor is None else 100, seed=args.seed,
    )  # fmt: skip
    loss = r_drop(args.strength) if args.strength else translation_loss
    resume = checkpoints.resume if checkpoints else None
    history = train(model, pairs, recipe, on_step, resume, loss)
    result = about | {"seconds": round(history.seconds)}
    trial = Translator(model, tokenizer)
    for name in ("last", "mean") if count and first == 0 else ("last",):
        if name == "mean":
            model.load_state_dict({name: weight / count for name, weight in total.items()})
        greedy, best = (trial.translate(sources, beams) for beams in (1, 5))
        gain = gains({name: best}, shipped, references)[name]
        result[name] = {
            "greedy": round(moses_bleu(greedy, references).value, 2),
            "beam5": round(moses_bleu(best, references).value, 2),
            "gain": [round(number, 2) for number in gain],
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
