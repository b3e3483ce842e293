"""A gradebook decides its results by the tests that count now, also those that an earlier grader has kept."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.gradebook.marks import table, update_marks
from grader.gradebook.policy import Policy, StagePolicy
from grader.gradebook.records import Attempt, Key, Result
from grader.gradebook.store import FILE, Gradebook
from tests.report.test_stored import first
from tests.support.verdicts import SCORES, SPLIT, TEXTBOOK

NOW = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
BEFORE = 3  # the version of a gradebook that did not keep yet by which tests results are decided
STRICT = Policy(other=StagePolicy(passes="all"))


def keep(book: Gradebook, student: str, document: dict[str, Any], policy: Policy) -> None:
    attempt = Attempt(student, "s15", f"{student:m>64}", NOW, "file", f"{student}.py")
    with book.changing():
        book.keep_attempt(attempt)
        number = book.keep_result(
            Result(Key(student, "s15", attempt.digest, "1", 7, "process"), "graded", document, NOW, 1.0)
        )
        book.count_for(student, "s15", attempt.digest, number)
        update_marks(book, policy, student, "graded", NOW)


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Path]:
    """A gradebook as the grader before kept it: of what lacks only refusals, and of what is wrong."""
    with Gradebook.open(tmp_path, create=True) as book:
        keep(book, "ada", first(SCORES, TEXTBOOK), STRICT)
        keep(book, "bob", first(SCORES, SPLIT), STRICT)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("DROP TRIGGER results_stay")
        for number, document in connection.execute("SELECT number, document FROM results").fetchall():
            text = zlib.decompress(document).decode()
            connection.execute("UPDATE results SET verdict = ? WHERE number = ?", (text, number))
        connection.execute("ALTER TABLE results DROP COLUMN document")
        connection.execute("ALTER TABLE sources DROP COLUMN is_deflated")
        for name in ("passes", "explained", "pools", "roster", "requests"):
            connection.execute(f"DROP TABLE {name}")
        connection.execute(f"PRAGMA user_version = {BEFORE}")
        connection.commit()
    yield tmp_path


def told(book: Gradebook) -> dict[str, tuple[bool, float | None, dict[str, int]]]:
    return {each.student: (each.passed, each.points, dict(each.counts)) for each in table(book)}


ADA, BOB = {"criteria": 2, "passed": 2, "robust": 1}, {"criteria": 2, "passed": 1, "robust": 1}


def test_results_of_an_earlier_grader_are_read_and_decided_anew(older: Path) -> None:
    with Gradebook.open(older) as book:
        assert told(book) == {"ada": (True, 1.0, ADA), "bob": (False, 1.0, BOB)}  # marks wait for a run
        with book.changing():
            for student in ("ada", "bob"):
                update_marks(book, Policy(), student, "what makes a criterion pass", NOW)
        assert told(book) == {"ada": (True, 2.0, ADA), "bob": (False, 1.0, BOB)}
        raw = [json.loads(row[0]) for row in book._run("SELECT verdict FROM results ORDER BY number")]
    assert [each["schema"] for each in raw] == [1, 1]  # what was found is never changed


def test_what_counts_is_kept_for_whoever_opens_it_without_class_toml(older: Path) -> None:
    with Gradebook.open(older) as book, book.changing():
        book.keep_passes({"s15": "all"})
    with Gradebook.open(older) as book:
        assert book.passes_of("s15") == "all" and book.passes_of("s16") == "mathematics"
        assert not told(book)["ada"][0]
        book.decide_by({"s15": "mathematics"})
        assert told(book)["ada"][0]
    with Gradebook.open(older) as book:
        assert book.passes_of("s15") == "all"


def test_a_word_of_a_newer_grader_counts_as_none(older: Path) -> None:
    with Gradebook.open(older) as book:
        with book.changing():
            book._run("INSERT INTO passes VALUES ('s15', 'some')")
        assert book.passes_of("s15") == "mathematics"


def test_a_policy_says_it_for_each_stage() -> None:
    policy = replace(STRICT, stages={"s02": StagePolicy()})
    assert (policy.of("s02").passes, policy.of("s03").passes) == ("mathematics", "all")
