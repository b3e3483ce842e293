"""A stage and the outcomes of its tests make a verdict; nothing passes by default."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from grader.course.provenance import UNKNOWN, Provenance
from grader.course.stage import Criterion, Feedback, Stage
from grader.criterion import Counts, Kind, KindCount, Passes, Status, counts_of
from grader.outcome import Diagnosis, Gradient, Outcome, Where, the_one
from grader.submission.parsing import Problem
from grader.submission.snapshot import Use

Reaches = Mapping[str, frozenset[str]]  # for a function those that it leads to in the module's text


@dataclass(frozen=True)
class Before:
    """What comes before a criterion: the criteria that it needs and that do not stand, the nearest first."""

    criterion: Criterion
    stage: Stage
    missing: tuple[str, ...]
    reaches: Reaches

    def rests_on(self, outcome: Outcome) -> list[str]:
        """Return the functions of missing criteria that a failed test called, or that what it called leads to.

        A test that rests on none has failed by itself. Of a class that was called only its methods' calls count: that
        an object was made does not say which of its methods took part.
        """
        own, known = self.criterion.functions, _functions(self.stage)
        found: dict[str, str] = {}  # the name that is told, by the one that it was found as
        for label in outcome.called or own:
            key = label if label in known else label.partition(".")[0]
            if label not in own:
                found[label] = key
            if "." in label or not key[:1].isupper():
                found |= {name: name for name in known if name in self.reaches.get(key, ()) and name not in own}
        needed = {name: self._missing_of(name, known) for name in found}
        used = sorted((name for name in found if needed[name]), key=lambda name: self.missing.index(needed[name][0]))
        return list(dict.fromkeys(found[name] for name in used))

    def waits_for(self, failed: Iterable[Outcome], rest: Iterable[list[str]]) -> tuple[str, ...]:
        """Return what a criterion waits for: functions called in vain, else what its tests rest on, else its needs."""
        own = self.criterion.functions
        called = [outcome.waits_on for outcome in failed if outcome.waits_on and outcome.waits_on not in own]
        firsts = [name for each in self.missing for name in self.stage.criterion(each).functions[:1]]
        return tuple(dict.fromkeys(called or [name for names in rest for name in names] or firsts))

    def _missing_of(self, name: str, known: Collection[str]) -> list[str]:
        """Return the missing criteria that name a function, or the class of a method that no criterion names."""
        wanted = name if name in known else name.partition(".")[0]
        return [each for each in self.missing if wanted in self.stage.criterion(each).functions]


def before(criterion: Criterion, stage: Stage, standing: Collection[str], reaches: Reaches) -> Before:
    """Return what comes before a criterion; standing holds the criteria that nothing has to wait for."""
    missing: list[str] = []
    queue = list(criterion.needs)
    while queue:
        need = queue.pop(0)
        if need not in standing and need not in missing:
            missing.append(need)
            queue += stage.criterion(need).needs
    return Before(criterion, stage, tuple(missing), reaches)


def held_up_by(criterion: str, others: list[str], stage: Stage, reaches: Reaches) -> tuple[str, ...]:
    """Return the functions of other criteria that a criterion's lead to, one way only: those of the deepest."""

    def led_to(one: str, other: str) -> list[str]:
        into = stage.criterion(other).functions
        from_one = stage.criterion(one).functions
        return [name for name in into if name not in from_one and any(name in reaches.get(f, ()) for f in from_one)]

    below = [other for other in others if led_to(criterion, other) and not led_to(other, criterion)]
    first = [each for each in below if not any(led_to(each, other) for other in below if other != each)]
    return tuple(dict.fromkeys(led_to(criterion, other)[0] for other in first or below))


def _functions(stage: Stage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for criterion in stage.criteria for name in criterion.functions))


SCHEMA = 3
SOURCE = "the source"  # stands for a test where the module's text is what fails a criterion
# Ends that say where a test stopped, and not in which function: one that calls another may have stopped there.
ABRUPT: tuple[Status, ...] = ("crashed", "timed_out", "over_limit")
# The first of these that any test of a criterion which counts has is the criterion's status.
GRAVITY: tuple[Status, ...] = ("grader_fault", "crashed", "timed_out", "over_limit", "failed", "not_started", "blocked")


@dataclass(frozen=True)
class Failure:
    """One test that did not pass, as a learner is told of it."""

    test: str
    hidden: bool
    status: Status
    call: str
    message: str
    diagnosis: Diagnosis | None
    where: Where | None
    notes: tuple[str, ...] = ()
    unexplained: str = ""  # why an explanation could not be made
    kind: Kind | Literal[""] = ""
    help: str = ""  # what an exception means here
    gradients: tuple[Gradient, ...] = ()  # of a wrong backward pass, beside the right ones
    pattern: str = ""  # the line of the message that says what its numbers look like
    undecided: tuple[str, ...] = ()  # ids of known mistakes that explain it equally well: for authors alone


@dataclass(frozen=True)
class CriterionResult:
    """One criterion of the checklist; waits_for holds the functions that have to come first.

    kinds counts the tests that name their kind, where any were run. failures holds every test that did not pass: one
    that passes may lack some of its robustness.
    """

    id: str
    text: str
    status: Status
    tests_passed: int
    tests_total: int
    failures: tuple[Failure, ...] = ()
    waits_for: tuple[str, ...] = ()
    kinds: tuple[KindCount, ...] = ()

    @property
    def counts(self) -> Counts:
        """How many of its tests pass, and of which kinds they are."""
        return Counts(self.tests_passed, self.tests_total, self.kinds)

    @property
    def values_right(self) -> bool:
        """Whether it fails although its values are right: its edges or purity are not (◐)."""
        return self.status == "failed" and self.counts.values_right

    @property
    def values_pass(self) -> bool:
        """Whether all its tests of values pass, whatever else does not."""
        return self.counts.values_pass

    @property
    def lacks_robustness(self) -> bool:
        """Whether it passes, and some of its tests of refusals or of the dtype do not."""
        return self.status == "passed" and not self.robust

    @property
    def robust(self) -> bool:
        """Whether it passes with every test of refusals and of the dtype."""
        return self.status == "passed" and not self.counts.missing_robustness


@dataclass(frozen=True)
class Run:
    """What is known of a grading run beside its tests."""

    seed: int
    isolation: str
    isolation_note: str | None
    duration_s: float
    course: str
    submission: str
    label: str
    only: str | None = None
    public_only: bool = False
    revision: str | None = None  # the commit that the module was taken from
    provenance: Provenance = UNKNOWN
    uses: tuple[Use, ...] = ()  # the modules of earlier stages that it was graded with
    withheld: tuple[str, ...] = ()  # stages whose references ran beside it: reports hold nothing that its code chose
    notes: tuple[str, ...] = ()  # what was done to read the module, and which packages were stood in for


@dataclass(frozen=True)
class Verdict:
    """The result of grading one module; passed only when every criterion is. problem replaces their failures.

    passes says which tests make its criteria pass, feedback how much is told of hidden tests, unrecorded why progress
    could not be written. Where run.public_only says that hidden tests are sealed, criteria are about public tests, and
    the module has not passed.
    """

    stage: str
    title: str
    passed: bool
    criteria: tuple[CriterionResult, ...]
    run: Run
    problem: Problem | None = None
    faults: tuple[str, ...] = ()
    unlocked: tuple[str, ...] = ()
    locked: bool = False
    feedback: Feedback = "full"
    unrecorded: str = ""
    waits_for: tuple[str, ...] = ()  # earlier stages without which it cannot be graded: it has no mark
    passes: Passes = "mathematics"

    @property
    def robust(self) -> bool:
        """Whether it passed, and every criterion is robust."""
        return self.passed and all(criterion.robust for criterion in self.criteria)

    @property
    def public_passed(self) -> bool:
        """Whether a run of the public tests alone found nothing wrong in any criterion."""
        right = bool(self.criteria) and all(each.status == "passed" for each in self.criteria)
        return self.run.public_only and right and not self.grader_fault and self.problem is None

    @property
    def is_untouched(self) -> bool:
        """Whether nothing of the module is written yet, as far as its criteria tell."""
        found = {criterion.status for criterion in self.criteria}
        return self.problem is None and bool(found) and found <= {"not_started", "blocked"}

    @property
    def grader_fault(self) -> bool:
        """Whether anything went wrong on our side, so that this verdict must not count."""
        return bool(self.faults) or any(criterion.status == "grader_fault" for criterion in self.criteria)


def decide(
    stage: Stage,
    expected: Iterable[tuple[str, str, bool]],
    outcomes: Iterable[Outcome],
    run: Run,
    *,
    problem: Problem | None = None,
    faults: tuple[str, ...] = (),
    refused: Mapping[str, Problem] | None = None,
    reaches: Reaches | None = None,
) -> Verdict:
    """Return the verdict of a run; expected holds (test, criterion, hidden) of every test that had to end.

    Where run.only names a criterion, it is the only one of the verdict; the others are read as far as their tests were
    run. refused holds the criteria whose functions reach what the stage forbids: they fail, whatever their tests found.
    reaches holds for each function those that it leads to in the module's text.
    """
    wanted = list(expected)
    by_test = _explained(outcomes, {name for _, name, _ in wanted})
    results: list[CriterionResult] = []
    # Of criteria that were not run nothing is known, so that the one that was asked for waits for none of them.
    known = {criterion.id for criterion in stage.criteria} if run.only is None else {name for _, name, _ in wanted}
    standing = {criterion.id for criterion in stage.criteria} - known - {run.only}
    for criterion in (each for each in stage.criteria if each.id in known | {run.only}):
        tests = [(test, hidden) for test, name, hidden in wanted if name == criterion.id]
        found = [by_test.get(test) or _unfinished(test, criterion.id, hidden) for test, hidden in tests]
        if problem is None:
            earlier = before(criterion, stage, standing, reaches or {})
            result = _result(criterion, stage.passes, found, run.public_only, earlier)
        else:
            result = CriterionResult(criterion.id, criterion.text, "blocked", 0, len(tests), (), ("the module",))
        if problem is None and refused and criterion.id in refused:
            result = _refused(result, refused[criterion.id], run.label)
        results.append(result)
        if _stands(result):
            standing.add(criterion.id)
    results = [_held_up(each, results, stage, reaches or {}) for each in results]
    results = [_blaming_none_that_waits(each, results) for each in results]
    results = [each for each in results if run.only in (None, each.id)]
    whole = bool(results) and all(each.status == "passed" for each in results) and not faults and problem is None
    whole = whole and not run.public_only
    return Verdict(stage.id, stage.title, whole, tuple(results), run, problem, faults, passes=stage.passes)


def _stands(result: CriterionResult) -> bool:
    """Say whether no other criterion has to wait for this one: it passes, or at least all its values are right."""
    return result.status == "passed" or (result.status == "failed" and result.counts.values_pass)


def _is_of_purity(outcome: Outcome) -> bool:
    """Say whether a test got what it asks for, and failed because its arguments came back changed."""
    return outcome.changed and outcome.kind in ("values", "edges", "dtype")


def _kind(outcome: Outcome) -> Kind | Literal[""]:
    """Return the kind that a test counts as."""
    return "purity" if _is_of_purity(outcome) else outcome.kind


def _result(
    criterion: Criterion, passes: Passes, found: list[Outcome], public_only: bool, earlier: Before
) -> CriterionResult:
    total, done = len(found), sum(outcome.status == "passed" for outcome in found)
    changed = [outcome.kind for outcome in found if _is_of_purity(outcome)]
    counts = counts_of(((_kind(outcome), outcome.status == "passed") for outcome in found), changed)
    count = [each for each in found if counts.counts(each.kind, passes) or each.status == "grader_fault"]
    if not (count if public_only else any(outcome.hidden for outcome in count)):
        missing = _unfinished("public tests" if public_only else "hidden tests", criterion.id, not public_only)
        found, count = [*found, missing], [*count, missing]
    statuses = {outcome.status for outcome in count}
    status: Status = next((each for each in GRAVITY if each in statuses), "passed")
    if status == "blocked" and any(outcome.status == "not_started" for outcome in found):
        status = "not_started"  # all that counts waits, and its own refusals say that nothing is written
    result = CriterionResult(criterion.id, criterion.text, status, done, total, kinds=counts.kinds)
    failed = [outcome for outcome in found if outcome.status != "passed"]
    # A refusal that is missing shows that something is written, even where nothing that counts has come so far.
    wrong = [outcome for outcome in failed if status in ("not_started", "blocked") or outcome in count]
    is_begun = status in ("failed", "blocked") or any(outcome.status == "failed" for outcome in wrong)
    if is_begun and status in ("failed", "blocked", "not_started") and not _stands(result):
        behind = {outcome.test: earlier.rests_on(outcome) for outcome in wrong if outcome.status == "failed"}
        if all(behind.values()):
            result = replace(result, status="blocked", waits_for=earlier.waits_for(wrong, behind.values()))
        failed.sort(key=lambda outcome: behind.get(outcome.test) != [])  # those that failed by themselves come first
    failed.sort(key=lambda outcome: outcome not in count)
    return replace(result, failures=tuple(_failure(outcome, found) for outcome in failed))


def _held_up(
    result: CriterionResult, results: list[CriterionResult], stage: Stage, reaches: Reaches
) -> CriterionResult:
    """Return a criterion that ended abruptly as one that waits, if its functions lead to another's that ended likewise.

    Which of two that lead to each other is to blame nobody can tell: both stay as they are.
    """
    alike = [other.id for other in results if other.status == result.status and other.id != result.id]
    waits = held_up_by(result.id, alike, stage, reaches) if result.status in ABRUPT else ()
    return replace(result, status="blocked", waits_for=waits) if waits else result


def _blaming_none_that_waits(result: CriterionResult, results: list[CriterionResult]) -> CriterionResult:
    """Return a criterion that waits without guesses in it or in another that waits: its inputs are wrong already.

    A cause that was found in a line stands: what the criterion waits for was put right when it was looked for.
    """
    if result.status != "blocked":
        return result
    waiting = {other.id for other in results if other.status == "blocked"}
    guesses = {
        id(each) for each in result.failures
        if each.diagnosis is not None and each.diagnosis.criterion in waiting and not each.diagnosis.line
    }  # fmt: skip
    failures = (replace(each, diagnosis=None) if id(each) in guesses else each for each in result.failures)
    return replace(result, failures=tuple(failures))


def _refused(result: CriterionResult, problem: Problem, label: str) -> CriterionResult:
    """Return a criterion of which the text tells enough: no test of it counts, and its one failure is the problem."""
    message = problem.message if problem.hint is None else f"{problem.message}\n{problem.hint}"
    where = Where(label, problem.line) if problem.line else None
    failure = Failure(SOURCE, False, "failed", "", message, None, where)
    return CriterionResult(result.id, result.text, "failed", 0, result.tests_total, (failure,))


def _explained(outcomes: Iterable[Outcome], criteria: set[str]) -> dict[str, Outcome]:
    """Return the outcomes by test, without the explanations that belong to a criterion of these which passes."""
    found = {outcome.test: outcome for outcome in outcomes}
    fine = criteria - {outcome.criterion for outcome in found.values() if outcome.status != "passed"}
    return {test: _plausible(outcome, fine) for test, outcome in found.items()}


def _plausible(outcome: Outcome, fine: set[str]) -> Outcome:
    """Return an outcome without the mistakes whose own criterion passes: whoever made one would fail there."""
    return replace(
        outcome, explains=tuple(diagnosis for diagnosis in outcome.explains if diagnosis.criterion not in fine)
    )


def _unfinished(test: str, criterion: str, hidden: bool) -> Outcome:
    return Outcome(test, criterion, hidden, "grader_fault", "this test did not finish")


def _failure(outcome: Outcome, found: list[Outcome]) -> Failure:
    others = (other.explains for other in found if other is not outcome and other.explains)
    diagnosis = the_one(outcome.explains, others)
    place = (outcome.test, outcome.hidden, outcome.status)
    told = Failure(*place, outcome.call, outcome.message, diagnosis, outcome.where, outcome.notes, outcome.unexplained)
    more = replace(told, kind=_kind(outcome), help=outcome.help, gradients=outcome.gradients, pattern=outcome.pattern)
    return replace(more, undecided=outcome.undecided)
