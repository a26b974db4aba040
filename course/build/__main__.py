"""Make the course out of its texts.

python -m course.build              every chapter, executed
python -m course.build 02 03        the chapters whose names begin so
python -m course.build --check      write nothing, say which notebooks are out of date
python -m course.build exercises    the exercises and their solutions
python -m course.build classroom F  the exercises as a course for nbgrader, in the folder F
python -m course.build class-report F  what the class of that course found hard
python -m course.build site F       the course as a site of static files, in the folder F
python -m course.build alone F      copies that open without the repository, in the folder F
python -m course.build minutes      how many words and minutes each chapter has
python -m course.build claims 04    which of a chapter's assertions hold with other seeds
"""

import argparse
import sys
from pathlib import Path

from course.build.alone import write_alone
from course.build.claims import print_claims
from course.build.exercises import write_exercises
from course.build.minutes import print_minutes, write_maps
from course.build.notebooks import NOTEBOOKS, BuildError, need_clone, write_chapters
from course.grading.classroom import write_course
from course.grading.report import write_report
from course.site.write import write_site
from tutor.check import bank
from tutor.commands import streams


def build_chapters(options):
    if options.folder == NOTEBOOKS and not options.check:
        write_maps()
    return write_chapters(options.names, options.folder, options.check)


def build_exercises(options):
    if not options.check:
        write_maps()
    return write_exercises(options.chapters, options.check)


def seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def chapter(number):
    """A chapter that has exercises, as a command line names it."""
    if number not in bank.chapters():
        raise argparse.ArgumentTypeError(f"there are no exercises for {number}")
    return number


def argument(*names, **options):
    return names, options


def folder(what):
    return argument("folder", type=Path, help=what)


CHAPTERS = argument(
    "chapters",
    nargs="*",
    type=chapter,
    default=bank.chapters(),
    metavar="CHAPTER",
    help="such as 02 (default: every chapter)",
)
BUILD_CHAPTERS = (
    "Execute chapters (MyST Markdown) and write them as notebooks with outputs. "
    "`exercises`, `classroom`, `class-report`, `minutes`, `claims`, `site` and `alone` as the "
    "first word do something else: see their --help.",
    build_chapters,
    argument(
        "names", nargs="*", help="beginnings of chapter names, such as 02 (default: every chapter)"
    ),
    argument(
        "--folder",
        type=Path,
        help="holds the notebooks, and their texts in source/ (default: the course)",
    ),
    argument(
        "--check",
        action="store_true",
        help="write nothing; name the notebooks that a build would change, and exit with 1 if any",
    ),
)
COMMANDS = {  # first word -> what it does, the function that does it, its arguments
    "exercises": (
        "Write the exercises of the chapters as notebooks, with and without solutions.",
        build_exercises,
        CHAPTERS,
        argument(
            "--check",
            action="store_true",
            help="write nothing; exit with 1 if a notebook would change",
        ),
    ),
    "classroom": (
        "Write the exercises as the source of an nbgrader course.",
        lambda options: write_course(options.folder, options.chapters),
        folder("the course's folder, made if need be"),
        CHAPTERS,
    ),
    "class-report": (
        "Write what a class found hard, from the graded submissions of an nbgrader "
        "course: class-report.html and class-report.csv in its folder.",
        lambda options: write_report(options.folder, options.chapters),
        folder("the course's folder, with its gradebook.db"),
        CHAPTERS,
    ),
    "minutes": (
        "Say how long each chapter takes, as its opening cell has to say it.",
        lambda options: print_minutes(options.names),
        argument("names", nargs="*", help="beginnings of chapter names (default: all)"),
    ),
    "claims": (
        "Execute chapters with other seeds and say which of their assertions hold.",
        lambda options: print_claims(options.names, NOTEBOOKS, options.seeds),
        argument("names", nargs="+", help="beginnings of chapter names, such as 04"),
        argument("--seeds", type=seeds, default=range(10), help="such as 0-9 (default) or 3-3"),
    ),
    "site": (
        "Write the course as a folder of static files that need neither server nor "
        "network: open its index.html.",
        lambda options: write_site(options.folder),
        folder("made if need be; a site that is there goes"),
    ),
    "alone": (
        "Write each chapter and its exercises as a notebook that can be opened alone: "
        "pictures in it, and a first cell that installs `tutor` where it is missing.",
        lambda options: write_alone(options.folder, options.package),
        folder("made if need be"),
        argument(
            "--package",
            metavar="WHAT",
            help="what that cell gives to pip (default: git+ and the repository, as "
            "GITHUB_REPOSITORY or [project.urls] in pyproject.toml has it)",
        ),
    ),
}


def main(arguments=None):
    streams.prepare()
    arguments = sys.argv[1:] if arguments is None else arguments
    word = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    description, run, *accepted = COMMANDS.get(word, BUILD_CHAPTERS)
    prog = f"python -m course.build {word}".strip()
    parser = argparse.ArgumentParser(prog=prog, description=description)
    for names, options in accepted:
        parser.add_argument(*names, **options)
    options = parser.parse_args(arguments[1:] if word else arguments)
    if not word:
        options.folder = options.folder or NOTEBOOKS
    try:
        if word or options.folder == NOTEBOOKS:
            need_clone()
        return 1 if run(options) else 0
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
