"""The functions of a file that run are told by their full names, and only those."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from grader.diagnosis.known_mistakes import traced

TEXT = """
class Layer:
    def forward(self, x):
        return self._twice(x)

    def _twice(self, x):
        return 2 * x

    def backward(self, x):
        return x


def fails():
    raise ValueError


def counts():
    yield 1
"""


@pytest.fixture
def names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(TEXT, "<here>", "exec"), names)
    return names


def test_methods_are_told_with_their_class(names: dict[str, Any]) -> None:
    layer = names["Layer"]()
    assert traced(lambda: layer.forward(3), {"<here>"}) == (6, {"Layer.forward", "Layer._twice"})


def test_functions_of_other_files_are_left_out(names: dict[str, Any]) -> None:
    assert traced(lambda: names["Layer"]().forward(3), {"<there>"}) == (6, set())


def test_a_generator_runs_when_it_is_asked_for_an_item(names: dict[str, Any]) -> None:
    assert traced(names["counts"], {"<here>"})[1] == set()
    assert traced(lambda: next(names["counts"]()), {"<here>"})[1] == {"counts"}


def test_what_watched_before_watches_again_after_an_error(names: dict[str, Any]) -> None:
    before = sys.getprofile()
    with pytest.raises(ValueError):
        traced(names["fails"], {"<here>"})
    assert sys.getprofile() is before
