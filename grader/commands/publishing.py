"""Write a check's reports: to files that are replaced atomically, to the summary of GitHub's runner, or to stdout."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import datetime
from pathlib import Path

from grader.atomic import write_atomically
from grader.errors import GraderFault, OutputError, UsageError
from grader.report.formats import CHECKS, Target
from grader.report.graded import CheckReport, ReportContext
from grader.report.terminal import screen

SUMMARY = "GITHUB_STEP_SUMMARY"  # the environment's name for the file that takes GitHub's summary


@dataclass(frozen=True)
class ReportWriter:
    """The formats that were asked for, and the environment that says more of where they go."""

    targets: tuple[Target, ...]
    environment: Mapping[str, str]

    @property
    def takes_stdout(self) -> bool:
        """Whether a document is printed, so that nothing else may be."""
        return any(target.printed for target in self.targets)

    @property
    def gives_marks(self) -> bool:
        """Whether a report is one that a gradebook takes points from."""
        return any(CHECKS[target.name].gives_marks for target in self.targets)

    def without(self, name: str) -> ReportWriter:
        """Return the same but for one format."""
        return replaced(self, targets=tuple(target for target in self.targets if target.name != name))

    def prepare(self) -> None:
        """Find out before the grading whether every report can be written, and take away what an earlier run left.

        Raises UsageError. A run that does not come to its end so leaves no report, never the last one's.
        """
        files = [target.path for target in self.targets if target.path is not None]
        for place, path in enumerate(files):
            if os.path.abspath(path) in map(os.path.abspath, files[:place]):
                raise UsageError(f"{path} is named twice", "Each report needs a file of its own.")
            expect_writable(path)
        for target in self.targets:
            if target == Target("github"):
                _expect_summary(self.environment.get(SUMMARY))
            CHECKS[target.name].needs(self.environment)
        for path in files:
            path.unlink(missing_ok=True)

    def publish(self, report: CheckReport, root: Path, now: datetime) -> None:
        """Write every report; GraderFault, after all others are written, where one cannot be."""
        context = ReportContext(now, self.environment, lambda label: located(label, root, self.environment))
        failed: list[str] = []
        for target in self.targets:
            try:
                self._put(target, report, context)
            except (OutputError, GraderFault) as error:
                failed.append(error.message)
            except OSError as error:
                failed.append(f"{SUMMARY} cannot be written: {error.strerror}")
            if target.name == "github":
                self._annotate(report, context, failed)
        if failed:
            raise GraderFault("; ".join(failed))

    def _annotate(self, report: CheckReport, context: ReportContext, failed: list[str]) -> None:
        from grader.report import github

        try:
            for line in github.annotation_lines(report, context):
                screen.write(line, error=self.takes_stdout)
        except OutputError as error:
            failed.append(error.message)

    def _put(self, target: Target, report: CheckReport, context: ReportContext) -> None:
        if target == Target("github"):
            append_summary(Path(self.environment[SUMMARY]), report, context)
            return
        content = CHECKS[target.name].render(report, context)
        if target.path is not None:
            put(target.path, content)
        elif isinstance(content, bytes):
            raise OutputError(f"{target.name} is not text and cannot be printed", f"Give a file: {target.name}=FILE.")
        else:
            screen.write(content)


def located(label: str, root: Path, environment: Mapping[str, str]) -> str | None:
    """Return where a graded file lies in the repository that is checked out; None where it does not."""
    workspace = os.path.abspath(environment.get("GITHUB_WORKSPACE") or root)
    found = next((path for path in (root / label, Path(label)) if path.is_file()), None)
    path = Path(os.path.abspath(found)) if found is not None else None
    return path.relative_to(workspace).as_posix() if path and path.is_relative_to(workspace) else None


def put(path: Path, content: str | bytes) -> None:
    """Write a report in one step; GraderFault where that fails. A text ends with a line's end.

    A link that a submission's process put there meanwhile is replaced, and never followed.
    """
    if isinstance(content, str) and not content.endswith("\n"):
        content = f"{content}\n"
    write_atomically(path, content, GraderFault, follow=False)


def append_summary(path: Path, report: CheckReport, context: ReportContext) -> None:
    """Add a summary to what the step has said already, as much of it as GitHub then still takes."""
    from grader.report import github

    with path.open("ab") as file:
        file.write(github.summary(report, context, github.LIMIT - file.tell()).encode("utf-8"))


def expect_writable(path: Path) -> None:
    """Raise UsageError unless a regular file can be put there; links and devices are left alone."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    else:
        if not stat.S_ISREG(kind):
            raise UsageError(f"{path} is not a regular file; it was not replaced", "Name another file.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "Name a file in a folder of yours.") from error


def _expect_summary(path: str | None) -> None:
    """Raise UsageError unless the runner has named a file for the summary."""
    if not path:
        message = f"{SUMMARY} is not set, so there is no job summary to write to"
        raise UsageError(message, "Outside of GitHub Actions name a file: github=FILE.")
    try:
        with open(path, "ab"):
            pass
    except OSError as error:
        raise UsageError(f"{path}, which {SUMMARY} names, cannot be written: {error.strerror}") from error
