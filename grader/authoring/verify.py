"""Proves that a stage's tests pass what is right and catch, and name, what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from grader.authoring import cases, evaluation, proof
from grader.authoring.accepted import Equivalent, load_equivalents
from grader.authoring.aim import aimed, reach_cases
from grader.authoring.cases import Case, Planned, Result
from grader.authoring.claims import Shortfall, claims, in_hidden
from grader.authoring.evaluation import Mutation, Tally
from grader.authoring.fresh import fresh_tests
from grader.authoring.learner_values import unplain_uses
from grader.course.answers import Mistake, load_mistakes, reference_source
from grader.course.mutants import Mutant, mutants
from grader.course.stage import Course, Stage
from grader.errors import CourseError

FIRST_SEED = 1000
MISTAKE_SEEDS = 2  # a mistake that not every seed shows would be caught by luck alone
OnResult = Callable[[int, int, str], None]  # how many gradings are done, of how many, and of which stage the last was


@dataclass(frozen=True)
class Plan:
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
    rows: int
    tests: int
    reference: Tally
    stub: Tally
    alternatives: Tally
    mistakes: Tally
    named: Tally
    mutation: Mutation | None
    shortfalls: tuple[Shortfall, ...]
    of_robustness: int = 0  # known mistakes that cost their row nothing but its robustness
    planned: Planned | None = None


@dataclass(frozen=True)
class _Files:
    """What the author of a stage has written, read once.

    fresh are the hidden tests that draw their inputs, problems the files that cannot be read.
    """

    right: tuple[Case, ...]
    wrong: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    mutants: tuple[Mutant, ...]
    accepted: tuple[Equivalent, ...]
    fresh: frozenset[str]
    problems: tuple[Shortfall, ...]


def verify(course: Course, stages: Sequence[Stage], plan: Plan, on_result: OnResult | None = None) -> list[StageProof]:
    """Prove the stages, all at once on every core; what is wrong is graded only where the reference passes."""
    files = {stage.id: _read(stage, plan) for stage in stages}
    total = sum(len(each.right) + len(each.wrong) for each in files.values())
    found: list[Result] = []

    def grade(pool: Executor, cases: Iterable[Case]) -> None:
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


def _wrong(files: _Files, results: Sequence[Result]) -> list[Case]:
    """Return a stage's wrong modules, its mutants with the tests that the reference was seen to run their lines in."""
    mistakes = [case for case in files.wrong if case.first_failure is None]
    first_failures = [case for case in files.wrong if case.first_failure is not None]
    tests = {outcome.test for result in results if result.case.name == "reference" for outcome in result.outcomes}
    reached = [each for result in results for each in result.reached]
    return [*mistakes, *aimed(first_failures, files.mutants, reached, tests)]


def _is_sound(results: Iterable[Result], stage: Stage) -> bool:
    own = [r.verdict for r in results if r.case.stage == stage.id and r.case.name == "reference"]
    return bool(own) and all(verdict is not None and verdict.robust for verdict in own)


def _read(stage: Stage, plan: Plan) -> _Files:
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
        message = error.message if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
        problem = Shortfall(stage.id, in_hidden(stage, ""), message, "fix the file; nothing of the stage was graded")
        return _Files((), (), (), (), (), frozenset(), (*problems, problem))
    here, there = (tuple(replace(case, isolation=plan.isolation) for case in each) for each in (right, wrong))
    return _Files(here, there, known, tuple(made), accepted, fresh_tests(stage), problems)


def _proof(stage: Stage, files: _Files, results: Sequence[Result]) -> StageProof:
    def of(kind: str) -> list[Result]:
        return [result for result in results if result.case.name.partition("/")[0] == kind]

    reference, problems = evaluation.right(stage, of("reference"))
    stub, begun = evaluation.stub(stage, of("stub"))
    alternatives, refused = evaluation.right(stage, of("alternatives"))
    caught, named, missed = evaluation.mistakes(stage, files.mistakes, of("mistakes")) if of("mistakes") else _NONE
    mutated = of("mutants")
    mutation, weak = evaluation.mutation(stage, files.mutants, files.accepted, mutated) if mutated else (None, [])
    structure = evaluation.faults(stage, of("reference"))
    if not structure and results:
        structure = evaluation.rows(stage, of("reference"), files.fresh) + evaluation.kinds(stage, of("reference"))
    shortfalls = (*files.problems, *structure, *problems, *begun, *refused, *missed, *weak)
    tests = max((len(result.outcomes) for result in of("reference")), default=0)
    return StageProof(
        stage.id, stage.title, len(stage.criteria), tests, reference, stub, alternatives, caught, named, mutation,
        tuple(dict.fromkeys(shortfalls)), evaluation.of_robustness(files.mistakes, of("mistakes")),
        next((result.planned for result in of(cases.PLAN)), None),
    )  # fmt: skip


_NONE: tuple[Tally, Tally, list[Shortfall]] = (Tally(0, 0), Tally(0, 0), [])
