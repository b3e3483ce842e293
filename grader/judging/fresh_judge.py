"""Judges where the system cannot fork: each is an interpreter of its own that loads the tests and judges one task.

It reads what it has to know from its standard input: the stage, the task, the file of the shared status, and a port
with the token that proves who connects.
"""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack

from grader import children
from grader.course.manifest import load_course
from grader.course.stage import NO_CONTRACT, Course, Limits, Stage
from grader.errors import GraderFault
from grader.isolation import tiers
from grader.judging import bounds
from grader.judging.task import SIZE, JudgeGone, Messages, SharedStatus, TimeIsUp

if TYPE_CHECKING:
    from grader.judging.pytest_suite import Suite
    from grader.judging.task import JudgeTask
    from grader.outcome import Status

START_SECONDS = 60.0
PLAIN = [
    "tier",
    "seed",
    "ends_at",
    "only",
    "first_failure",
    "ahead",
    "timed",
    "asked",
    "searches",
    "first",
    "doubted",
]  # of a task, as they are


class FreshJudges:
    """Starts a judge for each task, in a process that has its own workers; close removes their folder."""

    peak_mb = 0.0

    def __init__(self, course: Course, stage: Stage) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="grader-judge-", ignore_cleanup_errors=True)
        self._spec: dict[str, Any] = {
            "root": str(course.root), "stage": stage.id, "hidden": str(stage.hidden_root),
            "key": str(stage.key_file or ""), "limits": asdict(stage.limits), "shared": f"{self._folder.name}/status",
        }  # fmt: skip
        Path(self._spec["shared"]).write_bytes(bytes(SIZE))
        self.shared = SharedStatus(Path(self._spec["shared"]))
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: Messages | None = None

    def begin(self, task: JudgeTask) -> Messages:
        """Start a judge and return the connection to it; GraderFault where it does not come to load the tests."""
        with socket.create_server(("127.0.0.1", 0), backlog=tiers.BACKLOG) as listener:
            token = secrets.token_bytes(tiers.TOKEN_BYTES)
            given = {**self._spec, "port": listener.getsockname()[1], "token": token.hex(), "task": _plain(task)}
            self._process = children.start(
                children.own("grader.judging.fresh_judge"), secret=msgpack.packb(given),
                more={"TMPDIR": self._folder.name, "TEMP": self._folder.name},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                self._messages = Messages(tiers.accepted(listener, token, self._process, START_SECONDS))
                self._messages.receive(time.monotonic() + START_SECONDS)
            except (OSError, JudgeGone, TimeIsUp) as error:
                self.end(False)
                raise GraderFault(f"the process that judges did not load the stage's tests: {error}") from error
        return self._messages

    def answer(self, what: str, number: int = 0) -> None:
        """Nothing is asked for: the process starts and ends its workers itself."""

    def end(self, done: bool) -> tuple[Status, str]:
        """End the judge, and say what ended it."""
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
        """End the judge that runs, and remove its folder."""
        self.end(False)
        self._folder.cleanup()


def _end_of(status: int) -> str:
    """Return in words how a process ended: on Windows 1 is an end from outside, and a crash has a large number."""
    if status < 0 and status != -signal.SIGTERM:
        return f"signal {-status}"
    return f"exit code {status:#x}" if status > 0xFF else "an unexpected end"


def _plain(task: JudgeTask) -> dict[str, Any]:
    """Return a task as msgpack carries it; the other end has the suite, and the contract of its own stage."""
    job = {**asdict(replace(task.job, contract=NO_CONTRACT)), "hide": str(task.job.hide)}
    return {
        **{name: getattr(task, name) for name in PLAIN}, "job": job,
        "slow_rows": sorted(task.slow_rows), "done": sorted(task.done), "explains": task.answers is not None,
    }  # fmt: skip


def _task(plain: dict[str, Any], suite: Suite, shared: SharedStatus) -> JudgeTask:
    from grader.judging import content
    from grader.judging.task import JudgeTask
    from grader.sandbox.process import Job

    job = plain["job"]
    own = {"hide": Path(job["hide"]), "packages": tuple(job["packages"]), "lent": tuple(map(tuple, job["lent"]))}
    made = Job(**{**job, **own, "contract": suite.stage.whole_contract})
    first_failure = None if plain["first_failure"] is None else tuple(plain["first_failure"])
    more = {name: plain[name] for name in PLAIN} | {
        "first_failure": first_failure,
        "ahead": tuple(plain["ahead"]),
        "asked": tuple(plain["asked"]),
    }
    rows, done = frozenset(plain["slow_rows"]), frozenset(plain["done"])
    answers = partial(content.answers, suite.stage, made.source) if plain["explains"] else None
    return JudgeTask(suite, made, fork=False, shared=shared, answers=answers, slow_rows=rows, done=done, **more)


def stage_of(given: dict[str, Any]) -> Stage:
    """Return the stage that a judge is for, as the process that started it knows it."""
    course = load_course(Path(given["root"]), Path(given["hidden"]))
    stage = course.find(given["stage"])
    key = Path(given["key"]) if given["key"] else None
    return replace(stage.with_key(key), limits=Limits(**given["limits"]))


def main() -> None:
    """Connect, load the tests, and judge the task."""
    given = msgpack.unpackb(sys.stdin.buffer.read())
    connection = socket.create_connection(("127.0.0.1", given["port"]))
    connection.sendall(bytes.fromhex(given["token"]))
    messages = Messages(connection)
    bounds.one_thread()
    from grader.judging.content import test_files
    from grader.judging.pytest_suite import Suite
    from grader.judging.session import judge

    stage = stage_of(given)
    suite = Suite(stage, test_files(stage))
    bounds.die_of_it()
    bounds.bound_memory(stage.limits.judge_mb)
    task = _task(given["task"], suite, SharedStatus(Path(given["shared"])))
    with suppress(JudgeGone):
        messages.send("ready")
        judge(task, messages, tiers.LocalWorkerFactory(task.tier, task.job.hide, False, packages=task.job.packages))
