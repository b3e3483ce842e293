"""Patches of a program's text: what they make of it, and what is said of one that does not fit."""

from __future__ import annotations

import pytest

from grader.course.patches import definitions, patch_in
from grader.course.table import Table

PROGRAM = '''
import functools


@functools.cache
def mean(x):
    """Return the mean of x.

    Example: sum(x) / len(x)
    """

    # the sum of nothing is 0
    return sum(x) / len(x)


class Layer:
    """A layer."""

    def forward(self, x):
        """Return x, doubled."""
        return x + x

    def bare(self):
        """Say nothing else."""
'''


def patched(values: dict[str, object], text: str = "a + b + c") -> tuple[str, list[str]]:
    """Return a text with a table's patch made, and the complaints."""
    wrong: list[str] = []
    return patch_in(Table(values, "here.", wrong)).applied(text, "f of solution.py"), wrong


def test_several_edits_are_made_at_once() -> None:
    also = [{"find": "c", "replace": "a"}]
    assert patched({"find": "a", "replace": "c", "also": also}) == ("c + b + a", [])


def test_a_text_may_be_left_out() -> None:
    assert patched({"find": " + b", "replace": ""}) == ("a + c", [])


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"find": "d", "replace": ""}, "here.find: 'd' occurs 0 times in f of solution.py; expected once: copy it"),
        ({"find": " +", "replace": ""}, "here.find: ' +' occurs 2 times in f of solution.py; expected once: add what"),
        ({"find": "a", "replace": "a"}, "here.replace: is the same text as find"),
        ({"find": "a + ", "replace": ""}, None),
        ({"find": "b", "replace": "("}, "here.replace: makes text that is no Python"),
        ({"find": "b"}, "here.replace: is missing; expected a text"),
        (
            {"find": "a +", "replace": "", "also": [{"find": "+ b", "replace": ""}]},
            "here.also[0].find: '+ b' overlaps with another find",
        ),
        ({"find": "b", "replace": "c", "also": [{"find": "c", "with": ""}]}, "here.also[0].replace: is missing"),
    ],
)
def test_what_does_not_fit_is_noted_with_what_to_do(values: dict[str, object], complaint: str | None) -> None:
    _, wrong = patched(values)
    assert (wrong == []) if complaint is None else wrong[0].startswith(complaint)


def test_a_definition_is_its_text_without_docstrings() -> None:
    found = definitions(PROGRAM)
    assert found["mean"] == (
        "@functools.cache\ndef mean(x):\n    # the sum of nothing is 0\n    return sum(x) / len(x)"
    )
    assert found["Layer.forward"] == "def forward(self, x):\n    return x + x"
    assert found["Layer"].startswith("class Layer:\n    def forward(self, x):\n        return x + x\n")


def test_a_docstring_that_is_all_there_is_stays() -> None:
    assert definitions(PROGRAM)["Layer.bare"] == 'def bare(self):\n    """Say nothing else."""'
