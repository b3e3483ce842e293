"""Which files a check depends on, and what each of them is to it."""

from __future__ import annotations

from dataclasses import replace

from grader.progress.workspace import open_workspace
from grader.tests.support.command import Place
from grader.watching.files import kind, others


def test_a_check_depends_on_earlier_modules_and_on_tests(place: Place) -> None:
    first, second = open_workspace(place.root).course.stages
    built = replace(second, builds_on=(first,))
    names = [path.relative_to(place.root).as_posix() for path in others(built)]
    assert names[0] == "stages/s01_numbers/numbers_.py"
    assert "stages/s02_sums/tests/test_total.py" in names and "hidden/s02_sums/test_hidden_total.py" in names
    assert not any("s01" in name for name in names[1:])
    assert place.numbers not in others(second)


def test_each_file_is_known_for_what_it_is(place: Place) -> None:
    first, second = open_workspace(place.root).course.stages
    built = replace(second, builds_on=(first,))
    assert (kind(built, place.sums), kind(built, place.numbers), kind(second, place.numbers)) == (
        "module",
        "earlier",
        None,
    )
    assert (
        kind(built, built.tests_path / "new.py")
        == "tests"
        == kind(built, built.hidden_root / built.name / "oracles.py")
    )
    assert kind(built, built.tests_path / "notes.txt") is None is kind(built, first.tests_path / "test_double.py")
