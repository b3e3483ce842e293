"""Whether a class gets the same grades whoever does the gradings: one process, the pool, or a Dask cluster here.

The class is made up: right, half done, wrong, broken, endless and hostile modules. It is handed in bit by bit, and each
bit is graded each way into a gradebook of its own, so that a run that is stopped has compared something; with `--keep`
the same command goes on from there. With `--beside N`, the honest ones are graded once more, among N modules that fork,
swell and sleep. What differs is printed; the exit code is 1 where a grade does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grader.bench.check import environment
from grader.bench.made_up import ATTACKS, QUICK, SHARES, attacking, submissions
from grader.course.manifest import find_course_root, load_course
from grader.course.stage import Course, Stage
from grader.gradebook.store import Gradebook
from grader.gradebook.table import Entry, entries

WAYS = ("one", "pool", "dask")
HONEST = ("right", "half", "wrong")
BESIDE = ("forks", "swells", "sleeps")
UNLIKE = ("duration_s", "isolation_note")  # of a verdict; the note tells of the machine
START_SECONDS = 120.0
WRITTEN = 1_790_000_000  # seconds since 1970, when all modules were written: in September 2026
COMMAND = """import sys; from grader.cli import main; from grader.gradebook.seeds import Seeds
Seeds.drawn = classmethod(lambda cls: cls(tuple(range(4711, 4727)), b"key"))  # with other seeds, other inputs
sys.exit(main())"""
POLICY = 'schema = 1\npartial = "tests"\n'


@dataclass(frozen=True)
class Alike:
    """What a class was made of, seconds by way, whose grades differ, and how many are told in other words."""

    stage: str
    kinds: dict[str, int]
    outcomes: dict[str, int]
    seconds: dict[str, float]
    differ: list[str] = field(default_factory=list)
    reworded: list[str] = field(default_factory=list)


Grades = Mapping[str, tuple[Any, Any]]  # by student what counts, and in which words it is told


def alike(
    course: Course, stage: Stage, number: int, folder: Path, ways: Sequence[str], bit: int, quick: bool = False
) -> Iterator[Alike]:
    """Grade a class in each way, and yield after each bit how the grades of all so far compare.

    quick makes it a class without endless and hostile modules, whose time is mostly waiting.
    """
    modules = submissions(stage, number, ATTACKS, QUICK if quick else SHARES)
    seconds = dict.fromkeys(ways, 0.0)
    with ExitStack() as stack:
        address = stack.enter_context(cluster(folder)) if "dask" in ways else ""
        for first in range(0, number, bit):
            hand_in(folder / "handed", {f"s{place:04d}": modules[place][1] for place in range(first, first + bit)
                                        if place < number})  # fmt: skip
            for way in ways:
                seconds[way] += grade(course, stage, folder / "handed", folder / way, options(way, address))
            kinds = Counter(kind for kind, _ in modules[: first + bit])
            yield compared(stage, kinds, seconds, [grades(folder / way) for way in ways])


def beside(course: Course, stage: Stage, number: int, honest: int, hostile: int, folder: Path) -> Alike:
    """Grade honest modules of a class alone, as by the pool, and then among hostile ones; compare their grades."""
    modules = [(place, *each) for place, each in enumerate(submissions(stage, number, ATTACKS))]
    chosen = [each for each in modules if each[1] in HONEST][:honest]
    texts = {f"s{place:04d}": text for place, _, text in chosen}
    names, acts = list(texts), [BESIDE[place % len(BESIDE)] for place in range(hostile)]
    bombs = {
        f"{names[place * len(names) // hostile]}-{act}": f"{attacking(stage, ATTACKS[act])}# {place}\n"
        for place, act in enumerate(acts)
    }
    seconds, both = {}, []
    for way, handed in (("pool", texts), ("crowd", texts | bombs)):
        hand_in(folder / "handed", handed)  # the hostile ones join: a verdict names the file
        seconds[way] = grade(course, stage, folder / "handed", folder / way, options(way, ""))
        both.append(grades(folder / way))
    found = compared(stage, Counter(kind for _, kind, _ in chosen), seconds, [_only(texts, each) for each in both])
    passing = [name for name in bombs if both[1][name][0]["passed"]]
    found.differ.extend(f"{name}: a hostile module passes" for name in passing)
    return found


def _only(names: Mapping[str, str], found: Grades) -> Grades:
    return {name: worth for name, worth in found.items() if name in names}


def options(way: str, address: str) -> list[str]:
    """Return the options of `grader class grade` for a way; a crowd is graded at once, idle cores or not."""
    cores = os.cpu_count() or 1
    jobs = {"one": 1, "pool": cores, "crowd": 4 * cores}
    return ["--cluster", address] if way == "dask" else ["--jobs", str(jobs[way])]


def hand_in(folder: Path, texts: Mapping[str, str]) -> None:
    """Write a module for each student, as if all had been written at one moment: its time is part of a grade."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        os.utime(path, (WRITTEN, WRITTEN))


def grade(course: Course, stage: Stage, handed: Path, out: Path, options: Sequence[str]) -> float:
    """Run `grader class grade`, and return the seconds that it took; RuntimeError where it could not grade."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "class.toml").write_text(POLICY, encoding="utf-8")
    command = [sys.executable, "-c", COMMAND, "class", "grade", str(handed), "--stage", stage.id, "--out", str(out)]
    command += ["--require-isolation", "process", *options]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=course.root, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):  # with 4 some are faults, which the comparison shows
        raise RuntimeError(f"grader {' '.join(command[3:])} ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.perf_counter() - started


def grades(out: Path) -> dict[str, tuple[Any, Any]]:
    """Return by student what counts of a gradebook's results, row by row, and apart from it the words."""
    with Gradebook.open(out) as book:
        return {each.student: (_worth(each), _words(each.verdict)) for each in entries(book)}


def _worth(entry: Entry) -> dict[str, Any]:
    """Return every field of an entry and its verdict that is neither a time, a number of the database, nor words."""
    told = entry.verdict or {}
    verdict = {name: value for name, value in told.items() if name not in (*UNLIKE, "criteria")}
    rows = [[row["id"], row["status"], row["tests_passed"], row["tests_total"]] for row in told.get("criteria", ())]
    mark = {name: value for name, value in asdict(entry.mark).items() if name != "result"} if entry.mark else None
    return {
        "points": entry.points, "outcome": entry.outcome, "passed": entry.passed, "rows": rows, "mark": mark,
        "verdict": verdict, "attempts": entry.attempts, "late": entry.is_late, "reason": entry.reason,
        "submitted": str(entry.submitted), "label": entry.label, "identity": entry.identity,
    }  # fmt: skip


def _words(verdict: Mapping[str, Any] | None) -> Any:
    told = verdict or {}
    return [
        told.get("problem"),
        [
            [failure["test"], failure["message"], failure.get("diagnosis")]
            for row in told.get("criteria", ())
            for failure in row["failures"]
        ],
    ]


def compared(stage: Stage, kinds: Mapping[str, int], seconds: Mapping[str, float], found: Sequence[Grades]) -> Alike:
    """Return what differs between the grades of one class."""
    first = found[0]
    alike = Alike(
        stage.id, dict(kinds), dict(Counter(worth["outcome"] for worth, _ in first.values())),
        {way: round(took, 1) for way, took in seconds.items()},
    )  # fmt: skip
    for student in sorted(set().union(*found)):
        all_of = [each.get(student) for each in found]
        if any(each is None or each[0] != all_of[0][0] for each in all_of if all_of[0] is not None) or None in all_of:
            alike.differ.append(f"{student}: " + json.dumps([each and each[0] for each in all_of]))
        elif any(each is not None and all_of[0] is not None and each[1] != all_of[0][1] for each in all_of):
            alike.reworded.append(student)
    return alike


@contextmanager
def cluster(folder: Path, threads: int | None = None) -> Iterator[str]:
    """Start a scheduler and a worker of Dask on loopback, and give the address."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f"scheduler-{os.getpid()}.json"
    common = ("--scheduler-file", str(note), "--no-dashboard", "--host", "127.0.0.1")
    most = str(threads or os.cpu_count() or 1)
    with ExitStack() as stack:
        stack.enter_context(_dask(folder, "scheduler", *common, "--port", "0"))
        _wait(note)
        stack.enter_context(_dask(folder, "worker", *common, "--nworkers", "1", "--nthreads", most))
        address = str(json.loads(note.read_text(encoding="utf-8"))["address"])
        import distributed

        connect: Any = distributed.Client  # it has no types
        with connect(address) as client:
            client.wait_for_workers(1, timeout=START_SECONDS)
        yield address


@contextmanager
def _dask(folder: Path, role: str, *options: str) -> Iterator[None]:
    with (folder / f"{role}.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", "dask", role, *options], cwd=folder, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _wait(note: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not note.is_file():
        if time.monotonic() > end:
            raise RuntimeError(f"no scheduler started within {START_SECONDS:g} s; {note.parent} has its log")
        time.sleep(0.1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was compared as a line of JSON after each bit; return 1 where a grade differs."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.alike", description=__doc__)
    parser.add_argument("stage", nargs="?", default="s01")
    parser.add_argument("--submissions", type=int, default=500)
    parser.add_argument("--bit", type=int, default=100, help="how many are handed in at a time")
    parser.add_argument("--way", choices=WAYS, action="append", help="by default all; dask needs it installed")
    parser.add_argument("--quick", action="store_true", help="without endless and hostile modules")
    parser.add_argument("--beside", type=int, metavar="N", help="grade honest ones among N that fork, swell and sleep")
    parser.add_argument("--honest", type=int, default=100, help="how many are graded among them")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the gradebooks there, and go on from them")
    given = parser.parse_args(arguments)
    course = load_course(find_course_root(Path.cwd()))
    stage = course.find(given.stage)
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name:
        folder = (given.keep or Path(name)).absolute()
        found: Iterator[Alike]
        if given.beside:
            found = iter([beside(course, stage, given.submissions, given.honest, given.beside, folder)])
        else:
            found = alike(course, stage, given.submissions, folder, given.way or WAYS, given.bit, given.quick)
        differ = False
        for each in found:
            print(json.dumps(asdict(each)), flush=True)
            differ = bool(each.differ)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
