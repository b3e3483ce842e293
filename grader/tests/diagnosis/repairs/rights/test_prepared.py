"""Right modules that are made once: what explains one module after another reads, parses and runs them no more."""

from __future__ import annotations

import ast
import types
from typing import Any

import pytest

from grader.course.answers import alternative_sources, load_mistakes, reference_source
from grader.diagnosis.diagnostician import Diagnostician
from grader.diagnosis.repairs.rights.prepared import Prepared
from grader.tests.support import good_stage
from grader.tests.support.small_course import SmallCourse

TOTAL = "def total(x):\n    return sum(x)\n"
LOOP = "def total(x):\n    found = 0\n    for each in x:\n        found += each\n    return found\n"


def made(course: SmallCourse, learner: bytes = b"", prepared: Prepared | None = None) -> Diagnostician:
    stage = course.stage
    text, mistakes = reference_source(stage), load_mistakes(stage)
    return Diagnostician(stage, text, mistakes, learner, False, lambda: alternative_sources(stage), prepared)


def test_what_was_made_is_not_made_again(small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    small_course.write(manifest=good_stage.MANIFEST.format(id="s90"), solution=TOTAL)
    (small_course.hidden / "alternatives").mkdir()
    (small_course.hidden / "alternatives" / "loop.py").write_text(LOOP, encoding="utf-8")
    first = made(small_course)
    prepared = first.prepare()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was made before")

    monkeypatch.setattr(ast, "parse", never)
    monkeypatch.setattr("builtins.compile", never)
    later = made(small_course, b"def total(): ...", prepared)
    assert later.reference is first.reference and later.learner == b"def total(): ..."
    assert len(first.slips.board.sources) == 2
    for one, other in zip(first.slips.board.sources, later.slips.board.sources, strict=True):
        assert one is other and one.tree and one.module
        assert prepared.written(one.text).anew().tree is prepared.written(one.text).tree


def test_another_text_is_another_module() -> None:
    def load() -> types.ModuleType:
        return types.ModuleType("made")

    stage: Any = None  # nothing of it is asked
    prepared = Prepared(stage)
    one = prepared.source("x = 1", "<one>", load)
    assert prepared.source("x = 1", "<again>", load) is one and prepared.source("x = 2", "<two>", load) is not one
    assert prepared.written("x = 1") is prepared.written("x = 1") is not prepared.written("x = 2")
