"""What the expressions of right modules hold in a learner's failing test."""

from __future__ import annotations

import marshal
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.course.stage import Stage
from grader.diagnosis.bounds.bounded import TooLong, bounded
from grader.diagnosis.repairs.held.seen import NOTED, Seen
from grader.diagnosis.repairs.rights.prepared import Prepared
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.likeness import likeness, manner_of
from grader.diagnosis.slips.telling import is_fine

SECONDS = 0.2  # of processor time, for what one right module holds in a test


@dataclass
class Rights:
    """The right modules of a stage, by their texts; learner is the text that they are held against."""

    stage: Stage
    learner: str
    texts: Sequence[str]
    prepared: Prepared
    _noted: dict[Trial, dict[str, Written | None]] = field(default_factory=dict)

    def noted(self, trial: Trial, fine: frozenset[str], most: int) -> list[Written]:
        """Return so many right modules, those most like the learner's first, with what their expressions hold.

        What is in functions that are fine, of which the learner's pass all tests, is left out.
        """
        known = self._noted.setdefault(trial, {})
        for text in self._most_alike(trial.right[-1].label)[:most]:
            if text not in known:
                known[text] = self._seen(trial, fine, text)
        return [each for each in known.values() if each is not None]

    def written(self, text: str) -> Written:
        """Return one of the texts, parsed once."""
        return self.prepared.written(text)

    def _most_alike(self, label: str) -> list[str]:
        """Return the right modules, those first that go about what a test asked as the learner's does."""
        learners = manner_of(self.learner, label)
        return sorted(self.texts, key=lambda text: -likeness(learners, manner_of(text, label)))

    def _seen(self, trial: Trial, fine: frozenset[str], text: str) -> Written | None:
        """Return a right module's text with what is held where it ran; None where that takes too long."""
        right = self.written(text).anew()
        try:
            with bounded(SECONDS):
                labels = dict.fromkeys(record.label for record in trial.right)
                reached = dict.fromkeys(name for label in labels for name in right.reached(label))
                module = self._loaded(right.taking_notes([name for name in reached if not is_fine(name, fine)]))
                self._repeat(module, trial)
        except (TooLong, Exception):  # what a right module does beside its functions may not stand notes
            return None
        right.seen = Seen.prints_of(getattr(module, NOTED))
        return right

    @staticmethod
    def _loaded(codes: Sequence[bytes]) -> types.ModuleType:
        module = types.ModuleType("noted")
        sys.modules["noted"] = module  # dataclasses look their module up
        for each in codes:
            exec(marshal.loads(each), vars(module))  # nosec B302 # compiled here, of a right module of the course
        return module

    def _repeat(self, module: types.ModuleType, trial: Trial) -> None:
        replay = Replay(module, self.stage, trial.failing.names, False, self.learner.encode())
        for record in trial.right:
            replay.perform(record)
