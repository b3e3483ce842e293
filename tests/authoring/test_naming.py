"""The naming of mutants of a second solution, and the lines that each changes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from grader.authoring import proof
from grader.authoring.naming import PASSED, STATES, WAYS, MutantChange, change_of, graded, judged, measured, replaced_by
from grader.course.answers import alternative_sources, load_mistakes
from grader.course.manifest import load_course
from grader.course.mutants import Mutant
from grader.diagnosis.obvious import MISSING
from grader.isolation import tiers
from grader.outcome import Diagnosis
from grader.verdict import Verdict
from tests.courses.conftest import WORDS
from tests.diagnosis.test_pool import FAULTY, OTHERWISE, RIGHT
from tests.gradebook.test_pooled import TESTS
from tests.support.command import Place, write_stage
from tests.support.places import ROOT

COURSE = load_course(WORDS)
STAGE = COURSE.find("s01")
CHANGE = MutantChange(frozenset({4}), frozenset({"count_words", "_part"}))


def edit(function: str, line: int, number: int = 0) -> Diagnosis:
    return Diagnosis(f"term-missing-0000000{number}", "count", "A term.", "Add it.", False, function, line)


def state(*causes: Diagnosis, change: MutantChange = CHANGE) -> str:
    failures = [SimpleNamespace(diagnosis=each) for each in causes] or [SimpleNamespace(diagnosis=None)]
    verdict: Any = SimpleNamespace(robust=False, criteria=[SimpleNamespace(failures=failures)])
    return judged(STAGE, change, verdict).state


def test_the_line_decides_and_then_the_function() -> None:
    assert state(edit("_part", 4)) == "right"
    assert state(edit("_part", 5)) == state(edit("count_words", 0)) == "in_function"
    assert state(edit("most_common", 5)) == state(edit("", 0)) == "false"


def test_the_worst_of_several_causes_counts() -> None:
    assert state(edit("_part", 4), edit("_part", 5, 1)) == "in_function"
    assert state(edit("_part", 4), edit("most_common", 9, 1)) == "false"


def test_a_known_mistake_is_right_where_it_replaces_the_function() -> None:
    known = next(each for each in load_mistakes(STAGE) if each.replaces == "count_words")
    told = Diagnosis(known.id, known.criterion, known.text, known.fix, declared=True, line=9)
    assert state(told) == "right"
    assert state(told, change=replace(CHANGE, functions=frozenset({"most_common"}))) == "false"


def test_what_an_answer_shows_is_right_where_its_row_is_about_the_function() -> None:
    rows = {row.functions[0]: row.id for row in STAGE.criteria}
    assert state(Diagnosis(MISSING, rows["count_words"], "It accepts it.", "Check it.")) == "right"
    assert state(Diagnosis(MISSING, rows["most_common"], "It accepts it.", "Check it.")) == "false"


def test_nothing_told_is_neither() -> None:
    assert state() == "unnamed"
    passed: Any = SimpleNamespace(robust=True, criteria=[])
    assert judged(STAGE, CHANGE, passed).state == PASSED


def test_a_sample_of_a_small_course() -> None:
    seen: list[tuple[int, int, str]] = []
    (found,) = measured(COURSE, [STAGE], 2, lambda *done: seen.append(done), "process", 0)
    assert (found.solution, found.others, found.caught, len(found.graded)) == ("insertion", 2, 2, 2)
    for way in WAYS:
        assert sum(found.count(way, state) for state in STATES) == 2
    assert seen == [(1, 2, "s01"), (2, 2, "s01")]


def test_the_diagnosis_does_not_see_what_is_withheld() -> None:
    whole = set(alternative_sources(STAGE))
    assert set(alternative_sources(replace(STAGE, withheld=("insertion", "places")))) == whole - {"insertion", "places"}


@pytest.mark.full_matrix("grader/diagnosis")
@pytest.mark.skipif(not tiers.FORKS, reason="no changed form can run in a process of its own")
def test_what_another_right_module_names_is_counted_in_the_ways_that_have_it(place: Place) -> None:
    """The reference alone explains nothing of a style of its own; one of that style does, known or in a pool."""
    write_stage(place.root, 3, "spread_", "Spread", RIGHT.strip() + "\n", [])
    hidden = place.root / "hidden" / "s03_spread"
    for path in (place.root / "stages" / "s03_spread" / "tests" / "test_spread.py", hidden / "test_hidden_spread.py"):
        path.write_text(TESTS if path.parent.name == "tests" else TESTS.replace("test_spread", "test_hidden_spread"))
    (hidden / "mistakes.py").write_text("")
    (hidden / "alternatives").mkdir(exist_ok=True)
    second, other = (hidden / "alternatives" / f"{name}.py" for name in ("a_second", "b_other"))
    second.write_text(OTHERWISE.replace("pooled_", ""))
    other.write_text(OTHERWISE)
    course = load_course(place.root)
    stage, mutant = course.find("s03"), Mutant("spread", 7, "n", "n", FAULTY.strip())
    with proof.workers(course, 0):
        told = graded(stage, mutant, (second, other), "process")
    assert {way: lines(verdict) for way, verdict in told.items()} == {
        "reference": set(), "alternatives": {7}, "pool": {7},
    }  # fmt: skip


def lines(verdict: Verdict) -> set[int]:
    found = [failure.diagnosis for row in verdict.criteria for failure in row.failures]
    return {each.line for each in found if each is not None}


WORDS_STAGE = load_course(WORDS).find("s01")
COUNTING = """\
def count_words(x):
    total = 0
    for each in x:
        if each:
            total += (
                _part(each)
            )
    return total


def _part(x):
    return x * 2


class Ranking:
    def __init__(self):
        self.size = 1

    def first(self):
        def inner():
            return self.size
        return inner()
"""


@pytest.mark.parametrize(
    ("was", "now", "lines"),
    [
        ("return total", "return -total", {8}),
        ("                _part(each)\n", "                _part(total)\n", {5, 6, 7}),
        ("in x:", "in x[1:]:", {3}),
        ("    total = 0\n", "", {1, 2}),
        ("    for each in x:\n", "    total = 1\n    for each in x:\n", {3}),
        ("in x:\n        if each:", "in x[1:]:\n        if not each:", {3, 4}),
    ],
    ids=["statement", "of several lines", "head", "taken out", "put in", "two"],
)
def test_the_lines_of_the_statements_that_differ(was: str, now: str, lines: set[int]) -> None:
    assert COUNTING.count(was) == 1
    assert change_of(COUNTING, COUNTING.replace(was, now), WORDS_STAGE).lines == lines


@pytest.mark.parametrize(
    ("was", "now", "functions"),
    [
        ("total = 0", "total = 1", {"count_words"}),
        ("x * 2", "x * 3", {"_part", "count_words"}),  # it alone calls the helper
        ("self.size = 1", "self.size = 2", {"Ranking", "Ranking.__init__"}),
        ("return self.size", "return -self.size", {"Ranking", "Ranking.first", "Ranking.first.inner"}),
    ],
    ids=["row", "helper", "method", "inner"],
)
def test_the_functions_by_which_a_change_may_be_told(was: str, now: str, functions: set[str]) -> None:
    assert COUNTING.count(was) == 1
    assert change_of(COUNTING, COUNTING.replace(was, now), WORDS_STAGE).functions == functions


def test_a_known_mistake_in_a_helper_of_the_reference_is_one_of_what_calls_it() -> None:
    replaced = replaced_by(load_course(ROOT).find("s03"))
    assert replaced["product-of-derivatives"] == {"Dual.__mul__"}
    assert replaced["chain-rule-forgotten"] >= {"_chained", "sin", "tanh"}
