"""Which text each module of an earlier stage is: own, reference, given."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import sealed
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import SealError
from grader.submission import Snapshot, take
from grader.submission.earlier import used_modules
from tests.courses.conftest import WORDS


@pytest.fixture(scope="module")
def stage() -> Stage:
    return load_course(WORDS).find("s04")


def own(used: Stage) -> Snapshot | None:
    return take(used, None, WORDS)


def sources(*found: object) -> list[str]:
    return [each.use.source for each in found]  # type: ignore[attr-defined]


def test_nothing_handed_in_gives_the_reference_or_what_the_stage_gives(stage: Stage) -> None:
    found = used_modules(stage)
    assert sources(*found) == ["given", "reference"]
    assert [each.name for each in found] == ["stages.s02_distance.distance", "stages.s03_graphs.graphs"]
    assert [each.label for each in found] == ["stages/s04_ladders/given/s02_distance.py", "the reference of s03"]


def test_own_modules_serve_once_their_text_has_passed(stage: Stage) -> None:
    asked: list[tuple[str, str]] = []

    def has_passed(used: Stage, digest: str) -> bool:
        asked.append((used.id, digest))
        return used.id == "s02"

    found = used_modules(stage, own, has_passed)
    assert sources(*found) == ["own", "reference"] and [stage for stage, _ in asked] == ["s02", "s03"]
    assert found[0].use.digest == asked[0][1] and found[0].label == "stages/s02_distance/distance.py"


def test_without_the_key_what_is_given_comes_first_and_the_learners_own_last(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed, "public_only", lambda stage: True)
    assert sources(*used_modules(stage, own)) == ["given", "own"]
    with pytest.raises(SealError, match="s04 builds on s03, whose solution is sealed"):
        used_modules(stage)


def test_a_stage_that_uses_none_has_none() -> None:
    assert used_modules(load_course(WORDS).find("s03"), own) == ()


def test_what_is_given_may_be_unreadable(stage: Stage, tmp_path: Path) -> None:
    from dataclasses import replace

    from grader.errors import CourseError

    folder = tmp_path / "stages" / stage.name
    (folder / "given").mkdir(parents=True)
    (folder / "given" / "s02_distance.py").write_bytes(b"\xff")
    with pytest.raises(CourseError, match=r"stages/s04_ladders/given/s02_distance.py cannot be read"):
        used_modules(replace(stage, folder=folder))
