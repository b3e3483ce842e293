"""The learner's process of a capstone: it runs the course's script on the learner's modules, each call in a fresh fork.

So a call knows nothing but its arguments, and what goes on from a checkpoint goes on exactly as if nothing had stopped
it. What goes wrong over there becomes one error that says where.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from grader.course.stage import Stage
from grader.errors import GraderError
from grader.isolation import tiers
from grader.sandbox.connection import Connection, MissingName, RemoteModule
from grader.sandbox.exceptions import WorkerFailed, deeper
from grader.sandbox.process import LearnerProcess, LoadFailed, job_for
from grader.sandbox.values import Unusable
from grader.submission import Snapshot

TEXT_LIMIT = 500  # characters of what a learner's exception says


class TrainingFailed(GraderError):
    """The script, or a module that it builds on, did not do its part."""

    exit_code: ClassVar[int] = 1


class Trainee:
    """Calls the functions of the script in the sandbox."""

    def __init__(self, stage: Stage, snapshot: Snapshot, process: LearnerProcess) -> None:
        self._stage = stage
        self._snapshot = snapshot
        self._process = process

    def call(self, name: str, *arguments: Any) -> Any:
        """Return what a function of the script returns; TrainingFailed where it returns nothing usable."""
        ends_at = time.monotonic() + 2 * self._stage.limits.call_seconds
        connection = self._process.open(ends_at)
        try:
            return self._called(connection, name, arguments)
        finally:
            self._process.done(connection)

    def _called(self, connection: Connection, name: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return getattr(RemoteModule(connection, self._snapshot.label), name)(*arguments)
        except WorkerFailed as failure:
            raise self._ended(connection, failure) from None
        except (Unusable, MissingName) as error:
            raise TrainingFailed(str(error)[:TEXT_LIMIT]) from None
        except Exception as error:  # a learner's own carries its frames; any other is a fault of the grader
            if not hasattr(error, "learner_frames"):
                raise
            raise self._raised(name, error) from None

    def _ended(self, connection: Connection, failure: WorkerFailed) -> TrainingFailed:
        """Return what is told of a process that did not answer."""
        ended = self._process.done(connection)
        why = f": {ended[1]}" if ended and failure.status == "crashed" else ""
        return TrainingFailed(f"{failure}{why}")

    def _raised(self, name: str, error: Exception) -> TrainingFailed:
        place = deeper(error)
        shown = getattr(error, "learner_type", type(error).__name__)
        if isinstance(error, NotImplementedError) and place:
            stage = next((each.use.stage for each in self._snapshot.uses if each.label == place.file), None)
            hint = f"`grader check {stage}` tells how far it is." if stage else None
            return TrainingFailed(f"{place.function} is not written yet ({place.file}, line {place.line})", hint)
        if isinstance(error, MemoryError):
            error = MemoryError(f"more than the {self._stage.limits.memory_mb} MB that one call may take")
        where = f" ({place.file}, line {place.line}, in {place.function})" if place else ""
        return TrainingFailed(f"{name} of {self._snapshot.label}: {shown}: {str(error)[:TEXT_LIMIT]}{where}")


@contextmanager
def trainee(stage: Stage, snapshot: Snapshot, tier: tiers.Tier, hide: Path) -> Iterator[Trainee]:
    """Start the process and load the script; it ends with the block, however that ends."""
    job = job_for(stage, snapshot, hide)
    workers = tiers.LocalWorkerFactory(tier, hide, packages=stage.packages)
    process = LearnerProcess(job, tier, workers)
    try:
        try:
            process.load()
        except LoadFailed as failed:
            raise TrainingFailed(failed.problem.message, "`grader status` shows which stages have passed.") from None
        yield Trainee(stage, snapshot, process)
    finally:
        process.kill()
