"""What a person installs: the package is built from a small author's copy, and used where this checkout is not."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from grader import __version__
from grader.course.manifest import load_course
from grader.setup.edition import unpacked
from grader.setup.wheel import wheel_path
from tests.packaging.conftest import FILES, PAGES, STAGES, uv
from tests.support.places import ROOT

NAME = "attention_grader"


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(dist / f"{NAME}-{__version__}-py3-none-any.whl") as archive:
        yield archive


@pytest.fixture(scope="module")
def described(wheel: zipfile.ZipFile) -> Message:
    """The metadata of the wheel."""
    return Parser().parsestr(wheel.read(f"{NAME}-{__version__}.dist-info/METADATA").decode())


def test_the_wheel_holds_the_grader_and_a_packed_course(wheel: zipfile.ZipFile, author: Path) -> None:
    names = set(wheel.namelist())
    own = {path.relative_to(author).as_posix() for path in (author / "grader").rglob("*") if path.is_file()}
    own = {name for name in own if "__pycache__" not in name and name.split("/")[1] != "tests"}
    information = {f"{NAME}-{__version__}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL")}
    information |= {f"{NAME}-{__version__}.dist-info/{name}" for name in ("entry_points.txt", "licenses/LICENSE")}
    assert names == own | information | {"grader/self_paced.zip"}
    assert {"grader/py.typed", "grader/setup/making.py", "grader/classroom/templates/copy/gitignore"} <= names


def test_the_sdist_holds_the_same_and_what_builds_it(dist: Path, wheel: zipfile.ZipFile) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    inside = {name for name in wheel.namelist() if name.startswith("grader/")}
    assert names - {".gitignore"} == inside | set(FILES) | {"PKG-INFO"}


def test_the_packed_course_is_a_learners_folder(wheel: zipfile.ZipFile, author: Path) -> None:
    edition = unpacked(wheel.read("grader/self_paced.zip"))
    assert (edition.version, edition.record.self_paced) == (__version__, True)
    beside = {name for name in edition.files if not name.startswith(("stages/", "drawings/", f"{edition.sealed}/"))}
    assert beside == {".gitignore", "AGENTS.md", "LICENSE", "README.md", "pyproject.toml", *PAGES}
    assert {name for name in edition.files if name.startswith(f"{edition.sealed}/")} == {
        f"{edition.sealed}/{name}"
        for name in (
            "release.json",
            "tests.key",
            *(f"{stage}.{kind}" for stage in STAGES for kind in ("sealed", "stub")),
        )
    }
    for stage in STAGES:
        solution = (author / load_course(ROOT).settings.hidden / stage / "solution.py").read_bytes()
        assert solution not in edition.files.values()
    assert not any("grader/" in name for name in edition.files)


def test_the_metadata_says_what_there_is_to_say(described: Message) -> None:
    assert (described["Name"], described["Version"]) == ("attention-grader", __version__)
    assert (described["Author"], described["License-Expression"]) == ("the authors", "MIT AND CC-BY-4.0")
    assert SpecifierSet(described["Requires-Python"]) == SpecifierSet(">=3.11,<3.15")
    assert described["Keywords"] and described["Summary"]
    assert "Typing :: Typed" in described.get_all("Classifier", [])
    assert not described.get_all("Project-URL") and not described["Home-page"]
    assert described["Description-Content-Type"] == "text/markdown" and described.get_payload()
    needed = {re.split("[<>=]", word)[0] for word in described.get_all("Requires-Dist", []) if ";" not in word}
    assert needed == {"cryptography", "filelock", "msgpack", "numpy", "pytest", "rich", "tomli", "typer", "watchfiles"}


class Installed:
    """A learner's folder, made by a grader that is installed in an environment of its own."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder

    def run(self, *arguments: str, program: str = "grader", folder: Path | None = None) -> tuple[int, str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("HOME", "SYSTEMROOT", "TEMP", "TMPDIR")}
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        done = subprocess.run(
            [str(self.programs / program), *arguments], cwd=folder or self.folder,
            env={**kept, "PATH": path, "PYTHONUTF8": "1", "COLUMNS": "100"},
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with its dependencies, in the versions that stand here, and no folder yet."""
    place = tmp_path_factory.mktemp("installed")
    pins = [f"{each.metadata['Name']}=={each.version}" for each in metadata.distributions() if each.metadata["Name"]]
    (place / "versions.txt").write_text("\n".join(pin for pin in pins if not pin.startswith("attention")))
    uv("venv", "--quiet", "venv", folder=place)
    (wheel,) = dist.glob("*.whl")
    programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
    uv("pip", "install", "--quiet", "--python", programs / "python", "-c", "versions.txt", wheel, folder=place)
    return Installed(programs, place / "my course")


def test_a_learner_goes_from_an_empty_folder_to_the_second_stage(installed: Installed, author: Path) -> None:
    code, _, told = installed.run("status", folder=installed.folder.parent)
    assert (code, told.count("\n")) == (2, 1) and "`grader init my-course`" in told
    code, _, told = installed.run("init", str(installed.folder), "--editor", "vscode", folder=installed.folder.parent)
    assert code == 0 and "2 stages" in " ".join(told.split()) and "Next: `cd " in told
    assert (installed.folder / ".git").is_dir() == (shutil.which("git") is not None)
    code, out, _ = installed.run("check", "s01", "--json")
    assert code == 1 and {row["status"] for row in json.loads(out)["criteria"]} <= {"not_started", "blocked"}
    hidden = author / load_course(ROOT).settings.hidden
    shutil.copy(hidden / STAGES[0] / "solution.py", installed.folder / "stages" / STAGES[0] / "matrices.py")
    code, out, told = installed.run("check", "--json")
    found = json.loads(out)
    assert code == 0, out + told
    assert found["passed"] and not found["public_only"] and found["unlocked"] == ["s02"]
    code, out, _ = installed.run()
    assert code == 0 and "You are at s02" in out
    assert installed.run("update")[2] == f"This folder has course {__version__} already: nothing is to be changed.\n"
    code, out, _ = installed.run("-q", f"stages/{STAGES[0]}/tests", program="pytest")
    assert code == 0, out


@pytest.mark.full_matrix("hatch_build.py", "pyproject.toml", "grader/authoring", "grader/setup", "grader/classroom")
def test_an_author_begins_a_course_of_their_own_and_releases_it(installed: Installed, tmp_path: Path) -> None:
    course, copy = tmp_path / "course", tmp_path / "copy"
    assert installed.run("course", "init", str(course), folder=tmp_path)[0] == 0
    code, _, told = installed.run("release", str(copy), "--self-paced", folder=course)
    assert code == 0, told
    project = tomllib.loads((copy / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "course" and project["dependencies"] == ["attention-grader"]
    assert (copy / "LICENSE").is_file()
    with zipfile.ZipFile(copy / wheel_path("attention-grader")) as brought:
        names = set(brought.namelist())
        needs = Parser().parsestr(brought.read(f"{NAME}-{__version__}.dist-info/METADATA").decode())
    assert "grader/cli.py" in names and not [name for name in names if name.endswith((".zip", ".sealed", ".key"))]
    assert {"numpy", "cryptography"} <= {re.split("[<>=]", each)[0] for each in needs.get_all("Requires-Dist", [])}
    code, out, told = installed.run("check", "s01", "--json", folder=copy)
    assert code == 1 and not json.loads(out)["public_only"], told


def test_it_was_not_this_checkout_that_was_used(installed: Installed) -> None:
    elsewhere = installed.folder.parent  # the folder may not be there: another process may run the test that makes it
    code, out, _ = installed.run("-c", "import grader; print(grader.__file__)", program="python", folder=elsewhere)
    assert code == 0 and Path(out.strip()).is_relative_to(installed.programs.parent)
