"""`grader class similar`, as an instructor types it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from grader.commands.classes import similar
from grader.course import answers
from grader.errors import SealError
from grader.gradebook.records import Attempt
from grader.gradebook.store import Gradebook
from tests.similarity.test_compare import program
from tests.support.command import Here
from tests.support.places import HOUSE


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
        (("few", "--stage", "s01"), "holds 0 submissions with numbers_.py"),
        (("handed in", "--stage", "s01", "--out", "no/such/page.html"), "cannot be written"),
        (("handed in", "--stage", "s01", "--least", "0"), "--least"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: tuple[str, ...], what: str, here: Here, handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here.place.root / "few").mkdir()
    (here.place.root / "few" / "ada").mkdir()
    handed_in.rename(here.place.root / "handed in")
    done = here("class", "similar", *arguments)
    assert (done.code, done.out) == (2, "")
    assert what in " ".join(done.err.split())


def test_where_too_few_can_be_compared_it_is_told_why_the_others_cannot(here: Here, handed_in: Path) -> None:
    for path in handed_in.glob("*.py"):
        path.unlink()
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    told = " ".join(done.err.split())
    assert done.code == 2 and "holds 0 submissions with numbers_.py" in told
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
    assert "class similar is not part of a learner's copy" in done.err


def functions(seed: int, count: int = 12) -> str:
    """Return a module of functions that is like no other."""
    lines = program(seed, 3 * count).splitlines()
    return "import numpy as np\n\n\n" + "\n\n\n".join(
        f"def {'double' if not at else f'f{at}'}(x, y=0):\n    "
        + "\n    ".join(lines[3 * at : 3 * at + 3])
        + f"\n    return y{3 * at}"
        for at in range(count)
    )


@pytest.fixture
def copied(here: Here, tmp_path: Path) -> Path:
    """Three copies of the course's own solution, one of its alternative, and two others that share nothing."""
    hidden = next((here.place.root / "hidden").glob("s01_*"))
    (hidden / "alternatives").mkdir(exist_ok=True)
    (hidden / "solution.py").write_text(functions(1), encoding="utf-8")
    (hidden / "alternatives" / "loops.py").write_text(functions(2), encoding="utf-8")
    folder = tmp_path / "copied"
    folder.mkdir()
    sources = {"ada": functions(1), "bob": functions(1), "cleo": functions(1), "dan": functions(2)}
    sources |= {"eve": functions(3), "fay": functions(4)}
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return folder


def test_the_course_s_own_solution_is_named_first_and_once(here: Here, copied: Path) -> None:
    (copied / "gus.py").write_text(functions(3), encoding="utf-8")
    done = here("class", "similar", str(copied), "--stage", "s01")
    assert done.code == 0
    words = "    handed in the course's own solution, nearly word for word"
    assert done.out.splitlines() == [
        *(line for name in ("ada", "bob", "cleo") for line in (f"100 % 100 %  {name}  solution.py", words)),
        *("100 % 100 %  dan  alternatives/loops.py", words),
        "100 % 100 %  eve  gus",
    ]
    told = " ".join(done.err.split())
    assert "4 of 7 submissions are the course's own solution, nearly word for word." in told
    assert "7 submissions were compared; 1 pair shares 30 % or more." in told


def test_the_document_has_the_published_shape(here: Here, copied: Path) -> None:
    (copied / "gus.py").write_text(functions(3).replace("\n    ", "\n    0\n    "), encoding="utf-8")
    (copied / "nobody").mkdir()
    done = here("class", "similar", str(copied), "--stage", "s01", "--json")
    assert done.code == 0
    jsonschema.validate(done.json, json.loads((HOUSE / "similarity" / "similar.schema.json").read_text("utf-8")))
    assert [(each["student"], each["solution"]) for each in done.json["own_solutions"]] == [
        *((name, "solution.py") for name in ("ada", "bob", "cleo")),
        ("dan", "alternatives/loops.py"),
    ]
    assert done.json["own_solutions"][0]["of_left"] == 1.0
    assert done.json["own_solutions_known"] is True
    (pair,) = done.json["pairs"]
    assert (pair["left"], pair["right"]) == ("eve", "gus")
    (note,) = done.json["notes"]
    assert note["student"] == "gus" and note["idle"] > 10
    assert [each["student"] for each in done.json["not_compared"]] == ["nobody"]


def test_the_page_names_the_course_s_own_solution_first(here: Here, copied: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    (copied / "gus.py").write_text(functions(3), encoding="utf-8")
    assert here("class", "similar", str(copied), "--stage", "s01", "--out", str(out)).code == 0
    page = out.read_text(encoding="utf-8")
    places = [page.index(f'id="{name}"') for name in ("own", "own-4", "groups", "pair-1", "pairs")]
    assert places == sorted(places)
    assert "alternatives/loops.py" in page and 'id="pair-2"' not in page


def test_where_the_own_solutions_are_sealed_it_says_so(
    here: Here, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sealed(_: object) -> dict[str, str]:
        raise SealError("the solution of s01 is sealed")

    monkeypatch.setattr(answers, "alternative_sources", sealed)
    done = here("class", "similar", str(copied), "--stage", "s01", "--json")
    assert done.json["own_solutions_known"] is False and done.json["own_solutions"] == []
    assert "the solution of s01 is sealed" in done.err and "GRADER_KEY_FILE" in done.err
    assert len(done.json["pairs"]) == 3


def test_a_stage_of_a_few_lines_accuses_nobody(here: Here, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    solution = next((here.place.root / "hidden").glob("s01_*/solution.py")).read_text(encoding="utf-8")
    for name in ("ada", "bob"):
        (folder / f"{name}.py").write_text(solution, encoding="utf-8")
    assert here("class", "similar", str(folder), "--stage", "s01").out == ""


def test_a_text_with_much_that_does_nothing_is_told(here: Here, handed_in: Path) -> None:
    (handed_in / "bob.py").write_text(program(1).replace("\n", "; 0\n"), encoding="utf-8")
    done = here("class", "similar", str(handed_in), "--stage", "s01")
    assert done.out == "100 % 100 %  ada  bob\n"
    assert "bob holds 60 statements and expressions that do nothing" in " ".join(done.err.split())


def test_one_submission_is_compared_with_the_course_s_own_solution(here: Here, copied: Path) -> None:
    for other in copied.glob("[!a]*.py"):
        other.unlink()
    (copied / "ada.py").write_text(functions(1).replace("(", "( "), encoding="utf-8")
    done = here("class", "similar", str(copied), "--stage", "s01")
    assert done.code == 0 and "solution.py" in done.out
    assert "1 submission was compared" in " ".join(done.err.split())
    assert "handed in the course's own solution, with other names or layout" in done.out


def test_earlier_years_are_compared_with_this_one_and_not_with_each_other(
    here: Here, handed_in: Path, tmp_path: Path
) -> None:
    old, book = tmp_path / "2025", tmp_path / "2024"
    old.mkdir()
    for name in ("max", "moritz"):
        (old / f"{name}.py").write_text(program(2), encoding="utf-8")
    with Gradebook.open(book, create=True) as kept, kept.changing():
        kept.keep_source("d", program(2).encode())
        kept.keep_attempt(Attempt("lea", "s01", "d", None, "unknown", "x"))
    archives = ("--archive", str(old), "--archive", str(book))
    done = here("class", "similar", str(handed_in), "--stage", "s01", *archives)
    assert done.code == 0
    pairs = {tuple(line.split("%")[-1].split()) for line in done.out.splitlines()}
    assert pairs == {("ada", "bob"), ("eve", "2025/max"), ("eve", "2025/moritz"), ("eve", "2024/lea")}
    assert "4 submissions were compared" in " ".join(done.err.split())


def test_a_team_is_no_pair_and_a_pair_of_two_sections_says_so(here: Here, handed_in: Path, tmp_path: Path) -> None:
    for path in (handed_in / "dee.py", handed_in / "nobody", handed_in / "notes.txt"):
        path.rmdir() if path.is_dir() else path.unlink()
    (handed_in / "fay.py").write_text(program(1), encoding="utf-8")
    (handed_in / "blue.py").write_text(program(2), encoding="utf-8")
    roster = tmp_path / "class.csv"
    lines = ["ada,red,Lab 1", "bob,red,Lab 1", "fay,,Lab 2", "eve,,Lab 1", "gus,blue,Lab 1", "hal,blue,Lab 2", "ida,,"]
    roster.write_text("\n".join(["student,team,section", *lines, ""]), encoding="utf-8")
    page = tmp_path / "page.html"
    arguments = ("class", "similar", str(handed_in), "--stage", "s01", "--roster", str(roster), "--out", str(page))
    done = here(*arguments)
    assert done.out.splitlines() == [
        "100 % 100 %  ada  fay", "    of two sections: Lab 1 and Lab 2",
        "100 % 100 %  bob  fay", "    of two sections: Lab 1 and Lab 2",
        "100 % 100 %  eve  gus, hal",
    ]  # fmt: skip
    told = " ".join(done.err.split())
    assert "Not listed: 1 pair of one team." in told and "5 submissions were compared" in told and "ida" not in told
    assert page.read_text(encoding="utf-8").count("(sections Lab 1 and Lab 2)") == 2
    found = here(*arguments[:-2], "--json").json
    jsonschema.validate(found, json.loads((HOUSE / "similarity" / "similar.schema.json").read_text("utf-8")))
    assert (found["of_one_team"], found["pairs"][0]["sections"]) == (1, ["Lab 1", "Lab 2"])
