"""The models that ship, and what made them: `pretrained/` (Multi30k), `small/` (the grammar)."""

from pathlib import Path

from tutor.translator import Translator

PRETRAINED = Path(__file__).with_name("pretrained")


def load_pretrained():
    """The Translator that ships with the package. Raises FileNotFoundError where it does not."""
    if not PRETRAINED.is_dir():
        raise FileNotFoundError(
            "This copy of tutor ships without a trained model: train one with "
            '`python -m tutor train --out FOLDER` and use Translator.load("FOLDER").'
        )
    return Translator.load(PRETRAINED)
