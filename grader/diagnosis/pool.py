"""Right modules of a class, which tell by their values alone where a learner's first goes wrong.

Each runs in a process of its own, with the same probes and bounds as a trial of the learner's. What it held counts only
in a call that it answers rightly. One that hangs, ends or answers in another form is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from grader.diagnosis.checks import Check
from grader.diagnosis.instrument import Probes, Trace
from grader.diagnosis.likeness import MOST_ALIKE
from grader.diagnosis.module_text import ModuleText
from grader.diagnosis.runner import Runner
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Print
from grader.diagnosis.variants import compiled

MOST_NODES = 2500  # of a function whose values are noted
MOST_TEXT = 100_000  # bytes of a module


@dataclass
class Member:
    """One module of a pool with probes in all of its functions."""

    text: str
    start: Callable[[], Runner]
    _loaded: tuple[Probes, Runner] | None = None
    _is_left_out: bool = False

    def prints(self, check: Check, steps: int) -> list[Print]:
        """Return what tells apart the values that it held in a call; nothing where it does not answer it rightly."""
        if self._is_left_out or check.requests is None:
            return []
        try:
            probes, runner = self._load()
            told = runner.attempt([[]], check.requests, steps, True)
            if told is None:  # it hung or ended: it gets no second process
                raise TimeoutError
            if not check.is_right(check.score_of(told[0])):
                return []
            return Trace.of(probes, told[0][2]).prints()
        except Exception:  # whatever its process does, or answers
            self._is_left_out = True
            return []

    def _load(self) -> tuple[Probes, Runner]:
        if self._loaded is None:
            module = ModuleText(self.text)
            names = [name for name, node in module.functions.items() if len(walk(node)) < MOST_NODES]
            probes, runner = Probes(module, names), self.start()
            runner.load([compiled(module.whole(probes.definitions()))])
            self._loaded = probes, runner
        return self._loaded


@dataclass
class Pool:
    """The modules of a pool that are run, in this order; start gives a process in which nobody's module is yet."""

    texts: Sequence[bytes]
    start: Callable[[], Runner]
    _known: dict[Check, list[Print]] = field(default_factory=dict)

    @cached_property
    def members(self) -> list[Member]:
        """The modules that are run."""
        texts = [text.decode("utf-8-sig", "replace") for text in self.texts if len(text) <= MOST_TEXT]
        return [Member(text, self.start) for text in texts[:MOST_ALIKE]]

    def prints(self, check: Check, steps: int) -> list[Print]:
        """Return what tells apart the values that the modules held in a call; asked once."""
        if check not in self._known:
            self._known[check] = [known for each in self.members for known in each.prints(check, steps)]
        return self._known[check]
