"""What a stage forbids of Python's own functions and of methods: sorted and .sort, however they are spelt."""

from __future__ import annotations

import ast

import pytest

from grader.course.stage import Forbidden
from grader.submission.source.forbidden import Layout, read_forbidden
from grader.submission.source.problem import Reading

SORTING = Forbidden((), ("sorted", ".sort", "heapq"), "Write the sorting yourself.")


def read(source: str, *functions: str) -> Reading:
    return read_forbidden(Layout(ast.parse(source)), SORTING, functions or ("ranked",))


def ranked(body: str) -> Reading:
    """What is refused of a function whose body is one line."""
    return read(f"import operator\nimport random as chance\n\n\ndef ranked(words):\n    {body}\n")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return sorted(words)", "sorted"),
        ("return list(map(sorted, words))", "sorted"),
        ("words.sort()", ".sort()"),
        ("words[0].sort(key=len)", ".sort()"),
        ("list.sort(words)", ".sort()"),
        ("order = words.sort", ".sort"),
        ('getattr(words, "sort")()', ".sort()"),
        ('operator.methodcaller("sort")(words)', "operator.methodcaller('sort')"),
        ("from builtins import sorted as s; return s(words)", "builtins.sorted"),
        ("import heapq; return heapq.nsmallest(2, words)", "heapq"),
    ],
)
def test_each_spelling_is_refused_and_named(body: str, name: str) -> None:
    found = ranked(body).first
    assert found is not None and f": {name} is not allowed in this stage" in found.message
    assert "Write the sorting yourself." in found.message


@pytest.mark.parametrize("body", ['getattr(words, "so" + "rt")()', 'eval("sorted")(words)', "globals()['s'](words)"])
def test_ways_around_the_names_are_refused_too(body: str) -> None:
    found = ranked(body).first
    assert found is not None and "in this way" in found.message


@pytest.mark.parametrize(
    "body",
    [
        "return max(words)",
        "return words.sorted",
        "chance.sort(words)",  # a function of a module
        "sorted = words; return sorted",
        "return [sorted for sorted in words]",
        "return (lambda sorted: sorted(1))(words)",
        "words.sorting()",
    ],
)
def test_what_only_looks_like_it_is_allowed(body: str) -> None:
    assert ranked(body).first is None


def test_only_the_rows_whose_functions_reach_it_are_refused() -> None:
    helper = "def _s(x):\n    s = sorted\n    return s(x)\n\n\n"
    found = read(f"{helper}def ranked(x):\n    return _s(x)\n\n\ndef other(x):\n    return x\n", "ranked", "other")
    assert found.problem is None and set(found.refused) == {"ranked"}
    assert found.refused["ranked"].message.startswith("line 2: sorted is not allowed")
    assert "ranked reaches it through _s" in str(found.refused["ranked"].hint)


def test_a_function_of_ones_own_takes_the_name_over() -> None:
    own = "def sorted(x):\n    return x\n\n\ndef ranked(x):\n    return sorted(x)\n"
    assert read(own).first is None


def test_a_name_that_another_function_binds_does_not_hide_it() -> None:
    found = read("def other(sorted):\n    return sorted\n\n\ndef ranked(x):\n    return sorted(x)\n", "ranked", "other")
    assert set(found.refused) == {"ranked"}


def test_a_method_of_ones_own_class_is_allowed() -> None:
    own = "class Shelf:\n    def sort(self):\n        return self\n\n    def order(self):\n        return self.sort()\n"
    assert read(f"{own}\n\ndef ranked(x):\n    return Shelf().sort()\n", "ranked", "Shelf").first is None


def test_a_use_while_the_module_is_loaded_refuses_all_of_it() -> None:
    for line in ("TABLE = sorted([2, 1])", "s = sorted"):
        found = read(f"{line}\n\n\ndef ranked(x):\n    return x\n")
        assert found.problem is not None and found.problem.line == 1
