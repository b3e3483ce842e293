"""The changed forms of a learner's text, made when they are tried, and what the bench holds of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from functools import partial as bound

from grader.course.stage import Stage, public_names
from grader.diagnosis.repairs.asked import has_generator, is_drawn
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.held.scale import scales
from grader.diagnosis.repairs.held.seen import Seen, numbers_in
from grader.diagnosis.repairs.kinds.draws import DRAWING, calls
from grader.diagnosis.repairs.relevance import FAR, SUSPECT, Relevance, keeps, keeps_nothing
from grader.diagnosis.repairs.repair import Repair, likelihood, reshapes
from grader.diagnosis.repairs.rights.aligned import Alignment
from grader.diagnosis.repairs.rights.noted import Rights
from grader.diagnosis.repairs.rights.prepared import Prepared
from grader.diagnosis.repairs.rights.suspects import suspects
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.telling import is_fine
from grader.diagnosis.trees import walk

MOST_CONSTANTS = 12
MOST_ALIKE = 2  # right modules whose values are looked at
MOST_NODES = 1500  # of a function: one text holds all changes of it, and the time that it takes grows faster than it


@dataclass
class Forms:
    """Makes changes of a learner's functions and puts them on the bench."""

    stage: Stage
    learner: bytes
    reference_text: str
    bench: Bench
    alternatives: Sequence[str] = ()  # right modules beside the reference
    prepared: Prepared | None = None
    _held: Written | None = None
    _placed: dict[str, bytes] = field(default_factory=dict)  # what holds a function's changes on the bench
    _next: int = 1  # the number of the next change

    @cached_property
    def text(self) -> str:
        """The learner's text."""
        return self.learner.decode("utf-8-sig", "replace")

    @cached_property
    def _plain(self) -> Written:
        """The learner's text, parsed once."""
        return Written(self.stage, self.text, right=self._rights.written(self.reference_text).definitions)

    @cached_property
    def _rights(self) -> Rights:
        prepared = self.prepared or Prepared(self.stage)
        return Rights(self.stage, self.text, (self.reference_text, *self.alternatives), prepared)

    @cached_property
    def constants(self) -> frozenset[float]:
        """Numbers that stand in the right module, without the commonest."""
        tree = self._rights.written(self.reference_text).tree
        nodes = (each for each in walk(tree) if isinstance(each, ast.Constant))
        numbers = {
            each.value for each in nodes if isinstance(each.value, (int, float)) and each.value not in (0, 1, -1)
        }
        return frozenset(sorted(numbers)[:MOST_CONSTANTS])

    def may_draw(self, trial: Trial) -> bool:
        """Say whether numbers are drawn by the function that answered wrongly, which did not set an object up."""
        own, waiting = self._plain.definitions, [trial.right[-1].label]
        found: set[str] = set()
        while waiting and has_generator(trial.right):
            name = waiting.pop()
            if name not in own or name in found:
                continue
            if calls(own[name], DRAWING):
                return True
            found.add(name)
            called = [each.func for each in walk(own[name]) if isinstance(each, ast.Call)]
            waiting += [each.id for each in called if isinstance(each, ast.Name)]
            waiting += [f"{name.partition('.')[0]}.{each.attr}" for each in called if isinstance(each, ast.Attribute)]
        return False

    def beyond_doubt(self, trial: Trial, fine: frozenset[str]) -> frozenset[str]:
        """Return the functions, of those that are fine, whose lines no wrong answer of a test can come from.

        One that answers wrongly in this very test is not, nor what it calls. What a function keeps, or gives to the
        next, is not looked at where its own answers are.
        """
        own = self._plain.definitions
        found = {name for name in own if is_fine(name, fine)}
        wrong = trial.right[-1].label
        if wrong in found:
            found -= set(self._plain.reached(wrong))
        provider = {record.label for record in trial.right[:-1] if record.kind == "call"}
        return frozenset(name for name in found - provider if not keeps(own[name]))

    def fine(
        self, written: Written, depths: Mapping[int, int], all_fine: frozenset[str], sure: frozenset[str]
    ) -> frozenset[str]:
        """Return which functions are fine: those beyond doubt, and those in which no value of the test goes wrong."""
        own = written.definitions
        found = {name for name in own if is_fine(name, all_fine)}
        return sure | {name for name in found if all(depths.get(id(each)) != SUSPECT for each in walk(own[name]))}

    def noted(self, trial: Trial, fine: frozenset[str], partial: Repair | None) -> Written:
        """Return the learner's text with what its expressions hold while a test is repeated.

        What is known of a slip is put right before.
        """
        written = self._plain.anew() if partial is None else partial.written.applied(partial.changes)
        labels = dict.fromkeys(record.label for record in reversed(trial.right))
        names = dict.fromkeys(name for label in labels for name in written.reached(label))
        reached = [name for name in names if not is_fine(name, fine)]
        self._held = None
        self._load(written.taking_notes(reached))
        trial.begin()
        trial.prepare()
        written.early = numbers_in(self.bench.noted())
        trial.score((), last=True)
        written.seen = Seen.of(self.bench.noted())
        written.factor = trial.factor
        written.aligned = bound(self._aligned, written, trial, fine, {})
        return written

    def _aligned(
        self,
        written: Written,
        trial: Trial,
        fine: frozenset[str],
        made: dict[int, Alignment],
        function: str,
        wanted: Callable[[ast.stmt], bool],
        is_first: bool,
    ) -> Mapping[int, list[ast.expr]]:
        """Return what right modules have in the place of wrong values of wanted statements, by the expression's id.

        What is tried first is made of the right module that is the most like the learner's.
        """
        most = 1 if is_first else MOST_ALIKE
        if most not in made:
            made[most] = Alignment(written, self._rights.noted(trial, fine, most))
        return made[most].of(function, wanted)

    def made(self, written: Written, name: str, level: int, depths: Mapping[int, int], ring: range) -> list[Repair]:
        """Have the bench hold a function's changes of one level; return them, the likeliest first.

        depths say how far a statement is from what is wrong: those are changed that are as far as a ring is.
        """

        def wanted(statement: ast.stmt) -> bool:
            return depths.get(id(statement), FAR) in ring and written.did_run(statement)

        nodes = walk(written.definitions[name])
        if len(nodes) > MOST_NODES or not any(isinstance(each, ast.stmt) and wanted(each) for each in nodes):
            return []
        try:
            definition, changes = written.schema(name, level, self._next, self.constants, wanted, SUSPECT in ring)
            if not changes:
                return []
            code = written.code_of(name, definition)
        except (SyntaxError, ValueError, RecursionError):
            return []
        self._next += len(changes)
        written.codes |= {each.number: code for each in changes}
        self._put(name, code)
        values = written.seen.names.get(name, {})
        changes.sort(
            key=lambda each: (
                not scales(each, written.factor, written.value_of),
                likelihood(each),
                reshapes(each, values),
                depths.get(id(each.statement), FAR),
            )
        )
        return [Repair((change,), written) for change in changes]

    def hold(self, written: Written) -> None:
        """Have the bench hold a text, of which nothing is changed."""
        if self._held is not written:
            self._held, self._placed = None, {}
            self._load(written.whole())
            self._held = written

    def place(self, repair: Repair) -> None:
        """Have the bench hold a repair's changes: those that were made of a function later are in their place."""
        self.hold(repair.written)
        for change in repair.changes:
            self._put(change.function, repair.written.codes[change.number])

    def _put(self, function: str, code: bytes) -> None:
        if self._placed.get(function) is not code:
            self.bench.extend(code)
            self._placed[function] = code

    def _load(self, codes: Sequence[bytes]) -> None:
        """Have the bench run codes, the first in a module that is new."""
        self.bench.load(codes[0])
        for each in codes[1:]:
            self.bench.extend(each)

    def depths(
        self, written: Written, trial: Trial, fine: frozenset[str], parts: Sequence[int | str]
    ) -> dict[int, int]:
        """Return by the id of each statement how far it is from an answer of which some parts are wrong.

        Nearest are those where a value first goes wrong, but for helpers that functions use which are right.
        """
        ran = {name: written.definitions[name] for name in written.that_ran()}
        label, relevance = trial.right[-1].label, Relevance(ran)
        found = relevance.depths(label, parts)
        found |= {id(each): SUSPECT for node in ran.values() for each in walk(node) if keeps_nothing(each)}
        whole = [name for name in fine if "." not in name]  # of a class with other methods nothing is known
        vouched = {helper for name in whole for helper in written.reached(name)}
        asked = {name.partition(".")[0] for name in public_names(self.stage)}
        doubted = [name for name in ran if name not in vouched or name.partition(".")[0] in asked]
        rights, draws = self._rights.noted(trial, fine, 1), is_drawn(trial.right)
        wrong = suspects(written, rights, doubted, relevance.lines, label, draws)
        return found | dict.fromkeys(wrong, SUSPECT)
