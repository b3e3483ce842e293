"""Right modules whose changes can be put in force: each function's changes are made once, behind switches."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from grader.course.stage import Stage
from grader.diagnosis.bounds.bounded import TooLong, bounded
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.found import Found
from grader.diagnosis.slips.patch import compiled, function_named, in_place
from grader.diagnosis.slips.probes import Probe
from grader.diagnosis.slips.schema import SWITCH, Change, Schema
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.sentences import clause
from grader.sandbox.record import Name, Record

LEAST = 0.02  # seconds that any change may run


@dataclass
class Switchboard:
    """Holds the sources and, once they are made, the changes of their functions; learner is the text to explain."""

    sources: Sequence[Source]
    learner: bytes = b""
    _schemas: dict[str, types.FunctionType] = field(default_factory=dict)
    _made: dict[tuple[int, str], tuple[str, list[tuple[Change, Clause]]]] = field(default_factory=dict)
    _next: int = 1

    @property
    def stage(self) -> Stage:
        return self.sources[0].stage

    @contextmanager
    def switched(self, found: Found) -> Iterator[None]:
        """Have a source answer with changes, in this block."""
        module = self.sources[found.source].module
        vars(module)[SWITCH] = frozenset(number for _, number in found.parts)
        with ExitStack() as stack:
            for key in {key for key, _ in found.parts}:
                original = function_named(module, key.partition("#")[0])
                if original is not None:
                    stack.enter_context(in_place(original, self._schemas[key]))
            yield

    def replay(self, place: int, names: dict[str, Name], exact: bool) -> Replay:
        """Return a replay on one of the sources."""
        found = Replay(self.sources[place].module, self.stage, names, exact, self.learner)
        found.by_details = True  # many changes end in "'float' object cannot be interpreted as an integer"
        return found

    def changes(self, place: int, name: str, probe: Probe) -> tuple[str, list[tuple[Change, Clause]]]:
        """Return a function's changes, the likeliest first, and the key of the code that holds them; made once."""
        if (place, name) not in self._made:
            source = self.sources[place]
            schema = Schema(name, source.scope(name, probe.trace, probe.before), self._next)
            key = f"{name}#{self._next}"
            self._made[place, name] = "", []
            with suppress(SyntaxError, ValueError, RecursionError, NameError):
                self._schemas[key] = compiled(name, schema.definition(source.definitions[name]), source.module)
                self._next += len(schema.changes)
                say = source.vocabulary(name)
                told = [(change, said) for change in schema.changes if (said := clause(change, say)) is not None]
                self._made[place, name] = key, sorted(told, key=lambda pair: pair[1].rank)
        return self._made[place, name]

    def fits(self, found: Found, probe: Probe, seconds: float) -> bool:
        """Say whether a probe is answered as recorded; what comes before is repeated only where the change is in it."""
        lines = {change.statement.lineno for change in found.changes}
        if found.source != probe.place or lines & probe.before.lines:
            return self.answers(found, probe.failing.names, probe.records, probe.exact, seconds + 2 * LEAST)
        try:
            with self.switched(found), bounded(seconds):
                probe.state.restore()
                return probe.start.copied().agrees(probe.records[-1:])
        except (TooLong, MemoryError, RecursionError):
            return False

    def answers(self, found: Found, names: dict[str, Name], records: list[Record], exact: bool, seconds: float) -> bool:
        """Say whether a source answers as recorded with these changes; one that runs longer does not."""
        try:
            with self.switched(found), bounded(seconds):
                return self.replay(found.source, names, exact).agrees(records)
        except (TooLong, MemoryError, RecursionError):
            return False
