"""The build's own file: what it asks for, when it does nothing, and that a leak ends it."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.release import expect_sound
from grader.course.manifest import load_course
from grader.errors import CourseError
from tests.support.places import ROOT


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The file, in a copy of the project that has nothing but it, as from a checkout."""
    for name in ("hatch_build.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "grader").mkdir()
    shutil.copy(ROOT / "grader" / "__init__.py", tmp_path / "grader")
    monkeypatch.setattr("sys.path", [*sys.path])
    spec = importlib.util.spec_from_file_location("built_by", tmp_path / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hook(build: types.ModuleType) -> Any:
    return build.SealedCourse(str(build.ROOT), {}, None, None, "", "wheel")


def test_sealing_is_asked_for_where_there_is_something_to_seal(
    build: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(build.ROOT)
    wanted = (build.get_requires_for_build_sdist, build.get_requires_for_build_wheel)
    assert [ask() for ask in wanted] == [["cryptography>=43", "numpy>=2.2", "tomli>=2.1"]] * 2
    assert "cryptography>=43" not in build.get_requires_for_build_editable()
    (build.ROOT / "PKG-INFO").touch()
    assert [ask() for ask in wanted] == [[], []]


def test_an_editable_install_and_an_sdist_need_no_packing(build: types.ModuleType, hook: Any) -> None:
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("editable", data)
    (build.ROOT / "PKG-INFO").touch()
    hook.initialize("standard", data)
    hook.finalize("standard", data, "there is no such file")
    assert data == {"force_include": {}}


def test_the_course_is_packed_into_what_is_built(hook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data: dict[str, Any] = {"force_include": {}}
    monkeypatch.setattr("grader.classroom.release.self_paced", lambda root: b"packed")
    monkeypatch.setattr("grader.classroom.release.expect_no_answers", lambda root, artifact: None)
    hook.initialize("standard", data)
    ((packed, place),) = data["force_include"].items()
    assert (Path(packed).read_bytes(), place) == (b"packed", "grader/self_paced.zip")
    (tmp_path / "built.whl").touch()
    hook.finalize("standard", data, str(tmp_path / "built.whl"))
    assert not Path(packed).exists() and (tmp_path / "built.whl").exists()


@pytest.mark.parametrize("error", [CourseError("a.py holds hidden text"), KeyboardInterrupt()])
def test_what_leaks_is_deleted(
    hook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException
) -> None:
    def leaks(root: Path, artifact: Path) -> None:
        raise error

    monkeypatch.setattr("grader.classroom.release.self_paced", lambda root: b"packed")
    monkeypatch.setattr("grader.classroom.release.expect_no_answers", leaks)
    hook.initialize("standard", {"force_include": {}})
    (tmp_path / "built.whl").touch()
    with pytest.raises((SystemExit, KeyboardInterrupt), match=r"a\.py holds hidden text|^$"):
        hook.finalize("standard", {}, str(tmp_path / "built.whl"))
    assert not (tmp_path / "built.whl").exists()


def test_a_course_that_cannot_be_packed_ends_the_build(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(root: Path) -> bytes:
        raise CourseError("stage.toml is broken")

    monkeypatch.setattr("grader.classroom.release.self_paced", broken)
    with pytest.raises(SystemExit, match=r"the course cannot be packed: stage\.toml is broken"):
        hook.initialize("standard", {"force_include": {}})


@pytest.mark.full_matrix("stages", "hidden", "docs", "README.md", "CHANGELOG.md", "grader/classroom")
def test_no_text_for_learners_quotes_a_hidden_file() -> None:
    """The package that other tests build has two stages; a quotation in another one would end its real build alone."""
    course = load_course(ROOT)
    stages = [*ROOT.glob("stages/**/*.md")]
    texts = [
        *stages,
        ROOT / "CHANGELOG.md",
        ROOT / "docs" / "package.md",
        *(ROOT / name for name in course.settings.pages),
    ]
    assert len(stages) > len(course.stages)
    expect_sound(course, {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in texts})
