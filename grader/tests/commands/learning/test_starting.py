"""`grader start` and `reset`: going on at a stage, and over again."""

from __future__ import annotations

import pytest

from grader.course.stub import stub_of
from grader.tests.support.command import (
    NUMBERS,
    Here,
)


def test_start_skips_what_comes_before_and_passes_nothing(here: Here) -> None:
    done = here("start", "s02")
    assert (done.code, done.out) == (0, "")
    assert "You are at s02 · Sums. Skipped: s01." in done.err
    progress = here.place.store.read()
    assert (set(progress.skipped), set(progress.passed), progress.last) == ({"s01"}, set(), "s02")


def test_start_at_an_earlier_stage_opens_what_was_skipped(here: Here) -> None:
    here("start", "s02")
    assert "Skipped" not in here("start", "s01").err
    assert here.place.store.read().skipped == set()
    assert "You are at s01" in here().out


def test_start_leaves_passed_stages_passed(here: Here) -> None:
    here.place.passed("s01")
    assert "Skipped" not in here("start", "s02").err
    assert here.place.recorded == {"s01"}


def test_start_at_a_passed_stage_says_where_one_is(here: Here) -> None:
    here.place.passed("s01")
    done = here("start", "s01")
    assert done.code == 0
    assert " ".join(done.err.split()) == (
        "s01 · Numbers has passed already, and stays so. You are at s02 · Sums. "
        "`grader check s01` grades it again; `grader reset s01` starts it over."
    )
    assert "You are at s02" in here().out
    here.place.passed("s02")
    assert "You are at" not in here("start", "s02").err


def test_reset_asks_before_it_replaces_a_file(here: Here) -> None:
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    done = here("reset", "s01")
    assert (done.code, done.out) == (2, "")
    assert "--yes" in done.err
    assert here.place.numbers.read_text(encoding="utf-8") == "mine = 1\n"


@pytest.mark.parametrize("yes", [True, False])
def test_reset_does_what_was_answered(here: Here, yes: bool) -> None:
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    here.monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    here.monkeypatch.setattr("typer.confirm", lambda question, err: yes)
    assert here("reset", "s01").code == 0
    assert (here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)) is yes


def test_reset_puts_the_stub_back_keeps_the_old_file_and_starts_over(here: Here) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    done = here("reset", "s01", "--yes")
    assert done.code == 0
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    (kept,) = (here.place.root / ".grader" / "backups" / "s01_numbers").iterdir()
    assert kept.read_text(encoding="utf-8") == "mine = 1\n"
    assert f".grader/backups/s01_numbers/{kept.name}" in done.err
    assert here.place.recorded == set()


def test_reset_keeps_no_copy_of_a_stub_and_restores_a_deleted_one(here: Here) -> None:
    here("reset", "s01", "-y")
    assert not (here.place.root / ".grader" / "backups").exists()
    here.place.numbers.unlink()
    assert here("reset", "s01", "-y").code == 0
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
