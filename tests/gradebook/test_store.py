"""The gradebook's file: what it keeps, what it refuses, its history, and what is said where it cannot be used."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.errors import GradebookError
from grader.gradebook import store
from grader.gradebook.marks import table
from grader.gradebook.records import Attempt, Key, Mark, Override, Result
from grader.gradebook.schema import STEPS
from grader.gradebook.store import FILE, Gradebook

EMPTY = 80_000  # bytes of a gradebook without entries, at most
NOW = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
KEY = Key("ada", "s15", "d" * 64, "0.1.0+abc", 7, "bubblewrap")
GRADED = Result(KEY, "graded", {"passed": True}, NOW, 1.5)
ATTEMPT = Attempt("ada", "s15", "m" * 64, NOW, "file", "ada.py", "123")
MARK = Mark("ada", "s15", 8.0, 10.0, 10.0, 0.8, 2, 1, ATTEMPT.digest, 1)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Gradebook]:
    with Gradebook.open(tmp_path / "out", create=True) as book:
        yield book


def filled(book: Gradebook) -> Gradebook:
    with book.changing():
        book.keep_attempt(ATTEMPT)
        book.count_for("ada", "s15", ATTEMPT.digest, book.keep_result(GRADED))
        book.keep_marks("ada", [MARK], "first grading", NOW)
    return book


def test_what_is_kept_is_read_back(book: Gradebook) -> None:
    filled(book)
    assert book.attempts() == (replace(ATTEMPT, result=1),)
    assert (book.results(), book.marks()) == ((GRADED,), (MARK,))
    assert book.known(KEY) == (1, "graded") and book.known(replace(KEY, seed=8)) is None
    book.keep_source("m" * 64, b"\x00text")
    assert book.source("m" * 64) == b"\x00text" and book.source("n" * 64) is None


def test_texts_take_less_room_on_disk_than_they_have(book: Gradebook) -> None:
    text = "".join(f"def f{number}(x):\n    return x + {number}\n" for number in range(2000))
    with book.changing():
        book.keep_source("m" * 64, text.encode())
        book.keep_result(replace(GRADED, verdict={"passed": True, "criteria": [], "message": text}))
    (result,) = book.results()
    assert (book.source("m" * 64), result.verdict["message"]) == (text.encode(), text)
    book._run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert book.path.stat().st_size < len(text) + EMPTY


def test_a_fault_never_overwrites_a_result_and_gives_way_to_one(book: Gradebook) -> None:
    fault = replace(GRADED, outcome="fault", verdict={"passed": False})
    assert book.keep_result(fault) == book.keep_result(GRADED) == book.keep_result(fault) == 1
    assert book.results() == (GRADED,)
    with pytest.raises(GradebookError, match="never changed"):
        book._run("UPDATE results SET outcome = 'missing'")
    with pytest.raises(GradebookError, match="never removed"):
        book._run("DELETE FROM results")


def test_every_change_stands_in_the_history_which_refuses_changes(book: Gradebook) -> None:
    filled(book)
    book.keep_marks("ada", [MARK], "again", NOW)  # nothing new
    book.keep_marks("ada", [replace(MARK, points=9.0)], "regraded", NOW)
    book.keep_override(Override("ada", "s15", 10.0, "oral exam", "prof", NOW))
    assert book.drop_override("ada", "s15") and not book.drop_override("ada", "s15")
    told = [(each.what, each.why) for each in book.history()]
    assert told == [
        ("result", "graded"), ("mark", "first grading"), ("mark", "regraded"),
        ("override", "oral exam"), ("override", "removed"),
    ]  # fmt: skip
    change = book.history()[2]
    assert change.before and change.after and (change.before["points"], change.after["points"]) == (8.0, 9.0)
    for statement in ("UPDATE history SET why = ''", "DELETE FROM history"):
        with pytest.raises(GradebookError, match="the history of a gradebook is never changed"):
            book._run(statement)


def test_the_same_points_by_hand_stand_in_the_history_once(book: Gradebook) -> None:
    filled(book)
    given = Override("ada", "s15", 10.0, "oral exam", "prof", NOW)
    for each in (given, replace(given, at=NOW + timedelta(days=1)), replace(given, reason="a second oral exam")):
        book.keep_override(each)
    assert [each.why for each in book.history() if each.what == "override"] == ["oral exam", "a second oral exam"]


def test_of_two_times_of_an_attempt_the_better_clocks_counts_and_then_the_earlier(book: Gradebook) -> None:
    later = NOW + timedelta(days=3)
    for attempt in (ATTEMPT, replace(ATTEMPT, submitted=later), replace(ATTEMPT, submitted=later, clock="unknown")):
        book.keep_attempt(attempt)
    assert book.attempts()[0].submitted == NOW
    book.keep_attempt(replace(ATTEMPT, submitted=later, clock="csv", identity=""))
    assert (book.attempts()[0].submitted, book.attempts()[0].identity) == (later, "123")


def test_attempts_are_told_in_the_order_of_their_times_in_any_zone(book: Gradebook) -> None:
    east = datetime.fromisoformat("2026-11-23T01:30:00+05:00")  # earlier than NOW, although its text sorts later
    book.keep_attempt(ATTEMPT)
    book.keep_attempt(replace(ATTEMPT, digest="e" * 64, submitted=east))
    book.keep_attempt(replace(ATTEMPT, digest="f" * 64, submitted=None, clock="unknown"))
    assert [each.digest[0] for each in book.attempts("ada")] == ["f", "e", "m"]


def test_a_change_that_breaks_off_leaves_nothing(book: Gradebook) -> None:
    with pytest.raises(KeyboardInterrupt), book.changing():
        book.keep_attempt(ATTEMPT)
        raise KeyboardInterrupt
    assert book.attempts() == ()


def test_the_table_holds_what_counts(book: Gradebook) -> None:
    filled(book)
    (entry,) = table(book)
    assert (entry.points, entry.passed, entry.is_late, entry.identity, entry.attempts) == (8.0, True, True, "123", 1)
    book.keep_override(Override("ada", "s15", 10.0, "oral exam", "prof", NOW))
    book.keep_attempt(replace(ATTEMPT, student="bob"))
    ada, bob = table(book)
    assert (ada.points, ada.mark) == (10.0, MARK)
    assert (bob.points, bob.outcome, bob.verdict) == (None, "fault", None)


def test_only_its_owner_reads_a_gradebook(book: Gradebook) -> None:
    filled(book)
    assert {path.stat().st_mode & 0o077 for path in book.path.parent.iterdir()} == {0}


def test_a_folder_without_a_gradebook_is_told(tmp_path: Path) -> None:
    with pytest.raises(GradebookError, match="holds no gradebook"):
        Gradebook.open(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(GradebookError, match="cannot be made"):
        Gradebook.open(tmp_path / "file" / "out", create=True)


@pytest.fixture
def unwritable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system says that nothing can be written, as on a disk that is mounted read-only."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)


def test_a_gradebook_that_is_read_only_can_be_read(book: Gradebook, unwritable: None) -> None:
    filled(book)
    book.__exit__()
    folder = book.path.parent
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with Gradebook.open(folder) as found:
        assert [attempt.student for attempt in found.attempts()] and found.history()
        with pytest.raises(GradebookError, match="readonly") as caught, found.changing():
            found.drop_override("ada", "s01")
            found.keep_source("digest", b"x = 1")
    assert caught.value.hint and "read-only" in caught.value.hint
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_gradebook_that_is_read_while_another_program_writes_is_current(book: Gradebook, unwritable: None) -> None:
    filled(book)  # and still open: what it wrote may stand in the log beside the file
    with Gradebook.open(book.path.parent) as found:
        assert len(found.attempts()) == len(book.attempts())


def test_an_older_gradebook_that_is_read_only_has_to_be_copied(
    book: Gradebook, unwritable: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.__exit__()
    monkeypatch.setattr(store, "STEPS", (*STEPS, ()))
    with pytest.raises(
        GradebookError, match=f"has version {len(STEPS)}, and cannot be brought up to version {len(STEPS) + 1}"
    ) as caught:
        Gradebook.open(book.path.parent)
    assert caught.value.hint and "Copy it" in caught.value.hint


def test_a_file_that_is_no_gradebook_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with pytest.raises(GradebookError, match="is empty: expected a gradebook"):
        Gradebook.open(tmp_path)
    assert (tmp_path / FILE).read_bytes() == b""
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    for create in (False, True):
        with pytest.raises(GradebookError, match="is a database of something else"):
            Gradebook.open(tmp_path, create)
    with sqlite3.connect(tmp_path / FILE) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    other.close()


def test_times_of_the_history_have_one_form(book: Gradebook) -> None:
    filled(book)
    assert all(each.at.endswith("+00:00") for each in book.history())


def test_a_newer_gradebook_a_foreign_file_and_a_locked_one_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Gradebook.open(tmp_path, create=True).__exit__()
    with sqlite3.connect(tmp_path / FILE, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(store, "BUSY_SECONDS", 0.1)
        with Gradebook.open(tmp_path) as book, pytest.raises(GradebookError, match="locked") as found, book.changing():
            pass
        assert found.value.hint and "Another program" in found.value.hint
        other.execute("PRAGMA user_version = 99")
        other.execute("COMMIT")
    other.close()
    with pytest.raises(GradebookError, match="has version 99"):
        Gradebook.open(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database" * 500)
    with pytest.raises(GradebookError, match="not a database"):
        Gradebook.open(tmp_path)
