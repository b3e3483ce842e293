"""The process in which a text that is not plain is read: bounded, and none of the grader's, so that it may die of it.

It is trusted, since nothing of the text is run; what it tells is one JSON document on its standard output.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from grader.course.settings import UNSAID
from grader.course.stage import Forbidden
from grader.submission.source.looking import look_at_bytes
from grader.submission.source.parsing import TOO_DEEP
from grader.submission.source.problem import Problem, Reading

CPU_SECONDS = 5
MEMORY_BYTES = 512 << 20
TOO_LARGE = Problem(
    "syntax", f"Python needs more than {MEMORY_BYTES >> 20} MB of memory to read this module", None, None
)


def main() -> None:
    """Read a request (apart.py) from standard input, and answer it."""
    _limit()
    request = json.load(sys.stdin.buffer)
    forbidden = Forbidden(tuple(request["operators"]), tuple(request["names"]), request["reason"])
    source = request["source"].encode("latin-1")
    print(json.dumps(asdict(_looked(source, request["module"], forbidden, request["functions"], request["packages"]))))


def _looked(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> Reading:
    try:
        found = look_at_bytes(source, module, forbidden, functions, packages)
    except MemoryError:
        return Reading(TOO_LARGE)
    # Python says MemoryError of a parser that ran out of stack, too.
    return Reading(TOO_LARGE) if found.problem == TOO_DEEP and _peak() > MEMORY_BYTES * 3 // 4 else found


def _limit() -> None:
    """Bound processor time and memory where the system can; the parent bounds the time anyhow."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"CPU": CPU_SECONDS, "AS": MEMORY_BYTES, "CORE": 0, "FSIZE": 0}
    for name, value in limits.items():
        with contextlib.suppress(OSError, ValueError, AttributeError):  # macOS refuses some
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, hard if name == "CPU" else bound))  # beyond the hard limit it is SIGKILL


def _peak() -> int:
    """The most memory that this process has had, in bytes.

    What getrusage says begins, on Linux, with the peak of the process that started this one.
    """
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as file:
        for line in file:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) << 10
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
