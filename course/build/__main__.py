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


def chapters_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build",
        description="Execute chapters (MyST Markdown) and write them as notebooks with outputs. "
        "`exercises`, `classroom`, `class-report`, `minutes`, `claims`, `site` and `alone` as the "
        "first word do something else: see their --help.",
    )
    parser.add_argument(
        "names", nargs="*", help="beginnings of chapter names, such as 02 (default: every chapter)"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=NOTEBOOKS,
        help="holds the notebooks, and their texts in source/ (default: the course)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; name the notebooks that a build would change, and exit with 1 if any",
    )
    parser.set_defaults(run=build_chapters)
    return parser


def exercises_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build exercises",
        description="Write the exercises of the chapters as notebooks, with and without solutions.",
    )
    add_chapters(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a notebook would change"
    )
    parser.set_defaults(run=build_exercises)
    return parser


def classroom_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build classroom",
        description="Write the exercises as the source of an nbgrader course.",
    )
    parser.add_argument("folder", type=Path, help="the course's folder, made if need be")
    add_chapters(parser)
    parser.set_defaults(run=lambda o: write_course(o.folder, o.chapters))
    return parser


def report_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build class-report",
        description="Write what a class found hard, from the graded submissions of an nbgrader "
        "course: class-report.html and class-report.csv in its folder.",
    )
    parser.add_argument("folder", type=Path, help="the course's folder, with its gradebook.db")
    add_chapters(parser)
    parser.set_defaults(run=lambda o: write_report(o.folder, o.chapters))
    return parser


def minutes_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build minutes",
        description="Say how long each chapter takes, as its opening cell has to say it.",
    )
    parser.add_argument("names", nargs="*", help="beginnings of chapter names (default: all)")
    parser.set_defaults(run=lambda o: print_minutes(o.names))
    return parser


def claims_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build claims",
        description="Execute chapters with other seeds and say which of their assertions hold.",
    )
    parser.add_argument("names", nargs="+", help="beginnings of chapter names, such as 04")
    parser.add_argument(
        "--seeds", type=seeds, default=range(10), help="such as 0-9 (default) or 3-3"
    )
    parser.set_defaults(run=lambda o: print_claims(o.names, NOTEBOOKS, o.seeds))
    return parser


def seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def site_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build site",
        description="Write the course as a folder of static files that need neither server nor "
        "network: open its index.html.",
    )
    parser.add_argument("folder", type=Path, help="made if need be; a site that is there goes")
    parser.set_defaults(run=lambda o: write_site(o.folder))
    return parser


def alone_parser():
    parser = argparse.ArgumentParser(
        prog="python -m course.build alone",
        description="Write each chapter and its exercises as a notebook that can be opened alone: "
        "pictures in it, and a first cell that installs `tutor` where it is missing.",
    )
    parser.add_argument("folder", type=Path, help="made if need be")
    parser.add_argument(
        "--package",
        metavar="WHAT",
        help="what that cell gives to pip (default: git+ and the repository, as GITHUB_REPOSITORY "
        "or [project.urls] in pyproject.toml has it)",
    )
    parser.set_defaults(run=lambda o: write_alone(o.folder, o.package))
    return parser


def add_chapters(parser):
    parser.add_argument(
        "chapters",
        nargs="*",
        type=chapter,
        default=bank.chapters(),
        metavar="CHAPTER",
        help="such as 02 (default: every chapter)",
    )


def chapter(number):
    """A chapter that has exercises, as a command line names it."""
    if number not in bank.chapters():
        raise argparse.ArgumentTypeError(f"there are no exercises for {number}")
    return number


PARSERS = {
    "exercises": exercises_parser,
    "classroom": classroom_parser,
    "class-report": report_parser,
    "minutes": minutes_parser,
    "claims": claims_parser,
    "site": site_parser,
    "alone": alone_parser,
}


def main(arguments=None):
    streams.prepare()
    arguments = sys.argv[1:] if arguments is None else arguments
    of_the_course = bool(arguments) and arguments[0] in PARSERS
    if of_the_course:
        options = PARSERS[arguments[0]]().parse_args(arguments[1:])
    else:
        options = chapters_parser().parse_args(arguments)
    try:
        if of_the_course or options.folder == NOTEBOOKS:
            need_clone()
        return 1 if options.run(options) else 0
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
