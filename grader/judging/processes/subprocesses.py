"""Judges where the system cannot fork: one process that stays from grading to grading, and a new one where it dies."""

from __future__ import annotations

import json
import secrets
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader import children
from grader.course.contract import NO_CONTRACT
from grader.course.stage import Course, Stage
from grader.errors import GraderFault
from grader.isolation.tiers import BACKLOG, TOKEN_BYTES, accepted
from grader.judging.judge import Charge
from grader.judging.processes import bounds
from grader.judging.processes.messages import JudgeGone, Messages, TimeIsUp
from grader.judging.processes.slate import SIZE, Slate
from grader.outcome import Status

START_SECONDS = 60.0


class Standing:
    """Gives charges to a judge that is a process of its own; it has its own workers."""

    peak_mb = 0.0

    def __init__(self, course: Course, stage: Stage) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="grader-judge-", ignore_cleanup_errors=True)
        self._spec: dict[str, Any] = {
            "root": str(course.root), "stage": stage.id, "hidden": str(stage.hidden_root),
            "key": str(stage.key_file or ""), "limits": asdict(stage.limits), "slate": f"{self._folder.name}/slate",
        }  # fmt: skip
        Path(self._spec["slate"]).write_bytes(bytes(SIZE))
        self.slate = Slate(Path(self._spec["slate"]))
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: Messages | None = None
        self._ready = False

    def prepare(self) -> None:
        """Start the process, so that it loads the tests while this one does."""
        if self._process is not None and self._process.poll() is None:
            return
        self._ready = False
        if self._messages is not None:
            self._messages.close()
        with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener:
            token = secrets.token_bytes(TOKEN_BYTES)
            spec = {**self._spec, "port": listener.getsockname()[1], "token": token.hex()}
            self._process = children.start(
                children.own("grader.judging.processes.standing"), secret=json.dumps(spec).encode(),
                more={"TMPDIR": self._folder.name, "TEMP": self._folder.name},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                self._messages = Messages(accepted(listener, token, self._process, START_SECONDS))
            except OSError as error:
                raise GraderFault(f"the process that judges did not start: {error}") from error

    def wait(self) -> Messages:
        """Return the connection to the process once it has loaded the tests; GraderFault where it does not come to."""
        self.prepare()
        assert self._messages is not None
        if not self._ready:
            try:
                self._messages.receive(time.monotonic() + START_SECONDS)
            except (JudgeGone, TimeIsUp) as error:
                self._killed()
                raise GraderFault("the process that judges did not load the stage's tests") from error
            self._ready = True
        return self._messages

    def begin(self, charge: Charge) -> Messages:
        """Give the charge to the process, or to a new one where it has ended."""
        messages = self.wait()
        job = replace(charge.job, contract=NO_CONTRACT)  # the other end has that of its own stage
        plain = {
            "task": asdict(charge.task), "job": {**asdict(job), "hide": str(job.hide)},
            "tier": charge.tier, "first": charge.first, "doubted": charge.doubted,
            "explains": charge.answers is not None, "slow_rows": sorted(charge.slow_rows),
            "done": sorted(charge.done),
        }  # fmt: skip
        messages.send("judge", plain)
        return messages

    def answer(self, what: str) -> None:
        """Nothing is asked for: the process starts and ends its workers itself."""

    def end(self, done: bool) -> tuple[Status, str]:
        """Keep the process that came to the end of its charge; end another, and say what ended it."""
        if done or self._process is None:
            return "crashed", "an unexpected end"
        return self._killed()

    def _killed(self) -> tuple[Status, str]:
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
        """End the process, and remove its folder."""
        self._killed()
        self._folder.cleanup()


def _end_of(status: int) -> str:
    """Return in words how a process ended: on Windows 1 is an end from outside, and a crash has a large number."""
    if status < 0 and status != -signal.SIGTERM:
        return f"signal {-status}"
    return f"exit code {status:#x}" if status > 0xFF else "an unexpected end"
