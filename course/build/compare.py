"""Whether two outputs of a cell are alike: pictures, what views hold, all else.

What views hold, which the site shows, may differ by a rounding.

Another machine may draw a letter a pixel further, or smooth an edge otherwise. So each place of one
picture is compared with the places next to it in the other too, and the best fit counts. Of the
whole picture the worst place counts: a missing label hardly moves a mean.

A picture whose metadata say `varies` (`tutor.figures.show`) depends on a training, on chance or
on the clock. Of that one, what its metadata call stable is compared, and roughly its size.
"""

import base64
import copy
import io
import json
import math
import re
from itertools import product, zip_longest

import matplotlib
import numpy as np
from PIL import Image
from scipy.ndimage import uniform_filter
from skimage.color import rgb2gray
from skimage.filters import gaussian
from skimage.metrics import structural_similarity

from tutor.views.base import STATE

OUTPUT_KINDS = ("image/png", "image/jpeg")  # what nbval skips
# What `tutor.figures.img` writes; tests/nbval_sanitize.cfg hides the same from nbval.
SVG = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
WITHIN = re.compile(r'href="data:image/png;base64,([^"]+)"')
DRAWN_WITH = "3.11."  # matplotlib; other releases lay out text, ticks and margins otherwise

# Measured on the figures of 00 to 05, each drawn again with small differences; in brackets the
# worst similarity and difference. These pass: all text a pixel further (0.90, 7), noise of 2 in 255
# (1.00, 1), numbers moved by 1e-4 of the axis (1.00, 5). These fail, each time: one other letter
# (at most 0.74) or digit (0.71), a missing label or tick (0.13), a curve moved by 1 % of its axis
# (0.79), a weight in a map changed by 0.1 (0.97, but a difference of 12).
BLUR = 1  # standard deviation in pixels, before anything is compared
WINDOW = 7  # side of a place, in pixels
SHIFT = 1  # how far a place may lie elsewhere, in pixels
LEAST_SIMILARITY = 0.8  # of structure (SSIM), mean of a place; 1: the same
LARGEST_DIFFERENCE = 10  # of 255, in the worst of red, green and blue, mean of a place
EDGE = 2  # pixels by which a picture may be wider or higher
ROUNDING = 1e-4  # of a view's numbers, on another machine
VARYING_EDGE = 0.1  # the same where pixels are not compared: share of the longer side


def alike_outputs(ours, theirs):
    """Whether the outputs of two runs of a cell say and show the same. ours: None if it is new."""
    if ours is None or bare(ours) != bare(theirs) or not alike(states(ours), states(theirs)):
        return False
    return not any(differences(*pair) for pair in zip_longest(pictures(ours), pictures(theirs)))


def bare(outputs):
    """Outputs without pictures and without what views hold."""
    outputs = copy.deepcopy(outputs)
    for output in outputs:
        data = output.get("data", {})
        for kind in (*OUTPUT_KINDS, STATE, "text/html"):
            if kind in data:
                data[kind] = SVG.sub("", data[kind]) if kind == "text/html" else ""
    return outputs


def states(outputs):
    """What the views in the outputs of a cell hold."""
    data = [output.get("data", {}) for output in outputs]
    return [json.loads(kinds[STATE]) for kinds in data if STATE in kinds]


def alike(ours, theirs):
    """Whether two trees of JSON are the same but for the rounding of numbers."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if {*ours} == {*theirs} == {"base64"}:  # float32
            a, b = (np.frombuffer(base64.b64decode(x["base64"]), "<f4") for x in (ours, theirs))
            return a.shape == b.shape and np.allclose(a, b, ROUNDING, ROUNDING)
        return {*ours} == {*theirs} and all(alike(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return ours == theirs


def pictures(outputs):
    """The pictures in the outputs of a cell: a list of (metadata, bytes).

    A figure of `tutor.figures` is two of them: light, dark.
    """
    found = []
    for output in outputs:
        for kind, data in output.get("data", {}).items():
            about = output["metadata"].get(kind, {})
            if kind in OUTPUT_KINDS:
                found.append((about, base64.b64decode(data)))
            elif kind == "text/html":
                for svg in SVG.findall(data):
                    pngs = WITHIN.findall(base64.b64decode(svg).decode())
                    found += [(about, base64.b64decode(png)) for png in pngs]
    return found


def by_pixels(metadata):
    """Whether a picture with these metadata is compared by its pixels."""
    return "varies" not in metadata and matplotlib.__version__.startswith(DRAWN_WITH)


def differences(committed, now, path=None):
    """A sentence for each thing in which two pictures differ; none if they agree.

    committed, now: (metadata, bytes), or None where there is no picture. path: if given, where two
    pictures that look different are written, and where they do: `{path}-committed.png` and so on.
    """
    if committed is None or now is None:
        return [f"there is none {'in the notebook' if committed is None else 'any more'}."]
    (told, before), (tells, after) = committed, now
    said = differing_entries(told, tells)
    if before == after:
        return said
    before, after = read(before), read(after)
    (h, w), (new_h, new_w) = before.shape[:2], after.shape[:2]
    exact, looks = by_pixels(told), []
    if max(abs(h - new_h), abs(w - new_w)) > (EDGE if exact else VARYING_EDGE * max(h, w)):
        looks.append(f"it was {w} x {h} pixels and is {new_w} x {new_h}")
    if not (exact or looks):
        return said
    h, w = min(h, new_h), min(w, new_w)
    similarity, colour = compare(before[:h, :w], after[:h, :w])
    differs = (similarity < LEAST_SIMILARITY) | (colour > LARGEST_DIFFERENCE)
    if exact and differs.any():
        y, x = np.unravel_index(similarity.argmin(), similarity.shape)
        v, u = np.unravel_index(colour.argmax(), colour.shape)
        looks.append(
            f"in the worst place, {x} pixels from the left and {y} from the top, the structural "
            f"similarity is {similarity.min():.2f} (at least {LEAST_SIMILARITY} passes; the mean "
            f"of the picture is {similarity.mean():.3f}); the colour differs most at {u} and {v}, "
            f"by {colour.max():.0f} of 255 (at most {LARGEST_DIFFERENCE} passes)"
        )
    if looks and path:
        faint = 0.7 + 0.3 * before[:h, :w]
        faint[differs] = (0.8, 0, 0)
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, picture in (("committed", before), ("now", after), ("difference", faint)):
            pixels = (picture * 255).round().astype(np.uint8)
            Image.fromarray(pixels).save(f"{path}-{name}.png")
        looks[-1] += f". See {path}-difference.png, -committed.png and -now.png"
    if looks:
        said.append(f"{'; '.join(looks)}.")
    return said


def differing_entries(before, after):
    """A sentence for each entry that is not the same in the metadata of two pictures."""
    before, after = dict(entries(before)), dict(entries(after))
    return [
        f"{name} was {before.get(name)!r} and is {after.get(name)!r}."
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def entries(metadata, within=""):
    """(name, value) of all that is in a dict of dicts."""
    for name, value in metadata.items():
        if isinstance(value, dict):
            yield from entries(value, f"{within}{name}, ")
        else:
            yield within + name, value


def read(picture):
    """The bytes of a picture as numbers from 0 to 1: (H, W, 3)."""
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), np.float32) / 255


def compare(before, after):
    """Similarity of structure (at most 1) and difference of colour (0 to 255) around each pixel.

    before, after: (H, W, 3). Both results: (H, W), at the shift that fits best there.
    """
    H, W, _ = before.shape
    after = np.pad(after, ((SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    before, after = (gaussian(picture, BLUR, channel_axis=-1) for picture in (before, after))
    similarity, colour = np.full((H, W), -1.0), np.full((H, W), 255.0)
    for y, x in product(range(2 * SHIFT + 1), repeat=2):
        moved = after[y : y + H, x : x + W]
        grey = rgb2gray(before), rgb2gray(moved)
        _, structure = structural_similarity(*grey, win_size=WINDOW, data_range=1, full=True)
        similarity = np.maximum(similarity, structure)
        colour = np.minimum(colour, 255 * np.abs(before - moved).max(axis=-1))
    return uniform_filter(similarity, WINDOW), uniform_filter(colour, WINDOW)
