"""What a student's submission builds on: modules of earlier stages that passed in this class, else lent references."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from grader.course.stage import Stage
from grader.gradebook.records import Attempt
from grader.gradebook.store import Gradebook
from grader.gradebook.worth.policy import Policy
from grader.submission import Snapshot
from grader.submission.earlier import Lending, used_modules
from grader.submission.snapshot import UsedModule


def known_modules(book: Gradebook, policy: Policy, stage: Stage, student: str, now: datetime) -> tuple[UsedModule, ...]:
    """Return the modules of earlier stages for a student: their own that passed, else what the policy lends now.

    Raises StageWaits where neither is there.
    """

    mine = book.attempts(student) if stage.builds_on else ()

    def own(used: Stage) -> Snapshot | None:
        return _passed(book, used, mine)

    def is_failing(used: Stage) -> bool:
        tried = [each.result for each in mine if each.stage == used.id and each.result is not None]
        return any(book.result(number).outcome == "graded" for number in tried)

    lending = Lending(lambda used: policy.lent_from(student, used.id), now, is_failing, policy.zone)
    return used_modules(stage, own, lambda used, digest: True, lending)


def _passed(book: Gradebook, used: Stage, attempts: Sequence[Attempt]) -> Snapshot | None:
    """Return the last module of a student's attempts that passed a stage; None where none did."""
    for attempt in reversed(attempts):
        if attempt.stage != used.id or attempt.result is None or not book.result(attempt.result).passed:
            continue
        if (text := book.source(attempt.digest)) is not None:
            return Snapshot(used.module, text, attempt.digest, used.module_path, attempt.label)
    return None
