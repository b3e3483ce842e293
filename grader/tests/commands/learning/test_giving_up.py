"""`grader solution STAGE ROW --give-up`: after the last hint, that function alone, recorded as seen."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import typer

from grader.tests.support.command import NUMBERS, Here, Place
from grader.tests.support.places import HOUSE

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
