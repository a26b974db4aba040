"""What the reference shows: the modules that a learner reads, and where a name is at home."""

import inspect
import pkgutil
from importlib import import_module

PACKAGES = ("tutor", "course.museum")
# What runs when it is imported, and a module whose package defines a function of that name.
UNDOCUMENTED = ("__main__", "tutor.check.progress")


def modules():
    """Name -> module, in order."""
    names = list(PACKAGES)
    for package in PACKAGES:
        path = import_module(package).__path__
        names += [found.name for found in pkgutil.walk_packages(path, f"{package}.")]
    return {name: import_module(name) for name in sorted(names) if not name.endswith(UNDOCUMENTED)}


def defined():
    """Public class or function -> the module that defines it; left out where two do."""
    owners = {}
    for module, contents in modules().items():
        for name, thing in inspect.getmembers(contents):
            is_code = inspect.isclass(thing) or inspect.isfunction(thing)
            if is_code and thing.__module__ == module and not name.startswith("_"):
                owners.setdefault(name, []).append(module)
    return {name: places[0] for name, places in owners.items() if len(places) == 1}


def write_reference(folder):
    """Write a page for each module, which autodoc fills, and one that lists them."""
    lines = ["# Reference", "", "What the package defines, module by module.", ""]
    found = modules()
    for name, module in found.items():
        says = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        lines.append(f"- [`{name}`]({name}.rst) {says}")
        page = f"``{name}``\n{'=' * (len(name) + 4)}\n\n.. automodule:: {name}\n   :members:\n"
        handed_on = {n: getattr(module, n) for n in getattr(module, "__all__", ())}
        homes = {n: getattr(thing, "__module__", None) for n, thing in handed_on.items()}
        links = [f":py:obj:`{n} <{home}.{n}>`" for n, home in homes.items() if home in found]
        if links and hasattr(module, "__path__"):
            page += f"   :ignore-module-all:\n\nImport from here: {', '.join(links)}.\n"
        (folder / f"{name}.rst").write_text(page, encoding="utf-8")
    lines += ["", "```{toctree}", ":hidden:", "", *found, "```", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")
