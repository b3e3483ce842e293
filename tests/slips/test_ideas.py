"""A mistake belongs to an idea, and is known in every stage where the idea stands: ideas.toml says under which id."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

from grader.course.answers import load_mistakes
from grader.course.manifest import load_course
from tests.support.places import ROOT

COURSE = load_course(ROOT)
IDEAS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("ideas.toml").read_text("utf-8"))


@cache
def known_in(stage: str) -> frozenset[str]:
    return frozenset(each.id for each in load_mistakes(COURSE.find(stage)))


@pytest.mark.parametrize("idea", IDEAS)
def test_a_mistake_is_known_in_every_stage_where_its_idea_stands(idea: str) -> None:
    stages = IDEAS[idea]
    assert len(stages) > 1
    assert not [f"{stage}: {name}" for stage, names in stages.items() for name in names if name not in known_in(stage)]
