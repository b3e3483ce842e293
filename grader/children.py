"""Child interpreters of the grader: no other place starts one.

None of them searches the current folder, or reads PYTHONPATH or another setting of Python's. Secrets come on standard
input: arguments can be read by every user of the machine. Those that run the grader have the import guard in place.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from grader.course.import_guard import shows_course

HOUSE = Path(__file__).resolve().parent
SETTING = "PYTHON"  # how the names of Python's settings begin in an environment
SAFE_PATH = "PYTHONSAFEPATH"
ISOLATED = ("-I", "-X", "utf8")
_BOOT = """\
import importlib.util, json, sys
given = json.loads(sys.argv.pop(1))
sys.path[:] = given["path"] or sys.path
sys.prefix, sys.exec_prefix = given["prefix"]  # without site, Python knows no virtual environment
spec = importlib.util.spec_from_file_location("grader", given["package"])
sys.modules["grader"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["grader"])
from grader.course.import_guard import GUARD
GUARD.install()
importlib.import_module(given["module"]).main()
"""
_spawning = threading.RLock()


def own(module: str, *arguments: str, site: bool = True) -> list[str]:
    """Return the command that runs `main` of a module of this grader, with the packages that this process can import.

    Without site it has the standard library alone.
    """
    given = {
        "path": handed_on() if site else [], "prefix": [sys.prefix, sys.exec_prefix],
        "package": str(HOUSE / "__init__.py"), "module": module,
    }  # fmt: skip
    return [sys.executable, *ISOLATED, "-S", "-c", _BOOT, json.dumps(given), *arguments]


def handed_on() -> list[str]:
    """Return the entries of the path that a child may have: none of PYTHONPATH, of a course, or the current folder."""
    refused = {os.path.realpath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    with suppress(OSError):  # it was removed
        refused.add(os.path.realpath(os.getcwd()))
    kept = [entry for entry in sys.path if os.path.isabs(entry) and not shows_course(entry)]
    return [entry for entry in kept if os.path.realpath(entry) not in refused]


def bare() -> list[str]:
    """Return the command of a Python without site packages, settings of a user, or the environment's."""
    base = getattr(sys, "_base_executable", sys.executable) or sys.executable
    return [os.path.realpath(base), *ISOLATED, "-S"]


def environment() -> dict[str, str]:
    """Return the environment of this process without Python's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(SETTING)}


def start(
    command: Sequence[str], *, secret: bytes = b"", more: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[Any]:
    """Start a command; a secret is all that it reads from standard input.

    more is added to the environment, unless options hold another one; the rest are those of subprocess.Popen.
    """
    options.setdefault("env", {**environment(), **(more or {})})
    if secret:
        options["stdin"] = subprocess.PIPE
    process: subprocess.Popen[Any] = subprocess.Popen(command, **options)
    if secret and process.stdin is not None:
        with suppress(OSError):  # it has ended already
            process.stdin.write(secret)
        with suppress(OSError):
            process.stdin.close()
        process.stdin = None
    return process


def run(command: Sequence[str], env: Mapping[str, str], seconds: float, **options: Any) -> CompletedProcess[bytes]:
    """Run a command to its end and return what it wrote; subprocess.TimeoutExpired where it takes longer."""
    return subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False, **options
    )


@contextmanager
def spawning(more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let multiprocessing start processes, which then search no current folder, and find this grader.

    It hands its own environment, with more, and its path on to them, so that both are changed while the block lasts.
    What such a process runs first has to install the import guard, which takes a course's folder off the path again.
    """
    from multiprocessing import resource_tracker

    with _spawning:
        handed = [*handed_on(), str(HOUSE.parent)]  # last: a course's files may lie there, beside this grader
        before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(SETTING)}
        os.environ.update({SAFE_PATH: "1", **(more or {})})
        path = sys.path[:]
        sys.path[:] = handed
        try:
            if sys.platform != "win32":
                resource_tracker.ensure_running()
            yield
        finally:
            for name in (SAFE_PATH, *(more or ())):
                os.environ.pop(name, None)
            os.environ.update(before)
            sys.path[:] = path
