"""What a learner's process is made of is found, copied, and nothing more."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from grader import children
from grader.errors import CourseError, IsolationRefused
from grader.isolation import bundle, tiers
from grader.isolation.bundle import OwnFolder


def test_a_bundle_holds_the_parts_and_nothing_else(tmp_path: Path) -> None:
    built = bundle.build_bundle(tmp_path)
    files = {path.relative_to(built).as_posix() for path in built.rglob("*.py")}
    assert {"grader/protocol/codec.py", "grader/worker/main.py"} < files
    rooms = {path for path in files if path.split("/")[1] in bundle.ROOMS}
    assert rooms == {path.relative_to(bundle.HOUSE.parent).as_posix() for path in bundle.parts()}
    assert files - rooms == {"grader/__init__.py"}


def test_a_workers_start_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where Python writes no bytecode, nor where what it wrote is of an older source."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    older = Path(importlib.util.cache_from_source(str(next(each for each in bundle.parts() if each.stem == "codec"))))
    older.parent.mkdir(parents=True)
    older.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + b"of another source")
    bundle._contents.cache_clear()
    try:
        built = bundle.build_bundle(tmp_path)
    finally:
        bundle._contents.cache_clear()
    names = [f"grader.{part.parent.name}.{part.stem}" for part in bundle.parts() if part.stem != "__init__"]
    code = f"import sys, importlib; sys.path[:0] = [{str(built)!r}, *{bundle.package_parents()!r}]\n"
    code += f"for name in {names!r}: importlib.import_module(name)"
    said = subprocess.run([*children.bare(), "-v", "-c", code], capture_output=True, text=True, check=True).stderr
    from_bytecode = re.findall(rf"# code object from '{re.escape(str(built))}.*?/(\w+)\.cpython", said)
    assert sorted(from_bytecode) == sorted(part.stem for part in bundle.parts())


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_everybody_may_read_a_bundle(tmp_path: Path) -> None:
    built = bundle.build_bundle(tmp_path)
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in (built, *built.rglob("*")))
    assert not any(path.stat().st_mode & 0o022 for path in (built, *built.rglob("*")))


def test_a_package_of_the_wire_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "PACKAGES", ("no_such_package",))
    with pytest.raises(IsolationRefused, match="no_such_package is not installed") as caught:
        bundle.package("no_such_package")
    assert caught.value.hint == "Run `uv sync`."


def test_a_package_of_the_course_that_is_missing_is_the_courses_fault(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="the course's package no_such_package is not installed") as caught:
        tiers.start("process", tmp_path, packages=("no_such_package",))
    assert "[tool.grader]" in str(caught.value.hint)


def test_packages_of_the_course_are_found_as_folders_or_single_modules() -> None:
    found = {path.name for path in bundle.package_folders(("numpy", "rich", "typing_extensions"))}
    assert {"numpy", "msgpack", "rich", "typing_extensions.py"} <= found


def test_the_packages_are_found_with_their_libraries() -> None:
    found = [path.name for path in bundle.package_folders()]
    assert found[:2] == ["numpy", "msgpack"]
    folder = bundle.package("numpy").parent
    beside = {name for name in ("numpy.libs", "msgpack.libs") if (folder / name).is_dir()}  # older msgpack has one too
    assert set(found[2:]) == beside
    assert all(
        Path(parent, "numpy").is_dir() or Path(parent, "msgpack").is_dir() for parent in bundle.package_parents()
    )


def test_the_standard_library_is_the_interpreters_own() -> None:
    assert os.path.samefile(bundle.standard_library(), os.path.dirname(os.__file__))


def test_installed_packages_are_known_to_lie_beside_it() -> None:
    base = os.path.realpath(sys.base_prefix)
    if os.name == "posix":
        assert any(Path(folder).name == "site-packages" for folder in bundle.site_folders(base))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_folder_below_a_closed_one_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "home" / "packages"
    folder.mkdir(parents=True)
    monkeypatch.setattr(bundle, "package", lambda name: folder)
    (tmp_path / "home").chmod(0o700)
    assert str(folder) in bundle.closed_folders()
    monkeypatch.setattr(bundle, "package", lambda name: Path("/usr"))
    assert "/usr" not in bundle.closed_folders()


@pytest.mark.parametrize("place", ["", "lessons", "lessons/helpers"])
def test_a_package_that_would_show_the_course_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    course = tmp_path / "lessons"
    (course / "helpers" / "hidden").mkdir(parents=True)
    monkeypatch.setattr(bundle, "package", lambda name: tmp_path / place)
    with pytest.raises(CourseError, match=r"the course's package helpers lies in .*: a learner's code would see parts"):
        tiers.start("process", course, packages=("helpers",))


def test_the_grader_is_no_package_of_a_course(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="the course's package grader lies in"):
        bundle.expect_apart(("grader",), tmp_path)


def test_a_package_in_an_environment_inside_of_the_course_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "package", lambda name: tmp_path / ".venv/lib/python3.12/site-packages" / name)
    bundle.expect_apart(("numpy",), tmp_path)


def test_a_module_that_nothing_was_found_for_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "made_up", types.ModuleType("made_up"))
    with pytest.raises(CourseError, match="package made_up is not installed"):
        bundle.package("made_up")


def test_it_is_removed_when_it_is_forgotten() -> None:
    folder = OwnFolder()
    path = Path(folder.name)
    (path / "inner").mkdir()
    del folder
    assert not path.exists()


def test_it_is_removed_once() -> None:
    folder = OwnFolder()
    for _ in range(2):
        folder.cleanup()
    assert not Path(folder.name).exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_that_forgets_it_leaves_it() -> None:
    folder = OwnFolder()
    path = Path(folder.name)
    child = os.fork()
    if child == 0:
        try:
            folder.cleanup()
            del folder
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert path.exists()
    folder.cleanup()
    assert not path.exists()
