"""The reference: a page for each module, its public names from the code itself."""

import ast
import pkgutil
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "tutor"


def modules():
    """The modules of the package that a reader may import, with their syntax trees."""
    found = {"tutor": PACKAGE / "__init__.py"}
    for module in pkgutil.walk_packages([str(PACKAGE)], "tutor."):
        path = PACKAGE.joinpath(*module.name.split(".")[1:])
        if ".chapter_" not in module.name and path.stem != "__main__":
            found[module.name] = path / "__init__.py" if module.ispkg else path.with_suffix(".py")
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in found.items()}


def public(tree):
    """The public names that a module defines at its top, in order: classes, functions.

    Exhibits, which a decorator makes of classes, have pages of their own.
    """
    return [
        node.name
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef))
        and not node.name.startswith("_")
        and not any(ast.unparse(call).startswith("exhibit(") for call in node.decorator_list)
    ]


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
        definitions = [node for node in tree.body if getattr(node, "name", None) in public(tree)]
        if not says and not definitions:
            continue
        pages.append((module, says))
        lines = [f"``{module}``", "=" * (len(module) + 4), "", f".. automodule:: {module}"]
        package, _, name = module.rpartition(".")
        if package and name in public(trees[package]):  # one name, two things: the other has it
            lines += ["   :no-index:"]
        lines += [""]
        handed = [
            f":py:obj:`{name} <{where}.{name}>`"
            for name, where in imported(tree)
            if where in trees and name in public(trees[where])
        ]
        if handed and any(name.startswith(f"{module}.") for name in trees):
            lines += [f"Import from here: {', '.join(handed)}.", ""]
        for node in definitions:
            is_class = isinstance(node, ast.ClassDef)
            lines += [f".. {'autoclass' if is_class else 'autofunction'}:: {module}.{node.name}"]
            lines += ["   :members:", ""] if is_class else [""]
        (folder / f"{module}.rst").write_text("\n".join(lines), encoding="utf-8")
    lines = ["# Reference", "", "What the package defines, module by module.", ""]
    lines += [f"- [`{module}`]({module}.rst) {says}" for module, says in pages]
    lines += ["", "```{toctree}", ":hidden:", "", *(module for module, _ in pages), "```", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")
