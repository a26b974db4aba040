"""Exercises of chapter 16: rotation, norms, shared keys."""

ON_PAGE = ("turn_pairs", "rms_norm", "repeat_heads")
ORDER = ()
