"""The Transformer once more, in JavaScript: the translator of a page without kernel or server.

The modules beside this file carry the names of `tutor`'s. A page takes them as two classic scripts,
because modules and data are refused to a page that was opened from disk: `bundle` and `weights`.
"""

import base64
import gzip
import json
import re
from pathlib import Path

from tutor.exchange.vendor import PACKAGES, fetch
from tutor.models import PRETRAINED
from tutor.training.checkpoint import CONFIG, TOKENIZER, WEIGHTS

HERE = Path(__file__).parent
# Each after those that it imports.
MODULES = (
    "matrix", "safetensors", "attention", "encoder", "decoder", "transformer", "normalize",
    "tokenizer", "decoding", "beam", "translator", "trace", "service",
)  # fmt: skip
LIBRARY = 'import { Tokenizer as Library } from "@huggingface/tokenizers";'
PAGE = """\
// The tokenizer within is {name} {version}, {licence}.
globalThis.tutorModel = (() => {{
function inWorker() {{
"use strict";
{modules}
serve(self);
}}
{source}
return {{ open: (url) => openModel(url, inWorker) }};
}})();
"""


def module(name):
    """The text of a module without its imports and exports."""
    text = (HERE / f"{name}.js").read_text(encoding="utf-8")
    text = text.replace(LIBRARY, "const { Tokenizer: Library } = library;")
    return re.sub(r"^import [^;]*;\n|^export ", "", text, flags=re.M)


def bundle():
    """The model as one classic script that sets `tutorModel`; it loads nothing by itself.

    `tutorModel.open(url)`, `url` being that of `weights()`, gives an object whose methods return
    promises; see source.js and service.js. Raises ConnectionError where the tokenizer's library
    cannot be had.
    """
    library = (fetch("tokenizers") / "dist/tokenizers.min.cjs").read_text(encoding="utf-8")
    wrapped = f"const library = ((module) => {{{library}\nreturn module.exports;}})({{}});\n"
    return PAGE.format(
        **PACKAGES["tokenizers"]._asdict(),
        modules=wrapped + "\n".join(map(module, MODULES)),
        source=module("source"),
    )


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
        "weights": base64.b64encode(packed).decode("ascii"),
    }
    return f"globalThis.tutorWeights = {json.dumps(parts, separators=(',', ':'))};\n"
