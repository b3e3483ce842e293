"""A stage whose folder was deleted: named with what puts it back, and only in a copy that has a record of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.sealed.copy import RECORD, Record, record_text
from grader.errors import CourseError
from grader.tests.support.command import Place

NAMED = {"stages/s01_gone/stage.toml": "0", "stages/s01_gone/README.md": "0", "README.md": "0"}


def written(root: Path, text: str) -> None:
    """Break the course, as one does whose stages require a stage that is gone, and say what it was released with."""
    first = next(iter(sorted(root.glob("stages/*/stage.toml"))))
    first.write_text(first.read_text(encoding="utf-8").replace("requires = []", 'requires = ["s00"]'), encoding="utf-8")
    (root / "hidden" / RECORD).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("self_paced", "hint"),
    [(True, "`grader update` puts it back."), (False, "Fetch this copy of the course again.")],
)
def test_it_is_named_with_what_puts_it_back(place: Place, self_paced: bool, hint: str) -> None:
    written(place.root, record_text(Record("0.1.0", "", self_paced, NAMED)))
    with pytest.raises(CourseError) as caught:
        load_course(place.root)
    assert (caught.value.message, caught.value.hint) == ("stages/s01_gone/stage.toml: is missing", hint)


@pytest.mark.parametrize("text", ["no record", record_text(Record("0.1.0", "", True, {"README.md": "0"}))])
def test_other_mistakes_are_told_where_nothing_is_missing(place: Place, text: str) -> None:
    written(place.root, text)
    with pytest.raises(CourseError, match="'s00' is not a stage of this course") as caught:
        load_course(place.root)
    assert caught.value.hint is None
