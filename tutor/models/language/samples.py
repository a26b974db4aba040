"""How right and how varied captions are that a language model draws by several rules (chapter 18).

The model is the one that the chapter's page trains, from the same seed.
"""

import torch

from tutor.decoding import chooser
from tutor.language_model import LanguageModel, LanguageModelConfig, write_on
from tutor.text.tokenizer import BOS, Tokenizer
from tutor.text.truth import generate_english, is_grammatical, written_words
from tutor.training import Recipe, language_loss, train

DRAWN, STRETCH, LONGEST = 2_000, 270, 35  # captions; words, commas and full stops too; tokens
HEATS = (0.5, 1.0, 1.5, 2.0)
RULES = {
    "all tokens": {},
    "top-k 20": {"top_k": 20},
    "top-p 0.9": {"top_p": 0.9},
    "min-p 0.1": {"min_p": 0.1},
}
SIZES = dict(d_model=96, num_heads=4, d_ff=384, num_layers=2, max_len=64, dropout=0.0)
RECIPE = Recipe(steps=700, max_tokens=1024, smoothing=0.0)


def trained(captions):
    """A LanguageModel that has read `captions`, and its Tokenizer."""
    tokenizer = Tokenizer.train(captions, vocab_size=1500)
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(len(tokenizer), **SIZES))
    train(model, [([], ids) for ids in tokenizer.encode(captions)], RECIPE, loss_of=language_loss)
    return model.eval(), tokenizer


def different_words(captions):
    """How many different words each stretch of `STRETCH` words of the captions has: a list."""
    words = [word for caption in captions for word in written_words(caption)]
    begins = range(0, len(words) - STRETCH + 1, STRETCH)
    return [len(set(words[i : i + STRETCH])) for i in begins]


def measured(captions, seen):
    """What is known of captions that the grammar accepts; old: those that are among `seen`."""
    old = sum(caption in seen for caption in captions)
    return {"accepted": len(captions), "old": old, "words": different_words(captions)}


def results():
    """A dict for the grammar itself and for each rule at each temperature."""
    captions = generate_english(40_000)
    seen, (model, tokenizer) = set(captions), trained(captions)
    own = generate_english(DRAWN, seed=2)
    runs = [{"rule": "the grammar itself", "temperature": 1.0} | measured(own, seen)]
    generator = torch.Generator().manual_seed(0)
    for rule, options in RULES.items():
        for heat in HEATS:
            begin = torch.full((DRAWN, 1), BOS)
            choose = chooser(heat, **options, generator=generator)
            texts = [tokenizer.decode(ids) for ids in write_on(model, begin, choose, LONGEST)]
            right = [text for text in texts if is_grammatical(text)]
            runs.append({"rule": rule, "temperature": heat} | measured(right, seen))
    return runs
