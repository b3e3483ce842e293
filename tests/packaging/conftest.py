"""A package of two stages, built once for all tests that install it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from grader.course.manifest import load_course
from tests.pace.shared import made_once
from tests.support.places import ROOT

STAGES = ("s01_matrix_operations", "s02_linear_systems")
FILES = ("pyproject.toml", "hatch_build.py", "LICENSE", "CHANGELOG.md", "docs/package.md")
PAGES = load_course(ROOT).settings.pages
UNAVAILABLE = ("Failed to fetch", "error sending request", "No solution found when resolving", "network was disabled")


def unavailable(why: str) -> NoReturn:
    """Skip a test that lacks packages or a program; in CI, where all of them are, it fails."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def uv(*arguments: str | Path, folder: Path, seconds: float = 300) -> str:
    """Run uv without what the environment says of this checkout; skip the test where packages are unavailable."""
    program = shutil.which("uv")
    if program is None:
        unavailable("uv is not installed, and the package is built with it")
    names = [name for name in os.environ if name not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")]
    done = subprocess.run(
        [program, *map(str, arguments)], cwd=folder, env={name: os.environ[name] for name in names},
        capture_output=True, encoding="utf-8", timeout=seconds, check=False,
    )  # fmt: skip
    if done.returncode != 0 and any(words in done.stderr for words in UNAVAILABLE):
        unavailable(f"packages are unavailable: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def author(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The author's copy with two stages."""
    return made_once(tmp_path_factory, "author", _write_author)


def _write_author(root: Path) -> None:
    course = load_course(ROOT)
    for folder in ("grader", course.settings.hidden, course.settings.drawings, "stages"):
        shutil.copytree(ROOT / str(folder), root / str(folder), ignore=_others)
    for name in (*FILES, *PAGES):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    kept = "".join(x for x in text.splitlines(True) if not x.startswith("demo = "))
    (root / "pyproject.toml").write_text(kept, encoding="utf-8")


def _others(folder: str, names: list[str]) -> set[str]:
    """Return what a copy of two stages goes without: all that others are needed for."""
    stages = {name for name in names if name[:1] == "s" and name[1:3].isdigit() and not name.endswith(".py")}
    more = {"tests": "attacks", "stages": "capstone", "hidden": "capstone"}.get(Path(folder).name, "__pycache__")
    return (stages - set(STAGES)) | {"__pycache__", more}


@pytest.fixture(scope="session")
def dist(author: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist, and the wheel that was built from it."""

    def make(folder: Path) -> None:
        uv("build", "--quiet", "--out-dir", folder, folder=author)

    return made_once(tmp_path_factory, "dist", make)
