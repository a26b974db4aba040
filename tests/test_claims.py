"""`python -m course.build claims`: every assertion is tried with every seed."""

import pytest
from machines import LONG

from course.build.claims import SEED_LINE, claims_of, print_claims
from course.build.notebooks import NOTEBOOKS, BuildError

PAGE = """\
---
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# A page

```{code-cell} ipython3
SEED = 0  # all chance comes from it
def even(number):
    assert number % 2 == 0, "even for 1 of 3 seeds"
even(SEED)
```

Text.

```{code-cell} ipython3
%precision 3
for i in range(3):
    assert SEED + i < 4, "all sums are below four"
assert SEED >= 0
1 / (2 - SEED)
```

```{code-cell} ipython3
def test_three(number):
    assert number == 3
try:
    test_three(4)
except AssertionError as error:
    refused = error
assert refused is not None, "a test that a page shows still refuses, and makes no claim"
```
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    (folder / "source").mkdir()
    (folder / "source" / "01_page.md").write_text(PAGE, encoding="utf-8")
    return folder


def test_every_assertion_is_tried_with_every_seed(folder):
    claims = claims_of(folder / "source" / "01_page.md", folder, range(1, 4))
    assert [(claim.cell, claim.text, claim.held) for claim in claims] == [
        (1, "even for 1 of 3 seeds", (2,)),
        (3, "all sums are below four", (1,)),
        (3, "SEED >= 0", (1, 2, 3)),
        (3, "runs without ZeroDivisionError: division by zero", (1, 3)),
        (4, "a test that a page shows still refuses, and makes no claim", (1, 2, 3)),
    ]
    assert [claim.told for claim in claims] == [True, False, False, False, False]


def test_the_table_counts_what_holds_too_seldom(folder, capsys):
    assert print_claims(["01"], folder, range(1, 3)) == 2
    assert "1 of 2  even for 1 of 3 seeds" in capsys.readouterr().out


def test_a_page_without_a_seed_is_refused(folder):
    path = folder / "source" / "02_page.md"
    path.write_text(PAGE.replace("SEED = 0", "SEED = int('0')"), encoding="utf-8")
    with pytest.raises(BuildError, match="02_page.md: no SEED is set in its first code cell."):
        claims_of(path, folder, range(1))


def quick_pages():
    """The sources of the pages that set a SEED and run in seconds."""
    for source in sorted((NOTEBOOKS / "source").glob("*.md")):
        first = source.read_text(encoding="utf-8").partition("```{code-cell}")[2]
        if SEED_LINE.search(first.partition("```")[0]) and not source.name.startswith(LONG):
            yield source


@pytest.mark.parametrize("source", quick_pages(), ids=lambda source: source.stem)
def test_the_claims_of_a_quick_page_hold_with_another_seed(source):
    claims = claims_of(source, NOTEBOOKS, [1])
    assert [claim.text for claim in claims if not claim.held and not claim.told] == []
