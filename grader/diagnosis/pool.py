"""Right modules that note what their expressions hold: those of the course here, those of a class in processes.

Of a class's modules the values alone count, and only in a call that one answers rightly. Each runs with the same probes
and bounds as a trial of the learner's. One that hangs, ends or answers in another form is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from grader.diagnosis.checks import Check
from grader.diagnosis.instrument import Probes, Trace
from grader.diagnosis.likeness import MOST_ALIKE
from grader.diagnosis.module_text import parsed
from grader.diagnosis.runner import LEAST_STEPS, MOST_STEPS, LocalRunner, Runner
from grader.diagnosis.values import Print
from grader.diagnosis.variants import compiled
from grader.submission.parsing import shown_text

MOST_TEXT = 100_000  # bytes of a module


def _loaded(text: str, runner: Runner, labels: Sequence[str] = ()) -> Probes:
    """Load a module with probes in what some of its functions may run, by default in all, and return these."""
    module = parsed(text)
    reached = {name.partition(".")[0] for label in labels for name in (label, *module.reached(label))}
    probes = Probes(module, [each for each in module.functions if not labels or each.partition(".")[0] in reached])
    runner.load([compiled(module.whole(probes.definitions()))])
    return probes


@dataclass
class RightModule:
    """A right module of the course in this process; None where what it does beside its functions stands no probes."""

    probes: Probes | None
    runner: LocalRunner

    def trace(self, check: Check, is_asked: bool = False) -> Trace | None:
        """Return what it holds in a call; None where it cannot be asked, or is, and does not answer rightly."""
        told = self._told(check, MOST_STEPS * 10, True)
        if not told or self.probes is None or (is_asked and not check.is_right(check.score_of(told[0]))):
            return None
        return Trace.of(self.probes, told[0][2])

    def answer(self, check: Check) -> tuple[Any] | None:
        """Return what it answers to a call of one request, in a tuple; None where it raises or takes long."""
        match self._told(check, LEAST_STEPS, False):
            case [[[[result, [], False, []]], int(), _]]:
                return (result,)
        return None

    def _told(self, check: Check, steps: int, is_noted: bool) -> list[Any] | None:
        requests = check.local_requests
        if requests is None or self.probes is None:
            return None
        try:
            return self.runner.attempt([[]], requests, steps, is_noted)
        except Exception:  # a value that cannot be copied
            return None


@lru_cache(64)  # of the stages that are graded again and again
def noting(text: str, labels: tuple[str, ...] = ()) -> RightModule:
    """Return a module of the course that notes what its expressions hold, or those that some functions may run."""
    runner = LocalRunner()
    try:
        return RightModule(_loaded(text, runner, labels), runner)
    except Exception:  # what a right module does beside its functions may not stand probes
        return RightModule(None, runner)


@dataclass
class Member:
    """One module of a pool, in a process of its own."""

    text: str
    start: Callable[[], Runner]
    _loaded: tuple[Probes, Runner] | None = None
    _is_left_out: bool = False

    def prints(self, check: Check, steps: int) -> list[Print]:
        """Return what tells apart the values that it held in a call; nothing where it does not answer it rightly."""
        if self._is_left_out or check.requests is None:
            return []
        try:
            if self._loaded is None:
                runner = self.start()
                self._loaded = _loaded(self.text, runner), runner
            probes, runner = self._loaded
            told = runner.attempt([[]], check.requests, steps, True)
            if told is None:  # it hung or ended: it gets no second process
                raise TimeoutError
            if not check.is_right(check.score_of(told[0])):
                return []
            return Trace.of(probes, told[0][2]).prints()
        except Exception:  # whatever its process does, or answers
            self._is_left_out = True
            return []


@dataclass
class Pool:
    """The modules of a pool that are run, in this order; start gives a process in which nobody's module is yet."""

    texts: Sequence[bytes]
    start: Callable[[], Runner]
    _known: dict[Check, list[Print]] = field(default_factory=dict)

    @cached_property
    def members(self) -> list[Member]:
        """The modules that are run."""
        texts = [shown_text(text) for text in self.texts if len(text) <= MOST_TEXT]
        return [Member(text, self.start) for text in texts[:MOST_ALIKE]]

    def prints(self, check: Check, steps: int) -> list[Print]:
        """Return what tells apart the values that the modules held in a call; asked once."""
        if check not in self._known:
            self._known[check] = [known for each in self.members for known in each.prints(check, steps)]
        return self._known[check]
