"""The changed forms of a learner's text, made when they are tried, and what the bench holds of them."""

from __future__ import annotations

import ast
import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from grader.course.answers import module_from
from grader.course.stage import Stage
from grader.diagnosis.repairs.aligned import Alignment
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.relevance import FAR, Relevance
from grader.diagnosis.repairs.repair import Repair, likelihood
from grader.diagnosis.repairs.seen import NOTED, Seen
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.likeness import likeness, manner_of
from grader.diagnosis.slips.patch import TooLong, bounded
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.telling import is_fine

MOST_CONSTANTS = 12
MOST_ALIKE = 2  # right modules whose values are looked at
NOTING_SECONDS = 0.1  # of processor time, for what the right module holds in a test
MOST_NODES = 3000  # of a function: one text holds all changes of it, and the time that it takes grows faster than it


@dataclass
class Forms:
    """Makes changes of a learner's functions and puts them on the bench."""

    stage: Stage
    learner: bytes
    reference_text: str
    bench: Bench
    alternatives: Sequence[str] = ()  # right modules beside the reference
    _held: Written | None = None
    _right_notes: dict[Trial, list[Written]] = field(default_factory=dict)
    _next: int = 1  # the number of the next change

    @cached_property
    def text(self) -> str:
        """The learner's text."""
        return self.learner.decode("utf-8-sig", "replace")

    @cached_property
    def _plain(self) -> Written:
        """The learner's text, parsed once."""
        return Written(self.stage, self.text, right=self.right)

    @cached_property
    def right(self) -> dict[str, ast.FunctionDef]:
        """The right module's functions and methods by full name."""
        return Source(self.stage, self.reference_text).definitions

    @cached_property
    def constants(self) -> frozenset[float]:
        """Numbers that stand in the right module, without the commonest."""
        nodes = (each for each in ast.walk(ast.parse(self.reference_text)) if isinstance(each, ast.Constant))
        numbers = {
            each.value for each in nodes if isinstance(each.value, (int, float)) and each.value not in (0, 1, -1)
        }
        return frozenset(sorted(numbers)[:MOST_CONSTANTS])

    def noted(self, trial: Trial, fine: frozenset[str], partial: Repair | None) -> Written:
        """Return the learner's text with what its expressions hold while a test is repeated.

        What is known of a slip is put right before.
        """
        written = self._plain.anew() if partial is None else partial.written.applied(partial.changes)
        reached = [name for name in written.reached(trial.right[-1].label) if not is_fine(name, fine)]
        self._held = None
        self.bench.load(written.taking_notes(reached))
        trial.begin()
        trial.prepare()
        written.early = frozenset(Seen.of(self.bench.noted()).expressions)
        trial.score((), last=True)
        written.seen = Seen.of(self.bench.noted())
        written.aligned = cache(lambda function: self._aligned(written, trial, function))
        return written

    def _aligned(self, written: Written, trial: Trial, function: str) -> Mapping[int, list[ast.expr]]:
        """Return what right modules have in the place of a function's wrong values, by the id of the expression."""
        if trial not in self._right_notes:
            self._right_notes[trial] = [made for text in self._most_alike(trial) if (made := self._noted(trial, text))]
        return Alignment(written, self._right_notes[trial]).of(function)

    def _most_alike(self, trial: Trial) -> list[str]:
        """Return the right modules that go about what a test asked as the learner's does."""
        label = trial.right[-1].label
        learners = manner_of(self.text, label)
        rights = (self.reference_text, *self.alternatives)
        return sorted(rights, key=lambda text: -likeness(learners, manner_of(text, label)))[:MOST_ALIKE]

    def _noted(self, trial: Trial, text: str) -> Written | None:
        """Return a right module's text with what its expressions hold in a test; None where that takes too long."""
        right = Written(self.stage, text)
        code = right.taking_notes(right.reached(trial.right[-1].label))
        try:
            with bounded(NOTING_SECONDS):
                module = module_from(marshal.loads(code), "noted")  # nosec B302 # compiled here, of a right module
                replay = Replay(module, self.stage, trial.failing.names, False, self.learner)
                for record in trial.right:
                    replay.perform(record)
        except (TooLong, Exception):  # what a right module does beside its functions may not stand notes
            return None
        right.seen = Seen.of(getattr(module, NOTED))
        return right

    def made(self, written: Written, name: str, level: int, depths: Mapping[int, int], ring: range) -> list[Repair]:
        """Have the bench hold a function's changes of one level; return them, the likeliest first.

        depths say how far a statement is from what is wrong: those are changed that are as far as a ring is.
        """

        def wanted(statement: ast.stmt) -> bool:
            return depths.get(id(statement), FAR) in ring

        if sum(1 for _ in ast.walk(written.definitions[name])) > MOST_NODES:
            return []
        if not any(isinstance(each, ast.stmt) and wanted(each) for each in ast.walk(written.definitions[name])):
            return []
        try:
            definition, changes = written.schema(name, level, self._next, self.constants, wanted)
            if not changes:
                return []
            code = written.code_of(name, definition)
        except (SyntaxError, ValueError, RecursionError):
            return []
        self._next += len(changes)
        written.codes.append(code)
        self.bench.extend(code)
        ran = [each for each in changes if written.did_run(each.statement)]
        ran.sort(key=lambda each: (likelihood(each), depths.get(id(each.statement), FAR)))
        return [Repair((change,), written) for change in ran]

    def hold(self, written: Written) -> None:
        """Have the bench hold a text's changes."""
        if self._held is not written:
            self._held = None
            self.bench.load(written.whole())
            for code in written.codes:
                self.bench.extend(code)
            self._held = written

    def depths(self, written: Written, label: str, parts: Sequence[int | str]) -> dict[int, int]:
        """Return by the id of each statement how far it is from an answer of which some parts are wrong."""
        ran = {name: written.definitions[name] for name in written.that_ran()}
        return Relevance(ran).depths(label, parts)
