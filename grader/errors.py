"""The error tree: each error says what went wrong and carries the exit code of `grader` for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar


class GraderError(Exception):
    """What went wrong, its value and what was expected; hint says what to do next."""

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GraderError):
    """The command line asks for something that does not exist or does not fit together."""

    exit_code = 2


class UnknownStage(UsageError):
    """No stage, or more than one, answers to the name that was given."""


class StageLocked(GraderError):
    """A stage that this one builds on is neither passed nor skipped."""

    exit_code = 3


@dataclass(frozen=True)
class Lacking:
    """An earlier stage for which no module is available: whether one was submitted and fails, and when it is lent."""

    stage: str
    is_failing: bool
    since: datetime | None = None  # from when its reference serves; None for never


class StageWaits(GraderError):
    """The submission builds on earlier stages for which no module is available; `stages` names them."""

    exit_code = 3

    def __init__(self, message: str, hint: str, lacking: tuple[Lacking, ...]) -> None:
        super().__init__(message, hint)
        self.hint: str = hint
        self.lacking = lacking
        self.stages = tuple(each.stage for each in lacking)

    def __reduce__(self) -> tuple[type[StageWaits], tuple[str, str, tuple[Lacking, ...]]]:
        return type(self), (self.message, self.hint, self.lacking)


class CourseError(GraderError):
    """The course itself is broken; its author, not its learner, has to act."""

    exit_code = 4


class NoCourse(CourseError):
    """Neither a folder nor one above it is a course."""

    exit_code = 2


class SealError(GraderError):
    """The hidden tests of a learner's copy cannot be opened: no key, a wrong one, or not what was sealed."""

    exit_code = 4


class SubmissionError(GraderError):
    """What was handed in cannot be accepted: missing, too large, or not a regular file."""

    exit_code = 5


class NotHandedIn(SubmissionError):
    """What was handed in holds no module of a stage; it may hold those of others."""


class ProgressError(GraderError):
    """The learner's progress cannot be read or written."""

    exit_code = 4


class IsolationRefused(GraderError):
    """The isolation that was asked for is unavailable on this machine."""

    exit_code = 4


class OutputError(GraderError):
    """What a command has to tell cannot be written to stdout."""

    exit_code = 4


class SystematicFault(GraderError):
    """More than a tenth of a class would lose points for one and the same reason."""

    exit_code = 3


class GradebookError(GraderError):
    """The marks of a class cannot be read or written."""

    exit_code = 4


class NoGradebook(GradebookError):
    """A folder holds no gradebook yet."""

    exit_code = 2


class GraderFault(GraderError):
    """The grader itself failed; it costs the learner nothing."""

    exit_code = 4


def installs(extra: str, *packages: str) -> str:
    """Return a hint: how to install an extra; packages are what it brings, for an environment without uv.

    >>> installs("web", "jinja2")
    '`uv sync --extra web` installs it; without uv: pip install jinja2.'
    """
    return f"`uv sync --extra {extra}` installs it; without uv: pip install {' '.join(packages)}."
