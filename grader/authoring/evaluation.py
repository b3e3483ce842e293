"""Results of gradings, and what they prove of a stage's tests: pure functions from results to counts and shortfalls."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.authoring.cases import CaseResult
from grader.authoring.claims import Shortfall, in_hidden, in_stage, place_of
from grader.course.answers import Mistake, hidden_folder
from grader.course.mutants import Mutant
from grader.course.stage import Stage
from grader.course.table import Table, listed, read_toml
from grader.criterion import KINDS, counts_of
from grader.errors import CourseError
from grader.outcome import Outcome
from grader.verdict import Failure, Verdict

FILE = "equivalent.toml"


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can notice; it names the mutant by its function and its statement before and after."""

    function: str
    was: str
    now: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        return (self.function, self.was, self.now) == (mutant.function, mutant.was, mutant.now)


def load_equivalents(stage: Stage) -> tuple[Equivalent, ...]:
    """Return what stands in equivalent.toml; nothing where there is none. CourseError lists every mistake in it."""
    path = hidden_folder(stage) / FILE
    if not path.exists():
        return ()
    place = f"{stage.name}/{FILE}"
    mistakes: list[str] = []
    top = Table(read_toml(path, place), f"{place}: ", mistakes)
    found = [_equivalent(table) for table in top.tables("mutant")]
    top.close()
    if mistakes:
        raise CourseError("\n".join(mistakes))
    return tuple(found)


def _equivalent(table: Table) -> Equivalent:
    entry = Equivalent(table.text("function"), table.text("was"), table.text("now"), table.text("reason"))
    table.close()
    return entry


def unused(entries: Iterable[Equivalent], survivors: Iterable[Mutant]) -> list[Equivalent]:
    """Return the entries that cover no survivor: the code has changed, or a test notices the change after all."""
    left = list(survivors)
    return [entry for entry in entries if not any(entry.covers(mutant) for mutant in left)]


LEAST_KILLED = 0.98
KEPT = 150  # characters of a long message at either end


@dataclass(frozen=True)
class Ratio:
    """How many of how many were as they should be."""

    good: int
    total: int


@dataclass(frozen=True)
class Mutation:
    """What became of a stage's mutants: those accepted as equivalent, and those that survived without being so."""

    total: int
    accepted: int
    survivors: tuple[Mutant, ...]

    @property
    def killed(self) -> int:
        return self.total - self.accepted - len(self.survivors)

    @property
    def rate(self) -> float:
        """The share of the mutants that are not equivalent which some test caught; 1 where there is none to catch."""
        wanted = self.total - self.accepted
        return self.killed / wanted if wanted else 1.0


def right(stage: Stage, results: Iterable[CaseResult]) -> tuple[Ratio, list[Shortfall]]:
    """Judge modules that have to pass every test for every seed, of robustness too: reference or alternatives."""
    found = sorted(((r.case.name, r.case.seed, _verdict(r)) for r in results), key=lambda each: each[:2])
    lacking = [each for each in found if not each[2].robust]
    shortfalls = []
    for name in dict.fromkeys(name for name, _, _ in lacking):
        own = [(seed, verdict) for other, seed, verdict in lacking if other == name]
        seed, verdict = own[0]
        seeds = f"seed {seed}" + (f" and {len(own) - 1} more" if len(own) > 1 else "")
        fix = f"`grader check {stage.id} --submission {place_of(stage, name)} --seed {seed}` shows it"
        message = f"{name} does not pass for {seeds}: {first_complaint(verdict)}"
        shortfalls.append(Shortfall(stage.id, place_of(stage, name), message, fix))
    return Ratio(len(found) - len(lacking), len(found)), shortfalls


def first_complaint(verdict: Verdict) -> str:
    """Return the first thing that a verdict which did not pass complains of, on one line."""
    if verdict.problem is not None:
        return one_line(verdict.problem.message)
    if verdict.faults:
        return one_line(verdict.faults[0])
    # The first of the gravest.
    worst = min(verdict.criteria, key=lambda each: (each.robust, each.status == "passed"))
    status = "is not robust" if worst.status == "passed" else worst.status
    if not worst.failures:
        return f"{worst.id} {status}"
    failure = worst.failures[0]
    return one_line(f"{worst.id} {status}: {failure.test}: {failure.call} {failure.message}")


def one_line(text: str) -> str:
    """Return a text with its line breaks as spaces; of a long one its beginning and its end, where errors say why."""
    words = " ".join(text.split())
    return words if len(words) <= 2 * KEPT else f"{words[:KEPT]} … {words[-KEPT:]}"


def faults(stage: Stage, results: Iterable[CaseResult]) -> list[Shortfall]:
    """Return what is wrong with the test files themselves, such as a test without a criterion."""
    lines = dict.fromkeys(fault for result in results for fault in _verdict(result).faults)
    fix = "each test file loads, and each test has a name of its own and one `@pytest.mark.criterion` of the checklist"
    return [Shortfall(stage.id, in_stage(stage, "tests/"), one_line(fault), fix) for fault in lines]


def criteria(stage: Stage, results: Iterable[CaseResult], fresh: Container[str]) -> list[Shortfall]:
    """Return the criteria of the checklist that lack a public or a hidden test, or a hidden one among the fresh."""
    outcomes = [outcome for result in results for outcome in result.outcomes]
    by_criterion = {one.id: [each for each in outcomes if each.criterion == one.id] for one in stage.criteria}
    seen: set[tuple[str, bool]] = set()
    for name, own in by_criterion.items():
        counts = counts_of((each.kind, True) for each in own)
        seen |= {(name, each.hidden) for each in own if counts.counts(each.kind, "mathematics")}
    fix = "write one, not of refusals or the dtype alone"
    places = (("public", False, in_stage(stage, "tests/")), ("hidden", True, in_hidden(stage, "")))
    missing = [
        Shortfall(stage.id, place, f"criterion {criterion.id} has no {kind} test", fix)
        for criterion in stage.criteria
        for kind, hidden, place in places
        if (criterion.id, hidden) not in seen
    ]
    return [*missing, *_fixed(stage, [outcome for outcome in outcomes if outcome.hidden], fresh)]


def _fixed(stage: Stage, hidden: Sequence[Outcome], fresh: Container[str]) -> Iterator[Shortfall]:
    """Yield the criteria of which no hidden test draws its inputs."""
    for criterion in stage.criteria:
        tests = [outcome.test.partition("[")[0] for outcome in hidden if outcome.criterion == criterion.id]
        if tests and not any(test in fresh for test in tests):
            place = in_hidden(stage, tests[0].partition("::")[0])
            message = f"criterion {criterion.id} has hidden tests of fixed inputs only: their answers can be hard-coded"
            yield Shortfall(stage.id, place, message, "add one that draws its inputs from the fixture `rng`")


def kinds(stage: Stage, results: Iterable[CaseResult]) -> list[Shortfall]:
    """Return the tests that do not say by exactly one mark what they ask of an answer, each once."""
    unsaid = [outcome for result in results for outcome in result.outcomes if not outcome.kind]
    fix = f"mark it, its class or its file with one of {listed([f'`@pytest.mark.{kind}`' for kind in KINDS])}"
    found: list[Shortfall] = []
    for test, hidden in dict.fromkeys((outcome.test.partition("[")[0], outcome.hidden) for outcome in unsaid):
        file, _, name = test.partition("::")
        place = in_hidden(stage, file) if hidden else in_stage(stage, f"tests/{file}")
        found.append(Shortfall(stage.id, place, f"{name} names no kind, or several", fix))
    return found


def stub(stage: Stage, results: Iterable[CaseResult]) -> tuple[Ratio, list[Shortfall]]:
    """Judge the stub: each of its criteria has not been started."""
    found = [each for result in results for each in _verdict(result).criteria]
    begun = [each for each in found if each.status != "not_started"]
    place, fix = in_stage(stage, stage.module), "have a test of this criterion call one of its functions first"
    shortfalls = [
        Shortfall(stage.id, place, f"the stub's criterion {each.id} is {each.status}, expected not_started", fix)
        for each in begun
    ]
    return Ratio(len(found) - len(begun), len(found)), shortfalls


def mistakes(
    stage: Stage, known: Sequence[Mistake], results: Sequence[CaseResult]
) -> tuple[Ratio, Ratio, list[Shortfall]]:
    """Judge the known mistakes: each costs its criterion the pass or robustness, and it alone explains its answers."""
    caught = named = 0
    shortfalls: list[Shortfall] = []
    for mistake in known:
        own = [result for result in results if result.case.name == f"mistakes/{mistake.id}"]
        own.sort(key=lambda result: result.case.seed)  # they come as they were done
        complaints = [(result.case.seed, line) for result in own for line in _not_caught(mistake, result)]
        misnamed = [(result.case.seed, line) for result in own for line in _not_named(mistake, result)]
        caught += bool(own) and not complaints
        named += bool(own) and not complaints and not misnamed
        for seed, (message, fix) in (complaints or misnamed)[:1]:
            text = f"{mistake.id} {message} (seed {seed})"
            shortfalls.append(Shortfall(stage.id, in_hidden(stage, mistake.file, mistake.line), text, fix))
    return Ratio(caught, len(known)), Ratio(named, len(known)), shortfalls


def of_robustness(known: Sequence[Mistake], results: Sequence[CaseResult]) -> int:
    """Return how many known mistakes cost their criterion nothing but its robustness, whatever the seed."""
    ids = {f"mistakes/{each.id}": each.criterion for each in known}
    own = {
        (r.case.name, each.lacks_robustness)
        for r in results
        for each in _verdict(r).criteria
        if ids[r.case.name] == each.id
    }
    return len({name for name, _ in own} - {name for name, lacks in own if not lacks})


Complaint = tuple[str, str]  # what is wrong, and how to mend it


def _not_caught(mistake: Mistake, result: CaseResult) -> Iterator[Complaint]:
    verdict = _verdict(result)
    if verdict.grader_fault or verdict.problem is not None:
        yield f"cannot be graded: {first_complaint(verdict)}", "fix the mistake, or the test that fails of itself"
        return
    own = next((each for each in verdict.criteria if each.id == mistake.criterion), None)
    status = "not there" if own is None else "not robust" if own.lacks_robustness else own.status
    if status == "blocked" and mistake.id in _names(mistake, verdict):  # by a criterion that the same mistake fails
        return
    if status in ("passed", "blocked", "not_started", "not there"):
        yield f"is not caught: criterion {mistake.criterion} is {status}", f"sharpen a test of {mistake.criterion}"


def _not_named(mistake: Mistake, result: CaseResult) -> Iterator[Complaint]:
    failures = _failures(mistake, _verdict(result))
    told = [each.diagnosis for each in failures if each.diagnosis is not None]
    others = {each.mistake for each in told if each.declared} - {mistake.id}
    edits = {f"{each.cause} in line {each.line}" for each in told if each.is_edit}
    undecided = [set(each.undecided) for each in failures if each.undecided]
    alike = set.intersection(*undecided) if undecided else set()
    if others:
        fix = f"add a test of {mistake.criterion} on which they differ"
        yield f"is called {', '.join(sorted(others))}", fix
    elif mistake.id in _names(mistake, _verdict(result)) and not edits:
        return
    elif mistake.id in alike and len(alike) > 1:
        fix = f"add a test of {mistake.criterion} on which they differ, or keep one of them"
        yield f"is ambiguous: {', '.join(sorted(alike - {mistake.id}))} explains the same answers", fix
    elif edits:
        fix = "see which failing calls of its function the mistake does not explain"
        yield f"is told as an edit: {', '.join(sorted(edits))}", fix
    else:
        yield "is caught but not named", "see that replaying the failed test's calls gives the same answers again"


def _names(mistake: Mistake, verdict: Verdict) -> set[str]:
    """Return the ids of the known mistakes that stand for a mistake in a verdict."""
    found = (failure.diagnosis for failure in _failures(mistake, verdict))
    return {each.mistake for each in found if each is not None and each.declared}


def _failures(mistake: Mistake, verdict: Verdict) -> list[Failure]:
    """Return the failures of a mistake's own criterion; of a criterion that waits, those of the others."""
    own = [each for each in verdict.criteria if each.id == mistake.criterion]
    waits = any(each.status == "blocked" for each in own)
    results = [result for result in verdict.criteria if result not in own] if waits else own
    return [failure for result in results for failure in result.failures]


def mutation(
    stage: Stage, made: Sequence[Mutant], accepted: Sequence[Equivalent], results: Iterable[CaseResult]
) -> tuple[Mutation, list[Shortfall]]:
    """Judge the mutants: nearly all are caught, and whatever is accepted as equivalent did survive."""
    ended = {int(result.case.name.partition("/")[2]): result.outcomes for result in results}
    alive = [mutant for number, mutant in enumerate(made) if not ended.get(number)]
    left = tuple(mutant for mutant in alive if not any(entry.covers(mutant) for entry in accepted))
    found = Mutation(len(made), len(alive) - len(left), left)
    shortfalls = [
        Shortfall(
            stage.id,
            in_hidden(stage, "solution.py", made[number].line),
            f"the grader failed on a mutant: {one_line(outcome.message)}",
            "see whether a test fails of itself",
        )
        for number, outcomes in sorted(ended.items())
        for outcome in outcomes
        if outcome.status == "grader_fault"
    ]
    if found.rate < LEAST_KILLED:
        message = f"{found.killed} of {len(made) - found.accepted} mutants are caught, {found.rate:.1%}"
        fix = f"test what the survivors change, or accept equivalent ones in {FILE}; {LEAST_KILLED:.0%} are asked for"
        shortfalls.append(Shortfall(stage.id, in_hidden(stage, "solution.py"), message, fix))
    for entry in unused(accepted, alive):
        message = f"{entry.function}: `{entry.was}` -> `{entry.now}` is accepted as equivalent and does not survive"
        shortfalls.append(Shortfall(stage.id, in_hidden(stage, FILE), message, "take the entry out"))
    return found, shortfalls


def _verdict(result: CaseResult) -> Verdict:
    assert result.verdict is not None, f"{result.case.name} was run to its first failure, not graded"
    return result.verdict
