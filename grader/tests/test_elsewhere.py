"""What Windows lacks is missed by nothing that a learner runs: POSIX modules, fork, signals, all letters.

The grader runs here as there as far as a test can have it: the modules cannot be imported, the functions are gone.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests.support.command import NUMBERS, PACKAGE, WRONG, Place

POSIX = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
# What these packages import is their own affair, so it is there before the modules are taken away.
WITHOUT = f"""\
import asyncio, concurrent.futures, ctypes, multiprocessing, os, shutil, signal, subprocess, sys, tempfile
import filelock, msgpack, numpy, pytest, rich.console, typer


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {POSIX!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)


for name in {POSIX!r}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
for name in "fork forkpty geteuid getuid getegid getgid getgroups setsid setpgid getpgid killpg wait4 chown".split():
    delattr(os, name)
for name in "sched_getaffinity getloadavg mkfifo setuid setgid setgroups".split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGALRM SIGHUP SIGUSR1 SIGCHLD setitimer alarm pthread_sigmask".split():
    delattr(signal, name)
sys.platform = "win32"
from grader.cli import main
main()
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere these are missing anyway")


def shipped() -> list[Path]:
    """Return the modules of the grader but its tests, benchmarks and what runs for instructors alone."""
    apart = {"tests", "bench", "classroom", "gradebook", "similarity"}
    return [path for path in sorted(PACKAGE.rglob("*.py")) if not apart & set(path.relative_to(PACKAGE).parts)]


def test_no_module_imports_at_its_top_what_only_posix_has() -> None:
    found = []
    for path in shipped():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.relative_to(PACKAGE)}:{node.lineno}: {name}" for name in names if name in POSIX]
    assert len(shipped()) > 100 and found == []


@pytest.mark.some_of(4, "grader/commands", "grader/isolation", "grader/worker")
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (("--help",), 0, "Commands:"),
        (("status",), 0, "Numbers"),
        ((), 0, "Welcome to"),
        (("show", "s01"), 0, "# Numbers"),
        (("next",), 0, "# Numbers"),
        (("start", "s02"), 0, ""),
        (("reset", "s01", "--yes"), 0, ""),
        (("doctor",), None, ""),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_commands_do_without_posix(place: Place, command: tuple[str, ...], code: int | None, told: str) -> None:
    done = place.process(*command, code=WITHOUT)
    assert told in done.out and "This is a fault of the grader" not in done.err, done.err
    assert code in (None, done.code), done.err  # the doctor may find what is to be mended


def test_a_check_does_without_posix(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    done = place.process("check", "s01", "--seed", "7", "--isolation", "process", code=WITHOUT)
    assert done.code == 1 and "This is the square." in done.out, done.err
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.process("check", "s01", "--isolation", "process", code=WITHOUT)
    assert done.code == 0 and place.recorded == {"s01"}, done.err


@pytest.mark.some_of(3, "grader/report", "grader/commands")
@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_a_stream_that_lacks_letters_stops_nothing(place: Place, encoding: str) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    (place.numbers.parent / "README.md").write_text("# Numbers\n\n√d_k · QKᵀ − ∑ ✓\n", encoding="utf-8")
    variables = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "NO_COLOR")}
    variables |= {
        "PYTHONPATH": str(place.package.parent),
        "PYTHONIOENCODING": encoding,
        "PYTHONUTF8": "0",
        "COLUMNS": "80",
    }
    for command in ((), ("status",), ("show", "s01"), ("check", "s01", "--isolation", "process")):
        done = subprocess.run(
            [sys.executable, "-m", "grader", *command],
            cwd=place.root, env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if "check" in command else 0), done.stderr
        assert b"Traceback" not in done.stderr
        assert done.stdout.decode(encoding)
    assert b"This is the square." in done.stdout
