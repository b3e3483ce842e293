"""Whose a file is: names in folders and exports of learning platforms, and what is said where they do not tell."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import NotHandedIn, UsageError
from grader.gradebook.intake.arrivals import Arrival, chosen
from grader.gradebook.intake.listing import listing
from grader.tests.support.places import ROOT


@pytest.fixture(scope="module")
def s15() -> Stage:
    return load_course(ROOT).find("s15")


def made(folder: Path, *names: str) -> Path:
    """Return the folder with these files in it; a name that ends in / is a folder."""
    for name in names:
        path = folder / name
        path.mkdir(parents=True) if name.endswith("/") else path.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    return folder


def students(folder: Path) -> dict[str, tuple[str, list[str]]]:
    found = listing(folder, UTC).arrivals
    return {each.student: (each.identity, [thing.name for thing in each.things]) for each in found}


def test_a_student_has_a_file_an_archive_or_a_folder(tmp_path: Path) -> None:
    made(
        tmp_path,
        "ada.py",
        "bob.tar.gz",
        "cy.ZIP",
        "dee/attention.py",
        "O'Neil, Zoë/",
        ".DS_Store",
        "__MACOSX/",
        "eve.docx",
    )
    assert students(tmp_path) == {
        "O'Neil, Zoë": ("", ["O'Neil, Zoë"]), "ada": ("", ["ada.py"]), "bob": ("", ["bob.tar.gz"]),
        "cy": ("", ["cy.ZIP"]), "dee": ("", ["dee"]), "eve": ("", ["eve.docx"]),
    }  # fmt: skip


def test_exports_of_canvas_and_moodle_name_the_student_and_a_number(tmp_path: Path) -> None:
    made(
        tmp_path, "lovelaceada_123_attention-1.py", "lovelaceada_123_attention-2.py",
        "smithjo_LATE_45_678_attention.py",
        "Jo Smith_9_assignsubmission_file_/attention.py", "Al Gore_8_assignsubmission_file_attention.py",
    )  # fmt: skip
    assert students(tmp_path) == {
        "Al Gore_8": ("8", ["attention.py"]),
        "Jo Smith_9": ("9", ["Jo Smith_9_assignsubmission_file_"]),
        "lovelaceada_123": ("123", ["attention-1.py", "attention-2.py"]),
        "smithjo_45": ("45", ["attention.py"]),
    }


def test_two_entries_of_one_student_are_told_and_nothing_is_taken(tmp_path: Path) -> None:
    made(tmp_path, "ada.py", "ada.zip", "Bob/", "bob.py", "cy.py")
    with pytest.raises(UsageError) as found:
        listing(tmp_path, UTC)
    lines = found.value.message.splitlines()
    assert sorted(lines) == [
        "Bob and bob.py are of the same student, Bob",
        "ada.py and ada.zip are of the same student, ada",
    ]
    assert found.value.hint and found.value.hint.startswith("Nothing was graded. Keep one of each;")


@pytest.mark.parametrize("name", ["a\nb.py", " ada.py", "x" * 101 + ".py", "\udcff.py"])
def test_a_name_that_cannot_be_shown_is_told(name: str, tmp_path: Path) -> None:
    made(tmp_path, name)
    with pytest.raises(UsageError, match="the name '") as found:
        listing(tmp_path, UTC)
    assert found.value.message.isprintable()
    assert found.value.hint == "Nothing was graded. Rename what has such a name."


@pytest.mark.parametrize(
    ("name", "told"), [("no", "does not exist"), ("file.zip", "is not a folder"), ("folder", "is empty: nothing"),
                     ("litter", "holds no submission, only .hidden, notes.txt: nothing")]
)  # fmt: skip
def test_a_place_without_submissions_is_told(name: str, told: str, tmp_path: Path) -> None:
    made(tmp_path, "file.zip", "folder/", "litter/.hidden", "litter/notes.txt")
    with pytest.raises(UsageError, match=told):
        listing(tmp_path / name, UTC)


def names(arrival: Arrival, stage: Stage, only: bool) -> list[str]:
    return [thing.name for thing in chosen(arrival, stage, only)]


def test_a_file_with_its_students_name_is_the_one_stage_that_is_graded(tmp_path: Path, s15: Stage) -> None:
    (plain, lms) = listing(made(tmp_path, "ada.py", "bob_1_homework.py"), UTC).arrivals
    assert names(plain, s15, only=True) == ["ada.py"]
    with pytest.raises(NotHandedIn, match=r"expected attention.py, found ada.py"):
        names(plain, s15, only=False)
    with pytest.raises(NotHandedIn, match=r"bob_1 handed in nothing for s15: expected attention.py, found homework.py"):
        names(lms, s15, only=True)
    with pytest.raises(NotHandedIn, match="cy handed in nothing for s15"):
        names(Arrival("cy", ()), s15, only=True)


def test_of_several_files_of_a_submission_the_likeliest_comes_first(tmp_path: Path, s15: Stage) -> None:
    made(tmp_path, "ada_1_attention-1.py", "ada_1_attention (2).py", "ada_1_layer.py", "ada_1_all.zip")
    (ada,) = listing(tmp_path, UTC).arrivals
    assert names(ada, s15, only=False) == ["attention (2).py", "attention-1.py", "all.zip"]


def test_what_is_nobodys_is_ignored_and_named(tmp_path: Path) -> None:
    litter = [".DS_Store", "Thumbs.db", "class.toml", "desktop.ini", "marks.csv", "notes.txt"]
    made(tmp_path, "ada.py", "bob.tar.gz", "cy/", *litter, "__MACOSX/ada.py", ".git/", "marks/gradebook.sqlite")
    found = listing(tmp_path, UTC)
    assert [each.student for each in found.arrivals] == ["ada", "bob", "cy"]
    assert sorted(found.ignored) == sorted([*litter, "__MACOSX", ".git", "marks"])


def test_what_somebody_handed_in_in_another_form_is_theirs(tmp_path: Path) -> None:
    made(tmp_path, "ada.ipynb", "bob.RAR", "dee_4_answers.txt", "Eve Li_5_assignsubmission_file_answers.docx")
    found = listing(tmp_path, UTC)
    assert [each.student for each in found.arrivals] == ["Eve Li_5", "ada", "bob", "dee_4"]
    assert not found.ignored
