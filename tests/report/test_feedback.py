"""The levels of feedback: nothing that a hidden test's inputs could reach gets out, in any format."""

from __future__ import annotations

import base64
import html
from dataclasses import replace

import pytest

from grader.course.stage import FEEDBACK, Feedback
from grader.outcome import Diagnosis, Gradient, Where
from grader.report.document import dumps, verdict_document
from grader.report.feedback import FAULT, HELD_BACK, known_names, lower, shown
from grader.report.formats import CHECKS
from grader.report.github import annotation_lines
from grader.report.terminal.checklist import Style, verdict_lines
from grader.report.terminal.layout import Look
from grader.verdict import Failure, Verdict
from tests.conftest import SmallCourse
from tests.support.small_course import manifest
from tests.support.verdicts import DIAGNOSIS, FORWARD, HIDDEN, LABEL, PUBLIC, SCENE, SPLIT, VERDICT, report

SECRET = "SENTINEL4711"
KNOWN = {"split_heads", "the module"}
GRADIENT = Gradient("grad_x", SECRET, (2,), (2,), 0.5, (0,), "1.0", SECRET, "values", SECRET)
LEAKY = replace(
    HIDDEN,
    test=f"test_hidden.py::test_split[{SECRET}]",
    call=f"split_heads({SECRET})",
    message=f"expected {SECRET}",
    diagnosis=None,
    where=Where(LABEL, 4711),
    notes=(f"printed: {SECRET}",),
    gradients=(GRADIENT,),
)
ROW = replace(SPLIT, failures=(PUBLIC, LEAKY))
WAITING = replace(FORWARD, failures=(replace(LEAKY, status="blocked"),), waits_for=("split_heads", SECRET))
LEAKING = replace(VERDICT, criteria=(ROW, WAITING), faults=(f"test_hidden.py: {SECRET}",))
ONLY_HIDDEN = replace(LEAKING, criteria=(replace(ROW, failures=(LEAKY,)),), faults=())


def everything(verdict: Verdict) -> dict[str, str]:
    """What each format, and the terminal, tells of a verdict, decoded."""
    told = {name: str(each.render(report(verdict), SCENE)) for name, each in CHECKS.items()}
    told["autograding"] = base64.b64decode(told["autograding"]).decode()
    told["github"] = html.unescape(told["github"])
    told["junit"] = html.unescape(told["junit"])
    told["annotations"] = "\n".join(annotation_lines(report(verdict), SCENE))
    for verbose in (False, True):
        lines = verdict_lines(verdict, Style(Look(100), "grader check s15", verbose))
        told[f"terminal, verbose {verbose}"] = "\n".join(line.plain for line in lines)
    return told


def test_the_lower_of_two_levels_tells_less() -> None:
    assert [lower(a, b) for a in FEEDBACK for b in FEEDBACK] == [
        "full", "hint", "verdict", "hint", "hint", "verdict", "verdict", "verdict", "verdict",
    ]  # fmt: skip


def test_in_full_nothing_is_held_back() -> None:
    assert shown(LEAKING, "full", KNOWN) == LEAKING
    for name, told in everything(ONLY_HIDDEN).items():
        assert SECRET in told, name


@pytest.mark.parametrize("level", ["hint", "verdict"])
@pytest.mark.parametrize("verdict", [LEAKING, replace(LEAKING, faults=()), ONLY_HIDDEN])
def test_below_full_no_format_tells_what_a_hidden_test_had(level: Feedback, verdict: Verdict) -> None:
    for name, told in everything(shown(verdict, level, KNOWN)).items():
        assert SECRET not in told, name
        assert "4711" not in told, name


def test_a_hint_keeps_the_test_s_name_its_status_and_the_known_mistake() -> None:
    known = replace(ROW, failures=(PUBLIC, replace(LEAKY, diagnosis=DIAGNOSIS)))
    row = shown(replace(LEAKING, criteria=(known,)), "hint", KNOWN).criteria[0]
    assert row.failures == (
        PUBLIC,
        replace(HIDDEN, test="test_hidden.py::test_split", call="", message=HELD_BACK, where=None),
    )
    assert row.failures[1].diagnosis == DIAGNOSIS
    assert (row.status, row.tests_passed, row.tests_total) == ("failed", 2, 4)


def test_a_verdict_keeps_of_hidden_tests_only_the_row_s_status_and_counts() -> None:
    row = shown(LEAKING, "verdict", KNOWN).criteria[0]
    assert row == replace(ROW, failures=(PUBLIC,))
    for name, told in everything(shown(replace(LEAKING, faults=()), "verdict", KNOWN)).items():
        assert "test_hidden" not in told, name


@pytest.mark.parametrize("level", ["hint", "verdict"])
def test_public_tests_are_told_in_full_at_every_level(level: Feedback) -> None:
    told = everything(shown(replace(LEAKING, faults=()), level, KNOWN))
    assert PUBLIC.call in told["json"]
    assert f"{LABEL}:142" in told["terminal, verbose False"]


@pytest.mark.parametrize("level", ["hint", "verdict"])
@pytest.mark.parametrize("failure", [PUBLIC, LEAKY], ids=["public", "hidden"])
def test_below_full_nothing_tells_what_was_found_in_the_reference(level: Feedback, failure: Failure) -> None:
    found = Diagnosis("slip-0123abcd", "split-heads", f"split_heads answers as if {SECRET}.", f"Use {SECRET}.")
    row = replace(SPLIT, failures=(replace(failure, diagnosis=found, message="", gradients=(GRADIENT,)),))
    verdict = replace(VERDICT, criteria=(row,))
    assert found.text in everything(verdict)["json"]
    for name, told in everything(shown(verdict, level, KNOWN)).items():
        assert not any(each in told for each in (SECRET, "slip-", "answers as if")), name


@pytest.mark.parametrize("level", ["hint", "verdict"])
def test_what_a_row_waits_for_is_named_only_where_the_course_named_it(level: Feedback) -> None:
    assert shown(LEAKING, level, KNOWN).criteria[1].waits_for == ("split_heads",)


@pytest.mark.parametrize("level", ["hint", "verdict"])
def test_a_fault_stays_a_fault(level: Feedback) -> None:
    less = shown(LEAKING, level, KNOWN)
    assert (less.faults, less.grader_fault) == ((FAULT,), True)
    assert shown(replace(LEAKING, faults=()), level, KNOWN).faults == ()


def test_a_report_says_how_much_it_tells() -> None:
    assert [verdict_document(shown(VERDICT, level, KNOWN))["feedback"] for level in FEEDBACK] == list(FEEDBACK)


def test_a_row_that_only_hidden_tests_fail_leads_on_to_its_hints() -> None:
    row = replace(SPLIT, failures=(LEAKY, replace(LEAKY, diagnosis=DIAGNOSIS)))
    for level, words in (
        ("hint", [HELD_BACK, DIAGNOSIS.text, "grader hint s15 split-heads"]),
        ("verdict", ["hint s15"]),
    ):
        told = everything(shown(replace(VERDICT, criteria=(row,)), level, KNOWN))["terminal, verbose False"]  # type: ignore[arg-type]
        assert all(each in told for each in words)
        assert "same inputs again" not in told


MANIFEST = manifest({"double": ["double", "Helper"]}, 'feedback = "hint"\n')
SOLUTION = """
    def double(x):
        return 2 * x
"""
PUBLIC_TEST = """
    @pytest.mark.criterion("double")
    def test_double(learner):
        assert_equal(learner.double(1), 2)
"""
HIDDEN_TEST = """
    @pytest.mark.criterion("double")
    @pytest.mark.parametrize("secret", [4711.25])
    def test_hidden_double(learner, secret):
        assert_equal(learner.double(secret), 2 * secret)
"""
LEARNERS = {
    "prints and warns": "import warnings\ndef double(x):\n    print('got', x)\n    warnings.warn(str(x))\n    return x",
    "raises": "def double(x):\n    raise ValueError(f'it was {x}')",
    "names a function": (
        "def double(x):\n"
        "    code = f'def got_{str(x).replace(chr(46), chr(95))}(): raise NotImplementedError(1)'\n"
        "    space = {}\n"
        "    exec(compile(code, __file__, 'exec'), space)\n"
        "    next(v for k, v in space.items() if k[:3] == 'got')()"
    ),
    "chooses a line": "def double(x):\n"
    + "    if int(x) == 4711:\n        raise ValueError('got 4711')\n    raise KeyError",
    "exits": "import sys\ndef double(x):\n    sys.exit(f'it was {x}')",
    "misses an attribute": "def double(x):\n    return getattr(object(), f'x{x}')",
}


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC_TEST, hidden=HIDDEN_TEST)
    return small_course


@pytest.mark.parametrize("source", LEARNERS.values(), ids=list(LEARNERS))
def test_no_learner_gets_a_hidden_input_out(course: SmallCourse, source: str) -> None:
    graded = course.grade(source).verdict
    known = known_names(course.stage)
    assert course.stage.feedback == "hint"
    assert "4711" in dumps(verdict_document(graded))  # so that the levels have something to hold back
    for level in ("hint", "verdict"):
        for name, told in everything(shown(graded, level, known)).items():
            assert not any(part in told for part in ("4711", "4_711", "9422")), (level, name)


def test_known_names_are_the_functions_of_the_rows(course: SmallCourse) -> None:
    assert known_names(course.stage) == {"double", "Helper", "the module"}
