"""Causes are found by calls: where a value first goes wrong, in the learner's own lines, and each fault by itself."""

from __future__ import annotations

import ast
import textwrap
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from grader.course.answers import Mistake, Premise
from grader.diagnosis.causes import Explainer
from grader.diagnosis.edited import Cause
from grader.diagnosis.edits import Context, Site, edits_at
from grader.diagnosis.instrument import LOG, Probes, Trace
from grader.diagnosis.locate import FIRST, locate
from grader.diagnosis.module_text import ModuleText, parsed
from grader.diagnosis.runner import LocalRunner
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Prints
from grader.diagnosis.variants import compiled
from tests.diagnosis.engine import STAGE, Call, causes

X = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
W = np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 3.0]])
B = np.array([0.5, -2.0])
RIGHT = """
    import numpy as np


    def affine(x, w, b):
        return x @ w + b


    def spread(x, eps):
        mean = x.mean(axis=-1, keepdims=True)
        var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
        return (x - mean) / np.sqrt(var + eps)


    def count(words, wanted):
        number = 0
        for word in words:
            if word == wanted:
                number += 1
        return number


    def softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


    def first(values, start):
        return values[start]


    def both(x, w, b):
        return softmax(affine(x, w, b))


    def total(values):
        result = 0
        for each in values:
            result += each * each
        return result
"""


def replaced(old: str, new: str) -> str:
    assert RIGHT.count(old) == 1
    return RIGHT.replace(old, new)


WORDS = ["a", "b", "a", "c"]
COUNTED: list[Call] = [("count", ([*WORDS, "c"], "a")), ("count", (["b"] * 4, "b")), ("count", (["c"] * 3, "c"))]
FIRSTS: list[Call] = [("first", ([4, 5, 6], place)) for place in range(3)]
TOTALS: list[Call] = [("total", (np.array([size, 2.0, 0.5]),)) for size in (1.5, 4.0, 0.25)]
CASES: list[tuple[str, str, str, list[Call], str, int]] = [
    ("x @ w + b", "x @ w", "term-missing", [("affine", (X, W, B))], "affine", 5),
    ("x @ w + b", "x @ w - b", "operator-confused", [("affine", (X, W, B))], "affine", 5),
    ("** 2).mean(", "** 2).sum(", "function-confused", [("spread", (X, 1e-5))], "spread", 10),
    ("np.sqrt(var + eps)", "(np.sqrt(var) + eps)", "parentheses", [("spread", (X, 0.5))], "spread", 11),
    ("            number += 1", "            number = 1", "not-accumulated", COUNTED, "count", 18),
    ("word == wanted", "word != wanted", "comparison-wrong", COUNTED, "count", 17),
    ("values[start]", "values[begin]", "name-undefined", FIRSTS, "first", 28),
    ("result += each * each", "result += each * values", "name-confused", TOTALS, "total", 38),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "id", "calls", "function", "line"), CASES, ids=[case[2] for case in CASES])
def test_one_fault_is_named_with_its_place(
    old: str, new: str, id: str, calls: list[Call], function: str, line: int
) -> None:
    found = causes(RIGHT, replaced(old, new), [calls])
    assert [(each.id, each.function, each.line) for each in found] == [(id, function, line)]


def test_two_faults_of_two_functions_in_one_test_are_two_causes() -> None:
    learners = replaced("x @ w + b", "x @ w - b").replace("np.sqrt(var + eps)", "np.sqrt(var - eps)")
    found = causes(RIGHT, learners, [[("affine", (X, W, B)), ("spread", (X, 0.125))]])
    assert [(each.id, each.function) for each in found] == [
        ("operator-confused", "affine"),
        ("operator-confused", "spread"),
    ]


def test_two_faults_of_one_call_are_told_together_each_with_its_line() -> None:
    learners = replaced("** 2).mean(", "** 2).sum(").replace("var + eps", "var - eps")
    (cause,) = causes(RIGHT, learners, [[("spread", (X, 0.125))], [("spread", (2 * X, 0.5))]])
    assert cause.id == "function-confused-and-operator-confused"
    assert "line 10" in cause.text and "Line 11" in cause.text


def test_what_calls_a_wrong_function_has_the_same_cause() -> None:
    found = causes(RIGHT, replaced("x @ w + b", "x @ w"), [[("both", (X, W, B))], [("affine", (X, W, B))]])
    assert [(each.function, len(each.checks)) for each in found] == [("affine", 2)]


def test_one_small_answer_is_not_enough_to_name_a_cause() -> None:
    learners = replaced("            number += 1", "            number = 1")
    assert causes(RIGHT, learners, [[("count", (WORDS, "a"))]]) == []


def test_a_known_mistake_is_told_in_its_own_words_and_in_the_line_of_the_fault() -> None:
    source = "def unbiased(x, w, b):\n    return x @ w\n\n\naffine = unbiased\n"
    known = Mistake("unbiased", "row", "affine", "The bias is missing.", "Add b.", source)
    found = causes(RIGHT, replaced("x @ w + b", "x @ w"), [[("affine", (X, W, B))]], mistakes=(known,))
    assert [(each.id, each.text, each.line, each.declared) for each in found] == [
        ("unbiased", "The bias is missing.", 5, True)
    ]


def test_a_loop_without_an_end_is_ended_by_its_steps() -> None:
    learners = replaced(
        "        for each in values:\n            result += each * each",
        "        place = 0\n        while place < len(values):\n"
        "            result += values[place]\n            place += 1",
    )
    found = causes(RIGHT, learners, [TOTALS, [("total", ([1.5, 2.5],))]])
    assert [each.function for each in found] == ["total"] and "values[place]" in found[0].text


def test_the_same_words_each_time() -> None:
    learners = replaced("** 2).mean(", "** 2).sum(")
    calls: list[Any] = [[("spread", (X, 1e-5))]]
    assert len({causes(RIGHT, learners, calls)[0].text for _ in range(3)}) == 1


def test_a_module_that_cannot_be_parsed_has_no_cause() -> None:
    assert causes(RIGHT, RIGHT, []) == []


def test_a_line_that_sets_entries_is_edited_too() -> None:
    right = """
    import numpy as np


    def marks(indices, n):
        rows = np.zeros((len(indices), n))
        rows[np.arange(len(indices)), indices] = 1.0
        return rows
    """
    calls: list[Call] = [("marks", (np.array([1, 3, 2]), 5)), ("marks", (np.array([4, 1]), 6))]
    (cause,) = causes(right, right.replace("), indices] = 1.0", "), indices - 1] = 1.0"), [calls])
    assert (cause.id, cause.function, cause.line) == ("term-superfluous", "marks", 6)


def test_a_known_mistake_whose_premise_is_untrue_is_not_told() -> None:
    source = "def unbiased(x, w, b):\n    return x @ w\n\n\naffine = unbiased\n"
    known = Mistake("unbiased", "row", "affine", "There is no bias.", "Add b.", source, premise=Premise(("b",)))
    calls: list[list[Call]] = [[("affine", (X, W, B))]]
    assert causes(RIGHT, replaced("x @ w + b", "x @ w"), calls, mistakes=(known,))[0].id == "unbiased"
    found = causes(RIGHT, replaced("x @ w + b", "x @ w + b * 0"), calls, mistakes=(known,))
    assert found and all(each.id != "unbiased" for each in found)


def test_an_argument_of_a_private_helper_is_wrong_where_it_is_given() -> None:
    right = """
    import numpy as np


    def _scaled(x, factor):
        return x * factor


    def affine(x, w, b):
        top = x.max()
        low = x.min()
        return _scaled(x - low, top - low) @ w + b


    def first(x, start):
        return _scaled(x, start)
    """
    calls: list[Call] = [("affine", (X, W, B)), ("affine", (2 * X + 1, W, B))]
    (cause,) = causes(right, right.replace("top - low)", "top)"), [calls], [[("first", (X, 2.0))]])
    assert (cause.function, cause.line) == ("affine", 11)


def test_a_known_mistake_of_a_row_that_passes_gives_way_to_an_edit() -> None:
    source = "def unbiased(x, w, b):\n    return x @ w\n\n\naffine = unbiased\n"
    known = Mistake("unbiased", "another-row", "affine", "The bias is missing.", "Add b.", source)
    found = causes(RIGHT, replaced("x @ w + b", "x @ w"), [[("affine", (X, W, B))]], mistakes=(known,))
    assert [(each.id, each.function, each.line) for each in found] == [("term-missing", "affine", 5)]


def mistake(id: str, function: str, was: str, now: str) -> Mistake:
    """Return a known mistake that is a small change of a right function."""
    lines = textwrap.dedent(replaced(was, now)).split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith(f"def {function}("))
    end = next((place for place in range(start + 1, len(lines)) if lines[place][:1].strip()), len(lines))
    return Mistake(id, "row", function, f"{id} is wrong.", "Mend it.", "\n".join(lines[start:end]))


MINUS = mistake("minus", "affine", "x @ w + b", "x @ w - b")
TWICE = mistake("twice", "affine", "x @ w + b", "x @ w + 2 * b")
OF_SUM = mistake("of-sum", "spread", "** 2).mean(", "** 2).sum(")
NO_MEAN = mistake("no-mean", "spread", "return (x - mean) / np", "return x / np")


@pytest.mark.parametrize("known", [(MINUS, TWICE), (TWICE, MINUS)], ids=["minus", "twice"])
def test_of_known_mistakes_of_one_line_one_is_told(known: tuple[Mistake, ...]) -> None:
    first, second = ("- b", "+ 2 * b") if known[0] is MINUS else ("+ 2 * b", "- b")
    learners = replaced("x @ w + b", f"(x @ w {first} if x.max() > 3 else x @ w {second})")
    calls: list[list[Call]] = [[("affine", (x, W, B))] for x in (X, X + 1, X + 2, X / 5)]
    told = {each.id for each in causes(RIGHT, learners, calls, mistakes=known)}
    assert told & {"minus", "twice"} == {known[0].id}


def test_mistakes_of_two_lines_are_two_causes() -> None:
    learners = replaced(
        "return (x - mean) / np.sqrt(var + eps)",
        "return x / np.sqrt(var + eps) if x.max() > 3 else (x - mean) / np.sqrt(var * x.shape[-1] + eps)",
    )
    calls: list[list[Call]] = [[("spread", (x, 0.5))] for x in (X, X + 1, X + 2, X / 5)]
    assert len(causes(RIGHT, learners, calls, mistakes=(OF_SUM, NO_MEAN))) == 2


WINDOW = """
    import numpy as np


    def total(values):
        last = len(values)
        seen = values[:last]
        result = seen.sum()
        return result
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("last = len(values)", "last = len(values) - 1", 5),  # a number that right modules have too
        ("values[:last]", "values[1:last]", 6),
        ("seen.sum()", "seen.mean()", 7),
    ],
)
def test_a_known_mistake_is_told_in_the_line_of_the_fault(old: str, new: str, line: int) -> None:
    learners = WINDOW.replace(old, new)
    source = textwrap.dedent(learners).partition("\n\n\n")[2]
    known = Mistake("known", "row", "total", "It is wrong.", "Mend it.", source)
    calls: list[list[Call]] = [[("total", (X[0] * size + 0.25,))] for size in (1.0, 2.0, 3.5)]
    assert [(each.id, each.line) for each in causes(WINDOW, learners, calls, mistakes=(known,))] == [("known", line)]


def test_a_number_is_rather_an_argument_that_has_it_in_all_failing_calls() -> None:
    right = "import numpy as np\n\n\ndef total(values, size):\n    return values[::size].sum()\n"
    calls: list[list[Call]] = [[("total", (X[0] * each + 0.25, 2))] for each in (1.0, 2.0, 3.5)]
    found = causes(right, right.replace("::size", "::1"), calls)
    assert [(each.id, each.line) for each in found] == [("number-for-name", 5)]


HALF = """
    import numpy as np


    def total(values):
        low, high = np.percentile(values, [25, 75])
        return (high - low) * 2
"""


def test_a_known_mistake_stands_in_a_helper_that_was_given_what_is_right() -> None:
    source = "def total(values):\n    return np.subtract(*np.percentile(values, [0.75, 0.25])) * 2\n"
    known = Mistake("known", "row", "total", "It is wrong.", "Mend it.", source)
    helper = "    def box(values):\n        return np.percentile(values, [0.25, 0.75])\n\n\n    def total"
    learners = HALF.replace("    def total", helper).replace("np.percentile(values, [25, 75])", "box(values)")
    (cause,) = causes(HALF, learners, [[("total", (X[0] * size,))] for size in (1.0, 2.0)], mistakes=(known,))
    assert (cause.id, cause.function, cause.line) == ("known", "box", 5)


STEPS = """
    import numpy as np


    def total(values):
        sums, rest = np.zeros(3), 1.0
        for step in range(2):
            for place in range(3):
                sums[place] = rest * values[place] + step
                rest = rest - sums[place] / 3
        return sums.astype(float)
"""


def test_a_known_mistake_does_not_stand_where_what_is_wrong_before_is_converted() -> None:
    inner, outer = "                rest = rest", "            rest = rest"
    learners = STEPS.replace(inner, outer)
    source = "def total(values):\n    return 2 * (values * (0.5 - values[2] / 6) + 0.5)\n"
    known = Mistake("known", "row", "total", "It is wrong.", "Mend it.", source)
    calls: list[list[Call]] = [[("total", (X[0] * size,))] for size in (1.0, 2.0)]
    (cause,) = causes(STEPS, learners, calls, mistakes=(known,))
    assert (cause.id, cause.line) == ("known", 9)


def test_a_test_ends_at_a_wrong_value_and_not_before_it_at_right_numbers_in_another_dtype() -> None:
    learners = replaced("values[start]", "values * (start > 0)").replace("x @ w + b", "x @ w - b")
    right = replaced("values[start]", "values * float(start > 0)")
    whole, ones = np.arange(3, 9), np.ones((6, 1), dtype=int)
    failing: list[list[Call]] = [[("first", (whole, 1)), ("affine", (whole * n, ones, n))] for n in (1, 2, 3)]
    found = causes(right, learners, failing)
    assert [(each.id, each.function, each.line) for each in found] == [("operator-confused", "affine", 5)]
    alone = causes(right, learners.replace("x @ w - b", "x @ w + b"), [each[:1] for each in failing])
    assert {each.function for each in alone} <= {"first"}


def run_of_first(lines: tuple[str, ...]) -> tuple[ModuleText, Trace]:
    """Return a module in which `first` has other lines, and a run of it."""
    module = parsed(textwrap.dedent(replaced("return values[start]", "\n        ".join(lines))).lstrip("\n"))
    probes, runner = Probes(module, ["first"]), LocalRunner()
    runner.load([compiled(module.whole(probes.definitions()))])
    runner.named("first")(np.arange(6), 3)
    return module, Trace.of(probes, runner.named(LOG))


@pytest.mark.parametrize(("stored", "is_told"), [("0", False), ("len(values)", False), ("start / 4", True)])
def test_that_numbers_are_cut_off_is_said_only_where_some_with_fractions_are_stored(stored: str, is_told: bool) -> None:
    lines = "kept = np.array(values)", f"kept[:1] = {stored}", "return kept"
    module, trace = run_of_first(lines)
    context, line = Context(module, trace), module.functions["first"].body[0]
    edits = [each for node in walk(line) for each in edits_at(Site(context, "first", line, node))]
    found = [(each.id, each.function, each.line) for each in edits if each.id == "whole-numbers"]
    assert found == [("whole-numbers", "first", 28)] * is_told


@pytest.mark.parametrize("first", ["kept = np.array(values)", "kept, _ = np.array(values), 0"])
def test_what_names_a_whole_value_stores_no_part_of_one(first: str) -> None:
    lines = first, "kept[:1] = start", "return kept"
    module, trace = run_of_first(lines)
    right = Prints(
        each.known for node, each in trace.entries if getattr(node, "lineno", 30) < 30 and each.known is not None
    )
    places = locate(module, trace, right, "first", (), frozenset(), None)
    assert [each.lineno for each in places.storing] == [29]


def test_no_value_goes_wrong_in_a_check_of_arguments_that_lets_a_call_pass() -> None:
    lines = "if not len(values) >= -7:", "    raise ValueError", "return values[:1] * 2.5 + start"
    module, trace = run_of_first(lines)
    right = Prints(each.known for node, each in trace.entries if isinstance(node, ast.Name) and each.known is not None)
    for is_refusal, first in ((False, 30), (True, 28)):
        places = locate(module, trace, right, "first", (), frozenset(), None, is_refusal)
        assert [each.lineno for each in places.statements if places.far[id(each)] == FIRST] == [first]


def test_what_is_off_by_rounding_where_0_is_expected_is_not_what_a_test_ended_at() -> None:
    learners = replaced("values[start]", "values[start] - 3e-13").replace("x @ w + b", "x @ w - b")
    failing: list[list[Call]] = [[("first", (np.array([1e-13, n]), 0)), ("affine", (n * X, W, B))] for n in (1, 2, 3)]
    found = causes(RIGHT, learners, failing)
    assert [(each.id, each.function, each.line) for each in found] == [("operator-confused", "affine", 5)]
    alone = causes(RIGHT, learners, [each[:1] for each in failing])
    assert {each.function for each in alone} <= {"first"}


SUMMED = Mistake(
    "summed", "row", "total", "The squares are missing.", "Square each.",
    "def summed(values):\n    sums = np.cumsum(values)\n    return sums[-1]\n\n\ntotal = summed\n",
)  # fmt: skip


def test_a_known_mistake_does_not_stand_in_a_check_of_arguments_that_passed() -> None:
    check = "    if np.cumsum(values)[-1] < -100:\n            raise ValueError(values)\n        result = 0"
    learners = replaced("    result = 0", check).replace("result += each * each", "result += each")
    (cause,) = causes(RIGHT, learners, [[each] for each in TOTALS], mistakes=(SUMMED,))
    assert (cause.id, cause.function, cause.line) == ("summed", "total", 0)


LAST = Mistake(
    "last", "row", "total", "Only the last one counts.", "Add them all up.",
    "def last(values):\n    return values[-1] ** 2\n\n\ntotal = last\n",
)  # fmt: skip


def test_the_one_line_that_is_written_as_a_known_mistake_is_where_it_stands() -> None:
    lines = "third, result = values[-1] / 3, 0", "for _ in range(9):", "    result += third * third", "return result"
    learners = replaced("result = 0", "\n        ".join(lines))
    failing, passing = [[each] for each in TOTALS], [[("total", (np.array([0.0, 0.0, size]),))] for size in (1.25, 3.5)]
    for right_ones in [], passing:
        (cause,) = causes(RIGHT, learners, failing, right_ones, mistakes=(LAST,))
        assert (cause.id, cause.function, cause.line) == ("last", "total", 36)


def test_a_helper_is_not_where_a_known_mistake_stands_of_which_it_makes_no_value() -> None:
    lines = (
        "part, result = nine_times(values[2]), 0",
        "for _ in range(9):",
        "    result += part * part / 729",
        "return result",
    )
    helper = "\n\n    def nine_times(x):\n        return 9 * x\n"
    learners = (
        replaced("result = 0", "\n        ".join(lines)).replace("values[start]", "nine_times(values[start]) / 9")
        + helper
    )
    failing, firsts = [[each] for each in TOTALS], [[("first", (np.array([size, 2.5]), 0))] for size in (1.5, 4.0)]
    for right_ones in [], firsts:
        (cause,) = causes(RIGHT, learners, failing, right_ones, mistakes=(LAST,))
        assert (cause.id, cause.function, cause.line) == ("last", "total", 0)


@pytest.mark.parametrize(("speaking", "told"), [("first", []), ("places", ["places"])])
def test_an_edit_of_a_function_that_is_asked_itself_needs_a_call_of_its_own(speaking: str, told: list[str]) -> None:
    failing: list[Any] = [Mock(label=label) for label in ("places", "first")]
    explainer = Explainer(STAGE, RIGHT.encode(), RIGHT, (), {}, None)
    checks = frozenset(each for each in failing if each.label == speaking)
    explainer.causes = [Cause("term-superfluous", "places", 3, "`2` is too much.", "Write `x`.", checks, "row")]
    assert [each.function for each in explainer.causes if each not in explainer._not_of_own_calls(failing)] == told
