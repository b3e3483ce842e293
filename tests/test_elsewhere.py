"""What Windows lacks is missed by nothing that a learner runs: POSIX modules, fork, signals, all letters.

The grader runs here as there as far as a test can have it: the modules cannot be imported, the functions are gone.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import poor_platform
from tests.support.command import NUMBERS, PACKAGE, WRONG, Place

POSIX = poor_platform.MODULES
pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere these are missing anyway")


def shipped() -> list[Path]:
    """Return the modules of the grader but its tests and what runs for instructors alone."""
    apart = {"tests", "classroom", "gradebook", "similarity"}
    return [path for path in sorted(PACKAGE.rglob("*.py")) if not apart & set(path.relative_to(PACKAGE).parts)]


def test_no_module_imports_at_its_top_what_only_posix_has() -> None:
    found = []
    for path in shipped():
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if any(name in text for name in POSIX) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.relative_to(PACKAGE)}:{node.lineno}: {name}" for name in names if name in POSIX]
    assert len(shipped()) > 100 and found == []


COMMANDS = {
    "--help": "Commands:",
    "status": "Numbers",
    "": "Welcome to",
    "show s01": "# Numbers",
    "next": "# Numbers",
    "hint s01": "a nudge",
    "start s02": "",
    "reset s01 --yes": "",
    "editor vscode": "",
}


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_commands_do_without_what_a_platform_lacks(place: Place, platform: str) -> None:
    """They run one after another in one interpreter: what was taken from it does not come back."""
    done = place.process(*COMMANDS, code=poor_platform.one_by_one(platform))
    assert "This is a fault of the grader" not in done.err, done.err
    *told, rest = done.out.split(poor_platform.ENDED)
    assert not rest.strip(), done.err
    for (words, expected), each in zip(COMMANDS.items(), told, strict=True):
        assert expected in each and each.split()[-1] == "0", (words, each, done.err)


@pytest.mark.full_matrix("grader/doctor", "grader/commands", "grader/isolation", "grader/worker")
@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_the_doctor_does_without_what_a_platform_lacks(place: Place, platform: str) -> None:
    done = place.process("doctor", code=poor_platform.program(platform))  # it may find what is to be mended
    assert "This is a fault of the grader" not in done.err, done.err


@pytest.mark.parametrize(
    "platform", ["win32", pytest.param("darwin", marks=pytest.mark.full_matrix("grader/judging", "grader/sandbox"))]
)
def test_the_road_is_walked_without_what_a_platform_lacks(place: Place, platform: str) -> None:
    program = poor_platform.program(platform)
    place.numbers.write_text(WRONG, encoding="utf-8")
    done = place.process("check", "s01", "--seed", "7", code=program)
    assert done.code == 1 and "This is the square." in done.out, done.err
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.process("check s01 --json", "solution s01", code=poor_platform.one_by_one(platform))
    checked, shown, left = done.out.split(poor_platform.ENDED)
    verdict, end = json.JSONDecoder().raw_decode(checked)
    assert checked[end:].split() == ["0"] and not left.strip() and place.recorded == {"s01"}, done.err
    assert verdict["isolation"] == "process" and verdict["unlocked"] == ["s02"]
    assert "def double" in shown and shown.split()[-1] == "0", done.err


def test_the_platform_that_is_played_is_as_poor_as_it_says(tmp_path: Path) -> None:
    tried = """\
import os, select, subprocess, sys
try:
    import fcntl
except ModuleNotFoundError:
    print("no fcntl")
actions = lambda: open("/proc/self/stat"), lambda: os.open(".", os.O_RDONLY), lambda: select.select([0], [], [], 0)
for action in actions:
    try:
        action()
    except OSError as error:
        print(type(error).__name__)
with open("text", "w") as file:
    file.write("\u2019\\n")
    try:
        os.unlink("text")
    except PermissionError:
        print("held")
print(open("text", "rb").read(), sys.platform, hasattr(os, "fork"))
"""
    code = poor_platform.program("win32").replace("from grader.cli import main\nmain()\n", tried)
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-S', '-c', {tried!r}, '{{\"path\": []}}'])"
    done = [
        subprocess.run([sys.executable, "-c", each], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
        for each in (code, code.replace(tried, child))
    ]
    told = ["no fcntl", "FileNotFoundError", "PermissionError", "OSError", "held", r"b'\x92\r\n' win32 False"]
    assert [each.stdout.splitlines() for each in done] == [told, told], [each.stderr for each in done]


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
    for command in ((), ("show", "s01"), ("check", "s01", "--isolation", "process")):
        done = subprocess.run(
            [sys.executable, "-m", "grader", *command],
            cwd=place.root, env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if "check" in command else 0), done.stderr
        assert b"Traceback" not in done.stderr
        assert done.stdout.decode(encoding)
    assert b"This is the square." in done.stdout
