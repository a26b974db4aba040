"""The views of a page, alive where no kernel is: a notebook keeps their states (views/base.py)."""

import json
import math
from functools import cache

from course.build.notebooks import BuildError
from tutor import views
from tutor.models import PRETRAINED, small
from tutor.translator import Translator
from tutor.views.base import EXPORT, STATE, TO_RUN, View, as_json

MODELS = (PRETRAINED, *(small.FOLDER / f"seed{seed}" for seed in small.SEEDS))


def classes():
    """The classes of views, by name."""
    found = vars(views).items()
    return {name: c for name, c in found if isinstance(c, type) and issubclass(c, View)}


def script(view):
    """A class of views as a plain script, for modules are not loaded from disk."""
    code = view._esm.removesuffix(EXPORT)
    return f"{code}(globalThis.tutorViews ??= {{}}).{view.__name__} = tutorView.default;\n"


def state(output, name):
    """{"view": class, "state": traits} of a view among the outputs of the notebook `name`, or None.

    Raises:
        BuildError: it is a view, and the notebook does not hold its state.
    """
    data = output.get("data", {})
    if STATE in data:
        return json.loads(data[STATE])
    if data.get("text/plain", "").startswith(tuple(f"{view}(" for view in classes())):
        raise BuildError(f"{name} holds a view without its state: build it again.")
    return None


def made_by(shown):
    """(model folder, view) of the shipped model that made what `shown` holds; None for no model's.

    A page must answer with the model that its view shows, so each that ships makes it again.

    Raises:
        BuildError: none of them comes to the same.
    """
    state = shown["state"]
    facts = state.get("facts", {})
    remake = {
        "JourneyView": lambda translator: views.JourneyView(
            translator, facts["text"], facts["written"], facts["scales"], state["step"],
            state["place"], state.get("bars", False),
        ),
        "AttentionView": lambda translator: views.AttentionView(translator.record(facts["text"])),
        "BeamView": lambda translator: views.BeamView.search(
            translator, facts["source"], **state["settings"]
        ),
    }  # fmt: skip
    if not (state.get("can_ask") or shown["view"] == "JourneyView"):
        return None
    for folder in MODELS:
        view = remake[shown["view"]](load(folder))
        if alike(view.facts, facts):
            return folder, view
    raise BuildError(f"No model that ships made this {shown['view']}: build its page again.")


@cache
def load(folder):
    return Translator.load(folder)


def alike(ours, theirs):
    """Are two nests of lists, dicts, words and numbers equal, but for what machines round?"""
    if isinstance(ours, float) or isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-3, abs_tol=1e-2)
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(alike(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, (list, tuple)):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    return ours == theirs


def as_html(shown, picture):
    """The place of a view on a page: its state, and a picture for readers without scripts."""
    state, model = shown["state"], ""
    if made := made_by(shown):
        folder, view = made
        model = f' data-model="{weights_file(folder)}"'
        if shown["view"] == "JourneyView":
            state = view.opened_state()
    text = as_json(state).replace("<", "\\u003c")
    return (
        f'<div class="course-view" data-view="{shown["view"]}"{model}>'
        f'<script type="application/json">{text}</script>'
        f"<noscript>{picture.replace(TO_RUN, '')}</noscript></div>"  # no cell is run here
    )


def weights_file(folder):
    """The name of the script that holds the weights of a model folder."""
    return f"{folder.name}.weights.js"
