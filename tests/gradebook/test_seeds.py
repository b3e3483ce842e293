"""The seeds of a class's runs: what a student learns of the inputs of earlier runs is of no use in the next."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from grader.gradebook.class_run import POOL, Seeds
from grader.gradebook.records import Result
from grader.gradebook.store import FILE, Gradebook
from tests.support.command import NUMBERS, Place

OPTIONS = ("--stage", "s01", "--isolation", "process", "--require-isolation", "process")
RUNS = 3
OLDER = Path(__file__).with_name("version_1.sql")  # made by the grader that derived seeds from a secret it kept
# Answers what it knows, and lets the report tell the arguments that it does not know.
TABLE = '''\
"""Numbers."""

DOUBLE = {double}
QUADRUPLE = {quadruple}


def double(x):
    """Return twice x."""
    if x not in DOUBLE:
        raise RuntimeError(f"asked double {{x}}")
    return DOUBLE[x]


def quadruple(x):
    """Return four times x."""
    if x not in QUADRUPLE:
        raise RuntimeError(f"asked quadruple {{x}}")
    return QUADRUPLE[x]
'''


class Class:
    """A class that hands in its modules and is graded in runs of the command."""

    def __init__(self, place: Place, folder: Path) -> None:
        self._place = place
        self._handed, self.out = folder / "handed", folder / "out"
        self._handed.mkdir()

    def hand_in(self, **texts: str) -> None:
        for name, text in texts.items():
            (self._handed / f"{name}.py").write_text(text, encoding="utf-8")

    def grade(self) -> None:
        done = self._place.run("class", "grade", str(self._handed), *OPTIONS, "--out", str(self.out), "--jobs", "1")
        assert done.code == 0, done.err

    def regrade(self, *options: str) -> None:
        done = self._place.run("class", "regrade", *OPTIONS, "--out", str(self.out), "--jobs", "1", *options)
        assert done.code == 0, done.err

    @property
    def results(self) -> tuple[Result, ...]:
        with Gradebook.open(self.out) as book:
            return book.results()


@pytest.fixture
def group(place: Place, tmp_path: Path) -> Class:
    return Class(place, tmp_path)


def test_a_table_of_the_inputs_of_earlier_runs_passes_no_row_in_the_next(group: Class) -> None:
    known: dict[str, dict[int, int]] = {"double": {3: 6}, "quadruple": {3: 12}}  # inputs of the tests that all read
    for _ in range(RUNS):
        group.hand_in(eve=TABLE.format(**known))
        group.grade()
        last = group.results[-1]
        for name, number in re.findall(r"asked (\w+) (\d+)", json.dumps(last.verdict)):
            known[name][int(number)] = int(number) * {"double": 2, "quadruple": 4}[name]
    assert [row["id"] for row in last.verdict["criteria"] if row["status"] == "passed"] == []
    assert len(group.results) == RUNS and sum(map(len, known.values())) > 2 * RUNS  # it learnt something in each run


def test_two_runs_share_neither_pool_nor_choice() -> None:
    names = [f"s{number}" for number in range(200)]
    first, second = Seeds.drawn(), Seeds.drawn()
    assert len(first.pool) == len(set(first.pool)) == POOL and first.key != second.key
    chosen = [first.pool.index(first.of(name, "s01", "d" * 64)) for name in names]
    other = [second.pool.index(second.of(name, "s01", "d" * 64)) for name in names]
    assert len(set(chosen)) > 1 and len(chosen) > len(set(chosen))  # the same text: some share a seed, nobody knows who
    assert chosen != other and set(first.pool) != set(second.pool)
    assert first.of("ada", "s01", "d" * 64) == first.of("ada", "s01", "d" * 64)
    assert str(first.pool[0]) not in repr(first) and repr(first.key) not in repr(first)


def test_a_gradebook_of_the_older_grader_keeps_its_results_and_their_seeds(group: Class, place: Place) -> None:
    group.out.mkdir()
    with closing(sqlite3.connect(group.out / FILE)) as older:
        older.executescript(OLDER.read_text(encoding="utf-8"))
    before = rows(group.out)
    path = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    group.regrade("--apply")
    after = rows(group.out)
    assert after[: len(before)] == before and len(after) == 2 * len(before)
    assert sorted(row[:4] for row in after[len(before) :]) == sorted(row[:4] for row in before)
    with Gradebook.open(group.out) as book:
        assert all(each.key.seed == each.verdict["seed"] for each in book.results())
    group.hand_in(bob=NUMBERS + "# a third time\n")
    group.grade()
    with Gradebook.open(group.out) as book:
        assert {each.student: each.points for each in book.marks()} == {"ada": 2.0, "bob": 2.0, "dee": 0.0}
        assert len(book.attempts()) == len(before) + 1


def rows(folder: Path) -> list[tuple[str, str, str, int, str]]:
    """Return student, outcome, digest, seed and verdict of each result, in order."""
    with closing(sqlite3.connect(folder / FILE)) as reader:
        found = reader.execute("SELECT student, outcome, digest, seed, verdict FROM results ORDER BY number").fetchall()
    return found
