"""The road in the README has every stage of the course once, in the part that stages/README.md says."""

from __future__ import annotations

from illustrations.references import course
from illustrations.road import MILESTONES, PICTURE, drawn, parts
from tests.illustrations.test_album import boxes, same


def test_it_is_what_the_course_is_now_and_nothing_on_it_covers_anything() -> None:
    svg = PICTURE.read_text(encoding="utf-8")
    assert same(svg, drawn().svg()), "uv run --group dev python -m illustrations.road"
    texts = boxes(svg)
    assert all(left >= 0 and right <= 372 for _, left, _, right, _ in texts)
    apart = [
        a for a in texts for b in texts if a is not b and a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
    ]
    assert apart == []


def test_every_stage_stands_on_it_once_and_in_order() -> None:
    stages = [stage.id for stage in course().stages]
    assert [stage for part in parts().values() for stage in part] == stages
    shown = [words for words, *_ in boxes(PICTURE.read_text(encoding="utf-8"))]
    assert [words for words in shown if words in stages] == stages and set(MILESTONES) <= set(stages)
