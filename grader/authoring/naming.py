"""How many wrong modules are named rightly: mutants of a second solution, graded as a learner's would be.

The second solution is an alternative of the stage, and the diagnosis does not see it: it knows the reference and the
other alternatives alone. So what is measured is what a learner gets whose module is written in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass

from grader.authoring import cases, proof
from grader.authoring.likewords import names_change
from grader.course.answers import load_mistakes
from grader.course.mutants import Mutant, mutants, reach
from grader.course.stage import Course, Stage
from grader.diagnosis.obvious import OBVIOUS
from grader.outcome import Diagnosis
from grader.verdict import Verdict

SEED = 1000
OnResult = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Told:
    """What was told of one mutant; state is right, false or unnamed, or passed where no test failed."""

    mutant: Mutant
    state: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Naming:
    """What came of one stage's sample: the name of the second solution, how many mutants it has, those graded.

    solution is empty where the stage has no alternative.
    """

    stage: str
    solution: str
    mutants: int
    told: tuple[Told, ...]

    def count(self, state: str) -> int:
        """Return how many of the graded mutants are right, false, unnamed or passed."""
        return sum(each.state == state for each in self.told)

    @property
    def caught(self) -> int:
        """How many of the graded mutants a test caught."""
        return len(self.told) - self.count("passed")


def measured(
    course: Course,
    stages: Sequence[Stage],
    most: int,
    on_result: OnResult | None = None,
    isolation: str = "auto",
    workers: int | None = None,
) -> list[Naming]:
    """Grade at most so many mutants of each stage's second solution and say how many are named rightly."""
    texts = {stage.id: _second(stage) for stage in stages}
    made = {name: mutants(text) if text else [] for name, (_, text) in texts.items()}
    chosen = {name: _sample(each, most) for name, each in made.items()}
    total = sum(map(len, chosen.values()))
    found: dict[str, list[Told]] = {stage.id: [] for stage in stages}
    with proof.workers(course, workers) as pool:
        for number, (stage, told) in enumerate(_graded(pool, stages, texts, chosen, isolation), 1):
            found[stage].append(told)
            if on_result is not None:
                on_result(number, total, stage)
    return [Naming(each.id, texts[each.id][0], len(made[each.id]), tuple(_by_line(found[each.id]))) for each in stages]


def _second(stage: Stage) -> tuple[str, str]:
    """Return the name and the text of the first alternative; empty where there is none."""
    files = cases.alternative_files(stage)
    return (files[0].stem, files[0].read_text(encoding="utf-8")) if files else ("", "")


def _sample(found: Sequence[Mutant], most: int) -> list[Mutant]:
    """Return at most so many mutants, spread over the whole module; the same ones each time."""
    return [found[place * len(found) // most] for place in range(most)] if len(found) > most else list(found)


def _by_line(told: Sequence[Told]) -> list[Told]:
    return sorted(told, key=lambda each: (each.mutant.line, each.mutant.was, each.mutant.now))


def _graded(
    pool: Executor,
    stages: Sequence[Stage],
    texts: dict[str, tuple[str, str]],
    chosen: dict[str, list[Mutant]],
    isolation: str,
) -> Iterator[tuple[str, Told]]:
    asked = {}
    for stage in stages:
        name, text = texts[stage.id]
        for mutant in chosen[stage.id]:
            case = cases.Case(f"naming/{name}", stage.id, mutant.source, SEED, isolation=isolation, withheld=name)
            asked[pool.submit(proof.graded, case)] = stage, text, mutant
    for future in as_completed(asked):
        stage, text, mutant = asked[future]
        verdict = future.result().verdict
        assert verdict is not None  # only a run to the first failure has none
        yield stage.id, judged(stage, text, mutant, verdict)


def judged(stage: Stage, solution: str, mutant: Mutant, verdict: Verdict) -> Told:
    """Return what was told of a mutant: right where every sentence names the changed function and what was changed."""
    found = {
        failure.diagnosis.text: failure.diagnosis
        for row in verdict.criteria
        for failure in row.failures
        if failure.diagnosis is not None
    }
    sentences = tuple(found)
    if verdict.robust:
        return Told(mutant, "passed", ())
    if not found:
        return Told(mutant, "unnamed", ())
    replaced = {each.id: each.replaces for each in load_mistakes(stage)}
    changed = _names_of(mutant.function, solution, stage)
    right = all(_is_right(each, mutant, changed, replaced) for each in found.values())
    return Told(mutant, "right" if right else "false", sentences)


def _is_right(diagnosis: Diagnosis, mutant: Mutant, changed: Set[str], replaced: Mapping[str, str]) -> bool:
    if diagnosis.mistake in replaced:
        return replaced[diagnosis.mistake] in changed or replaced[diagnosis.mistake].partition(".")[0] in changed
    named = diagnosis.text.split(" ", 1)[0].rstrip(":,.")
    if named not in changed and named.partition(".")[0] not in changed:
        return False
    return diagnosis.mistake in OBVIOUS or names_change(mutant, f"{diagnosis.text} {diagnosis.fix}")


def _names_of(function: str, solution: str, stage: Stage) -> set[str]:
    """Return the names by which a change may be placed: the function, its class or, of a helper, what calls it."""
    names = {function, function.removesuffix(".__init__"), function.partition(".")[0]}
    if not any(name in row.functions for row in stage.criteria for name in names):
        reached = reach(solution)
        rows = (name for row in stage.criteria for name in row.functions)
        names |= {name for name in rows if function.partition(".")[0] in reached(name)}
    return names
