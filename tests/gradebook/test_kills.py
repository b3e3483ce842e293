"""A run that is killed again and again, at random moments: every result that was told stays, and none comes twice.

By default three times, with --all-tiers twenty times.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from grader.gradebook.store import FILE, Gradebook
from grader.isolation import tiers
from tests.support.command import NUMBERS, RUN, WRONG, Place

STUDENTS, PASSING = 12, 8
FEW, MANY = 3, 20
LONGEST = 0.3  # seconds until a kill, from the start or from a new result on
WAIT_SECONDS = 300.0


def results(folder: Path) -> set[tuple[str, str]]:
    """Return whose result there is, and from when."""
    try:
        with closing(sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)) as reader:
            return set(reader.execute("SELECT student, at FROM results"))
    except sqlite3.Error:
        return set()


@pytest.mark.full_matrix
@pytest.mark.skipif(not tiers.FORKS, reason="a process that is killed is looked at")
def test_kills_at_random_moments_lose_nothing_and_grade_nothing_twice(
    original: Place, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    handed, out = tmp_path / "handed", tmp_path / "out"
    handed.mkdir()
    for number in range(STUDENTS):
        (handed / f"s{number}.py").write_text((WRONG if number % 3 == 0 else NUMBERS) + f"# {number}\n")
    arguments = ["class", "grade", str(handed), "--stage", "s01", "--out", str(out), "--jobs", "2"]
    arguments += ["--isolation", "process", "--require-isolation", "process"]
    environment = {**os.environ, "PYTHONPATH": str(original.package.parent)}
    drawn = random.Random(20)
    before: set[tuple[str, str]] = set()
    killed = 0
    for _ in range(MANY if pytestconfig.getoption("--all-tiers") else FEW):
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *arguments], cwd=original.root, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        wanted = len(before) + drawn.randrange(2)
        while process.poll() is None and len(results(out)) < wanted:
            time.sleep(0.02)
        try:
            assert process.wait(drawn.uniform(0.0, LONGEST)) == 0
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait(WAIT_SECONDS)
            killed += 1
        assert results(out) >= before
        before = results(out)
    assert killed
    done = original.process(*arguments)
    assert done.code == 0, done.err
    assert results(out) >= before and len(results(out)) == STUDENTS
    with Gradebook.open(out) as book:
        changes = [(each.student, each.what) for each in book.history()]
        assert len(changes) == len(set(changes)) == 2 * STUDENTS
        assert {each.points for each in book.marks()} == {0.0, 2.0}
        assert sum(each.passed for each in book.results()) == PASSING
