"""The Transformer once more, in JavaScript: the translator of a page without kernel or server.

The modules beside this file carry the names of `tutor`'s, and `npm run build` bundles them. A page
takes two classic scripts, `bundle` and `weights`, because modules and data are refused to a page
that was opened from disk.
"""

import base64
import gzip
import json
from pathlib import Path

from tutor.models import PRETRAINED
from tutor.training.checkpoint import CONFIG, TOKENIZER, WEIGHTS, read_words

BUNDLES = Path(__file__).with_name("bundles")


def bundle():
    """The model as one classic script that sets `tutorModel`; it loads nothing by itself.

    `tutorModel.open(url)`, `url` being that of `weights()`, gives an object whose methods return
    promises; see source.js and service.js.
    """
    page, worker = (
        (BUNDLES / name).read_text(encoding="utf-8") for name in ("source.js", "worker.js")
    )
    opened = f"(url) => tutorPage.openModel(url, {json.dumps(worker)})"
    return f"{page}globalThis.tutorModel = {{ open: {opened} }};\n"


def program(folder=PRETRAINED):
    """The model of a model folder as one script, weights and all: `View.save` takes it."""
    return bundle() + weights(folder)


def weights(folder=PRETRAINED):
    """A model folder as one classic script, which sets `tutorWeights`."""
    folder = Path(folder)
    packed = gzip.compress((folder / WEIGHTS).read_bytes(), mtime=0)  # the same file each time
    parts = {
        "config": json.loads((folder / CONFIG).read_text(encoding="utf-8")),
        "tokenizer": json.loads((folder / TOKENIZER).read_text(encoding="utf-8")),
        "words": list(read_words(folder)),
        "weights": base64.b64encode(packed).decode("ascii"),
    }
    return f"globalThis.tutorWeights = {json.dumps(parts, separators=(',', ':'))};\n"
