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
from grader.tests.packaging.conftest import STAGES, UNAVAILABLE, unavailable
from grader.tests.support.places import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="test_package.py goes this way on Windows")
ABOUT = "hatch_build.py", "pyproject.toml", "grader/setup", "grader/classroom", "grader/authoring"
FOLDER = "Mein Kürs"


class Learner(NamedTuple):
    """A machine with a wheel, an empty folder for programs, and nothing of its user's."""

    place: Path
    wheel: Path

    def run(
        self, *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that has to succeed; packages come from uv's cache, or else from where uv finds them."""
        kept = {
            name: os.environ[name] for name in os.environ if name.startswith(("UV_INDEX", "UV_DEFAULT", "UV_CONFIG"))
        }
        given = {"PATH": str(self.place / "bin"), "UV_CACHE_DIR": CACHE, "UV_PYTHON": BASE, "LC_ALL": "C.UTF-8"}
        for offline in ("1", "0"):
            variables = {**kept, **given, **environment, "UV_OFFLINE": offline}
            done = subprocess.run(
                [*map(str, command)], cwd=folder or self.place, env=variables,
                stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=300, check=False,
            )  # fmt: skip
            if not any(words in done.stderr for words in UNAVAILABLE):
                break
        else:
            unavailable(f"packages are unavailable: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done


BASE = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))
CACHE = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")


@pytest.fixture
def learner(dist: Path, tmp_path: Path) -> Learner:
    program = os.environ.get("UV") or shutil.which("uv")
    if program is None:
        unavailable("uv is not installed, and learners run the grader with it")
    (tmp_path / "bin").mkdir()
    if "UV" not in os.environ:  # what the path leads to may be a script that starts uv, and needs more of the path
        asked = [program, "run", "--no-project", "--python", BASE, "python", "-c", "import os; print(os.environ['UV'])"]
        program = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "bin" / "uv").symlink_to(program)
    (wheel,) = dist.glob("*.whl")
    return Learner(tmp_path, wheel)


def with_uv(learner: Learner) -> Path:
    """Install the wheel as a tool of uv's; return the program."""
    places = {"UV_TOOL_DIR": str(learner.place / "tools"), "UV_TOOL_BIN_DIR": str(learner.place / "programs")}
    learner.run("uv", "tool", "install", "--quiet", learner.wheel, environment=places)
    return learner.place / "programs" / "grader"


def with_pip(learner: Learner) -> Path:
    """Install the wheel with pip, into an environment that sees the packages of this one; return the program."""
    environment = learner.place / "an environment"
    subprocess.run([BASE, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "others.pth").write_text(next(each for each in sys.path if each.endswith("site-packages")))
    python = environment / "bin" / "python"
    pip = subprocess.run([BASE, "-m", "pip", "--version"], capture_output=True, check=False)
    if pip.returncode != 0:
        unavailable(f"{BASE} has no pip")
    options = ("--no-index", "--no-deps", "--quiet", "--disable-pip-version-check", "--no-warn-script-location")
    learner.run(BASE, "-m", "pip", "--python", python, "install", *options, learner.wheel)
    return environment / "bin" / "grader"


def as_pipx(learner: Learner) -> Path:
    """Install the wheel as pipx does: an environment of its own, of which a folder of programs has a link alone."""
    program = learner.place / "bin" / "grader"
    program.symlink_to(with_pip(learner))
    return program


WAYS = [
    with_uv,
    pytest.param(with_pip, marks=pytest.mark.full_matrix(*ABOUT)),
    pytest.param(as_pipx, marks=pytest.mark.full_matrix(*ABOUT)),
]


@pytest.mark.parametrize("install", WAYS)
def test_whoever_has_the_wheel_comes_to_the_second_stage(learner: Learner, install: Callable[[Learner], Path]) -> None:
    program = install(learner)
    told = learner.run(program, "init", FOLDER).stderr
    assert "2 stages" in " ".join(told.split()) and f"Next: `cd '{FOLDER}'`, then `uv run grader`." in told
    folder = learner.place / FOLDER
    shutil.rmtree(program.resolve().parents[1])  # from here on the folder has all that there is of the grader
    assert "You are at s01" in learner.run("uv", "run", "grader", folder=folder).stdout
    solution = load_course(ROOT).hidden / STAGES[0] / "solution.py"
    shutil.copy(solution, folder / "stages" / STAGES[0] / "matrices.py")
    assert "Unlocked: s02" in learner.run("uv", "run", "grader", "check", folder=folder).stderr
    assert "s02" in learner.run("uv", "run", "grader", "next", folder=folder).stdout.splitlines()[0]
    assert "nothing is to be changed" in learner.run("uv", "run", "grader", "update", folder=folder).stderr


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
