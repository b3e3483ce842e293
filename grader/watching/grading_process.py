"""The screen's end of the process that grades: it starts it, gives it checks, breaks one off, and passes answers on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grader import children, criterion, outcome, verdict
from grader.course import provenance
from grader.judging.task import records, unpacked
from grader.submission import parsing, snapshot
from grader.watching.board import CheckFailed, CountedTest, EarlyCriterion, EarlyVerdict, Event, FinalVerdict

RECORDS = records(*(vars(module).values() for module in (outcome, criterion, verdict, provenance, parsing, snapshot)))
END_SECONDS = 2.0
CAN_INTERRUPT = os.name == "posix"
SERVICE = "grader.watching.service"
Answer = CountedTest | EarlyCriterion | EarlyVerdict | FinalVerdict | CheckFailed
_ANSWERS: dict[str, type[Answer]] = {
    "tested": CountedTest, "glimpsed": EarlyCriterion, "decided": EarlyVerdict, "judged": FinalVerdict,
    "failed": CheckFailed,
}  # fmt: skip
ENDED = "Save again to start it anew; `grader check` shows more."


class GradingProcess:
    """A process that grades one check after the other; of several that were asked for, only the last is told of."""

    def __init__(self, root: Path, post: Callable[[Event], None], command: Sequence[str] = ()) -> None:
        self._command = [*(command or children.own(SERVICE)), str(root)]
        self._root = root
        self._post = post
        self._process: subprocess.Popen[str] | None = None
        self._said: Any = None  # what the process wrote to stderr
        self._ticket = 0
        self._pending = 0

    def check(self, stage: str, first: str | None, anew: bool = False) -> int:
        """Have a stage checked, one criterion before the others, in place of what runs; return the check's number.

        anew has another process do it, which reads tests, and what they import, as they are now.
        """
        self._ticket += 1
        self._stop_check()
        if anew:
            self._end()
        self._pending = self._ticket
        for _ in range(2):
            process = self._running()
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(["check", self._ticket, stage, first]) + "\n")
                process.stdin.flush()
                break
            except OSError:  # it has ended since it was looked at
                self._end()
        return self._ticket

    def close(self) -> None:
        """End the process; what it is at is broken off."""
        self._ticket += 1
        self._stop_check()
        self._end()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # as long as it
            with _uninterrupted():
                self._process = children.start(
                    self._command, cwd=self._root, text=True, encoding="utf-8",
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True,
                )  # fmt: skip
            threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        return self._process

    def _stop_check(self) -> None:
        """Break off the check that runs, if any: its answer would be about a module that is no longer there."""
        process, pending = self._process, self._pending
        self._pending = 0
        if process is None or not pending or process.poll() is not None:
            return
        if CAN_INTERRUPT:
            with suppress(OSError):
                process.send_signal(signal.SIGINT)
        else:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._said is not None:
            self._said.close()

    def _read(self, process: subprocess.Popen[str]) -> None:
        """Pass on what the process says, in a thread, until it ends."""
        assert process.stdout is not None
        with process.stdout as answers:
            for line in answers:
                try:
                    event = _event(*json.loads(line))
                except ValueError:  # cut off as it ended
                    break
                if event.ticket == self._ticket:
                    if isinstance(event, (FinalVerdict, CheckFailed)):
                        self._pending = 0
                    self._post(event)
        code = process.wait()
        if self._process is process and self._pending == self._ticket:
            self._pending = 0
            self._post(CheckFailed(self._ticket, f"the process that grades has ended{self._why(code)}", ENDED))

    def _why(self, code: int) -> str:
        with suppress(OSError, ValueError):
            self._said.seek(0)
            lines = [line.strip() for line in self._said if line.strip()]
            if lines:
                return f": {lines[-1][:200]}"
        return f" by signal {-code}" if code < 0 else f" with exit code {code}"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let a process begin with SIGINT ignored, which it inherits: it is told to stop before it can take that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _event(kind: str, *fields: Any) -> Answer:
    return _ANSWERS[kind](*(unpacked(field, RECORDS) for field in fields))
