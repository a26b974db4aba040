"""`python -m tutor evaluate`: how well unseen sentences are translated."""

import json
import time

from tqdm import tqdm

from tutor.commands.common import (
    CHUNK,
    load_pairs,
    load_together,
    need_output,
    read_pairs,
    settle_pair,
)
from tutor.commands.language import evaluate_language
from tutor.evaluation import scoring
from tutor.training.checkpoint import is_language_model

TEST_PAIRS = 1_000  # sentences of the built-in corpus
TITLES = {
    "bleu": "BLEU, cased",
    "moses_bleu": "BLEU, lower-cased Moses tokens",
    "chrf": "chrF",
}


def run_evaluate(args):
    need_output()
    split = args.split or {"builtin": "test", "multi30k": "test_2016_flickr"}[args.corpus]
    if any(map(is_language_model, args.model or ())):
        return evaluate_language(args, split, TEST_PAIRS)
    settle_pair(args)
    translator = load_together(args.model)
    if args.data:
        sources, references = read_pairs(*args.data)
        result = {"data": args.data}
    else:
        sources, references = load_pairs(args.corpus, split, args.pair, TEST_PAIRS)
        result = {"corpus": args.corpus, "split": split, "pair": args.pair}
    start, hypotheses = time.perf_counter(), []
    with tqdm(total=len(sources), unit="sentence", desc="translating", disable=None) as bar:
        for i in range(0, len(sources), CHUNK):
            hypotheses += translator.translate(sources[i : i + CHUNK], args.beams, args.alpha)
            bar.update(len(hypotheses) - i)
    seconds = time.perf_counter() - start
    scores = {"bleu": scoring.bleu(hypotheses, references)}
    if not args.data:  # whose language nobody has told
        language = args.pair.split("-")[1]
        scores["moses_bleu"] = scoring.moses_bleu(hypotheses, references, language)
    scores["chrf"] = scoring.chrf(hypotheses, references)
    title = " ".join(map(str, result["data"] if args.data else result.values()))
    result |= {"beams": args.beams} | ({"alpha": args.alpha} if args.beams > 1 else {})
    result |= {"sentences": len(sources), "seconds": round(seconds, 2)}
    for name, score in scores.items():
        result[name] = {"score": round(score.value, 2), "signature": score.signature}
    if args.data or args.corpus == "builtin":
        result["exact_match"] = round(scoring.exact_match(hypotheses, references), 4)
    if args.json:
        print(json.dumps(result))
        return
    print(f"{title}: {len(sources)} sentences in {seconds:.1f} s")
    for key, score in scores.items():
        print(f"{TITLES[key]:32}{score.value:6.2f}   {score.signature}")
    if "exact_match" in result:
        print(f"{'exact match':32}{100 * result['exact_match']:6.2f}   percent of the sentences")
