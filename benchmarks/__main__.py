"""The command line: `python -m benchmarks NAME [STAGE]`, in a course's folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import classes, cold, million, saves
from benchmarks.graders import OTHERS, installed
from benchmarks.result import Result
from benchmarks.submissions import MIXES
from grader.course.manifest import load_course
from grader.course.settings import find_course_root
from grader.course.stage import Course, Stage
from grader.errors import GraderError

# Smaller class, larger class, submissions of other graders. Both classes plan each of a run's seeds, so that the
# difference of the two holds no plan.
SIZES = {"styles": (56, 126, 14), "equal": (64, 192, 10)}
OTHER_SIZES = (60, 140, 20)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark and print its result; return 1 where a goal is missed, 2 where it cannot be run."""
    given = _parser().parse_args(arguments)
    try:
        course = load_course(find_course_root(Path.cwd()))
        found: Result = given.measure(course, course.find(given.stage), given)
    except GraderError as error:
        print("\n".join(["error: " + str(error), *filter(None, [error.hint])]), file=sys.stderr)
        return 2
    print(found.as_json() if given.json else found.as_text())
    return 0 if found.is_met else 1


def _cold(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    return cold.cold(course, stage, given.runs, given.beside or installed(OTHERS), given.isolation)


def _all(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    return cold.all_stages(course, given.runs, given.beside or ["pytest"], given.isolation)


def _stub(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    return cold.stub(course, stage, given.runs, given.isolation)


def _watch(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    return saves.saves(course, stage, given.saves, given.runs)


def _class(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    others = given.beside or installed(OTHERS)
    return classes.each_submission(_classes(course, stage, given), given.runs, others, given.jobs)


def _jobs(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    return classes.second_job(_classes(course, stage, given), given.runs)


def _million(course: Course, stage: Stage, given: argparse.Namespace) -> Result:
    return million.million(_classes(course, stage, given), given.cpu)


def _classes(course: Course, stage: Stage, given: argparse.Namespace) -> classes.Classes:
    low, high, sample = SIZES.get(given.mix, OTHER_SIZES)
    sizes = (given.low or low, given.high or high, given.sample or sample)
    return classes.Classes(course, stage, given.mix, *sizes, given.isolation)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="NAME")

    def command(name: str, measure: Callable[..., Result], about: str, stage: str = "s15") -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.add_argument("stage", nargs="?", default=stage, help=f"a stage's id ({stage})")
        added.add_argument("--json", action="store_true", help="print a JSON document")
        added.set_defaults(measure=measure)
        return added

    check = command("cold", _cold, "a cold check beside other graders")
    every = command("all", _all, "cold checks of all references and their sum", "s01")
    stub = command("stub", _stub, "a check of an untouched stub beside one of the right module", "s01")
    watch = command("watch", _watch, "a save in `grader watch` beside a cold check")
    group = command("class", _class, "a submission in a class beside other graders")
    jobs = command("jobs", _jobs, "submissions a second with one job and with two")
    many = command("million", _million, "core hours and gradebook of a million submissions")
    for each, runs in ((check, 7), (every, 1), (stub, 7), (watch, 3), (group, 3), (jobs, 3)):
        each.add_argument("--runs", type=int, default=runs, help=f"turns; a ratio is taken within each ({runs})")
    for each in (check, every, group):
        each.add_argument("--beside", choices=OTHERS, action="append", help="another grader; may be repeated")
    for each in (check, every, stub, group, jobs, many):
        each.add_argument("--isolation", default="auto", help="the tier (auto)")
    for each in (group, jobs, many):
        each.add_argument("--mix", choices=list(MIXES), default="mix", help="what the class consists of (mix)")
        each.add_argument("--low", type=int, help="submissions of the smaller class")
        each.add_argument("--high", type=int, help="submissions of the larger class")
        each.set_defaults(sample=None)
    group.add_argument("--sample", type=int, help="submissions that the other graders get")
    group.add_argument("--jobs", type=int, default=1, help="of `grader class grade` (1)")
    watch.add_argument("--saves", type=int, default=5, help="in each turn (5)")
    many.add_argument("--cpu", type=float, metavar="SECONDS", help="of a submission, where it is known better")
    return parser


if __name__ == "__main__":
    sys.exit(main())
