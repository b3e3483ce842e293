"""What a submission builds on: the modules of earlier stages, the learner's own where their very text has passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from grader.course.sealed import public_only
from grader.course.stage import Course, Stage
from grader.errors import SubmissionError
from grader.progress.store import Store
from grader.submission import Snapshot, holds_stages, take
from grader.submission.earlier import used_modules


def equipped(
    course: Course, store: Store, stage: Stage, snapshot: Snapshot, path: Path | None, passed: Mapping[str, str]
) -> Snapshot:
    """Return a snapshot, taken from path, with the modules that it may import.

    One that was handed in beside it serves where its very text has passed: as recorded here, or earlier in the same
    run, of which passed holds the digests by stage.
    """
    if not stage.builds_on:
        return snapshot
    progress = store.read()

    def own(used: Stage) -> Snapshot | None:
        recorded = {**progress.public, **progress.passed}
        if not (public_only(used) or used.id in recorded or used.id in passed):
            return None
        if path is not None and not holds_stages(path):
            return None
        try:
            return take(used, path, course.root)
        except SubmissionError:
            return None

    def has_passed(used: Stage, digest: str) -> bool:
        known = [passed.get(used.id), *(each.digest for each in (progress.passed.get(used.id),) if each)]
        if public_only(used) and used.id in progress.public:  # of what can be seen without the key, it is all
            known.append(progress.public[used.id].digest)
        return digest in known

    return replace(snapshot, uses=used_modules(stage, own, has_passed))
