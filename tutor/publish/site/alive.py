"""The views of a page, alive where no kernel is: a notebook keeps their states (views/base.py)."""

import json

from tutor import views
from tutor.publish.notebooks import BuildError
from tutor.views.base import EXPORT, STATE, View


def classes():
    """The classes of views, by name."""
    found = vars(views).items()
    return {name: c for name, c in found if isinstance(c, type) and issubclass(c, View)}


def script(view):
    """A class of views as a plain script, for modules are not loaded from disk."""
    code = view._esm.removesuffix(EXPORT)
    return (
        "(globalThis.tutorViews ??= {})"
        f"[{json.dumps(view.__name__)}] = (() => {{\n{code}\nreturn render;\n}})();\n"
    )


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


def as_html(shown, picture):
    """The place of a view on a page: its state, and a picture for readers without scripts."""
    text = json.dumps(shown["state"], ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<div class="course-view" data-view="{shown["view"]}">'
        f'<script type="application/json">{text}</script>'
        f"<noscript>{picture}</noscript></div>"
    )
