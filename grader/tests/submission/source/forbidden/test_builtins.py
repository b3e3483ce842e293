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


USED = "\ndef ranked(words):\n    return sorted(words)\n"


@pytest.mark.parametrize(
    "bound",
    [
        "sorted = sorted",
        "if 0:\n    sorted = 1",
        "for sorted in [sorted]:\n    pass",
        "sorted: object",
        "try:\n    pass\nexcept ValueError as sorted:\n    pass",
        "def sorted(words): ...\ndel sorted",
        "[(sorted := sorted) for _ in (1,)]",
        "def other():\n    from math import fsum as sorted",
        "def other():\n    global sorted\n    sorted = 1",
        "class Other:\n    sorted = 1",
    ],
)
def test_a_name_that_may_be_the_builtin_all_the_same_is_refused(bound: str) -> None:
    assert read(f"{bound}\n{USED}").first is not None


@pytest.mark.parametrize(
    "source",
    [
        "s = sorted\ndef sorted(words): ...\ndef ranked(words):\n    return s(words)\n",
        "class Other:\n    sorted = sorted\ndef ranked(words):\n    return Other.sorted(words)\n",
        "def ranked(words):\n    class Other:\n        sorted = sorted\n    return Other.sorted(words)\n",
        "def ranked(words):\n    global sorted\n    return sorted(words)\n    sorted = 1\n",
        "eval = eval\ndef ranked(words):\n    return eval('words.s' + 'ort()')\n",
        "import array\ndef ranked(array):\n    array.sort()\n",
        "class L: ...\nclass L(list):\n    def go(self):\n        self.sort()\ndef ranked(words):\n    L(words).go()\n",
        "class L: ...\ndef ranked(words):\n    L = list\n    L.sort(words)\n",
        "import _heapq\ndef ranked(words):\n    _heapq.heapify(words)\n",
        "from _heapq import heapify as h\ndef ranked(words):\n    h(words)\n",
        "import sched\ndef ranked(words):\n    sched.heapq.heapify(words)\n",
        "from asyncio.base_events import heapq as h\ndef ranked(words):\n    h.heapify(words)\n",
        "import os\ndef ranked(words):\n    return os.sys.modules['builtins'].sorted(words)\n",
        "from os import sys as s\ndef ranked(words):\n    return s.modules['builtins'].sorted(words)\n",
    ],
)
def test_what_is_reached_under_a_name_that_stands_for_something_else_is_refused(source: str) -> None:
    assert read(source).first is not None


@pytest.mark.parametrize(
    "source",
    [
        "def sorted(words): ...\n" + USED,
        USED + "\n\ndef sorted(words): ...\n",
        "from math import fsum as sorted\n" + USED,
        "class Other:\n    sorted = 1\n    more = sorted\n",
        "class Q:\n    def sort(self): ...\n    def go(self):\n        self.sort()\n",
        "import os, collections.abc, random\ndef ranked(w):\n    return os.path, collections.abc, random.random\n",
    ],
)
def test_names_of_the_learners_own_stay_allowed_wherever_they_are_bound(source: str) -> None:
    assert read(source).first is None
