"""Reading a text that is not plain in a process of its own, so that the grader outlives whatever comes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from grader import children
from grader.course.settings import UNSAID
from grader.course.stage import Forbidden
from grader.errors import GraderFault
from grader.submission.source.problem import Problem, Reading

WALL_SECONDS = 20.0  # the process has five of processor time; this is for systems without such a limit
TOO_LONG = Problem(
    "syntax",
    "Python takes too long to read this module",
    None,
    "Look for very long or deeply nested expressions, and for `finally` within `finally`.",
)
BREAKS_DOWN = Problem(
    "syntax",
    "Python itself breaks down when it reads this module",
    None,
    "Look for very long or deeply nested expressions.",
)


def look_apart(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> Reading:
    """As looking.look_at_bytes; raises GraderFault where the process cannot be started or fails by itself."""
    request = {
        "source": source.decode("latin-1"), "module": module,
        "operators": forbidden.operators, "names": forbidden.names, "reason": forbidden.reason,
        "functions": list(functions), "packages": list(packages),
    }  # fmt: skip
    try:
        process = _started()
    except OSError as error:
        raise GraderFault(f"the process that reads a module cannot be started: {error.strerror}") from error
    with process:
        try:
            answer, _ = process.communicate(json.dumps(request).encode(), WALL_SECONDS)
        except subprocess.TimeoutExpired:
            return Reading(TOO_LONG)
        finally:
            process.kill()
    return _understood(process.returncode, answer)


def _started() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return children.start(
        children.own("grader.submission.source.reader", site=False),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment, start_new_session=True,
    )  # fmt: skip


def _understood(code: int, answer: bytes) -> Reading:
    """What the end of the process tells about the text."""
    if code in (-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)) and code != 0:
        return Reading(TOO_LONG)
    if code not in (0, 1):  # a signal, or on Windows the number of an exception such as a stack overflow
        return Reading(BREAKS_DOWN)
    try:
        return _reading(json.loads(answer))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise GraderFault(f"the process that reads a module failed (exit code {code})") from error


def _reading(fields: Any) -> Reading:
    refused = {str(name): Problem(**problem) for name, problem in fields["refused"].items()}
    stood_in = tuple(map(str, fields["stood_in"]))
    return Reading(_problem(fields["problem"]), refused, _problem(fields["forbidden"]), stood_in)


def _problem(fields: Any) -> Problem | None:
    return None if fields is None else Problem(**fields)
