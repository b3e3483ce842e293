"""class.toml: what it may say, and that every mistake in it is told with its place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import UsageError
from grader.gradebook.policy import Policy, StagePolicy, read_policy
from grader.submission.earlier import ALWAYS
from tests.support.places import ROOT

GOOD = """
schema = 1
timezone = "Europe/Berlin"
feedback = "hint"
attempts = "last"
grace_minutes = 10
late_factors = [0.9, 0.5]
late_days = 3
partial = "kinds"
kinds = { values = 2, refusals = 1 }
passes = "all"

[stages.s15]
deadline = 2026-11-30T23:59:00
points = 20
criteria = { split-heads = 2 }
partial = "none"

[stages.s16]
deadline = 2026-12-07T23:59:00Z
criterion = 0.5
attempts = "best"
passes = "mathematics"

[extensions.ada]
s15 = 2
s16 = 2026-12-08T12:00:00
"""
BAD = """
schema = 2
timezone = "Mars/Olympus"
seed = -1
feedbak = "full"
feedback = "none"
attempts = 3
grace_minutes = -5
late_factors = [0.5, 0.9, "x"]
late_days = 9999
partial = "kinds"
passes = "values"

[stages.s15]
deadline = 2026-11-30
points = inf
criteria = { split-head = 2 }
kinds = { value = 1 }

[stages.s16]
deadline = "tomorrow"

[stages.s99]

[extensions]
bob = 3

[extensions.ada]
s15 = -2
s1 = 3
s16 = "late"
"""
PLACES = [
    "schema", "timezone", "seed", "feedbak", "feedback", "attempts", "grace_minutes", "late_factors[1]",
    "late_factors[2]", "late_days", "partial", "passes", "stages.s15.deadline", "stages.s15.points",
    "stages.s15.criteria.split-head",
    "stages.s15.kinds.value", "stages.s16.deadline", "stages.s99", "extensions.bob", "extensions.ada.s15",
    "extensions.ada.s1", "extensions.ada.s16",
]  # fmt: skip


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


def read(text: str, course: Course, folder: Path) -> Policy:
    path = folder / "class.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path, course)


def test_a_whole_policy_is_read(course: Course, tmp_path: Path) -> None:
    policy = read(GOOD, course, tmp_path)
    assert (policy.feedback, policy.grace) == ("hint", timedelta(minutes=10))
    assert (policy.factors, policy.budget) == ((0.9, 0.5), 3)
    s15, s16 = policy.of("s15"), policy.of("s16")
    assert s15.deadline == datetime(2026, 11, 30, 22, 59, tzinfo=UTC)
    assert (s15.points, s15.criteria, s15.partial, s15.attempts) == (20, {"split-heads": 2}, "none", "last")
    assert (s16.criterion, s16.partial, s16.kinds, s16.attempts) == (0.5, "kinds", {"values": 2, "refusals": 1}, "best")
    assert policy.of("s01").attempts == "last"
    assert policy.passes(course.stages) == {stage.id: "all" for stage in course.stages} | {"s16": "mathematics"}
    assert policy.deadline("ada", "s15") == datetime(2026, 12, 2, 22, 59, tzinfo=UTC)
    assert policy.deadline("ada", "s16") == datetime(2026, 12, 8, 11, 0, tzinfo=UTC)


def test_without_a_file_each_row_is_worth_a_point(course: Course) -> None:
    assert read_policy(None, course) == Policy()
    assert Policy().of("s15") == StagePolicy()


def test_what_it_does_not_say_of_passing_the_course_does(course: Course, tmp_path: Path) -> None:
    strict = replace(course, settings=replace(course.settings, passes="all"))
    assert read_policy(None, strict).of("s15").passes == read("", strict, tmp_path).of("s15").passes == "all"
    assert read('[stages.s15]\npasses = "mathematics"', strict, tmp_path).of("s15").passes == "mathematics"


def test_every_mistake_is_told_with_its_place(course: Course, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as found:
        read(BAD, course, tmp_path)
    lines = found.value.message.splitlines()
    told = {line.removeprefix(f"{tmp_path}/class.toml: ").partition(": ")[0]: line for line in lines}
    assert sorted(told) == sorted(PLACES) and str(tmp_path) in lines[0]
    assert "did you mean 'split-heads'?" in told["stages.s15.criteria.split-head"]
    assert "2026-11-30 has no time; expected a date and a time" in told["stages.s15.deadline"]
    assert "'tomorrow' is not a moment; expected a date and a time, as in" in told["stages.s16.deadline"]
    assert "did you mean 'feedback'?" in told["feedbak"]


def test_every_mistake_in_a_stage_that_is_unknown_is_told_as_well(course: Course, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as found:
        read('[stages.s99]\ndeadline = "soon"\npoint = 2\ncriteria = { x = -1 }\nattempts = "first"', course, tmp_path)
    places = [
        line.removeprefix(f"{tmp_path}/class.toml: ").partition(": ")[0] for line in found.value.message.splitlines()
    ]
    assert places == ["stages.s99", *(f"stages.s99.{key}" for key in ("deadline", "criteria.x", "attempts", "point"))]


@pytest.mark.parametrize(("text", "told"), [("a = ", "class.toml: "), (None, "no.toml: cannot be read")])
def test_a_file_that_is_no_toml_or_not_there_is_told(
    text: str | None, told: str, course: Course, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=told) as found:
        read(text, course, tmp_path) if text is not None else read_policy(tmp_path / "no.toml", course)
    assert found.value.hint and found.value.message.startswith(str(tmp_path))


@pytest.mark.parametrize("value", ['"student"', "7"])
def test_a_seed_of_an_older_file_is_told_to_go(value: str, course: Course, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"seed: .* has no effect any more.*: remove the line") as found:
        read(f"seed = {value}\n", course, tmp_path)
    assert found.value.hint and "docs/class.md" in found.value.hint


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("", None),
        ("[stages.s17]\ndeadline = 2026-11-01T12:00:00", datetime(2026, 11, 1, 12, tzinfo=UTC)),
        ("grace_minutes = 30\n[stages.s17]\ndeadline = 2026-11-01T12:00:00", datetime(2026, 11, 1, 12, 30, tzinfo=UTC)),
        (  # what comes on the last of these days still earns something
            "late_days = 4\nlate_factors = [0.9, 0.8]\n[stages.s17]\ndeadline = 2026-11-01T12:00:00",
            datetime(2026, 11, 7, 12, tzinfo=UTC),
        ),
        (
            "[stages.s17]\ndeadline = 2026-11-01T12:00:00\n[extensions.ada]\ns17 = 2",
            datetime(2026, 11, 3, 12, tzinfo=UTC),
        ),
        ("[extensions.ada]\ns17 = 2026-11-05T12:00:00", datetime(2026, 11, 5, 12, tzinfo=UTC)),
        ("[extensions.bob]\ns17 = 2026-11-05T12:00:00", None),
        ('lend = "passed"\n[stages.s17]\ndeadline = 2026-11-01T12:00:00', None),
        ('lend = "always"', ALWAYS),
        ('lend = "passed"\n[stages.s17]\nlend = "always"', ALWAYS),
        ('lend = "always"\n[stages.s17]\nlend = "passed"', None),
        ('lend = "always"\n[stages.s18]\nlend = "passed"', ALWAYS),
    ],
)
def test_from_when_on_a_reference_is_lent(course: Course, tmp_path: Path, text: str, moment: datetime | None) -> None:
    path = tmp_path / "class.toml"
    path.write_text(text)
    assert read_policy(path, course).lent_from("ada", "s17") == moment
