"""A capstone is read from its course; every mistake in it is a line."""

from __future__ import annotations

import pytest

from grader.capstone.plan import read_plan
from grader.course.manifest import load_course
from grader.errors import CourseError, UsageError
from tests.capstone.conftest import Small
from tests.support.command import Place


def mistakes(small: Small) -> str:
    with pytest.raises(CourseError) as caught:
        read_plan(load_course(small.root))
    return str(caught.value)


def test_a_course_without_one_is_told_so(place: Place) -> None:
    with pytest.raises(UsageError, match="Small numbers has no capstone") as caught:
        read_plan(load_course(place.root))
    assert "stages/capstone/capstone.toml" in str(caught.value.hint)


def test_whole_lines_are_held_out(small: Small) -> None:
    plan = read_plan(load_course(small.root))
    assert plan.parts == ("abcabcabd\n", "abcabdabc\n")


def test_the_script_may_import_what_it_uses(small: Small) -> None:
    plan = read_plan(load_course(small.root))
    assert plan.stage.importable == ("numpy", "stages.s01_numbers.numbers_")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("schema = 1", "schema = 2", "schema: 2 is not 1"),
        ('["s01"]', '["s07"]', "uses[0]: 's07' is not a stage of this course, which has s01, s02"),
        ('["s01"]', '["s02"]', "uses[0]: 's02' does not say 'lends = true'"),
        ('"train.py"', '"../train.py"', "script: '../train.py' is not the plain name of a Python file"),
        ('"train.py"', '"other.py"', "stages/capstone/other.py: cannot be read: No such file"),
        ('"data/text.txt"', '"/etc/passwd"', "data: '/etc/passwd' is not a text file below the capstone's folder"),
        ("steps = 6", "steps = 0", "steps: 0 is not between 0 and 1e+06"),
        ("steps = 6", "step = 6", "step: is not a key of this table; did you mean 'steps'?"),
        ("held_out = 0.5", "held_out = 1.5", "held_out: 1.5 is not between 0 and 1"),
        ("call_seconds = 20", "seconds = 20", "limits.seconds: is not a key of this table"),
        ("schema = 1", "schema = ", "Invalid value"),
    ],
)
def test_a_mistake_is_named_with_its_place(small: Small, old: str, new: str, told: str) -> None:
    small.change(small.manifest, old, new)
    found = mistakes(small)
    assert told in found and found.startswith("stages/capstone/")


MODELS = """\
model = "big"
loop = "s01"
"""
TABLES = """\

[models.small]
width = 2

[models.big]
width = 3
pause = 0.1
"""


def choosing(small: Small) -> None:
    small.manifest.write_text(MODELS + small.manifest.read_text("utf-8") + TABLES, "utf-8")


def test_one_of_several_models_is_chosen_with_its_settings(small: Small) -> None:
    choosing(small)
    plan = read_plan(load_course(small.root))
    assert (plan.model, plan.loop) == ("big", "s01")
    assert plan.settings == {"pause": 0.1, "width": 3, "model": "big"}
    small.change(small.manifest, '"big"', '"small"')
    assert read_plan(load_course(small.root)).settings == {"pause": 0.0, "width": 2, "model": "small"}


def test_a_capstone_with_nothing_to_choose_has_no_model(small: Small) -> None:
    plan = read_plan(load_course(small.root))
    assert (plan.model, plan.loop, dict(plan.settings)) == ("", "", {"pause": 0.0})


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"big"', '"huge"', "model: 'huge' is none of small or big, the tables below models"),
        ('model = "big"', "", "model: is missing; expected a text"),
        ('model = "big"', "model = 23", "model: 23 is not a text"),
        ('loop = "s01"', 'loop = "s02"', "loop: 's02' is not one of uses"),
        ('loop = "s01"', 'loop = "train"', "loop: 'train' is not a stage id"),
        (
            "[models.small]\nwidth = 2\n\n[models.big]\nwidth = 3\npause = 0.1\n",
            "",
            "model: is not a key of this table",
        ),
    ],
)
def test_a_model_that_is_none_is_told_with_those_there_are(small: Small, old: str, new: str, told: str) -> None:
    choosing(small)
    small.change(small.manifest, old, new)
    assert told in mistakes(small)


def test_each_file_has_its_part_in_the_fingerprint(small: Small) -> None:
    found = {read_plan(load_course(small.root)).fingerprint}
    for path in (small.manifest, small.script, small.root / "stages" / "capstone" / "data" / "text.txt"):
        path.write_text(path.read_text("utf-8") + "\n", "utf-8")
        found.add(read_plan(load_course(small.root)).fingerprint)
    assert len(found) == 4
