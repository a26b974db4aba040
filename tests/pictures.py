"""A plugin for pytest: nbval compares all outputs but pictures; this does, in the same run."""

from itertools import zip_longest

from nbval.plugin import IPyNbCell

from course.build.compare import alike, differences, pictures, states

compare_texts = IPyNbCell.compare_outputs


def pytest_configure(config):
    IPyNbCell.compare_outputs = compare_outputs


def compare_outputs(cell, test, ref, skip_compare=None):
    """What nbval calls: its own comparison, then that of the pictures, added to its report."""
    same = compare_texts(cell, test, ref, skip_compare)
    page, number = cell.parent.path, cell.cell_num
    folder = cell.config.rootpath / "build" / "pictures"
    pairs = list(zip_longest(pictures(ref), pictures(test)))
    said = []
    for i, (committed, now) in enumerate(pairs, start=1):
        which = f"cell-{number:02}" if len(pairs) == 1 else f"cell-{number:02}-picture-{i}"
        found = differences(committed, now, folder / f"{page.stem}-{which}")
        said += [f"{page.name}, cell {number}, picture {i}: {difference}" for difference in found]
    if not alike(states(ref), states(test)):
        said.append(f"{page.name}, cell {number}: a view holds something else; build the page.")
    cell.comparison_traceback += said
    return same and not said
