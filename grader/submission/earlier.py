"""Whose text each module of an earlier stage is that comes with a submission, by one rule for all who grade.

The learner's own where it is handed in and has passed as it is, else the reference where its stage lends it, else what
the stage that uses it gives in its place. Where references are sealed and the key is somewhere else, the learner's own
serves as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from grader.course import sealed
from grader.course.answers import reference_source
from grader.course.stage import Stage
from grader.course.uses import given_text
from grader.errors import SealError
from grader.submission.snapshot import Snapshot
from grader.submission.used import Source, Use, UsedModule


def used_modules(
    stage: Stage,
    own: Callable[[Stage], Snapshot | None] = lambda used: None,
    has_passed: Callable[[Stage, str], bool] = lambda used, digest: False,
) -> tuple[UsedModule, ...]:
    """Return the text of each module that a stage's may import.

    own gives what is handed in for an earlier stage, None where that is nothing; has_passed says whether the text of
    that digest has passed it. Raises SealError where a text is sealed, and nothing can take its place.
    """
    return tuple(_used(stage, used, own, has_passed) for used in stage.builds_on)


def _used(
    stage: Stage, used: Stage, own: Callable[[Stage], Snapshot | None], has_passed: Callable[[Stage, str], bool]
) -> UsedModule:
    mine = own(used)
    if mine is not None and has_passed(used, mine.digest):
        return _module(used, "own", mine.label, mine.source)
    if used.lends and not sealed.public_only(used):
        return _module(used, "reference", f"the reference of {used.id}", reference_source(used).encode())
    if (given := given_text(stage, used)) is not None:
        return _module(used, "given", given[0], given[1].encode())
    if mine is not None:
        return _module(used, "own", mine.label, mine.source)
    what = f"{stage.id} builds on {used.id}, whose solution is sealed, and there is no module of yours to use instead"
    raise SealError(what, f"Put {used.module_path.name} back: `grader reset {used.id}` makes its stub.")


def _module(used: Stage, source: Source, label: str, text: bytes) -> UsedModule:
    return UsedModule(Use(used.id, source, hashlib.sha256(text).hexdigest()), used.import_name, label, text)
