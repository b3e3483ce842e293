"""`grader start`, `show`, `next`, `hint` and `solution`, and what is told at each."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import typer

from grader.course.stub import stub_of
from tests.support.command import (
    NUMBERS,
    WRONG,
    Here,
    Place,
)
from tests.support.places import HOUSE

SCHEMA = json.loads((HOUSE / "report" / "schemas" / "seen.schema.json").read_text(encoding="utf-8"))
REPORT = json.loads((HOUSE / "web" / "report.schema.json").read_text(encoding="utf-8"))
HELPED = '''\
"""Numbers."""

import math

import numpy as np

FACTOR = 2
_UNUSED = 3


def double(x):
    """Return twice x."""
    return _times(x, FACTOR)


def quadruple(x):
    """Return four times x."""
    return math.prod([1, double(double(x))])


def _times(x, factor):
    return _checked(x) * factor


def _checked(x):
    return x


def _unused(x):
    return x
'''
CLASS = '''\
"""Numbers."""


class Doubler:
    """Doubles, and doubles twice."""

    def __init__(self):
        self.factor = self._start()

    def forward(self, x):
        return self._times(x)

    def _start(self):
        return 2

    def _times(self, x):
        return self.factor * x
'''


@pytest.fixture
def told(here: Here) -> Here:
    """A learner who has read all hints of a row, in a course whose reference has private helpers."""
    here.place.root.joinpath("hidden/s01_numbers/solution.py").write_text(HELPED, encoding="utf-8")
    for _ in range(3):
        here("hint", "s01", "double")
    return here


def test_before_the_last_hint_it_says_how_many_are_left(here: Here) -> None:
    for left in ("3 hints are left", "2 hints are left", "1 hint is left"):
        done = here("solution", "s01", "double", "--give-up", "--yes")
        assert (done.code, done.out) == (3, "") and left in done.err
        assert "grader hint s01 double" in done.err
        here("hint", "s01", "double")
    assert not here.place.store.read().seen
    assert here("solution", "s01", "double", "--give-up", "--yes").code == 0


def test_the_last_hint_names_the_way_on(here: Here) -> None:
    texts = [here("hint", "s01", "double").out for _ in range(3)]
    assert ["--give-up" in text for text in texts] == [False, False, True]


def test_it_shows_the_function_and_the_private_helpers_that_it_needs(told: Here) -> None:
    done = told("solution", "s01", "double", "--give-up", "--yes")
    assert done.code == 0
    for needed in ("def double(x):", "FACTOR = 2", "def _times(x, factor):", "def _checked(x):"):
        assert needed in done.out
    for other in ("quadruple", "_UNUSED", "_unused", "import"):
        assert other not in done.out
    compile(done.out, "shown", "exec")


def test_an_import_that_the_stub_lacks_belongs_to_it(told: Here) -> None:
    for _ in range(3):
        told("hint", "s01", "quadruple")
    shown = told("solution", "s01", "quadruple", "--give-up", "--yes").out
    assert "import math" in shown and "import numpy" not in shown and "def double" not in shown


def test_without_a_terminal_it_says_what_to_pass(told: Here) -> None:
    done = told("solution", "s01", "double", "--give-up")
    assert (done.code, done.out) == (2, "") and "--yes" in done.err
    assert not told.place.store.read().seen


def test_it_asks_once(told: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = iter([False, True])

    def confirm(text: str, **_: object) -> bool:
        asked.append(text)
        return next(answers)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", confirm)
    declined = told("solution", "s01", "double", "--give-up")
    assert (declined.code, declined.out, dict(told.place.store.read().seen)) == (0, "", {})
    assert "def double" in told("solution", "s01", "double", "--give-up").out
    assert "def double" in told("solution", "s01", "double", "--give-up").out
    assert len(asked) == 2


def test_it_is_recorded_and_told(told: Here) -> None:
    document = told("solution", "s01", "double", "--give-up", "--yes", "--json").json
    jsonschema.validate(document, SCHEMA)
    assert (document["criterion"], document["functions"], document["helpers"]) == (
        "double",
        ["double"],
        ["FACTOR", "_checked", "_times"],
    )
    assert "1 seen" in told("status").out
    assert told("status", "--json").json["stages"][0]["seen"] == ["double"]
    report = told("report", "--json").json
    jsonschema.validate(report, REPORT)
    assert report["stages"][0]["seen"] == ["double"] and report["stages"][1]["seen"] == []
    assert told("report").code == 0
    assert "1 seen" in Path("report.html").read_text(encoding="utf-8")
    told("reset", "s01", "--yes")
    assert list(told.place.store.read().seen) == ["s01/double"]


def test_the_stage_can_still_be_passed_and_the_certificate_says_seen(place: Place) -> None:
    for _ in range(3):
        place.run("hint", "s01", "double")
    assert place.run("solution", "s01", "double", "--give-up", "--yes").code == 0
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    assert place.run("check", "s01").code == 0 and place.recorded == {"s01"}
    report = place.run("report", "--json").json
    jsonschema.validate(report, REPORT)
    assert [entry["seen"] for entry in report["certificate"]["certificate"]["stages"]] == [["double"]]
    assert place.run("report").code == 0
    page = (place.root / "report.html").read_text(encoding="utf-8")
    assert "1 seen" in page.partition('id="certificate"')[2]


def test_of_a_stage_that_has_passed_nothing_is_recorded(here: Here) -> None:
    here.place.passed("s01")
    assert "def double" in here("solution", "s01", "double", "--give-up").out
    assert not here.place.store.read().seen


def test_a_row_alone_needs_the_option(here: Here) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "double")
    assert (done.code, done.out) == (2, "") and "--give-up" in done.err
    done = here("solution", "s01", "--give-up", "--yes")
    assert (done.code, done.out) == (2, "") and "double" in done.err
    done = here("solution", "s01", "double", "--give-up", "--yes", "--compare")
    assert (done.code, done.out) == (2, "")


def test_it_can_be_written_to_a_new_file(told: Here, tmp_path: Path) -> None:
    target = tmp_path / "double.py"
    assert told("solution", "s01", "double", "--give-up", "--yes", "-o", str(target)).out == ""
    assert "def double" in target.read_text(encoding="utf-8")


def test_records_of_earlier_graders_are_read_and_kept(told: Here) -> None:
    file = told.place.store.file
    earlier = json.loads(file.read_text(encoding="utf-8"))
    earlier.pop("seen", None)
    file.write_text(json.dumps({**earlier, "unknown": [1]}), encoding="utf-8")
    assert told("solution", "s01", "double", "--give-up", "--yes").code == 0
    later = json.loads(file.read_text(encoding="utf-8"))
    assert later["unknown"] == [1] and later["hints"] == {"s01/double": 3} and list(later["seen"]) == ["s01/double"]


def test_of_a_class_private_methods_that_only_other_rows_need_stay_out(told: Here) -> None:
    root = told.place.root
    root.joinpath("hidden/s01_numbers/solution.py").write_text(CLASS, encoding="utf-8")
    manifest = root / "stages" / "s01_numbers" / "stage.toml"
    text = manifest.read_text(encoding="utf-8")
    text = text.replace('functions = ["double"]', 'functions = ["Doubler"]')
    text = text.replace('functions = ["quadruple"]', 'functions = ["Doubler.forward"]')
    assert "Doubler.forward" in text
    manifest.write_text(text, encoding="utf-8")
    first = told("solution", "s01", "double", "--give-up", "--yes")
    assert "def __init__" in first.out and "def _start" in first.out, first.err
    assert "def forward" not in first.out and "_times" not in first.out
    for _ in range(3):
        told("hint", "s01", "quadruple")
    second = told("solution", "s01", "quadruple", "--give-up", "--yes").out
    assert "def forward" in second and "def _times" in second and "_start" not in second


@pytest.mark.parametrize("name", ["taken.py", "no folder/double.py"])
def test_what_cannot_be_written_is_not_recorded_as_seen(told: Here, tmp_path: Path, name: str) -> None:
    tmp_path.joinpath("taken.py").write_text("mine", encoding="utf-8")
    done = told("solution", "s01", "double", "--give-up", "--yes", "-o", str(tmp_path / name))
    assert (done.code, done.out) == (2, "") and not told.place.store.read().seen
    assert tmp_path.joinpath("taken.py").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("words", [("solution", "s01", "double", "--give-up"), ("reset", "s01")])
def test_ctrl_c_at_the_question_stops_it(told: Here, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> bool:
        raise typer.Abort  # as typer.confirm does after Ctrl-C or Ctrl-D

    monkeypatch.setattr("grader.process.signal.signal", lambda *_: None)  # the handler belongs to all tests
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", stop)
    done = told(*words)
    assert (done.code, done.out) == (130, "") and "fault" not in done.err
    assert not told.place.store.read().seen


def test_a_hint_goes_one_step_further_each_time(here: Here) -> None:
    texts = [here("hint", "s02", "total").out for _ in range(4)]
    assert ["a nudge" in texts[0], "the idea" in texts[1], "nearly" in texts[2], "nearly" in texts[3]] == [True] * 4
    assert "hint 1 of 3" in texts[0]
    assert "one step further: grader hint s02 total" in texts[0]
    assert "grader show s02" in texts[3]


def test_a_hint_without_a_row_is_for_the_first_that_does_not_pass(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("double(double(x))", "x"), encoding="utf-8")
    found = place.run("hint", "s01")
    assert (found.code, found.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 1 of 3, a question")
    done = place.run("hint", "s01")
    assert (done.code, done.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 2 of 3, the idea")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out) == (0, "")
    assert "no hint is needed" in done.err


def test_a_hint_after_a_check_says_first_what_was_found(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    broken = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    broken.write_text("not python", encoding="utf-8")  # whoever grades again meets it
    steps = ("hint 1 of 3, a question", "hint 2 of 3, the idea", "hint 3 of 3, almost the answer")
    for step in (*steps, "what to write", "what to write"):
        title, about, *_ = place.run("hint", "s01").out.splitlines()
        assert title == f"s01 · double is right · {step}"
        assert about == "    The last check: This is the square."
    assert "The last check: This is the square." in place.run("hint", "s01", "double()").out
    assert "The last check: This criterion waits for double." in place.run("hint", "s01", "quadruple").out
    place.numbers.write_text(WRONG + "\n", encoding="utf-8")  # of this text no check is known
    assert "The last check" not in place.run("hint", "s01", "double").out


def test_a_hint_and_a_reset_are_for_where_one_is_without_a_stage(place: Place, here: Here) -> None:
    place.passed("s01")
    assert here("reset", "--yes").err.startswith("stages/s02_sums/sums.py is the stub again.")
    assert place.run("hint").out.startswith("s02 · total is right · hint 1 of 3")
    place.passed("s02")
    done = here("reset", "--yes")
    assert (done.code, place.recorded) == (2, {"s01", "s02"})
    assert "no stage is left to work on" in done.err


def test_where_a_cause_is_named_what_to_write_is_the_last_step(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    texts = [place.run("hint", "s01", "double").out for _ in range(2)]
    assert all("This is the square." in each and "Multiply by 2." not in each for each in texts)
    assert "a nudge" in texts[0] and "one step further: grader hint s01 double" in texts[0]
    assert "1 hint is left" in place.run("solution", "s01", "double", "--give-up", "--yes").err
    third, last = (place.run("hint", "s01", "double").out for _ in range(2))
    assert "nearly the answer" in third and "fix it: grader hint s01 double --fix" in third
    assert "Multiply by 2." in last and "nearly the answer" not in last
    assert place.run("solution", "s01", "double", "--give-up", "--yes").code == 0


def test_what_to_write_is_shown_at_once_where_it_is_asked_for(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    checked = place.run("check", "s01").out
    assert "This is the square." in checked and "Multiply by 2." not in checked
    assert "more help: grader hint s01 double" in checked
    for _ in range(2):
        told = place.run("hint", "s01", "double", "--fix").out
        assert told.splitlines()[0] == "s01 · double is right · what to write" and "Multiply by 2." in told
    assert "a nudge" in place.run("hint", "s01", "double").out
    place.numbers.write_text(WRONG + "\n", encoding="utf-8")  # of this text no check is known
    assert "Multiply by 2." in place.run("hint", "s01", "double", "--fix").out


def test_where_no_cause_is_named_there_is_nothing_to_write(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01", "double", "--fix")
    assert done.code == 2 and "no cause in double of s01" in " ".join(done.err.split())
    assert "grader hint s01 double" in done.err


EDGES = """\
import pytest
from grader.testing import assert_equal


@pytest.mark.values
@pytest.mark.criterion("double")
def test_of_numbers(learner):
    assert_equal(learner.double(3), 6)


@pytest.mark.{kind}
@pytest.mark.criterion("double")
def test_of_something_else(learner):
    assert_equal(learner.double(0), {right})
"""


def write_edges(place: Place, kind: str) -> None:
    """Put tests of values and of another kind in place of those of a row, and a module that fails the other kind."""
    hidden = place.root / "hidden" / "s01_numbers"
    (hidden / "solution.py").write_text(NUMBERS.replace("2 * x", "2 * x if x else 7"), encoding="utf-8")
    (hidden / "mistakes.py").write_text("", encoding="utf-8")
    for file in (hidden / "test_hidden_double.py", place.root / "stages/s01_numbers/tests/test_double.py"):
        file.write_text(EDGES.format(kind=kind, right=7), encoding="utf-8")
    place.numbers.write_text(NUMBERS.replace("2 * x", "x + x"), encoding="utf-8")


def test_where_only_edges_fail_a_hint_is_about_them_and_not_about_the_idea(place: Place) -> None:
    write_edges(place, "edges")
    assert place.run("check", "s01").code == 1
    left = place.run("solution", "s01", "double", "--give-up", "--yes")
    assert left.code == 3 and "2 hints are left" in left.err
    texts = [place.run("hint", "s01", "double").out for _ in range(2)]
    assert "double(x=0)" in texts[0] and "a nudge" not in texts[0] and "the idea" not in texts[0]
    assert "hint 3 of 3" in texts[1] and "nearly the answer" in texts[1]
    assert place.run("solution", "s01", "double", "--give-up", "--yes").code == 0


def test_where_only_robustness_is_missing_a_hint_is_about_that(place: Place) -> None:
    write_edges(place, "dtype")
    place.run("check", "s01")
    texts = [place.run("hint", "s01", "double").out for _ in range(2)]
    assert "dtype" in texts[0] and "the idea" not in texts[0] and "nearly the answer" in texts[1]


def test_a_row_whose_cause_had_a_small_share_of_trials_is_graded_once_more(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("double(double(x))", "x"), encoding="utf-8")
    place.run("check", "s01")
    kept = place.root / ".grader" / "checks" / "s01.json"
    data = json.loads(kept.read_text(encoding="utf-8"))
    data["rows"][0] |= {"status": "failed", "tests_passed": 0, "lacking": {"values": [0, 2]}}  # another row fails first
    kept.write_text(json.dumps(data), encoding="utf-8")
    place.run("hint", "s01")
    assert json.loads(kept.read_text(encoding="utf-8")) == data
    place.run("hint", "s01", "quadruple")
    graded = json.loads(kept.read_text(encoding="utf-8"))
    assert (graded["asked"], graded["rows"][0]["status"]) == ("quadruple", "passed")
    broken = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    broken.write_text("not python", encoding="utf-8")  # whoever grades again meets it
    assert place.run("hint", "s01", "quadruple").code == 0


def test_checks_that_an_earlier_grader_kept_are_read(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    kept = place.root / ".grader" / "checks" / "s01.json"
    data = json.loads(kept.read_text(encoding="utf-8"))
    for row in data["rows"]:
        for name in ("fix", "example", "has_values"):
            del row[name]
    kept.write_text(json.dumps(data), encoding="utf-8")
    found = place.run("hint", "s01", "double").out
    assert "The last check: This is the square." in found and "hint 1 of 3" in found


def test_a_hint_says_why_tests_failed_before_they_called_anything(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("def double(", "def duoble("), encoding="utf-8")
    place.run("check", "s01")
    told = " ".join(place.run("hint", "s01", "double").out.split())
    assert "The last check: stages/s01_numbers/numbers_.py does not define double: it defines duoble" in told


def test_a_solution_is_shown_after_passing_only(here: Here, tmp_path: Path) -> None:
    done = here("solution", "s01")
    assert (done.code, done.out) == (3, "")
    assert "once s01 has passed" in done.err
    here("start", "s02")
    assert here("solution", "s01").code == 3
    here.place.passed("s01")
    assert here("solution", "s01").out == NUMBERS
    target = tmp_path / "solution.py"
    assert here("solution", "s01", "--output", str(target)).out == ""
    assert target.read_text(encoding="utf-8") == NUMBERS


def test_a_solution_without_a_stage_is_that_of_the_last_that_has_passed(here: Here) -> None:
    none = here("solution")
    assert (none.code, none.out) == (2, "")
    assert "no stage has passed yet, and none was named" in none.err
    here.place.passed("s01")
    assert here("solution").out == NUMBERS


def test_a_solution_stands_beside_ones_own_with_times(place: Place) -> None:
    own = NUMBERS.replace("2 * x", "sum(x for _ in range(2))")
    place.numbers.write_text(own, encoding="utf-8")
    assert place.run("solution", "s01", "--json").code == 3
    place.passed("s01")
    document = place.run("solution", "s01", "--json").json
    assert (document["problem"], document["unmeasured"]) == (None, None)
    double, quadruple = document["functions"]
    assert (double["name"], double["same"], quadruple["same"]) == ("double", False, True)
    assert double["own"]["comprehensions"] == 1 and double["reference"]["text"].endswith("return 2 * x")
    assert double["time"]["ratio"] > 0 and double["time"]["calls"] >= 2
    assert place.recorded == {"s01"}


def test_a_solution_is_shown_where_ones_own_cannot_be(here: Here) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text("def (", encoding="utf-8")
    done = here("solution", "s01", "--compare", "--no-time")
    assert done.code == 0
    assert "Your own module is left out" in done.out and "return 2 * x" in done.out
    here.place.numbers.unlink()
    assert here("solution", "s01", "--json").json["problem"].startswith("stages/s01_numbers/numbers_.py")
    here.place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = here("solution", "s01", "--compare", "--no-time")
    assert "No times: not asked for." in done.out and "double · as in the reference" in done.out


@pytest.mark.parametrize("other", [["--reference"], ["--output", "x.py"]])
def test_a_document_and_the_reference_alone_exclude_each_other(here: Here, other: list[str]) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--json", *other)
    assert (done.code, done.out) == (2, "")
    assert f"{other[0]} asks for the reference alone" in done.err


def test_a_solution_overwrites_nothing(here: Here) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--output", str(here.place.numbers))
    assert done.code == 2
    assert "already exists; it was not replaced" in " ".join(done.err.split())
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    assert here("solution", "s01", "-o", str(here.place.root / "no" / "folder.py")).code == 2


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


def test_show_prints_the_readme_as_it_is_into_a_pipe(here: Here) -> None:
    assert here("show", "numbers").out == "# Numbers\n\nA *small* stage.\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![a mask of\nthree tokens](pictures/mask.svg)\n", "Picture: a mask of three tokens\n"),
        ("![two](a.svg) ![heads](b.svg 'b')\n", "Picture: two Picture: heads\n"),
        (
            '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="d.svg">\n'
            '  <img src="l.svg" alt="a block" width="9">\n</picture>\n',
            "Picture: a block\n",
        ),
        ("```text\n![a](b.svg)\n```\n`![c](d.svg)`\n", "```text\n![a](b.svg)\n```\n`![c](d.svg)`\n"),
        ("[a link](b.md), and ![no target]\n", "[a link](b.md), and ![no target]\n"),
        ("By $\\sqrt{d_k}$:\n\n$$Y = X^\\top W$$\n", "By √d_k:\n\n```text\nY = Xᵀ W\n```\n"),
    ],
    ids=["markdown", "two", "html", "code", "no picture", "formulas"],
)
def test_show_says_what_a_picture_and_a_formula_show(here: Here, text: str, shown: str) -> None:
    (here.place.numbers.parent / "README.md").write_text(text, encoding="utf-8")
    assert here("show", "numbers").out == shown


def test_show_prints_a_page_that_stands_beside_the_stages(here: Here) -> None:
    folder = here.place.root / "stages" / "capstone"
    folder.mkdir()
    (folder / "README.md").write_text("# All of it together\n", encoding="utf-8")
    assert here("show", "capstone").out == "# All of it together\n"
    (folder / "README.md").write_bytes(b"\xff")
    assert "stages/capstone/README.md cannot be read" in here("show", "capstone").err
    assert here("show", "../capstone").code == here("show", "capston").code == 2
    (folder.parent / "beyond.md").write_text("# What comes next\n", encoding="utf-8")
    assert here("show", "beyond").out == "# What comes next\n"
    (folder.parent / "beyond.md").write_bytes(b"\xff")
    assert "stages/beyond.md cannot be read" in here("show", "beyond").err


IN_STEPS = """\
# Numbers

## Doubling

### Step 1: twice

Now write `double`, then run `grader check s01`:

- [ ] double is right

### Step 2: twice again

Now write `quadruple`, then run `grader check s01`:

- [ ] quadruple is right
"""


def test_show_shows_the_step_of_a_row_a_function_or_a_number(here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    first, second = here("show", "s01", "1").out, here("show", "s01", "quadruple").out
    assert first.startswith("# s01 · Numbers: step 1 of 2\n\n## Doubling\n\n### Step 1: twice\n")
    assert "quadruple" not in first and "`grader show s01 2`" in first
    assert second == here("show", "numbers", "quadruple()").out and "- [ ] quadruple is right" in second
    assert here("show").out == IN_STEPS  # where one is


def test_a_row_alone_is_one_of_where_one_is(here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    assert here("show", "quadruple").out.startswith("# s01 · Numbers: step 2 of 2")
    assert here("hint", "quadruple").out.startswith("s01 · quadruple is right · hint 1 of 3")
    assert "'treble' is not a stage" in here("hint", "treble").err


def test_next_shows_the_step_of_the_first_row_that_is_left(place: Place, here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    assert here("next").out.startswith("# s01 · Numbers: step 1 of 2")
    place.numbers.write_text(NUMBERS.replace("return double(double(x))", "raise NotImplementedError"), encoding="utf-8")
    done = place.run("check", "s01", "--isolation", "process")
    assert done.err == "Next: `grader show s01 quadruple` says what to write.\n"
    place.numbers.write_text(f"{NUMBERS}\n", encoding="utf-8")  # changed since
    assert here("next").out.startswith("# s01 · Numbers: step 2 of 2")
    place.run("check", "s01", "--isolation", "process")
    done = here("next", "s01")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[:2] == [
        "The last check of s01: 2 of 2 criteria · 2 robust.", "Every criterion of s01 passed when it was last checked.",
    ]  # fmt: skip


def test_show_lists_the_steps_where_none_is_meant(here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    done = here("show", "s01", "treble_")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "error: 'treble_' is not a step, criterion or function of s01", "hint: The steps and their criteria:",
        "   1  double", "   2  quadruple",
    ]  # fmt: skip


def test_show_shows_all_of_a_readme_without_steps(here: Here) -> None:
    assert here("show", "s01", "double").out == "# Numbers\n\nA *small* stage.\n"


def test_show_says_so_when_there_is_no_readme(here: Here) -> None:
    (here.place.numbers.parent / "README.md").unlink()
    done = here("show", "s01")
    assert (done.code, done.out) == (4, "")
    assert "stages/s01_numbers/README.md cannot be read" in done.err
