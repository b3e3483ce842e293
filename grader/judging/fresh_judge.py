"""Judges where the system cannot fork: each is an interpreter of its own that loads the tests and judges one task.

It reads the stage and the task from its standard input, with the file of the shared status, and a port with the token
that proves who connects.
"""

from __future__ import annotations

import pickle  # nosec B403 # what one process of ours hands another, with the secret token, on its standard input
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader import children
from grader.course.stage import Stage
from grader.errors import GraderFault
from grader.isolation import tiers
from grader.judging import bounds
from grader.judging.task import SIZE, JudgeGone, JudgeTask, Messages, SharedStatus, TimeIsUp

if TYPE_CHECKING:
    from grader.outcome import Status

START_SECONDS = 60.0
MADE_THERE = ("suite", "shared", "answers", "plan")  # of a task


class FreshJudges:
    """Starts a judge for each task, in a process that has its own workers; close removes their folder."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._folder = tempfile.TemporaryDirectory(prefix="grader-judge-", ignore_cleanup_errors=True)
        self._status = Path(self._folder.name, "status")
        self._status.write_bytes(bytes(SIZE))
        self.shared = SharedStatus(self._status)
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: Messages | None = None

    def begin(self, task: JudgeTask) -> Messages:
        """Start a judge and return the connection to it; GraderFault where it does not come to load the tests."""
        with socket.create_server(("127.0.0.1", 0), backlog=tiers.BACKLOG) as listener:
            token = secrets.token_bytes(tiers.TOKEN_BYTES)
            told = {each.name: getattr(task, each.name) for each in fields(task) if each.name not in MADE_THERE}
            given = listener.getsockname()[1], token, self._stage, self._status, told, task.answers is not None
            self._process = children.start(
                children.own("grader.judging.fresh_judge"), secret=pickle.dumps(given),
                more={"TMPDIR": self._folder.name, "TEMP": self._folder.name},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                self._messages = Messages(tiers.accepted(listener, token, self._process, START_SECONDS))
                self._messages.receive(time.monotonic() + START_SECONDS)
            except (OSError, JudgeGone, TimeIsUp) as error:
                self.end()
                raise GraderFault(f"the process that judges did not load the stage's tests: {error}") from error
        return self._messages

    def answer(self, what: str, number: int = 0) -> None:
        """Nothing is asked for: the process starts and ends its workers itself."""

    def end(self) -> tuple[Status, str]:
        process, self._process = self._process, None
        if self._messages is not None:
            self._messages.close()
        if process is None:
            return "crashed", "an unexpected end"
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)  # one that ended by itself says why
        process.kill()
        status = process.wait()
        if (bound := bounds.why_ended(-status)) is not None:
            return "timed_out", bound
        return "crashed", _end_of(status)

    def close(self) -> None:
        self.end()
        self._folder.cleanup()


def _end_of(status: int) -> str:
    """Return in words how a process ended: on Windows 1 is an end from outside, and a crash has a large number."""
    if status < 0 and status != -signal.SIGTERM:
        return f"signal {-status}"
    return f"exit code {status:#x}" if status > 0xFF else "an unexpected end"


def main() -> None:
    bounds.one_thread()  # before anything that is unpickled imports NumPy
    port, token, stage, status, told, explains = pickle.load(sys.stdin.buffer)  # nosec B301 # the grader's own
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(token)
    messages = Messages(connection)
    from grader.judging import content
    from grader.judging.pytest_suite import Suite
    from grader.judging.session import judge

    suite = Suite(stage, content.test_files(stage))
    bounds.die_of_it()
    bounds.bound_memory(stage.limits.judge_mb)
    answers = partial(content.answers, stage, told["job"].source) if explains else None
    task = JudgeTask(suite=suite, shared=SharedStatus(status), answers=answers, **told)
    with suppress(JudgeGone):
        messages.send("ready")
        judge(task, messages, tiers.LocalWorkerFactory(task.tier, task.job.hide, False, packages=task.job.packages))
