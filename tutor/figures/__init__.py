"""Figures of the chapters, each with a caption, and the same in words; light and dark."""

# ruff: noqa: F401
from tutor.figures.bars import (
    grouped_intervals,
    head_costs,
    head_rates,
    intervals,
    kept_tokens,
    paired_bars,
    rows_as_points,
    word_scores,
)
from tutor.figures.curves import (
    curves,
    learning_curves,
    loss_panels,
    prices,
    score_clouds,
    two_shares,
)
from tutor.figures.maps import heat_map, heat_maps, in_words, marks, position_tables, what_moves
from tutor.figures.page import (
    COLOURS,
    HIDDEN,
    ON_COLOUR,
    SEEN,
    STYLES,
    VARIES,
    img,
    listing,
    show,
    what_is_stable,
)
from tutor.figures.words import draws, links, rectangles, sentences, token_rows
