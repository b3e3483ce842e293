"""The wheel in a folder: what is in it and what is not, that installers take it, and its hash."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import shutil
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grader import __version__
from grader.course.bundle import MARK
from grader.course.manifest import load_course
from grader.errors import CourseError
from grader.setup import wheel
from grader.setup.wheel import (
    engine_files,
    engine_paths,
    entry_points_text,
    licence,
    metadata_text,
    own_project,
    wheel_files,
    wheel_path,
    wheel_used,
)
from tests.support.places import HOUSE, ROOT

METADATA = """Metadata-Version: 2.4
Name: attention-grader
Version: 0.1.0
License-Expression: MIT
Requires-Python: >=3.11
Requires-Dist: numpy>=2.2
Requires-Dist: tomli>=2; python_version < "3.11"
Provides-Extra: class
Requires-Dist: cryptography>=43; extra == 'class'
Provides-Extra: empty
"""


POINTS = """[console_scripts]
grader = grader.__main__:main

[pytest11]
grader = grader.judging.plugin
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of installed packages: the grader, and another that has put a pyproject.toml beside it."""
    for name, files in {"attention_grader": ("grader/__init__.py", "grader/cli.py"), "other": ("other.py",)}.items():
        folder = tmp_path / f"{name}-0.1.0.dist-info"
        (folder / "licenses").mkdir(parents=True)
        (folder / "METADATA").write_text(METADATA.replace("attention-grader", name.replace("_", "-")))
        (folder / "RECORD").write_text("".join(f"{file},,\n" for file in files))
        (folder / "entry_points.txt").write_text(POINTS)
        (folder / "licenses" / "LICENSE").write_text(f"the licence of {name}")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    return tmp_path


def test_an_installed_grader_is_described_by_its_metadata(packages: Path) -> None:
    assert own_project(packages) == {
        "project": {
            "name": "attention-grader",
            "license": "MIT",
            "requires-python": ">=3.11",
            "dependencies": ["numpy>=2.2", 'tomli>=2; python_version < "3.11"'],
            "optional-dependencies": {"class": ["cryptography>=43"], "empty": []},
            "scripts": {"grader": "grader.__main__:main"},
            "entry-points": {"pytest11": {"grader": "grader.judging.plugin"}},
        }
    }
    assert licence(packages) == "the licence of attention_grader"


def test_beside_its_sources_the_grader_is_described_by_pyproject() -> None:
    assert own_project(ROOT)["project"]["name"] == "attention-grader" and "uv" in own_project(ROOT)["tool"]
    assert licence(ROOT) == (ROOT / "LICENSE").read_text("utf-8")


def test_a_licence_that_is_missing_is_told(packages: Path, tmp_path: Path) -> None:
    (packages / "attention_grader-0.1.0.dist-info" / "licenses" / "LICENSE").unlink()
    with pytest.raises(CourseError, match="lacks its licence"):
        licence(packages)
    with pytest.raises(CourseError, match="LICENSE cannot be read: No such file"):
        licence(tmp_path / "nowhere")


def test_what_a_wheel_says_of_itself_is_read_as_what_it_was_made_of(packages: Path, tmp_path: Path) -> None:
    given = own_project(packages)["project"]
    given["optional-dependencies"]["class"].append('jinja2; python_version > "3"')
    home = tmp_path / "again"
    about = home / "attention_grader-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "RECORD").write_text("grader/__init__.py,,\n")
    (about / "METADATA").write_text(metadata_text(given, "0.1.0"))
    (about / "entry_points.txt").write_text(entry_points_text(given))
    assert own_project(home)["project"] == given
    needs = map(Requirement, next(iter(distributions(path=[str(home)]))).requires or ())
    assert [str(each.marker) for each in needs if each.name == "jinja2"] == [
        'python_version > "3" and extra == "class"'
    ]


NAME = f"attention_grader-{__version__}"
FEW = {"grader/__init__.py": b"", "grader/a.py": b"x = 1\n"}


def opened(files: dict[str, bytes]) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(files[wheel_path("attention-grader")]))


def test_every_file_is_in_its_record_with_its_hash() -> None:
    archive = opened(wheel_files(FEW))
    about = f"{NAME}.dist-info"
    rows = list(csv.reader(archive.read(f"{about}/RECORD").decode().splitlines()))
    assert {row[0] for row in rows} == set(archive.namelist())
    for name, told, size in rows:
        data = archive.read(name)
        wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (told, size) == (("", "") if name == f"{about}/RECORD" else (f"sha256={wanted}", str(len(data))))
    assert {f"{about}/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE")} < set(
        archive.namelist()
    )
    assert b"grader = grader.__main__:main" in archive.read(f"{about}/entry_points.txt")


def test_the_same_files_give_the_same_bytes_whichever_zlib_there_is() -> None:
    assert wheel_files(FEW) == wheel_files(dict(reversed(FEW.items())))
    assert {each.compress_type for each in opened(wheel_files(FEW)).infolist()} == {zipfile.ZIP_STORED}


@pytest.fixture
def author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A grader beside all that no engine-only wheel may have."""
    house = tmp_path / "grader"
    for name in ("__init__.py", "cli.py", "classroom/templates/copy/gitignore", "py.typed"):
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HOUSE / name, house / name)
    for name in (
        "self_paced.zip", "../tests/test_a.py", "__pycache__/cli.pyc", ".hidden/c.py", "authoring/d.py",
        "../stages/s01_a/a.py", "../hidden/s01_a/solution.py", "../hidden/tests.key", "../pyproject.toml",
        "../benchmarks/b.py",
    ):  # fmt: skip
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).touch()
    monkeypatch.setattr(wheel, "GRADER", house)
    return tmp_path


def test_the_engine_has_no_course_no_tests_and_nothing_that_is_left_out(author: Path) -> None:
    wanted = {"grader/__init__.py", "grader/cli.py", "grader/classroom/templates/copy/gitignore", "grader/py.typed"}
    assert set(engine_files(engine_paths(["authoring"]))) == wanted
    assert set(engine_files(engine_paths())) == wanted | {"grader/authoring/d.py"}


def test_this_grader_s_engine_opens_nothing_of_this_course() -> None:
    files = engine_files(engine_paths())
    assert len(files) > 100 and not [name for name in files if name.endswith((".zip", ".sealed", ".stub", ".key"))]
    course = load_course(ROOT)
    solutions = [(course.hidden / stage.name / "solution.py").read_bytes() for stage in course.stages]
    assert not set(solutions) & set(files.values())
    assert [name for name, data in files.items() if MARK.encode() in data] == ["grader/course/bundle.py"]


class TestTheWheelThatAFolderUses:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name, data in wheel_files(FEW).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
        (tmp_path / "pyproject.toml").write_text(wheel.source_of("attention-grader"))
        return tmp_path

    def test_it_is_whole(self, folder: Path) -> None:
        used = wheel_used(folder)
        assert used is not None and not used.remedy

    def test_one_that_was_altered_differs_from_its_hash(self, folder: Path) -> None:
        path = folder / wheel_path("attention-grader")
        path.write_bytes(path.read_bytes() + b"\0")
        used = wheel_used(folder)
        assert used is not None and used.remedy
        assert hashlib.sha256(path.read_bytes()).hexdigest()[:12] in used.what

    @pytest.mark.parametrize("end", ["", ".sha256"])
    def test_one_that_is_missing_is_named(self, folder: Path, end: str) -> None:
        (folder / f"{wheel_path('attention-grader')}{end}").unlink()
        used = wheel_used(folder)
        assert used is not None and used.remedy and f"{wheel_path('attention-grader')}{end}" in used.what

    @pytest.mark.parametrize("text", [None, "", '[tool.uv.sources]\nother = { path = "../other" }\nmore = [1]\n'])
    def test_a_folder_that_brings_none_has_none(self, folder: Path, text: str | None) -> None:
        (folder / "pyproject.toml").unlink()
        if text is not None:
            (folder / "pyproject.toml").write_text(text)
        assert wheel_used(folder) is None
