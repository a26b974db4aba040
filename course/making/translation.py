"""Translation by a language model, against the encoder-decoder (chapter 19).

Both read the same pairs in the same batches for as many steps, and have as many parameters. The
language model sees one stream, English [EOS] [BOS] French [EOS]; its loss counts the French alone,
as the encoder-decoder's does.
"""

import time
from functools import cache

import torch
from torch.nn import functional as F

from tutor.decoding import greedy, most_probable
from tutor.evaluation import bleu, exact_match, gains
from tutor.language_model import LanguageModel, LanguageModelConfig, write_on
from tutor.text.batches import make_batch
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, Tokenizer
from tutor.training import Recipe, smoothed_cross_entropy, train, translation_loss
from tutor.transformer import Transformer, TransformerConfig, count_parameters

TRANSLATION_SEEDS = (0, 1, 2)
CORPUS_PAIRS, SENTENCES_TESTED = 30_000, 500
LONGEST_CAPTION = 9  # English words, the full stop too
TRAINING_STEPS, MAX_TOKENS = 1_000, 768
SHARED_SIZES = dict(d_model=64, num_heads=4, dropout=0.0, max_len=96, norm_first=True)
SHARED_SIZES["positions"] = "sinusoidal"
ENCODER_DECODER = dict(num_layers=2, d_ff=128)  # 2 and 2 layers
DECODER_ALONE = dict(num_layers=4, d_ff=192)  # wider in the middle, as it has no cross-attention


@cache
def corpus(split, size):
    """The first `size` short pairs of the built-in corpus: two lists of str."""
    pairs = generate_pairs(split, 3 * size)
    short = [pair for pair in pairs if len(pair.english.split()) < LONGEST_CAPTION][:size]
    return [pair.english for pair in short], [pair.french for pair in short]


@cache
def tokenizer_of_both():
    english, french = corpus("train", CORPUS_PAIRS)
    return Tokenizer.train([*english, *french], vocab_size=1500)


def french_loss(model, batch, smoothing=0.0):
    """Nats a target token of a LanguageModel that has read the source, of a Batch.

    A row reads source [EOS] [BOS] target, with padding behind the shorter sources.
    """
    ids = torch.cat([batch.source, batch.target_in], dim=1)  # (N, S + T)
    Y = model.read(ids)[:, batch.source.shape[1] :]  # (N, T, d_model)
    Y, targets = Y.flatten(0, 1), batch.target_out.flatten()  # (N * T, d_model), (N * T,)
    return smoothed_cross_entropy(Y, model.embedding.weight, targets, smoothing)


SYSTEMS = {
    "encoder-decoder": (Transformer, TransformerConfig, ENCODER_DECODER, translation_loss),
    "language model": (LanguageModel, LanguageModelConfig, DECODER_ALONE, french_loss),
}


def continued(model, source_ids, longest=40):
    """What a LanguageModel writes behind source_ids (N, S), greedily: N lists of ids."""
    ids = F.pad(source_ids, (0, 1), value=BOS)  # (N, S + 1)
    return write_on(model, ids, lambda Z: most_probable(Z, 1), longest)


def run(name, seed):
    """Train one system from one seed and test it: a dict of what came out, and the translations."""
    Model, Config, sizes, loss = SYSTEMS[name]
    english, french = corpus("train", CORPUS_PAIRS)
    tokenizer = tokenizer_of_both()
    torch.manual_seed(seed)
    model = Model(Config(len(tokenizer), **SHARED_SIZES, **sizes))
    pairs = list(zip(tokenizer.encode(english), tokenizer.encode(french), strict=True))
    start = time.process_time()
    train(model, pairs, Recipe(TRAINING_STEPS, MAX_TOKENS, smoothing=0.0, seed=seed), loss_of=loss)
    seconds = time.process_time() - start
    sources, references = corpus("test", SENTENCES_TESTED)
    source_ids = make_batch([(ids, []) for ids in tokenizer.encode(sources)]).source
    if Model is Transformer:
        written = [best.ids for best in greedy(model, source_ids)]
    else:
        written = continued(model, source_ids)
    texts = [tokenizer.decode(ids) for ids in written]
    found = {
        "system": name, "seed": seed, "parameters": count_parameters(model),
        "exact_match": exact_match(texts, references), "bleu": bleu(texts, references).value,
        "cpu_seconds": seconds,
    }  # fmt: skip
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in found.items()}, texts


def compare(seed):
    """Run both systems from one seed: their two dicts, and what the encoder-decoder gains in BLEU.

    The gain is [value, low, high], with a 95 % interval of a paired bootstrap.
    """
    (first, ours), (second, theirs) = (run(name, seed) for name in SYSTEMS)
    gain = gains({"": ours}, theirs, corpus("test", SENTENCES_TESTED)[1])[""]
    return [first, second], [round(x, 2) for x in gain]
