"""How good a translator is, and what its heads do (chapters 07 to 10)."""

from tutor.evaluation.ablation import all_heads, attention_of, without_heads
from tutor.evaluation.alignment import (
    STEPS,
    aligned_batch,
    best_head,
    best_links,
    cross_attention,
    error_rates,
    measure,
    same_sort,
    word_maps,
    words_of_tokens,
)
from tutor.evaluation.scoring import (
    Gain,
    Score,
    alignment_error_rate,
    bleu,
    bleu_counts,
    bleu_of_counts,
    chrf,
    exact_match,
    gains,
    moses_bleu,
)

__all__ = [
    "STEPS",
    "Gain",
    "Score",
    "aligned_batch",
    "alignment_error_rate",
    "all_heads",
    "attention_of",
    "best_head",
    "best_links",
    "bleu",
    "bleu_counts",
    "bleu_of_counts",
    "chrf",
    "cross_attention",
    "error_rates",
    "exact_match",
    "gains",
    "measure",
    "moses_bleu",
    "same_sort",
    "without_heads",
    "word_maps",
    "words_of_tokens",
]
