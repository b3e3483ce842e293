"""What a kept grader has ready before an answer is wrong: all that explains it and does not depend on who is graded."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from grader.course.stage import Stage
from grader.garbage import uncollected

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.diagnosis.diagnostician import Diagnostician
    from grader.diagnosis.repairs.rights.prepared import Prepared


class Ahead:
    """The answers of one stage; judges that are forked inherit what was made of them."""

    _has_made = False  # any of this process

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._prepared: Prepared | None = None

    def read(self) -> None:
        """Import what explains, and read the answers."""
        import grader.diagnosis.evidence
        import grader.diagnosis.explanation
        import grader.diagnosis.repairs.bench  # noqa: F401
        from grader.judging.collecting import content

        with suppress(Exception):  # a judge meets it again, and tells it
            content.answers(self._stage, b"")

    def make(self) -> None:
        """Parse, compile and run them; this takes as long as a few tests, and is done once."""
        if self._prepared is not None:
            return
        from grader.judging.collecting import content

        with suppress(Exception), uncollected(stays=not Ahead._has_made):  # of later stages, those before would stay
            self._prepared = content.answers(self._stage, b"").prepare()
        Ahead._has_made = True

    def about(self, source: bytes) -> Callable[[], Diagnostician]:
        """Return what makes the answers to one module, given as its text."""
        from grader.judging.collecting import content

        return partial(content.answers, self._stage, source, self._prepared)
