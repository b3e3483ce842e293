"""Proves that a stage's tests pass what is right and catch, and name, what is wrong."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring import cases, evaluation, proof
from grader.authoring.cases import CaseResult, Planned, ProofCase, aimed, reach_cases, reference_cases
from grader.authoring.claims import Shortfall, claims, in_hidden, place_of_file
from grader.authoring.evaluation import Equivalent, Mutation, Ratio, first_complaint, load_equivalents, one_line
from grader.authoring.learner_values import fresh_tests, unplain_uses
from grader.course.answers import Mistake, load_mistakes, reference_source
from grader.course.mutants import Mutant, mutants
from grader.course.stage import Course, Stage
from grader.errors import CourseError, UsageError


def touched(course: Course, since: str) -> tuple[Stage, ...]:
    """Return the stages that differ from a commit, changes not yet committed and new files included.

    They are all where the commit is none: its name is of zeros, as GitHub names what was before a branch's first push.
    Raises UsageError where git is missing, or does not know the commit.
    """
    if is_none(since):
        return course.stages
    changed = _git(course, "diff", "--name-only", "--no-renames", "--relative", since, "--")
    fresh = _git(course, "ls-files", "--others", "--exclude-standard")
    folders = {part for line in (*changed, *fresh) for part in line.split("/")[:-1]}
    return tuple(stage for stage in course.stages if stage.name in folders)


def is_none(commit: str) -> bool:
    """Say whether a commit's name is git's for none."""
    return len(commit) in (40, 64) and not commit.strip("0")


def _git(course: Course, *arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotepath=off", *arguments]
    try:
        done = subprocess.run(command, cwd=course.root, capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror}", "Name the stages instead of --since.") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UsageError(f"git {arguments[0]} failed: {reason}", _hint(course, reason))
    return done.stdout.splitlines()


def _hint(course: Course, reason: str) -> str:
    """Say what to do about a failure of git, by its cause."""
    if "not a git repository" in reason.lower():
        return "Name the stages instead of --since, or run it in a clone."
    hint = "Give --since a commit that git knows here, or leave it out to prove every stage. "
    if _git(course, "rev-parse", "--is-shallow-repository") == ["true"]:
        return f"{hint}This clone is shallow: `git fetch --unshallow` brings older commits."
    return f"{hint}After a force push the commit before is gone."


FIRST_SEED = 1000
MISTAKE_SEEDS = 2  # a mistake that not every seed shows would be caught by luck alone
OnResult = Callable[[int, int, str], None]  # how many gradings are done, of how many, and of which stage the last was


@dataclass(frozen=True)
class VerifyOptions:
    """How thorough to be: how many seeds, whether mistakes and mutants are graded, the isolation, the processes.

    By default there is a process a core; with 0 workers everything is graded in this one. alternatives is how many
    other solutions of a stage are graded, by default all; stub says whether the stub is. Without mistakes, their texts
    are not searched for forbidden names either.
    """

    seeds: int = 3
    mistakes: bool = True
    mutants: bool = False
    isolation: str = "auto"
    workers: int | None = None
    alternatives: int | None = None
    stub: bool = True

    @property
    def all_seeds(self) -> range:
        return range(FIRST_SEED, FIRST_SEED + self.seeds)


@dataclass(frozen=True)
class StageProof:
    """What was seen of one stage; mutation is None where no mutants were graded."""

    stage: str
    title: str
    criteria: int
    tests: int
    reference: Ratio
    stub: Ratio
    alternatives: Ratio
    mistakes: Ratio
    named: Ratio
    mutation: Mutation | None
    shortfalls: tuple[Shortfall, ...]
    of_robustness: int = 0  # known mistakes that cost their criterion nothing but its robustness
    planned: Planned | None = None


@dataclass(frozen=True)
class _Files:
    """What the author of a stage has written, read once.

    fresh are the hidden tests that draw their inputs, problems the files that cannot be read.
    """

    right: tuple[ProofCase, ...]
    wrong: tuple[ProofCase, ...]
    mistakes: tuple[Mistake, ...]
    mutants: tuple[Mutant, ...]
    accepted: tuple[Equivalent, ...]
    fresh: frozenset[str]
    problems: tuple[Shortfall, ...]


def verify(
    course: Course, stages: Sequence[Stage], plan: VerifyOptions, on_result: OnResult | None = None
) -> list[StageProof]:
    """Prove the stages, all at once on every core; what is wrong is graded only where the reference passes."""
    files = {stage.id: _read(stage, plan) for stage in stages}
    total = sum(len(each.right) + len(each.wrong) for each in files.values())
    found: list[CaseResult] = []

    def grade(pool: Executor, cases: Iterable[ProofCase]) -> None:
        for result in proof.results(pool, cases):
            found.append(result)
            if on_result is not None:
                on_result(len(found), total, result.case.stage)

    with proof.workers(course, plan.workers) as pool:
        grade(pool, [case for each in files.values() for case in each.right])
        sound = [stage.id for stage in stages if _is_sound(found, stage)]
        total -= sum(len(each.wrong) for name, each in files.items() if name not in sound)
        grade(
            pool, [case for name in sound for case in _wrong(files[name], [r for r in found if r.case.stage == name])]
        )
    return [_proof(stage, files[stage.id], [r for r in found if r.case.stage == stage.id]) for stage in stages]


def _wrong(files: _Files, results: Sequence[CaseResult]) -> list[ProofCase]:
    """Return a stage's wrong modules, its mutants with the tests that the reference was seen to run their lines in."""
    mistakes = [case for case in files.wrong if case.first_failure is None]
    first_failures = [case for case in files.wrong if case.first_failure is not None]
    tests = {outcome.test for result in results if result.case.name == "reference" for outcome in result.outcomes}
    reached = [each for result in results for each in result.reached]
    return [*mistakes, *aimed(first_failures, files.mutants, reached, tests)]


def _is_sound(results: Iterable[CaseResult], stage: Stage) -> bool:
    own = [r.verdict for r in results if r.case.stage == stage.id and r.case.name == "reference"]
    return bool(own) and all(verdict is not None and verdict.robust for verdict in own)


def _read(stage: Stage, plan: VerifyOptions) -> _Files:
    seeds = plan.all_seeds
    problems: tuple[Shortfall, ...] = ()
    try:
        problems = (*claims(stage, plan.mistakes), *unplain_uses(stage))
        made = mutants(reference_source(stage)) if plan.mutants else []
        right = [*cases.reference_cases(stage, seeds), *cases.stub_cases(stage, seeds[: int(plan.stub)])]
        right += cases.alternative_cases(stage, seeds, plan.alternatives)
        right += reach_cases(stage, seeds[: int(plan.mutants)])
        right += cases.plan_cases(stage, seeds[: int(plan.alternatives is None)])
        wrong = cases.mistake_cases(stage, seeds[:MISTAKE_SEEDS]) if plan.mistakes else []
        wrong += cases.mutant_cases(stage, made, seeds[0])
        known, accepted = load_mistakes(stage), load_equivalents(stage)
    except (CourseError, OSError) as error:
        place, message = in_hidden(stage, ""), error.message if isinstance(error, CourseError) else ""
        if isinstance(error, OSError):
            place, message = place_of_file(stage, Path(error.filename or "")), f"cannot be read: {error.strerror}"
        problem = Shortfall(stage.id, place, message, "fix the file; nothing of the stage was graded")
        return _Files((), (), (), (), (), frozenset(), (*problems, problem))
    here, there = (tuple(replace(case, isolation=plan.isolation) for case in each) for each in (right, wrong))
    return _Files(here, there, known, tuple(made), accepted, fresh_tests(stage), problems)


def _proof(stage: Stage, files: _Files, results: Sequence[CaseResult]) -> StageProof:
    def of(kind: str) -> list[CaseResult]:
        return [result for result in results if result.case.name.partition("/")[0] == kind]

    reference, problems = evaluation.right(stage, of("reference"))
    stub, begun = evaluation.stub(stage, of("stub"))
    alternatives, refused = evaluation.right(stage, of("alternatives"))
    caught, named, missed = evaluation.mistakes(stage, files.mistakes, of("mistakes")) if of("mistakes") else _NONE
    mutated = of("mutants")
    mutation, weak = evaluation.mutation(stage, files.mutants, files.accepted, mutated) if mutated else (None, [])
    structure = evaluation.faults(stage, of("reference"))
    if not structure and results:
        structure = evaluation.criteria(stage, of("reference"), files.fresh) + evaluation.kinds(stage, of("reference"))
    shortfalls = (*files.problems, *structure, *problems, *begun, *refused, *missed, *weak)
    tests = max((len(result.outcomes) for result in of("reference")), default=0)
    return StageProof(
        stage.id, stage.title, len(stage.criteria), tests, reference, stub, alternatives, caught, named, mutation,
        tuple(dict.fromkeys(shortfalls)), evaluation.of_robustness(files.mistakes, of("mistakes")),
        next((result.planned for result in of(cases.PLAN)), None),
    )  # fmt: skip


_NONE: tuple[Ratio, Ratio, list[Shortfall]] = (Ratio(0, 0), Ratio(0, 0), [])


FEW = 2  # stages that are graded in this process: others would take longer to start
LIST_THEM = "List each member in `functions` of a criterion, or under [members], in the stage's stage.toml"
SHOWN = 5  # failures of one stage in a message


@dataclass(frozen=True)
class Unsound:
    """A stage whose reference does not pass its own tests, and of each failure a line with criterion and test."""

    stage: str
    failures: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What a message says of it."""
        more = len(self.failures) - SHOWN
        told = [f"the reference of {self.stage} does not pass {failure}" for failure in self.failures[:SHOWN]]
        return (*told, f"and {more} more tests of {self.stage}") if more > 0 else tuple(told)


def unsound(course: Course, stages: Sequence[Stage], on_result: OnResult | None = None) -> list[Unsound]:
    """Grade the reference of each stage with one seed, through the whole pipeline; return those that do not pass.

    What ran out of time is graded once more, alone and with more of it, since others may have kept the machine busy.
    """
    cases = [case for stage in stages for case in reference_cases(stage, [FIRST_SEED])]
    found: dict[str, CaseResult] = {}
    with proof.workers(course, 0 if len(cases) <= FEW else None) as pool:
        for result in proof.results(pool, cases):
            found[result.case.stage] = result
            if on_result is not None:
                on_result(len(found), len(cases), result.case.stage)
    late = [case for case in cases if any(each.status == "timed_out" for each in found[case.stage].outcomes)]
    if late:
        with proof.workers(replace(course, stages=tuple(map(_patient, course.stages))), 0) as alone:
            found |= {result.case.stage: result for result in proof.results(alone, late)}
    failures = {stage.id: tuple(_failures(found[stage.id])) for stage in stages}
    return [Unsound(name, own) for name, own in failures.items() if own]


def _patient(stage: Stage) -> Stage:
    seconds = stage.limits.stage_seconds, stage.limits.call_seconds
    stage_seconds, call_seconds = (proof.AGAIN * each for each in seconds)
    return replace(stage, limits=replace(stage.limits, stage_seconds=stage_seconds, call_seconds=call_seconds))


def expect_sound_stages(course: Course, stages: Sequence[Stage], on_result: OnResult | None = None) -> None:
    """Raise CourseError where the reference of a stage does not pass each of its tests."""
    if found := unsound(course, stages, on_result):
        names = " ".join(each.stage for each in found)
        hint = f"Nothing was written. `grader course verify {names}` says more; --unproven releases it all the same."
        lines = [f"- {line}" for each in found for line in each.lines]
        unlisted = sorted({f"{each.stage}: {member}" for each in found for member in _unlisted(each)})
        if unlisted:
            hint = f"{LIST_THEM} ({', '.join(unlisted)}). {hint}"
        raise CourseError("\n".join(["a reference does not pass its own tests:", *lines]), hint)


def _unlisted(found: Unsound) -> Iterator[str]:
    for failure in found.failures:
        yield from re.findall(r"([\w.]+): this stage does not list", failure)


def _failures(result: CaseResult) -> Iterator[str]:
    verdict = result.verdict
    assert verdict is not None
    lacking = [each for each in result.outcomes if each.status != "passed"]
    for each in lacking:
        yield one_line(f"criterion {each.criterion}, test {each.test}: {each.message or each.status}")
    if not lacking and not verdict.robust:
        yield f"its tests: {first_complaint(verdict)}"
