"""The whole way: sources, Sphinx, the last touches, the folder."""

import io
import os
import shutil
import tempfile
from pathlib import Path

from course.build.notebooks import BuildError
from course.site.bank import render
from course.site.finish import index, keep_offline, lead_on
from course.site.sources import EXTRA, STATIC, write_sources

SITE_FOLDER = Path(__file__).parent


def write_site(out):
    """Build the site into the folder `out`, which is replaced if a site was there.

    Raises:
        BuildError: `out` holds something else, a page fails, or Sphinx warns of anything.
    """
    try:
        from sphinx.application import Sphinx
    except ImportError:
        raise BuildError('The site needs more: python -m pip install -e ".[site]".') from None
    out = Path(out).resolve()
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        raise BuildError(f"{out} is not empty and holds no site; name another folder.")
    with tempfile.TemporaryDirectory() as scratch:
        source, made = Path(scratch, "source"), Path(scratch, "site")
        source.mkdir()
        course = write_sources(source)
        warnings = io.StringIO()
        app = Sphinx(
            source, None, made, Path(scratch, "doctrees"), "html",
            confoverrides=settings(source, course), status=None, warning=warnings,
            parallel=os.cpu_count() or 1,
        )  # fmt: skip
        app.build()
        if said := warnings.getvalue().replace(f"{source}/", "").strip():
            raise BuildError(f"Sphinx warns:\n{said}")
        # A process of Sphinx's that fails takes its share of the pages along, and says nothing.
        if missing := [page for page in app.env.found_docs if not (made / f"{page}.html").exists()]:
            raise BuildError(f"Sphinx wrote no page for {', '.join(sorted(missing))}.")
        lead_on(made)
        (made / "404.html").write_text(render("404.html"), encoding="utf-8")
        index(made)
        keep_offline(made)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{out}: {pages} pages. Open {out / 'index.html'}")


def settings(source, course):
    """Sphinx's configuration."""
    return {
        "project": "The Transformer, taken apart",
        "author": "",
        "extensions": [
            "myst_nb",
            "sphinx.ext.autodoc",
            "sphinx.ext.viewcode",
            "course.site.extension",
        ],
        "course": course,
        "exclude_patterns": [EXTRA, STATIC],
        "nb_execution_mode": "off",
        "nb_code_prompt_show": "Show our version",
        "nb_code_prompt_hide": "Hide our version",
        "nb_merge_streams": True,
        "myst_enable_extensions": ["dollarmath", "colon_fence"],
        "myst_heading_anchors": 3,
        "autodoc_member_order": "bysource",
        "autodoc_typehints": "none",
        "html_theme": "furo",
        "html_title": "The Transformer, taken apart",
        "html_math_renderer": "katex",
        "html_static_path": [str(SITE_FOLDER / "static"), str(source / STATIC)],
        "html_extra_path": [str(source / EXTRA)],
        "html_css_files": ["site.css"],
        "html_favicon": str(SITE_FOLDER / "static" / "icon.svg"),
        "html_show_search_summary": False,  # an excerpt would be fetched, which fails from disk
        "html_use_index": False,
        "html_domain_indices": False,
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_copyright": False,
        "templates_path": [str(SITE_FOLDER / "templates")],
        "html_sidebars": {
            "**": ["sidebar/brand.html", "sidebar/search.html", "course_navigation.html"]
        },
        "pygments_style": "a11y-high-contrast-light",
    }
