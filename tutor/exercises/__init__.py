"""The bank of exercises: `chapter_NN/name.py` holds the exercise `name`, and nothing else.

A chapter's `__init__.py` names those of its exercise notebook (`ORDER`) and those that the reader
writes on the page itself (`ON_PAGE`). An exercise is imported when it is asked for.
How an answer is run, compared and named is the work of `tutor.check`.
"""

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache


def chapters():
    """The numbers of the chapters that have exercises, as "02"."""
    return sorted(m.name[8:] for m in pkgutil.iter_modules(__path__) if m.name[:8] == "chapter_")


def order(chapter):
    """The names of the exercises in a chapter's exercise notebook, in order."""
    return importlib.import_module(f"{__name__}.chapter_{chapter}").ORDER


def on_page(chapter):
    """The names of the exercises that the reader writes on the chapter's page."""
    return getattr(importlib.import_module(f"{__name__}.chapter_{chapter}"), "ON_PAGE", ())


@cache
def places():
    """Name of each exercise -> its chapter. Raises ValueError if two have one name."""
    found = {}
    for chapter in chapters():
        for name in (*on_page(chapter), *order(chapter)):
            if name in found:
                raise ValueError(f"Two exercises are named {name!r}; rename one of them.")
            found[name] = chapter
    return found


def find(name):
    """The exercise of this name. Raises KeyError, with the nearest name, if there is none."""
    if name not in places():
        near = get_close_matches(name, places(), n=1, cutoff=0)[0]
        raise KeyError(f"There is no exercise {name!r}; the nearest name is {near!r}.")
    module = importlib.import_module(f"{__name__}.chapter_{places()[name]}.{name}")
    return getattr(module, name)


def of_chapter(chapter):
    """The exercises of a chapter's exercise notebook, in order."""
    return [find(name) for name in order(chapter)]


def exercises():
    """All exercises by name, in the order of the chapters."""
    return {name: find(name) for name in places()}
