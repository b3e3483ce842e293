"""Mutants of a second solution are graded as a learner's module is, and what is told of each is judged."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from grader.authoring.naming import judged, measured
from grader.course.answers import alternative_sources, load_mistakes
from grader.course.manifest import load_course
from grader.course.mutants import Mutant
from grader.outcome import Diagnosis
from grader.tests.courses.conftest import WORDS

SOLUTION = (
    "def _part(x):\n    return x * 2\n\ndef count_words(x):\n    return _part(x)\n\ndef most_common(x):\n    return x"
)
MUTANT = Mutant("_part", 2, "return x * 2", "return x * 3", "")
COURSE = load_course(WORDS)
STAGE = COURSE.find("s01")


def state(text: str, mutant: Mutant = MUTANT, mistake: str = "repair-1") -> str:
    failure = SimpleNamespace(diagnosis=Diagnosis(mistake, "row", text, "Mend it.") if text else None)
    rows = [SimpleNamespace(robust=False, failures=[failure])]
    verdict: Any = SimpleNamespace(passed=False, robust=False, criteria=rows)
    return judged(STAGE, SOLUTION, mutant, verdict).state


def test_a_function_and_what_was_changed_in_it_are_named() -> None:
    assert state("_part answers as if 3 stood where the formula has 2 (line 2).") == "right"
    assert state("count_words answers as if 3 stood where the formula has 2.") == "right"  # it alone calls the helper
    assert state("most_common answers as if 3 stood where the formula has 2.") == "false"
    assert state("_part answers as if x were not added (line 2).") == "false"


def test_a_known_mistake_is_right_where_it_replaces_the_function() -> None:
    mutant = Mutant("count_words", 5, "return _part(x)", "return x", "")
    assert state("Capitals are kept.", mutant, "keeps-capitals") == state("Capitals are kept.", mutant, "nothing")
    known = next(each for each in load_mistakes(STAGE) if each.replaces == "count_words")
    assert state(known.text, mutant, known.id) == "right"
    assert state(known.text, Mutant("most_common", 8, "return x", "pass", ""), known.id) == "false"


def test_nothing_told_is_neither() -> None:
    assert state("") == "unnamed"
    passed: Any = SimpleNamespace(passed=True, robust=True, criteria=[])
    assert judged(STAGE, SOLUTION, MUTANT, passed).state == "passed"


def test_a_sample_of_a_small_course() -> None:
    seen: list[tuple[int, int, str]] = []
    (found,) = measured(COURSE, [STAGE], 2, lambda *done: seen.append(done), "process", 0)
    assert (found.solution, found.caught, len(found.told)) == ("insertion", 2, 2)
    assert found.count("right") + found.count("false") + found.count("unnamed") == 2
    assert seen == [(1, 2, "s01"), (2, 2, "s01")]


def test_the_diagnosis_does_not_see_the_solution_that_is_changed() -> None:
    assert "insertion" in alternative_sources(STAGE)
    withheld = replace(STAGE, withheld="insertion")
    assert sorted(alternative_sources(withheld)) == sorted(set(alternative_sources(STAGE)) - {"insertion"})
