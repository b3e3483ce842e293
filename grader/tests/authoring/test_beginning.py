"""A new course: it is whole, proves itself, and is made in an empty folder only."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from grader.authoring import beginning, proof, verify
from grader.authoring.beginning import new_course
from grader.course.manifest import load_course
from grader.course.mutants import mutants
from grader.errors import UsageError
from grader.tests.support.command import Command
from grader.tests.support.places import HOUSE

RUN = "import sys; from grader.cli import main; sys.argv[0] = 'grader'; main()"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that the command made."""
    folder = tmp_path_factory.mktemp("new") / "sorting_by_hand"
    done = run(folder.parent, "course", "init", str(folder))
    assert done.returncode == 0 and "stages/s01_averages/averages.py" in done.stdout.splitlines(), done.stderr
    assert "grader course verify --mutants" in done.stderr and "grader course new s02_topic" in done.stderr
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_is_a_course_that_its_table_describes(made: Path) -> None:
    course = load_course(made)
    assert (course.settings.title, course.settings.packages) == ("Sorting by hand", ())
    assert course.hidden == made / "hidden" and [stage.name for stage in course.stages] == ["s01_averages"]
    project = tomllib.loads((made / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "sorting-by-hand" and project["dependencies"][0].endswith("[class]")


def test_it_brings_the_grader_without_any_course(made: Path) -> None:
    sources = tomllib.loads((made / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]["sources"]
    with zipfile.ZipFile(made / sources["attention-grader"]["path"]) as wheel:
        names = set(wheel.namelist())
    assert {"grader/cli.py", "grader/authoring/beginning.py", "grader/classroom/release.py"} <= names
    outside = [name for name in names if not name.startswith("grader/") and ".dist-info/" not in name]
    assert not outside and not [name for name in names if name.endswith((".zip", ".sealed", ".key", ".pyc"))]


@pytest.mark.full_matrix
def test_its_stage_proves_itself_with_every_mutant_caught(made: Path, command: Command, is_full: bool) -> None:
    """By default a few of the mutants are graded."""
    started, patched = proof.workers, command.monkeypatch
    patched.setattr(proof, "workers", lambda course, number=None: started(course, 0))
    patched.setattr(verify, "mutants", lambda source: mutants(source)[:: 1 if is_full else 9])
    patched.chdir(made)
    done = command("course", "verify", "--mutants", "--seeds", "1", "--isolation", "process")
    assert done.code == 0 and done.out.rstrip().endswith("100.0%"), done.out + done.err
    assert command("course", "stub", "--check").code == 0


def test_a_check_works_and_finds_nothing_begun(made: Path, command: Command) -> None:
    command.monkeypatch.chdir(made)
    done = command("check", "--isolation", "process")
    assert done.code == 1 and "not started" in done.out


def test_it_is_ready_for_git_and_ci_with_pinned_actions(made: Path) -> None:
    ignored = (made / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".grader/*", "!.grader/wheels/"} <= set(ignored)
    workflow = made / ".github" / "workflows" / "ci.yml"
    text = workflow.read_text(encoding="utf-8")
    uses = [line.split("uses: ")[1] for line in text.splitlines() if "uses: " in line]
    assert uses and all(len(each.partition("@")[2].split()[0]) == 40 and " # v" in each for each in uses)
    assert "${{ github.ref }}" in text and "$$" not in text
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_as_ruff_asks(made: Path) -> None:
    pytest.importorskip("ruff")
    for arguments in (["check"], ["format", "--check", "--exclude", "averages.py"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--no-cache", "--line-length", "120", "."]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        new_course(tmp_path, None)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        new_course(tmp_path / "file", None)


def test_a_title_that_a_file_cannot_hold_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be a title") as caught:
        new_course(tmp_path / "course", 'The "best"')
    assert "--title" in str(caught.value.hint) and not (tmp_path / "course").exists()


def test_an_empty_folder_is_taken_and_a_name_without_letters_has_a_title(tmp_path: Path) -> None:
    (tmp_path / "--").mkdir()
    assert new_course(tmp_path / "--", None) and load_course(tmp_path / "--").settings.title == "A course"


def test_a_disk_that_does_not_take_all_of_it_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match="No space left on device"):
        new_course(tmp_path / "course", None)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_templates_are_packed_with_the_grader() -> None:
    kinds = {path.suffix for path in (HOUSE / "authoring" / "course").rglob("*") if path.is_file()}
    assert kinds == {".template"} and beginning.COURSE.is_dir()
