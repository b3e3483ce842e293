"""New stages and new courses: what is made, that it proves itself, and what is refused."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring import new, proof
from grader.authoring import verify as verifying
from grader.authoring.evaluation import Ratio
from grader.authoring.new import new_course, new_stage
from grader.authoring.verify import VerifyOptions, verify
from grader.course.manifest import load_course, load_stage
from grader.course.mutants import mutants
from grader.course.settings import Settings
from grader.course.stage import Course, Stage
from grader.errors import UsageError
from tests.support.authors_copy import AuthorsCopy
from tests.support.command import Command
from tests.support.places import HOUSE

NAME = "s23_small_topic"
FILES = [
    f"hidden/{NAME}/__init__.py",
    f"hidden/{NAME}/alternatives/__init__.py",
    f"hidden/{NAME}/alternatives/einsum.py",
    f"hidden/{NAME}/alternatives/loops.py",
    f"hidden/{NAME}/alternatives/norms.py",
    f"hidden/{NAME}/mistakes.toml",
    f"hidden/{NAME}/oracles.py",
    f"hidden/{NAME}/solution.py",
    f"hidden/{NAME}/test_hidden_topic.py",
    f"stages/{NAME}/README.md",
    f"stages/{NAME}/stage.toml",
    f"stages/{NAME}/tests/test_topic.py",
    f"stages/{NAME}/topic.py",
]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """An author's copy with a first stage of which only the name matters."""
    (tmp_path / "hidden").mkdir()
    folder = tmp_path / "stages" / "s01_numbers"
    folder.mkdir(parents=True)
    return Course(tmp_path, (Stage("s01", folder, "Numbers", "numbers.py", (), ()),), Settings(packages=("numpy",)))


def made(course: Course) -> list[str]:
    """Return what stands in the course beside its first stage."""
    found = [path.relative_to(course.root).as_posix() for path in course.root.rglob("*")]
    return sorted(set(found) - {"hidden", "stages", "stages/s01_numbers"})


def stage(course: Course, name: str = NAME, title: str | None = None, requires: tuple[str, ...] = ()) -> Stage:
    """Make a stage and read its manifest."""
    new_stage(course, name, title, requires)
    return load_stage(course.root / "stages" / name)


class TestMade:
    def test_both_folders_hold_every_file_and_each_is_told(self, course: Course) -> None:
        told = new_stage(course, NAME, None, ())
        assert sorted(file.relative_to(course.root).as_posix() for file in told) == sorted(FILES)
        assert [file for file in made(course) if (course.root / file).is_file()] == sorted(FILES)

    def test_a_course_without_numpy_gets_a_stage_without_it(self, course: Course) -> None:
        told = new_stage(replace(course, settings=Settings()), NAME, None, ())
        assert not [file for file in told if "numpy" in file.read_text(encoding="utf-8")]

    def test_no_word_of_the_templates_is_left_open(self, course: Course) -> None:
        for file in new_stage(course, NAME, None, ()):
            text = file.read_text(encoding="utf-8")
            assert "$" not in text and "public" not in file.name
            if file.suffix == ".py":
                ast.parse(text)

    def test_the_manifest_has_number_module_and_the_topic_as_its_title(self, course: Course) -> None:
        found = stage(course)
        assert (found.id, found.title, found.module, found.requires) == ("s23", "Small topic", "topic.py", ())

    def test_a_title_and_what_comes_before_can_be_given(self, course: Course) -> None:
        found = stage(course, title="Größen, don't: 50 % of $x", requires=("numbers", "1", "s01"))
        assert (found.title, found.requires) == ("Größen, don't: 50 % of $x", ("s01",))

    @pytest.mark.parametrize(
        ("name", "module"), [("s23_topic", "topic.py"), ("s23_gpt_2", "gpt.py"), ("s123_a_2nd_part_3", "part.py")]
    )
    def test_the_module_is_named_by_the_last_word_that_can_be_a_name(
        self, course: Course, name: str, module: str
    ) -> None:
        assert stage(course, name).module == module


def refused(course: Course, name: str = NAME, title: str | None = None, requires: tuple[str, ...] = ()) -> UsageError:
    """Return why no stage is made, which leaves nothing behind."""
    before = made(course)
    with pytest.raises(UsageError) as caught:
        new_stage(course, name, title, requires)
    assert made(course) == before and caught.value.hint and caught.value.exit_code == 2
    return caught.value


class TestRefused:
    @pytest.mark.parametrize(
        "name",
        ["topic", "s23", "s2_topic", "23_topic", "s23_Topic", "s23_2nd", "s23_", "s23_a__b", "s23_a-b", "s23_a/b", ""],
    )
    def test_a_name_that_is_not_a_stages(self, course: Course, name: str) -> None:
        assert refused(course, name).message == f"{name!r} is not the name of a stage"

    def test_a_number_that_is_taken(self, course: Course) -> None:
        taken = refused(course, "s01_topic")
        assert (taken.message, taken.hint) == ("s01 is taken by s01_numbers", "Choose another number: s02 is free.")

    @pytest.mark.parametrize("folder", ["stages", "hidden"])
    def test_a_folder_that_is_there_already(self, course: Course, folder: str) -> None:
        taken = course.root / folder / NAME
        taken.mkdir()
        assert refused(course).message == f"{taken} already exists"

    @pytest.mark.parametrize("title", ['The "best"', "a\\b", "two\nlines", " ", "", "\x1b"])
    def test_a_title_that_a_file_cannot_hold(self, course: Course, title: str) -> None:
        assert refused(course, title=title).message == f"{title!r} cannot be a title"

    def test_an_unknown_stage_before_it(self, course: Course) -> None:
        assert "'s02' is not a stage of this course" in refused(course, requires=("s01", "s02")).message

    def test_a_template_that_cannot_be_filled_leaves_nothing_behind(
        self, course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        templates = tmp_path / "grader" / "template"
        shutil.copytree(new.TEMPLATE, templates)
        (templates / "stage" / "README.md.template").write_text("$unknown", encoding="utf-8")
        monkeypatch.setattr(new, "TEMPLATE", templates)
        before = made(course)
        with pytest.raises(KeyError):
            new_stage(course, NAME, None, ())
        assert made(course) == before


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> AuthorsCopy:
    """An author's copy in which a stage was made."""
    copy = AuthorsCopy(tmp_path_factory.mktemp("author"))
    done = copy.run("course", "new", NAME, "--requires", "s01")
    assert (done.returncode, done.stdout.splitlines()) == (0, FILES), done.stderr
    assert "grader course stub s23" in done.stderr and "grader course verify s23 --mutants" in done.stderr
    return copy


class TestCommand:
    @pytest.mark.full_matrix("grader/judging", "grader/course")
    def test_what_it_makes_has_no_shortfall_with_every_mutant_caught(self, copy: AuthorsCopy, is_full: bool) -> None:
        course = load_course(copy.root)
        plan = VerifyOptions(1, isolation="process", workers=0, mutants=is_full)
        (proof,) = verify(course, [course.find("s23")], plan)
        assert proof.shortfalls == () and (proof.criteria, proof.tests) == (1, 6)
        assert (proof.reference, proof.stub) == (Ratio(1, 1), Ratio(1, 1))
        assert proof.alternatives == proof.mistakes == proof.named == Ratio(3, 3)
        assert not is_full or (proof.mutation is not None and proof.mutation.rate == 1.0)

    def test_what_it_makes_is_as_ruff_asks(self, copy: AuthorsCopy) -> None:
        folders = [f"stages/{NAME}", f"hidden/{NAME}"]
        pytest.importorskip("ruff")
        for arguments in (["check"], ["format", "--check", "--exclude", "topic.py"]):
            command = [sys.executable, "-m", "ruff", *arguments, "--no-cache", *folders]
            done = subprocess.run(command, cwd=copy.root, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

    def test_a_number_that_is_taken_is_a_usage_error(self, copy: AuthorsCopy, command: Command) -> None:
        command.monkeypatch.chdir(copy.root)
        done = command("course", "new", "s23_other")
        assert (done.code, done.out) == (2, "") and f"s23 is taken by {NAME}" in done.err
        assert not list(copy.root.rglob("s23_other"))

    def test_a_course_without_its_table_is_told_so(self, copy: AuthorsCopy, tmp_path: Path, command: Command) -> None:
        shutil.copytree(copy.root / "stages", tmp_path / "stages")
        command.monkeypatch.chdir(tmp_path)
        done = command("course", "new", "s24_topic")
        assert done.code == 4 and "no table [tool.grader]" in " ".join(done.err.split())
        assert not list(tmp_path.rglob("s24_topic"))


RUN = "import sys; from grader.cli import main; sys.argv[0] = 'grader'; main()"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that the command made."""
    folder = tmp_path_factory.mktemp("new") / "sorting_by_hand"
    done = run(folder.parent, "course", "init", str(folder))
    assert done.returncode == 0 and "stages/s01_averages/averages.py" in done.stdout.splitlines(), done.stderr
    assert "grader course verify --mutants" in done.stderr and "grader course new s02_topic" in done.stderr
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_is_a_course_that_its_table_describes(begun: Path) -> None:
    course = load_course(begun)
    assert (course.settings.title, course.settings.packages) == ("Sorting by hand", ())
    assert course.hidden == begun / "hidden" and [stage.name for stage in course.stages] == ["s01_averages"]
    project = tomllib.loads((begun / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "sorting-by-hand" and project["dependencies"][0].endswith("[class]")


def test_it_brings_the_grader_without_any_course(begun: Path) -> None:
    sources = tomllib.loads((begun / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]["sources"]
    with zipfile.ZipFile(begun / sources["attention-grader"]["path"]) as wheel:
        names = set(wheel.namelist())
    assert {"grader/cli.py", "grader/authoring/new.py", "grader/classroom/release.py"} <= names
    outside = [name for name in names if not name.startswith("grader/") and ".dist-info/" not in name]
    assert not outside and not [name for name in names if name.endswith((".zip", ".sealed", ".key", ".pyc"))]


@pytest.mark.full_matrix
def test_its_stage_proves_itself_with_every_mutant_caught(begun: Path, command: Command, is_full: bool) -> None:
    """By default a few of the mutants are graded."""
    started, patched = proof.workers, command.monkeypatch
    patched.setattr(proof, "workers", lambda course, number=None: started(course, 0))
    patched.setattr(verifying, "mutants", lambda source: mutants(source)[:: 1 if is_full else 9])
    patched.chdir(begun)
    done = command("course", "verify", "--mutants", "--seeds", "1", "--isolation", "process")
    assert done.code == 0 and done.out.rstrip().endswith("100.0%"), done.out + done.err
    assert command("course", "stub", "--check").code == 0


def test_a_check_works_and_finds_nothing_begun(begun: Path, command: Command) -> None:
    command.monkeypatch.chdir(begun)
    done = command("check", "--isolation", "process")
    assert done.code == 1 and "not started" in done.out


def test_it_is_ready_for_git_and_ci_with_pinned_actions(begun: Path) -> None:
    ignored = (begun / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".grader/*", "!.grader/wheels/"} <= set(ignored)
    workflow = begun / ".github" / "workflows" / "ci.yml"
    text = workflow.read_text(encoding="utf-8")
    uses = [line.split("uses: ")[1] for line in text.splitlines() if "uses: " in line]
    assert uses and all(len(each.partition("@")[2].split()[0]) == 40 and " # v" in each for each in uses)
    assert "${{ github.ref }}" in text and "$$" not in text
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_as_ruff_asks(begun: Path) -> None:
    pytest.importorskip("ruff")
    for arguments in (["check"], ["format", "--check", "--exclude", "averages.py"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--no-cache", "--line-length", "120", "."]
        done = subprocess.run(command, cwd=begun, capture_output=True, text=True, check=False)
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
    assert kinds == {".template"} and new.COURSE.is_dir()
