"""What a whole stage lacks once a test has changed its files."""

from __future__ import annotations

from collections.abc import Mapping

from grader.authoring.claims import Shortfall, claims
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import write_stage

STAGE = "stages/s90_small"
ANSWERS = "hidden/s90_small"


def found(course: SmallCourse, changes: Mapping[str, str | None] | None = None) -> list[Shortfall]:
    write_stage(course.stage_folder.parent, course.hidden.parent, "s90_small", changes)
    return list(claims(course.stage))


def one(course: SmallCourse, **changes: str | None) -> tuple[str, str]:
    """Return place and message of the one shortfall of a stage with these changes, the last by file's short name."""
    names = {
        "manifest": "stage/stage.toml", "readme": "stage/README.md", "stub": "stage/small.py",
        "public": "stage/tests/test_small.py", "solution": "hidden/solution.py", "mistakes": "hidden/mistakes.py",
        "loops": "hidden/alternatives/loops.py",
    }  # fmt: skip
    (shortfall,) = found(course, {names[name]: text for name, text in changes.items()})
    assert shortfall.stage == "s90" and shortfall.fix
    return shortfall.place, shortfall.message


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def with_stub(solution: str) -> dict[str, str]:
    """Return a solution and the stub that it makes."""
    from grader.course.stub import stub_of

    return {"solution": solution, "stub": stub_of(solution)}
