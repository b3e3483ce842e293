"""The course in a package: what is packed, and what a wheel or an sdist is refused for."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from grader.classroom.packing import expect_no_answers, self_paced
from grader.course.bundle import read_key
from grader.errors import CourseError
from grader.setup.edition import packed, unpacked
from grader.tests.support.copies import NAME
from grader.tests.support.good_stage import SOLUTION, write_stage
from grader.tests.support.places import ROOT

LEAK = b"A hint: assert_array(learner.total(x), [sum(row) for row in x.tolist()])\n"
ARCHIVE = "grader/self_paced.zip"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An author's course of one small stage, with a demonstration."""
    root = tmp_path / "author"
    write_stage(root / "stages", root / "hidden", NAME)
    (root / "demo").mkdir()
    (root / "demo" / "half.py").write_text("x = 1\n")
    table = '[tool.grader]\ntitle = "Small"\npackages = ["numpy"]\ndemo = { stage = "s90", file = "demo/half.py" }\n'
    (root / "pyproject.toml").write_text(table)
    shutil.copy(ROOT / "LICENSE", root)
    return root


def built(folder: Path, kind: str, files: dict[str, bytes]) -> Path:
    """Return a wheel or an sdist of these files."""
    path = folder / f"small-1.{kind}"
    if kind == "whl":
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return path
    with tarfile.open(path, "w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"small-1/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def test_the_packed_course_has_all_of_a_learners_folder_and_no_grader(root: Path, tmp_path: Path) -> None:
    edition = unpacked(self_paced(root))
    assert {name for name in edition.files if not name.startswith("stages/")} == {
        ".gitignore", "AGENTS.md", "LICENSE", "README.md", "pyproject.toml", "hidden/release.json", "hidden/tests.key",
        f"hidden/{NAME}.sealed", f"hidden/{NAME}.stub",
    }  # fmt: skip
    assert "return x.sum" not in edition.files[f"stages/{NAME}/small.py"].decode()
    (tmp_path / "key").write_bytes(edition.files["hidden/tests.key"])
    assert read_key(tmp_path / "key").id == edition.record.key and edition.record.self_paced
    assert b'dependencies = ["attention-grader"]' in edition.files["pyproject.toml"]
    assert not edition.wheel


@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
def test_what_holds_no_answer_is_taken(root: Path, tmp_path: Path, kind: str) -> None:
    expect_no_answers(root, built(tmp_path, kind, {"grader/a.py": b"x = 1\n", ARCHIVE: self_paced(root)}))


@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
@pytest.mark.parametrize("name", ["grader/a.py", "README.md", "deep in the packed course"])
def test_hidden_text_in_any_file_is_named(root: Path, tmp_path: Path, kind: str, name: str) -> None:
    files = {name: LEAK}
    told = name
    if name.startswith("deep"):
        files, told = {ARCHIVE: packed({"stages/notes.md": LEAK})}, f"{ARCHIVE}/stages/notes.md"
    with pytest.raises(CourseError, match=rf"{told} holds hidden text: hidden/{NAME}/test_hidden\.py:13") as caught:
        expect_no_answers(root, built(tmp_path, kind, files))
    assert "sum(row)" not in caught.value.message


@pytest.mark.parametrize("name", ["grader/tests/test_a.py", "benchmarks/a.py", f"hidden/{NAME}/x.py", "demo/half.py"])
def test_a_file_of_the_author_alone_is_named(root: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(CourseError, match=rf"small-1\.whl holds {name}, which only the author's copy may hold"):
        expect_no_answers(root, built(tmp_path, "whl", {name: b"pass\n"}))


def test_the_solution_itself_is_found(root: Path, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="holds hidden text"):
        expect_no_answers(root, built(tmp_path, "whl", {"grader/x.bin": packed({"a": SOLUTION.encode()})}))


def test_a_course_without_a_licence_is_packed_without_one(root: Path) -> None:
    (root / "LICENSE").unlink()
    assert "LICENSE" not in unpacked(self_paced(root)).files
