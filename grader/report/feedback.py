"""Limit how much of hidden tests is shown: once, before any report, so that no format can tell more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from grader.course.stage import FEEDBACK, Feedback, Stage
from grader.course.table import together
from grader.submission.parsing import Problem
from grader.verdict import SOURCE, CriterionResult, Failure, Verdict

HELD_BACK = "A hidden test does not pass; what it calls and what came back are not shown."
FAULT = 'Something failed in the grader or the course; feedback = "full" in stage.toml shows what.'
HELD_FAULT = "The grader or the course failed; details are hidden because a reference was lent."
TESTS = "the tests"  # stands for the tests of a criterion of which nothing is told
MODULE = "the module"  # what criteria wait for where the whole module cannot be graded
LOADING = ("import", "import-error")  # kinds of problems that are found by running the module


def lower(first: Feedback, second: Feedback) -> Feedback:
    """Return the one of two levels that tells less."""
    return max(first, second, key=FEEDBACK.index)


def known_names(stage: Stage) -> frozenset[str]:
    """Return the names that a criterion may wait for and that the course, not a learner's process, has given."""
    names = {name for criterion in stage.criteria for name in criterion.functions}
    return frozenset(names | {name.partition(".")[0] for name in names} | {MODULE})


def shown(verdict: Verdict, level: Feedback, known: Collection[str]) -> Verdict:
    """Return what of a verdict may be shown: at hint and verdict, nothing that a hidden test's inputs could reach.

    full keeps everything. hint keeps of a hidden test its name, its status and the known mistake, whose text the course
    wrote. verdict keeps only the criteria's statuses and counts. Public tests are told in full, since a learner has
    them, except for explanations that were made from the reference.
    What a criterion waits for is kept where it is in known, since a learner's process can name a function after an
    input. Of a run beside a reference that is withheld, every level keeps only what `_without_its_words` does.
    """
    if verdict.run.withheld:
        verdict = _without_its_words(verdict)
    if level == "full":
        return replace(verdict, feedback=level)
    results = tuple(_shown(result, level, known) for result in verdict.criteria)
    return replace(verdict, criteria=results, faults=(FAULT,) if verdict.faults else (), feedback=level)


def _shown(result: CriterionResult, level: Feedback, known: Collection[str]) -> CriterionResult:
    kept = [failure for failure in result.failures if level == "hint" or not failure.hidden]
    failures = tuple(_hinted(failure) if failure.hidden else _declared(failure) for failure in kept)
    return replace(result, failures=failures, waits_for=tuple(name for name in result.waits_for if name in known))


def _hinted(failure: Failure) -> Failure:
    """Return a hidden test's failure without anything that its inputs could reach; parameters stand in its name."""
    name = failure.test.partition("[")[0]
    return Failure(name, True, failure.status, "", HELD_BACK, _declared(failure).diagnosis, None, kind=failure.kind)


def _declared(failure: Failure) -> Failure:
    """Return a failure without what was made from the reference: gradients, and explanations but known mistakes."""
    failure = replace(failure, gradients=())
    found = failure.diagnosis
    return failure if found is None or found.declared else replace(failure, diagnosis=None)


def _without_its_words(verdict: Verdict) -> Verdict:
    """Return a verdict without anything that the learner's process chose, since it could be a piece of a reference.

    Left are each criterion's status and how many of its tests pass, which marks are made of: at most a bit a test.
    Messages, values, output, places, times and names give way to words of the grader's own.
    """
    why = held_back(verdict.run.withheld)
    results = tuple(_decided(result, why) for result in verdict.criteria)
    problem = verdict.problem
    if problem is not None and problem.kind in LOADING:
        message = f"{verdict.run.label} fails while it is loaded."
        problem = Problem("import-error", message, None, why)
    faults = (HELD_FAULT,) if verdict.faults else ()
    run = replace(verdict.run, duration_s=0.0)
    return replace(verdict, criteria=results, problem=problem, faults=faults, run=run, unrecorded="")


def held_back(stages: Sequence[str]) -> str:
    """Return why a report says no more than which criteria pass."""
    names = together(stages)
    return (
        f"Code can read the reference of {names} that it runs beside, so this report shows no messages, values or "
        f"output. Submit your own {names} that passes to see them."
    )


def _decided(result: CriterionResult, why: str) -> CriterionResult:
    """Return a criterion with its status and counts, and what the text of the module tells."""
    told = tuple(failure for failure in result.failures if failure.test == SOURCE)  # read, not run
    if result.status != "passed" and not told:
        told = (Failure(TESTS, False, result.status, "", why, None, None),)
    return replace(result, failures=told, waits_for=())
