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
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.relative_to(PACKAGE)}:{node.lineno}: {name}" for name in names if name in POSIX]
    assert len(shipped()) > 100 and found == []


@pytest.mark.some_of(7, "grader/commands", "grader/isolation", "grader/worker")
@pytest.mark.parametrize("platform", ["win32", "darwin"])
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
        (("hint", "s01"), 0, "a nudge"),
        (("editor", "vscode"), 0, ""),
        (("doctor",), None, ""),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_commands_do_without_what_a_platform_lacks(
    place: Place, command: tuple[str, ...], code: int | None, told: str, platform: str
) -> None:
    done = place.process(*command, code=poor_platform.program(platform))
    assert told in done.out and "This is a fault of the grader" not in done.err, done.err
    assert code in (None, done.code), done.err  # the doctor may find what is to be mended


@pytest.mark.parametrize(
    "platform", ["win32", pytest.param("darwin", marks=pytest.mark.full_matrix("grader/judging", "grader/sandbox"))]
)
def test_the_road_is_walked_without_what_a_platform_lacks(place: Place, platform: str) -> None:
    program = poor_platform.program(platform)
    place.numbers.write_text(WRONG, encoding="utf-8")
    done = place.process("check", "s01", "--seed", "7", code=program)
    assert done.code == 1 and "This is the square." in done.out, done.err
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.process("check", "s01", "--json", code=program)
    assert done.code == 0 and place.recorded == {"s01"}, done.err
    assert done.json["isolation"] == "process" and done.json["unlocked"] == ["s02"]
    done = place.process("solution", "s01", code=program)
    assert done.code == 0 and "def double" in done.out, done.err


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
