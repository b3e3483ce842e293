"""`grader class similar`, as an instructor types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.commands.classes import similar
from grader.tests.similarity.test_compare import program
from grader.tests.support.command import Here


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "handed in"
    folder.mkdir()
    for name, source in (("ada", program(1)), ("bob", program(1)), ("eve", program(2)), ("dee", "x = (")):
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    (folder / "nobody").mkdir()
    (folder / "notes.txt").touch()
    return folder


def test_pairs_are_listed_and_everything_else_is_said_apart(here: Here, handed_in: Path) -> None:
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    assert (done.code, done.out) == (0, "100 % 100 %  ada  bob\n")
    told = " ".join(done.err.split())
    assert "4 submissions were compared; 1 pair shares 30 % or more." in told
    assert "A share is a reason to look, and no finding." in told
    assert "nobody was not compared:" in told
    assert "dee is not valid Python" in told
    assert "Ignored, because it belongs to no student: notes.txt." in told


def test_the_page_is_written(here: Here, handed_in: Path, tmp_path: Path) -> None:
    done = here("class", "similar", str(handed_in), "--stage", "s01", "--out", str(tmp_path / "page.html"))
    assert done.code == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "s01 · Numbers" in text
    assert not (here.place.root / ".grader").exists()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("nowhere", "--stage", "s01"), "does not exist"),
        ((".", "--stage", "s77"), "s77"),
        (("few", "--stage", "s01"), "holds 1 submission with numbers_.py"),
        (("handed in", "--stage", "s01", "--out", "no/such/page.html"), "cannot be written"),
        (("handed in", "--stage", "s01", "--least", "0"), "--least"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: tuple[str, ...], what: str, here: Here, handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here.place.root / "few").mkdir()
    (here.place.root / "few" / "ada.py").touch()
    handed_in.rename(here.place.root / "handed in")
    done = here("class", "similar", *arguments)
    assert (done.code, done.out) == (2, "")
    assert what in " ".join(done.err.split())


def test_where_too_few_can_be_compared_it_is_told_why_the_others_cannot(here: Here, handed_in: Path) -> None:
    for name in ("ada", "bob", "dee"):
        (handed_in / f"{name}.py").unlink()
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    told = " ".join(done.err.split())
    assert done.code == 2 and "holds 1 submission with numbers_.py" in told
    assert "nobody was not compared:" in told and "Ignored, because it belongs to no student: notes.txt." in told


def test_copies_are_listed_though_most_of_the_class_copied(here: Here, handed_in: Path) -> None:
    for name in ("fay", "gus", "hal"):
        (handed_in / f"{name}.py").write_text(program(1), encoding="utf-8")
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    assert len(done.out.splitlines()) == 10
    assert "does not count" not in done.err


def test_those_of_whom_most_does_not_count_are_told(here: Here, handed_in: Path) -> None:
    for number in range(7):
        (handed_in / f"x{number}.py").write_text(program(7, 2), encoding="utf-8")
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    assert done.out == "100 % 100 %  ada  bob\n"
    assert "More than three quarters of what x0, x1, x2, x3, x4, x5, x6 wrote does not" in " ".join(done.err.split())


def test_fewer_pairs_are_listed_where_that_is_asked(here: Here, handed_in: Path) -> None:
    (handed_in / "tom.py").write_text(program(1), encoding="utf-8")
    done = here("class", "similar", str(handed_in), "--stage", "s01", "--most", "2")
    assert len(done.out.splitlines()) == 2
    assert "3 pairs share 30 % or more; the first 2 are listed." in " ".join(done.err.split())


def test_a_learner_s_copy_compares_nobody(here: Here, handed_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar, "find_spec", lambda _: None)
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    assert done.code == 2
    assert "a learner's copy compares no submissions" in done.err
