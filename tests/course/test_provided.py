"""Data and references that the course provides, and what is said where there are none."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.provided import MAX_BYTES, data_beside, given_text, named, serving_stage
from grader.course.stage import Stage
from grader.errors import CourseError
from tests.course.manifests import Write, other


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "stages" / "s01_a"
    (place / "data").mkdir(parents=True)
    return place


def test_files_are_bytes_by_name_without_the_readme(folder: Path) -> None:
    (folder / "data" / "b.bin").write_bytes(b"\x00\r\n")
    (folder / "data" / "a.txt").write_bytes(b"a")
    (folder / "data" / "README.md").write_text("where they are from")
    (folder / "data" / ".DS_Store").write_bytes(b"x")
    assert data_beside(folder) == {"a.txt": b"a", "b.bin": b"\x00\r\n"}


def test_a_stage_need_have_none(tmp_path: Path) -> None:
    assert data_beside(tmp_path) == {}


def test_a_folder_and_a_link_among_them_are_named(folder: Path) -> None:
    (folder / "data" / "more").mkdir()
    with pytest.raises(CourseError, match=r"stages/s01_a/data/more is not a regular file"):
        data_beside(folder)
    (folder / "data" / "more").rmdir()
    (folder / "data" / "link").symlink_to(folder / "stage.toml")
    with pytest.raises(CourseError, match=r"stages/s01_a/data/link is not a regular file"):
        data_beside(folder)


def test_a_large_file_is_named_with_its_size(folder: Path) -> None:
    (folder / "data" / "large.txt").write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(CourseError, match=r"large.txt has 1,000,001 bytes: at most 1,000,000 are allowed"):
        data_beside(folder)


def test_a_name_that_is_not_there_is_told_with_those_that_are() -> None:
    assert named({"a.txt": b"a"}, "a.txt", "s01") == b"a"
    with pytest.raises(CourseError, match=r"s01 has no data of the name 'b.txt': its data/ has a.txt, c.txt"):
        named({"a.txt": b"a", "c.txt": b""}, "b.txt", "s01")
    with pytest.raises(CourseError, match=r"it has no file in data/"):
        named({}, "b.txt", "s01")


@pytest.fixture
def stages(write: Write, tmp_path: Path) -> tuple[Stage, ...]:
    """s01 lends, s02 uses it, s03 uses s02; files of the same paths say what they are."""
    write(other("s01").replace("requires", "lends = true\nrequires"), "s01_a")
    write(other("s02").replace("requires", 'lends = true\nuses = ["s01"]\nrequires'), "s02_b")
    write(other("s03").replace("requires", 'uses = ["s02"]\nrequires'), "s03_c")
    for name in ("s01_a", "s02_b", "s03_c"):
        (tmp_path / "stages" / name / "other.py").write_text("WHO = 'a file'\n")
        (tmp_path / "hidden" / name).mkdir(parents=True)
        (tmp_path / "hidden" / name / "solution.py").write_text(f"WHO = 'the reference of {name}'\n")
    (tmp_path / "hidden" / "s02_b" / "solution.py").write_text("from stages.s01_a.other import WHO\n")
    return load_course(tmp_path, tmp_path / "hidden").stages


def test_a_stage_builds_on_what_its_stages_use_as_well(stages: tuple[Stage, ...]) -> None:
    assert [[each.id for each in stage.builds_on] for stage in stages] == [[], ["s01"], ["s01", "s02"]]
    assert stages[2].importable == ("numpy", "stages.s01_a.other", "stages.s02_b.other")


def test_a_key_opens_all_that_a_stage_builds_on(stages: tuple[Stage, ...]) -> None:
    keyed = stages[2].with_key(Path("key"))
    assert {each.key_file for each in (keyed, *keyed.builds_on, *keyed.builds_on[1].builds_on)} == {Path("key")}


def test_references_are_imported_and_files_are_not(
    stages: tuple[Stage, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "stages"]:
        monkeypatch.delitem(sys.modules, name)  # the course's own, from a test before
    assert importlib.import_module("stages.s01_a.other").WHO == "a file"
    with serving_stage(stages[2]):
        assert importlib.import_module("stages.s02_b.other").WHO == "the reference of s01_a"
        for name in ("stages.s03_c.other", "stages.s04_d", "stages.s01_a.others"):
            with pytest.raises(ModuleNotFoundError, match=r"s03 may import stages\.s01_a\.other, stages\.s02_b"):
                importlib.import_module(name)
    assert sys.modules["stages.s01_a.other"].WHO == "a file"
    for name in [name for name in sys.modules if name.partition(".")[0] == "stages"]:
        del sys.modules[name]


def test_a_stage_that_uses_none_may_import_none(
    stages: tuple[Stage, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with serving_stage(stages[0]), pytest.raises(ModuleNotFoundError, match="no module of another stage"):
        importlib.import_module("stages.s02_b.other")


def test_what_a_used_stage_gives_serves_those_that_use_it(stages: tuple[Stage, ...], tmp_path: Path) -> None:
    assert given_text(stages[2], stages[0]) is None
    folder = tmp_path / "stages" / "s02_b" / "given"
    folder.mkdir()
    (folder / "s01_a.py").write_text("x = 1\n")
    assert given_text(stages[2], stages[0]) == ("stages/s02_b/given/s01_a.py", "x = 1\n")
