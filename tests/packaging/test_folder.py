"""The way of a learner who has the wheel alone: install, init, `uv run grader`, pass, next.

The folder has a space and an umlaut in its name. PATH has uv alone: no git, no bubblewrap.
HOME is not set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from grader.course.manifest import load_course
from grader.shell import quoted
from tests.packaging.conftest import STAGES, UNAVAILABLE, unavailable
from tests.support.places import ROOT

ABOUT = "hatch_build.py", "pyproject.toml", "grader/setup", "grader/classroom", "grader/authoring"
FOLDER = "Mein Kürs"


class Learner(NamedTuple):
    """A machine with a wheel, an empty folder for programs, and nothing of its user's."""

    place: Path
    wheel: Path
    cache: str

    def run(
        self, *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that has to succeed; packages come from uv's cache, or else from where uv finds them."""
        kept = {
            name: os.environ[name] for name in os.environ if name.startswith(("UV_INDEX", "UV_DEFAULT", "UV_CONFIG"))
        }
        kept |= {name: os.environ[name] for name in NEEDED if name in os.environ}
        given = {"PATH": str(self.place / "bin"), "UV_CACHE_DIR": self.cache, "UV_PYTHON": BASE, "LC_ALL": "C.UTF-8"}
        given |= {"PYTHONUTF8": "1"} if WINDOWS else {}  # elsewhere LC_ALL says it
        first, *words = map(str, command)
        first = shutil.which(first, path=given["PATH"]) or first  # Windows looks in this process's PATH, not in that
        for offline in ("1", "0"):
            variables = {**kept, **given, **environment, "UV_OFFLINE": offline}
            done = subprocess.run(
                [first, *words], cwd=folder or self.place, env=variables,
                stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=300, check=False,
            )  # fmt: skip
            if not any(words in done.stderr for words in UNAVAILABLE):
                break
        else:
            unavailable(f"packages are unavailable: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done


WINDOWS = sys.platform == "win32"
NEEDED = ("SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC") if WINDOWS else ()
BASE = str(Path(sys.base_prefix, "python.exe" if WINDOWS else f"bin/python3.{sys.version_info.minor}"))
PROGRAMS, EXE = ("Scripts", ".exe") if WINDOWS else ("bin", "")


@pytest.fixture
def learner(dist: Path, tmp_path: Path) -> Learner:
    program = os.environ.get("UV") or shutil.which("uv")
    if program is None:
        unavailable("uv is not installed, and learners run the grader with it")
    (tmp_path / "bin").mkdir()
    if "UV" not in os.environ:  # what the path leads to may be a script that starts uv, and needs more of the path
        asked = [program, "run", "--no-project", "--python", BASE, "python", "-c", "import os; print(os.environ['UV'])"]
        program = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    cache = subprocess.run([program, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    _linked(tmp_path / "bin" / f"uv{EXE}", Path(program))
    (wheel,) = dist.glob("*.whl")
    return Learner(tmp_path, wheel, cache)


def _linked(link: Path, program: Path) -> None:
    """Have a program in another folder, too; on Windows, where links are for administrators, as a copy."""
    if WINDOWS:
        shutil.copy(program, link)
    else:
        link.symlink_to(program)


def with_uv(learner: Learner) -> Path:
    """Install the wheel as a tool of uv's; return the program."""
    places = {"UV_TOOL_DIR": str(learner.place / "tools"), "UV_TOOL_BIN_DIR": str(learner.place / "programs")}
    learner.run("uv", "tool", "install", "--quiet", learner.wheel, environment=places)
    return learner.place / "programs" / f"grader{EXE}"


def with_pip(learner: Learner) -> Path:
    """Install the wheel with pip, into an environment that sees the packages of this one; return the program."""
    environment = learner.place / "an environment"
    subprocess.run([BASE, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("Lib/site-packages" if WINDOWS else "lib/python3*/site-packages")
    others = next(each for each in sys.path if each.endswith("site-packages"))
    (packages / "others.pth").write_text(others, encoding="utf-8")
    python = environment / PROGRAMS / f"python{EXE}"
    pip = subprocess.run([BASE, "-m", "pip", "--version"], capture_output=True, check=False)
    if pip.returncode != 0:
        unavailable(f"{BASE} has no pip")
    options = ("--no-index", "--no-deps", "--quiet", "--disable-pip-version-check", "--no-warn-script-location")
    learner.run(BASE, "-m", "pip", "--python", python, "install", *options, learner.wheel)
    return environment / PROGRAMS / f"grader{EXE}"


def as_pipx(learner: Learner) -> Path:
    """Install the wheel as pipx does: an environment of its own, of which a folder of programs has a link alone."""
    program = learner.place / "bin" / f"grader{EXE}"
    _linked(program, with_pip(learner))
    return program


@pytest.mark.full_matrix(*ABOUT)
@pytest.mark.parametrize("install", [with_uv, with_pip, as_pipx])
def test_whoever_has_the_wheel_comes_to_the_second_stage(learner: Learner, install: Callable[[Learner], Path]) -> None:
    program = install(learner)
    told = learner.run(program, "init", FOLDER).stderr
    assert "2 stages" in " ".join(told.split()) and f"Next: `cd {quoted(FOLDER)}`, then `uv run grader`." in told
    folder = learner.place / FOLDER
    for name in ("tools", "an environment"):  # from here on the folder has all that there is of the grader
        shutil.rmtree(learner.place / name, ignore_errors=True)
    assert not program.exists() or WINDOWS  # there it is a copy, which starts what is gone
    assert "coach, do not solve" in (folder / "AGENTS.md").read_text(encoding="utf-8")
    assert "You are at s01" in learner.run("uv", "run", "grader", folder=folder).stdout
    solution = load_course(ROOT).hidden / STAGES[0] / "solution.py"
    shutil.copy(solution, folder / "stages" / STAGES[0] / "matrices.py")
    assert "Unlocked: s02" in learner.run("uv", "run", "grader", "check", folder=folder).stderr
    assert "s02" in learner.run("uv", "run", "grader", "next", folder=folder).stdout.splitlines()[0]
    assert "nothing is to be changed" in learner.run("uv", "run", "grader", "update", folder=folder).stderr


@pytest.mark.full_matrix(*ABOUT)
def test_each_installer_s_grader_puts_the_same_bytes_into_the_folder(learner: Learner) -> None:
    found = []
    for number, install in enumerate((with_uv, as_pipx)):
        folder = learner.place / f"{FOLDER} {number}"
        learner.run(install(learner), "init", folder)
        found.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert found[0] == found[1]


@pytest.mark.full_matrix(*ABOUT)
def test_uv_refuses_a_wheel_that_is_not_the_one_in_its_lock(learner: Learner) -> None:
    folder = learner.place / FOLDER
    learner.run(with_pip(learner), "init", folder)
    learner.run("uv", "lock", "--quiet", folder=folder)
    (wheel,) = (folder / ".grader" / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("grader/more.py", "")
    with pytest.raises(AssertionError, match="Hash mismatch"):
        learner.run("uv", "run", "grader", folder=folder)
