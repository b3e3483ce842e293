"""What one answer shows by itself: each kind, and its nearest neighbour that is none."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from grader.diagnosis.obvious import OBVIOUS, obvious
from grader.outcome import Diagnosis
from tests.conftest import SmallCourse
from tests.diagnosis.engine import ended, module_of
from tests.support.small_course import manifest

MANIFEST = manifest({"halves": ["halves"]})
SOLUTION = '''
    import numpy as np


    def halves(x):
        """Return x / 2, and how many entries it has.

        Raises ValueError if x is empty.
        """
        if len(x) == 0:
            raise ValueError("x is empty")
        return x / np.float32(2), len(x)
'''
PUBLIC = """
    @pytest.mark.criterion("halves")
    def test_values(learner):
        x = np.ones(2, np.float32)
        with unchanged(x):
            result = learner.halves(x)
        assert type(result) is tuple
        assert_array(result[0], np.full(2, 0.5, np.float32))
        assert result[0].dtype == np.float32

    @pytest.mark.criterion("halves")
    def test_refusal(learner):
        with pytest.raises(ValueError):
            learner.halves(np.ones(0))
"""
MASK = """

    @pytest.mark.criterion("halves")
    def test_mask(learner):
        assert learner.halves(np.ones(2, np.float32))[1].dtype == bool
"""
CASES = {
    "refusal-missing": (
        "if len(x) == 0:",
        "if False:",
        "accepts a call that it has to refuse with ValueError (x is empty)",
    ),
    "refusal-by-accident": ("if len(x) == 0:", "if x[0] is None:", "it ends in IndexError by accident"),
    "refusal-returned": (
        "raise ValueError",
        "return ValueError",
        "halves returns a ValueError as its result; ValueError has to be raised (x is empty)",
    ),
    "refusal-by-assert": (
        'if len(x) == 0:\n            raise ValueError("x is empty")',
        "assert len(x) > 0",
        "refuses this call by `assert`, which raises AssertionError; ValueError is asked for (x is empty)",
    ),
    "refusal-with-another": (
        'raise ValueError("x is empty")',
        'raise TypeError("x is empty")',
        "halves refuses this call with TypeError; ValueError is asked for (x is empty)",
    ),
    "refusal-of-no-exception": ('raise ValueError("x is empty")', 'raise "x is empty"', "`raise` takes an exception"),
    "nothing-returned": (
        "return x / np.float32(2), len(x)",
        "pass",
        "halves gave None: it has no `return` with a value.",
    ),
    "argument-changed": (
        "return x / np.float32(2)",
        "x[...] = x / np.float32(2)\n        return x",
        "came back changed",
    ),
    "another-dtype": ("x / np.float32(2)", "x / np.float64(2)", "they are float64, where float32 is asked for"),
    "another-container": (
        "return x / np.float32(2), len(x)",
        "return [x / np.float32(2), len(x)]",
        "What is in the answer of halves is right; it is a list, where a tuple is asked for.",
    ),
}


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden="", mistakes="")
    return small_course


def explained(course: SmallCourse, source: str) -> list[Diagnosis]:
    failures = [failure for row in course.grade(source).verdict.criteria for failure in row.failures]
    assert failures
    return [failure.diagnosis for failure in failures if failure.diagnosis]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.some_of(3, "grader/diagnosis")
def test_it_is_told(course: SmallCourse, kind: str) -> None:
    was, now, said = CASES[kind]
    assert was in SOLUTION and kind in OBVIOUS
    (found,) = explained(course, SOLUTION.replace(was, now))
    assert (found.mistake, found.criterion, found.declared) == (kind, "halves", False)
    assert said in found.text and found.fix.endswith(".")


@pytest.mark.parametrize(
    ("was", "now", "said", "line"),
    [
        ("return x / np.float32(2), len(x)", "yield x / np.float32(2), len(x)", "gave a generator", "yield"),
        ("def halves", "async def halves", "gave a coroutine", "async def"),
    ],
)
def test_a_call_that_runs_no_line_is_told(course: SmallCourse, was: str, now: str, said: str, line: str) -> None:
    source = SOLUTION.replace(was, now)
    found = explained(course, source)
    assert {each.mistake for each in found} == {"call-not-run"} and len(found) == 2  # of values, and of the refusal
    assert said in found[0].text
    lines = textwrap.dedent(source).split("\n")
    assert line in lines[found[0].line - 1]


def test_a_generator_is_no_fault_where_one_is_asked_for(course: SmallCourse) -> None:
    lazy = SOLUTION.replace("return x / np.float32(2), len(x)", "return (each / 2 for each in x)")
    public = PUBLIC.replace("assert type(result) is tuple", "result = [np.array(list(result))]")
    course.write(manifest=MANIFEST, solution=lazy, public=public, hidden="", mistakes="")
    assert not [each for each in explained(course, lazy.replace("each / 2", "each / 3")) if each.mistake in OBVIOUS]


def test_a_check_that_names_what_is_not_there_is_not_called_missing(course: SmallCourse) -> None:
    assert explained(course, SOLUTION.replace("if len(x) == 0:", "if is_empty(x):")) == []


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("if x[0] > 5:\n            return x, 0", "one way through it ends without a `return`"),
        ("for _ in x:\n            return None", "it has no `return` with a value"),
        ("return\n\n\n    def other():\n        return 1", "it has no `return` with a value"),
    ],
)
@pytest.mark.some_of(3, "grader/diagnosis")
def test_where_the_value_got_lost_is_told_by_the_text(course: SmallCourse, now: str, said: str) -> None:
    (found,) = explained(course, SOLUTION.replace("return x / np.float32(2), len(x)", now))
    assert found.text == f"halves gave None: {said}."


@pytest.mark.parametrize(("annotation", "kind"), [("tuple", "nothing-returned"), ("None", "refusal-missing")])
def test_what_gives_nothing_anywhere_is_not_told_to_refuse(course: SmallCourse, annotation: str, kind: str) -> None:
    solution = SOLUTION.replace("def halves(x):", f"def halves(x) -> {annotation}:")
    if annotation == "None":
        solution = solution.replace("return x / np.float32(2), len(x)", "x * 2")
    refusal = PUBLIC[PUBLIC.index('    @pytest.mark.criterion("halves")\n    def test_refusal') :]
    course.write(manifest=MANIFEST, solution=solution, public=refusal, hidden="", mistakes="")
    (found,) = explained(course, "def halves(x):\n        pass\n")
    assert found.mistake == kind


@pytest.mark.parametrize(
    "now", ["x / np.float64(3)", "(x.__imul__(2)) / 3"], ids=["another dtype, wrong values", "changed, wrong values"]
)
@pytest.mark.some_of(2, "grader/diagnosis")
def test_values_that_are_wrong_are_told_as_nothing_of_that(course: SmallCourse, now: str) -> None:
    found = explained(course, SOLUTION.replace("x / np.float32(2)", now))
    assert not [each for each in found if each.mistake in OBVIOUS]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Raises ValueError if x is empty.", "The docstring asks for ValueError if x is empty."),
        ("Raises:\n            ValueError: x is empty.", "The docstring asks for ValueError when x is empty."),
    ],
)
@pytest.mark.some_of(2, "grader/diagnosis")
def test_what_the_docstring_promises_is_told_as_a_sentence(course: SmallCourse, said: str, told: str) -> None:
    solution = SOLUTION.replace("Raises ValueError if x is empty.", said)
    course.write(manifest=MANIFEST, solution=solution, public=PUBLIC, hidden="", mistakes="")
    (found,) = explained(course, solution.replace("if len(x) == 0:", "if False:"))
    assert found.fix == f"Check that first. {told}"


@pytest.mark.parametrize(
    ("now", "fix"),
    [
        ('raise "x is empty"', "Write `raise ValueError('x is empty')`."),
        ("raise len(x)", "Write `raise ValueError(…)`."),
        ("return ValueError()", "Write `raise` in place of `return`."),
        ("assert False, x", "Write `if …: raise ValueError(…)` in place of the `assert`."),
    ],
)
@pytest.mark.some_of(3, "grader/diagnosis")
def test_how_a_refusal_is_written_is_told(course: SmallCourse, now: str, fix: str) -> None:
    (found,) = explained(course, SOLUTION.replace('raise ValueError("x is empty")', now))
    assert found.fix == fix


def test_a_returned_value_that_is_no_exception_refuses_nothing(course: SmallCourse) -> None:
    (found,) = explained(course, SOLUTION.replace('raise ValueError("x is empty")', "return object()"))
    assert found.mistake == "refusal-missing"


def test_an_exception_without_words_is_told_without_a_colon(course: SmallCourse) -> None:
    was = 'raise ValueError("x is empty")'
    rows = course.grade(SOLUTION.replace(was, "raise TypeError")).verdict.criteria
    told = [failure.message for row in rows for failure in row.failures]
    assert "raised TypeError   (line" in told[0]


def test_of_several_calls_the_one_that_was_not_refused_is_told(course: SmallCourse) -> None:
    public = """
        @pytest.mark.criterion("halves")
        def test_refusals(learner):
            for x in (np.ones(0), np.ones(1)):
                with pytest.raises(ValueError):
                    learner.halves(x)
    """
    was = 'if len(x) == 0:\n            raise ValueError("x is empty")'
    both = 'if len(x) < 2:\n            raise ValueError(f"x has {len(x)}")'
    solution = SOLUTION.replace(was, both)
    course.write(manifest=MANIFEST, solution=solution, public=public, hidden="", mistakes="")
    (found,) = explained(course, solution.replace(both, "max(x)"))  # max() of nothing raises ValueError of its own
    assert (found.mistake, "(x has 1)" in found.text) == ("refusal-missing", True)


def test_the_dtype_of_what_is_in_a_table_is_told(course: SmallCourse) -> None:
    solution = SOLUTION.replace("return x / np.float32(2), len(x)", 'return {"half": (x / np.float32(2), len(x))}')
    public = PUBLIC.replace("assert type(result) is tuple", 'result = result["half"]')
    course.write(manifest=MANIFEST, solution=solution, public=public, hidden="", mistakes="")
    (found,) = explained(course, solution.replace("x / np.float32(2)", "x / np.float64(2)"))
    assert found.text == "The values of halves are right; they are float64, where float32 is asked for."
    found_none = explained(course, solution.replace("x / np.float32(2), len(x)", "x / np.float64(2), len(x) + 1"))
    assert not [each for each in found_none if each.mistake in OBVIOUS]


def test_numbers_in_the_place_of_a_mask_are_told(course: SmallCourse) -> None:
    solution = SOLUTION.replace("return x / np.float32(2), len(x)", "return x / np.float32(2), x > 0")
    course.write(manifest=MANIFEST, solution=solution, public=PUBLIC + MASK, hidden="", mistakes="")
    found = explained(course, solution.replace("x > 0", "(x > 0) * 1.0"))
    assert {each.text for each in found} == {
        "The values of halves are right; they are float64, where bool is asked for."
    }
    found = explained(course, solution.replace("x > 0", "(x > 5) * 1.0"))
    assert not [each for each in found if each.mistake in OBVIOUS]


@pytest.mark.parametrize(("refusal", "is_told"), [("raise", False), ("if True:\n            raise", True)])
def test_a_refusal_at_the_end_of_a_search_is_no_check_of_the_arguments(
    course: SmallCourse, refusal: str, is_told: bool
) -> None:
    was = 'if len(x) == 0:\n            raise ValueError("x is empty")\n        return x / np.float32(2), len(x)'
    search = "for each in x:\n            if each > 0:\n                return x / np.float32(2), len(x)\n        "
    solution = SOLUTION.replace(was, f'{search}{refusal} ValueError("x is empty")')
    course.write(manifest=MANIFEST, solution=solution, public=PUBLIC, hidden="", mistakes="")
    found = explained(course, solution.replace("for each in x", "for each in (*x, 1)"))
    assert [each.mistake for each in found] == (["refusal-missing"] if is_told else [])


@pytest.mark.parametrize("line", ["input()", "quit_now()", "raise NotImplementedError"])
def test_a_line_that_fails_whatever_is_passed_is_no_missing_check(course: SmallCourse, line: str) -> None:
    was = 'if len(x) == 0:\n            raise ValueError("x is empty")'
    found = explained(course, SOLUTION.replace(was, line))
    assert not [each for each in found if each.mistake in ("refusal-by-accident", "refusal-missing")]


def test_what_the_numbers_look_like_is_not_said_beside_a_cause(course: SmallCourse) -> None:
    rows = course.grade(SOLUTION.replace("x / np.float32(2)", "x * np.float32(2)")).verdict.criteria
    failure = next(failure for row in rows for failure in row.failures)
    assert failure.diagnosis is not None and failure.diagnosis.mistake.startswith("operator-confused")
    assert not failure.pattern and "times" not in failure.message


@pytest.mark.parametrize(("is_kept", "told"), [(False, ""), (True, "nothing-returned")])
def test_an_answer_that_was_too_large_to_keep_is_not_called_nothing(
    course: SmallCourse, is_kept: bool, told: str
) -> None:
    right = "def halves(x):\n    return x / 2\n"
    test = ended(module_of(right), "large", [("halves", (np.ones(2),))], "failed")
    record = test.records[0]
    record.result, record.returned, record.replayable = None, None, is_kept
    found = obvious(course.stage, module_of(right), test.records, test.names, "halves", right.encode())
    assert (found.mistake if found else "") == told
