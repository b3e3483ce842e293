"""The answers of a stage: its reference and the other right modules, its known mistakes, and the module to explain."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from grader.course.answers import Mistake, module_from
from grader.course.stage import Stage


@dataclass
class RightModules:
    """Right modules that were loaded, by their texts. Nothing of a learner's is kept here.

    A process that forks another for each module loads them once; what a fork changes in them ends with it.
    """

    _modules: dict[str, types.ModuleType] = field(default_factory=dict)

    def module(self, text: str, name: str) -> types.ModuleType:
        """Return a right module, loaded when it is first asked for."""
        if text not in self._modules:
            self._modules[text] = module_from(compiled(text, name), name)
        return self._modules[text]


class Answers:
    """Holds what the failures of one module are explained with; modules are loaded when the first test fails."""

    def __init__(
        self,
        stage: Stage,
        reference_text: str,
        mistakes: tuple[Mistake, ...],
        learner: bytes = b"",
        is_stub: bool = False,
        alternatives: Callable[[], Mapping[str, str]] = dict,
        prepared: RightModules | None = None,
        stub_text: str = "",
    ) -> None:
        self.stage = stage
        self.reference_text = reference_text
        self.mistakes = mistakes
        self.learner = learner  # the text of the module whose failures are explained
        self.is_stub = is_stub  # the reference knows the signatures only, and proves nothing
        self.stub_text = stub_text
        self._alternatives = alternatives
        self._prepared = prepared or RightModules()

    @property
    def reference(self) -> types.ModuleType:
        """The reference as a module."""
        return self._prepared.module(self.reference_text, "reference")

    @property
    def rights(self) -> dict[str, types.ModuleType]:
        """The right modules by their texts, the reference first; one that cannot be loaded is left out."""
        found = {self.reference_text: self.reference}
        for name, text in self._alternatives().items():
            with suppress(Exception):  # what a right module does as it is loaded may not stand a bound
                found[text] = self._prepared.module(text, name)
        return found

    def anew(self) -> Answers:
        """Return the same answers with right modules that are not loaded yet."""
        other = copy.copy(self)
        other._prepared = RightModules()
        return other

    def prepare(self) -> RightModules:
        """Load the right modules, with probes and without, and return them for the modules that are graded."""
        from grader.diagnosis.pool import noting

        for text in self.rights:
            noting(text)
        return self._prepared


@lru_cache(64)  # of the stages that are graded again and again
def compiled(text: str, name: str) -> types.CodeType:
    """Return the code of a right module."""
    return compile(text, f"<{name}>", "exec")
