"""Who gets which mark, and why, in a class of all the shapes in which modules come (`shapes.py`)."""

from __future__ import annotations

from pathlib import Path

from grader.gradebook.figures import lacks
from grader.gradebook.marks import Entry, table
from grader.gradebook.store import Gradebook
from tests.support.command import Place


def told_of(entry: Entry) -> str:
    """Return what the report says of an entry."""
    return " · ".join(filter(None, [lacks(entry), *map(str, (entry.verdict or {}).get("notes") or ())]))


def test_each_shape_gets_its_mark_and_the_reason(place: Place, tmp_path: Path, is_full: bool) -> None:
    """A sample of those that differ most; with --all-tiers, all."""
    from tests.gradebook.shapes import SAMPLE, SHAPES  # here, since archives are made of thousands of files

    shapes = {each.student: each for each in SHAPES if is_full or each.student in SAMPLE}
    assert len(SHAPES) == len({each.student for each in SHAPES})
    for each in shapes.values():
        each.write(tmp_path / "handed")
    command = ("class", "grade", str(tmp_path / "handed"), "--stage", "s01", "--out", str(tmp_path / "marks"))
    done = place.run(*command, "--accept", "--proceed", "--require-isolation", "process", "--jobs", "2")
    assert done.code in (0, 3), done.err
    with Gradebook.open(tmp_path / "marks") as book:
        found = {each.student: each for each in table(book)}
    assert sorted(found) == sorted(shapes)
    wrong = []
    for student, shape in shapes.items():
        told = told_of(entry := found[student])
        is_told = all(words in told for words in shape.words) and bool(told) == bool(shape.words)
        if (entry.outcome, entry.points) != (shape.outcome, shape.points) or not is_told:
            wrong.append(f"{student}: {entry.points} points, {entry.outcome}, {told}")
    assert not wrong, "\n".join(wrong)
