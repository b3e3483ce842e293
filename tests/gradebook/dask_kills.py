"""A made-up class on a Dask cluster of three workers on loopback, one of which is killed in every run.

It is killed as the run begins, as the course is sent, or as results come in, in turn. Every run has to come to its end
with each mark once, and with the grades of a run in which nothing is killed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.submissions import hand_in, made_up
from grader.course.manifest import load_course
from grader.course.settings import find_course_root
from grader.course.stage import Course
from grader.gradebook.class_run import RunOptions, Tally
from grader.gradebook.grade_class import grade
from grader.gradebook.store import Gradebook
from tests.support.cluster import Workers

WORKERS, EARLY = 3, 3
MOMENTS = ("start", "scatter", "middle")
Told = Callable[[Tally], None]


class NotOnce(Exception):
    """A student of a run has no mark, or more than one, or was graded by a fault."""


def marks(course: Course, handed: Path, out: Path, address: str, told: Told) -> dict[str, tuple[bool, str]]:
    """Grade a folder for the first stage on a cluster; return by student whether it passes, and who graded it."""
    options = RunOptions(out, isolation="process", require="process", cluster=address)
    (tally,) = grade(course, course.stages[:1], handed, options, told).tallies
    with Gradebook.open(out) as book:
        found = {each.key.student: (each.passed, each.made.worker) for each in book.results()}
        numbers = len(list(handed.iterdir())), len(list(book.results())), _marked(book), len(found)
    if len(set(numbers)) > 1 or tally.faults:
        raise NotOnce(f"handed in, results, marks, students: {numbers}; faults: {tally.faults}")
    return found


def _marked(book: Gradebook) -> int:
    return sum(change.what == "mark" for change in book.history())


@contextmanager
def killing(moment: str, workers: Workers, number: int = 1) -> Iterator[Told]:
    """Kill the first workers at a moment of the run within the block; give what is to be told how far it is."""
    import distributed

    client: Any = distributed.Client  # it has no types
    left = [number]

    def kill() -> None:
        workers.kill(left.pop() if left else 0)

    def told(tally: Tally) -> None:
        if moment == "middle" and tally.done >= EARLY:
            kill()

    def patched(name: str, at: str) -> Any:
        plain = getattr(client, name)

        def called(self: Any, *arguments: Any, **named: Any) -> Any:
            found = plain(self, *arguments, **named) if at == "scatter" else None
            if moment == at:
                kill()
            return plain(self, *arguments, **named) if found is None else found

        return mock.patch.object(client, name, called)

    with patched("run", "start"), patched("submit", "scatter"):
        yield told


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a class up and grade it again and again, with a kill in each run; return 1 where a run goes wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.gradebook.dask_kills", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="how many runs with a kill (20)")
    parser.add_argument("--submissions", type=int, default=18, help="how many are made up (18)")
    given = parser.parse_args(arguments)
    course, good = load_course(find_course_root(Path.cwd())), 0
    with tempfile.TemporaryDirectory(prefix="grader-kills-") as name:
        handed = Path(name) / "handed"
        hand_in(made_up(course.stages[0], "mix", given.submissions), handed)
        expected: dict[str, bool] | None = None
        for number in range(given.runs + 1):
            moment, folder = MOMENTS[(number - 1) % len(MOMENTS)] if number else "", Path(name) / f"run-{number}"
            with ExitStack() as stack:
                workers = Workers(stack, folder)
                workers.add(WORKERS)
                told = stack.enter_context(killing(moment, workers))
                try:
                    found = marks(course, handed, folder / "out", workers.address, told)
                    passed = {student: is_passed for student, (is_passed, _) in found.items()}
                    said = "as without a kill" if expected in (None, passed) else "other grades than without a kill"
                    expected = expected or passed
                except Exception as error:
                    said = f"{type(error).__name__}: {error}"
                dead = sum(process.poll() is not None for process in workers.processes)
            good += bool(number) and said == "as without a kill" and dead == 1
            sys.stdout.write(f"{number} {moment or 'no kill'}: {dead} killed, {said}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{good} of {given.runs} runs are complete, each mark once\n")
    return int(good != given.runs)


if __name__ == "__main__":
    sys.exit(main())
