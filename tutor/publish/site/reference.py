"""The reference: a page for each module, its public names from the code itself."""

import ast
import pkgutil
from pathlib import Path

import tutor

PACKAGE = Path(tutor.__file__).parent


def modules():
    """The modules of the package that a reader may import, with their syntax trees."""
    found = {"tutor": PACKAGE / "__init__.py"}
    for module in pkgutil.walk_packages([str(PACKAGE)], "tutor."):
        path = PACKAGE.joinpath(*module.name.split(".")[1:])
        if ".chapter_" not in module.name and path.stem != "__main__":
            found[module.name] = path / "__init__.py" if module.ispkg else path.with_suffix(".py")
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in found.items()}


def public(tree):
    """The public names that a module defines at its top, in order: classes, functions."""
    kinds = (ast.ClassDef, ast.FunctionDef)
    return [n.name for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


def defined(trees):
    """Public name -> the module that defines it; a name that two define is left out."""
    owners = {}
    for module, tree in trees.items():
        for name in public(tree):
            owners.setdefault(name, []).append(module)
    return {name: places[0] for name, places in owners.items() if len(places) == 1}


def imported(tree):
    """What a package hands on: (name, module that it comes from)."""
    return [
        (alias.asname or alias.name, node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tutor.")
        for alias in node.names
    ]


def write_reference(trees, folder):
    """Write a page for each module with something to say, and one that lists them."""
    pages = []
    for module, tree in trees.items():
        says = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
        names = public(tree)
        handed = [
            f"{{py:obj}}`{name} <{where}.{name}>`"
            for name, where in imported(tree)
            if where in trees and name in public(trees[where])
        ]
        if not says and not names:
            continue
        pages.append((module, says))
        lines = [f"# `{module}`", "", f"```{{automodule}} {module}", "```", ""]
        if handed and (trees[module] is trees["tutor"] or has_rooms(module, trees)):
            lines += [f"Import from here: {', '.join(handed)}.", ""]
        for name in names:
            kind = {n.name: n for n in tree.body if hasattr(n, "name")}[name]
            directive = "autoclass" if isinstance(kind, ast.ClassDef) else "autofunction"
            lines += [f"```{{{directive}}} {module}.{name}"]
            lines += [":members:"] if directive == "autoclass" else []
            lines += ["```", ""]
        (folder / f"{module}.md").write_text("\n".join(lines), encoding="utf-8")
    lines = ["# Reference", "", "What the package defines, module by module.", ""]
    lines += [f"- [`{module}`]({module}.md) {says}" for module, says in pages]
    lines += ["", "```{toctree}", ":hidden:", "", *(module for module, _ in pages), "```", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def has_rooms(module, trees):
    """Whether a module is a package of others."""
    return any(name.startswith(f"{module}.") for name in trees)
