"""The share of wrong modules that are named rightly: mutants of a second solution, graded as a learner's would be.

The second solution is an alternative of the stage, and the diagnosis does not see it. So what is measured is what a
learner gets whose module is written in another way: where the diagnosis knows the reference alone, where it knows the
other alternatives too, and where it has their values alone, as a class's pool gives them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from grader.authoring import cases, proof
from grader.course.answers import load_mistakes, reference_source
from grader.course.mutants import BODIES, Mutant, mutants, plain, reach
from grader.course.stage import Course, Stage
from grader.diagnosis.likeness import most_alike
from grader.diagnosis.obvious import OBVIOUS
from grader.outcome import Diagnosis
from grader.verdict import CriterionResult, Verdict


@dataclass(frozen=True)
class MutantChange:
    """The lines of a wrong module that differ, and the names by which their functions may be told."""

    lines: frozenset[int]
    functions: frozenset[str]


def change_of(right: str, wrong: str, stage: Stage) -> MutantChange:
    """Return where a wrong module differs from a right one of a stage.

    A line stands for its whole statement, of a compound one for its head. Of what was taken out the lines before and
    after it stand. Beside a function its class may be told and, of a helper that no criterion names, what calls it.
    """
    differing = _differing(right.splitlines(), wrong.splitlines())
    lines = set(differing)
    functions: set[str] = set()
    for first, last, function in _statements(ast.parse(wrong), ""):
        if differing & set(range(first, last + 1)):
            lines |= set(range(first, last + 1))
            functions |= {function} if function else set()
    return MutantChange(
        frozenset(lines), frozenset(name for each in functions for name in _names_of(each, wrong, stage))
    )


def _differing(right: list[str], wrong: list[str]) -> set[int]:
    found: set[int] = set()
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind == "delete":
            found |= {first, first + 1}
        elif kind != "equal":
            found |= set(range(first + 1, last + 1))
    return found


def _statements(node: ast.AST, function: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last line of each statement or head, and the function that it stands in."""
    for name in BODIES:
        for each in getattr(node, name, ()):
            inner = function
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{function}.{each.name}" if function else each.name
            bodies = [part for other in BODIES for part in getattr(each, other, ())]
            first = getattr(each, "lineno", 0)
            last = getattr(bodies[0], "lineno", first + 1) - 1 if bodies else each.end_lineno
            if first:
                yield first, max(first, last), inner
            yield from _statements(each, inner)


def _names_of(function: str, text: str, stage: Stage) -> set[str]:
    parts = function.split(".")
    names = {".".join(parts[: place + 1]) for place in range(len(parts))} | {function.removesuffix(".__init__")}
    return names | _callers(names, function, text, stage)


def replaced_by(stage: Stage) -> dict[str, frozenset[str]]:
    """Return by id what each known mistake replaces; of a helper in no criterion, what calls it in the reference."""
    text = reference_source(stage)
    names = {each.id: each.replaces for each in load_mistakes(stage)}
    return {
        id: frozenset({name} | _callers({name, name.partition(".")[0]}, name, text, stage))
        for id, name in names.items()
    }


def _callers(names: set[str], function: str, text: str, stage: Stage) -> set[str]:
    """Return the functions of criteria that come to use one; none where a criterion names it."""
    known = {name for criterion in stage.criteria for name in criterion.functions}
    if names & known:
        return set()
    reached = reach(text)
    return {name for name in known if function.partition(".")[0] in reached(name)}


SEED = 1000
REFERENCE, ALTERNATIVES, POOL = WAYS = ("reference", "alternatives", "pool")
RIGHT, NEAR, FALSE, UNNAMED = STATES = ("right", "in_function", "false", "unnamed")
PASSED = "passed"
OnResult = Callable[[int, int, str], None]


@dataclass(frozen=True)
class NamedCauses:
    """What one mutant is told in one way, each cause once; state is one of STATES, or passed where no test failed."""

    state: str
    causes: tuple[Diagnosis, ...] = ()


@dataclass(frozen=True)
class GradedMutant:
    """One mutant, the lines of its own text that the change stands in, and what it is told, by WAYS."""

    mutant: Mutant
    lines: tuple[int, ...]
    told: Mapping[str, NamedCauses]


@dataclass(frozen=True)
class Naming:
    """What came of one stage's sample: the name of the second solution, how many mutants it has, those graded.

    solution is empty where the stage has no alternative; others is how many further alternatives there are.
    """

    stage: str
    solution: str
    others: int
    mutants: int
    graded: tuple[GradedMutant, ...]

    def count(self, way: str, state: str) -> int:
        """Return how many of the graded mutants are in a state where they are graded in a way."""
        return sum(each.told[way].state == state for each in self.graded)

    @property
    def caught(self) -> int:
        """How many of the graded mutants a test caught."""
        return len(self.graded) - self.count(REFERENCE, PASSED)


def measured(
    course: Course,
    stages: Sequence[Stage],
    most: int,
    on_result: OnResult | None = None,
    isolation: str = "auto",
    workers: int | None = None,
) -> list[Naming]:
    """Grade at most so many mutants of each stage's second solution, in each way, and say what they are told."""
    files = {stage.id: cases.alternative_files(stage) for stage in stages}
    texts = {name: found[0].read_text(encoding="utf-8") if found else "" for name, found in files.items()}
    made = {name: mutants(text) if text else [] for name, text in texts.items()}
    chosen = {name: _sample(each, most) for name, each in made.items()}
    total = sum(map(len, chosen.values()))
    found: dict[str, list[GradedMutant]] = {stage.id: [] for stage in stages}
    with proof.workers(course, workers) as pool:
        asked = {
            pool.submit(graded, stage, mutant, files[stage.id], isolation): (stage, mutant)
            for stage in stages
            for mutant in chosen[stage.id]
        }
        for number, future in enumerate(as_completed(asked), 1):
            stage, mutant = asked[future]
            change = change_of(plain(texts[stage.id]), mutant.source, stage)
            told = {way: judged(stage, change, verdict) for way, verdict in future.result().items()}
            found[stage.id].append(GradedMutant(mutant, tuple(sorted(change.lines)), told))
            if on_result is not None:
                on_result(number, total, stage.id)
    return [
        Naming(
            each.id,
            files[each.id][0].stem if files[each.id] else "",
            max(len(files[each.id]) - 1, 0),
            len(made[each.id]),
            tuple(sorted(found[each.id], key=_place)),
        )
        for each in stages
    ]


def _sample(found: Sequence[Mutant], most: int) -> list[Mutant]:
    """Return at most so many mutants, spread over the whole module; the same ones each time."""
    return [found[place * len(found) // most] for place in range(most)] if len(found) > most else list(found)


def _place(graded: GradedMutant) -> tuple[int, str, str]:
    return graded.mutant.line, graded.mutant.was, graded.mutant.now


def graded(stage: Stage, mutant: Mutant, alternatives: Sequence[Path], isolation: str) -> dict[str, Verdict]:
    """Grade a mutant of the first alternative, in a process that knows its course; return the verdicts by WAYS.

    With a pool, only what fails and is told nothing with the reference alone is looked at once more, as in a class.
    """
    second, *others = alternatives
    names = tuple(each.stem for each in alternatives)
    case = cases.ProofCase(f"naming/{second.stem}", stage.id, mutant.source, SEED, isolation=isolation, withheld=names)
    found = {REFERENCE: _verdict(case)}
    found[ALTERNATIVES] = _verdict(replace(case, withheld=(second.stem,))) if others else found[REFERENCE]
    found[POOL] = found[REFERENCE]
    untold = [each.id for each in found[REFERENCE].criteria if _is_untold(each)]
    if untold and others:
        texts = [each.read_bytes() for each in others]
        case = replace(case, pool=most_alike(stage, untold, mutant.source.encode(), texts))
        found[POOL] = _with_criteria(found[REFERENCE], _verdict(case), untold)
    return found


def _verdict(case: cases.ProofCase) -> Verdict:
    verdict = proof.graded(case).verdict
    assert verdict is not None  # only a run to the first failure has none
    return verdict


def _is_untold(result: CriterionResult) -> bool:
    has_cause = any(each.diagnosis for each in result.failures)
    return any(each.status == "failed" for each in result.failures) and not has_cause


def _with_criteria(verdict: Verdict, other: Verdict, criteria: Sequence[str]) -> Verdict:
    """Return a verdict with some criteria of another one on the same module."""
    more = {each.id: each for each in other.criteria if each.id in criteria}
    return replace(verdict, criteria=tuple(more.get(each.id, each) for each in verdict.criteria))


def judged(stage: Stage, change: MutantChange, verdict: Verdict) -> NamedCauses:
    """Return what was told of a wrong module: right where every cause is; "in_function" where no cause is elsewhere."""
    if verdict.robust:
        return NamedCauses(PASSED)
    failures = [failure for result in verdict.criteria for failure in result.failures]
    causes = tuple({each.diagnosis.mistake: each.diagnosis for each in failures if each.diagnosis}.values())
    states = _states(stage, change, causes)
    state = next((each for each in (FALSE, NEAR, RIGHT) if each in states), UNNAMED)
    return NamedCauses(state, causes)


def _states(stage: Stage, change: MutantChange, causes: Iterable[Diagnosis]) -> set[str]:
    replaced = replaced_by(stage)
    functions = {criterion.id: set(criterion.functions) for criterion in stage.criteria}
    states = set()
    for each in causes:
        if each.declared:
            states.add(RIGHT if replaced[each.mistake] & change.functions else FALSE)
        elif each.mistake in OBVIOUS and not each.function:  # it is about an answer, and has no line
            states.add(RIGHT if functions[each.criterion] & change.functions else FALSE)
        elif each.line in change.lines:
            states.add(RIGHT)
        else:
            states.add(NEAR if each.function in change.functions else FALSE)
    return states
