"""Choose the modules of earlier stages that come with a submission, by one rule for all ways of grading.

The learner's own where it is handed in and has passed as it is, else the reference where its stage lends it and it may
be lent now, else what the stage that uses it gives in its place. Where references are sealed and the key is somewhere
else, the learner's own serves as it is. Code that runs beside a reference can read it: a lent text is a published text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from grader.course import sealed
from grader.course.answers import reference_source
from grader.course.provided import given_text
from grader.course.stage import Stage
from grader.course.table import together
from grader.errors import Lacking, SealError, StageWaits
from grader.submission.snapshot import Snapshot, Source, Use, UsedModule

ALWAYS = datetime.min.replace(tzinfo=UTC)  # the moment from which on what is always lent is lent


@dataclass(frozen=True)
class Lending:
    """When references serve what somebody handed in: since gives a stage's moment, None for never; now is the time.

    is_failing says whether a stage's module was submitted and does not pass; zone is that of the moments that are told,
    and folder what a check of the submission names.
    """

    since: Callable[[Stage], datetime | None]
    now: datetime
    is_failing: Callable[[Stage], bool] = lambda used: False
    zone: tzinfo | None = None
    folder: str = ""

    def is_lent(self, used: Stage) -> bool:
        """Say whether a stage's reference may be lent now."""
        since = self.since(used)
        return since is not None and since < self.now


def used_modules(
    stage: Stage,
    own: Callable[[Stage], Snapshot | None] = lambda used: None,
    has_passed: Callable[[Stage, str], bool] = lambda used, digest: False,
    lending: Lending | None = None,
) -> tuple[UsedModule, ...]:
    """Return the text of each module that a stage's may import.

    own gives what is handed in for an earlier stage, None where that is nothing; has_passed says whether the text of
    that digest has passed it. Without lending, as in one's own copy, references always serve; with it, a reference
    serves where it may be lent, and reports hold back all that could carry its text. Raises StageWaits where nothing
    may be lent, SealError where a text is sealed and nothing can take its place.
    """
    found = [(used, _used(stage, used, own, has_passed, lending)) for used in stage.builds_on]
    if lending is not None and (lacking := [used for used, module in found if module is None]):
        raise _waits(stage, lacking, lending)
    return tuple(module for _, module in found if module is not None)


def _used(
    stage: Stage,
    used: Stage,
    own: Callable[[Stage], Snapshot | None],
    has_passed: Callable[[Stage, str], bool],
    lending: Lending | None,
) -> UsedModule | None:
    """Return the module of one stage; None where only its reference would do, and that may not be lent."""
    mine = own(used)
    if mine is not None and has_passed(used, mine.digest):
        return _module(used, "own", mine.label, mine.source)
    has_reference = used.lends and not sealed.public_only(used)
    if has_reference and (lending is None or lending.is_lent(used)):
        text = reference_source(used).encode()
        return _module(used, "reference", f"the reference of {used.id}", text, withheld=lending is not None)
    if (given := given_text(stage, used)) is not None:
        return _module(used, "given", given[0], given[1].encode())
    if has_reference:
        return None
    if mine is not None:
        return _module(used, "own", mine.label, mine.source)
    what = f"{stage.id} builds on {used.id}, whose solution is sealed, and there is no module of yours to use instead"
    raise SealError(what, f"Put {used.module_path.name} back: `grader reset {used.id}` makes its stub.")


def _module(used: Stage, source: Source, label: str, text: bytes, withheld: bool = False) -> UsedModule:
    return UsedModule(Use(used.id, source, hashlib.sha256(text).hexdigest()), used.import_name, label, text, withheld)


def _waits(stage: Stage, lacking: list[Stage], lending: Lending) -> StageWaits:
    """Return the error that says what a stage waits for, and what to do: hand it in, or wait for its reference."""
    found = tuple(Lacking(used.id, lending.is_failing(used), _told_since(used, lending)) for used in lacking)
    failing = [used for used, each in zip(lacking, found, strict=True) if each.is_failing]
    absent = [used for used in lacking if used not in failing]
    parts = [f"{stage.id} builds on {together(used.id for used in lacking)}"]
    parts += [f"its {_files(failing)} {'does' if len(failing) == 1 else 'do'} not pass"] if failing else []
    parts += [f"no {_files(absent)} that passes was found"] if absent else []
    what = f"{parts[0]}, and {' and '.join(parts[1:])}"
    shows = "".join(f"`grader check {used.id} --submission {lending.folder}` shows why. " for used in failing)
    later = ", ".join(
        f"from {each.since:%Y-%m-%d %H:%M %Z} on the reference of {each.stage}" for each in found if each.since
    )
    instead = f", or wait: {later} serves instead" if later else ""
    hint = (
        f"{shows if lending.folder else ''}Submit {_files(lacking)} with all criteria passing, with or before "
        f"{stage.module}{instead}. Until then {stage.id} is not marked, and no points are lost."
    )
    return StageWaits(what, hint, found)


def _told_since(used: Stage, lending: Lending) -> datetime | None:
    since = lending.since(used)
    return since if since is None or lending.zone is None else since.astimezone(lending.zone)


def _files(stages: list[Stage]) -> str:
    return together(f"{each.module} ({each.id})" for each in stages)
