"""The learner's copy: what is in it, what is not, and that nothing is written where hidden text would be left in it."""

from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML

from grader import __version__
from grader.classroom import release as releasing
from grader.classroom.release import (
    ReleaseOptions,
    copied,
    expect_no_answers,
    paperwork,
    release,
    sealed,
    self_paced,
    whole,
)
from grader.cli import Group
from grader.course.bundle import Label, read_key, unseal
from grader.course.manifest import load_course
from grader.course.sealed import digest, read_record
from grader.course.stage import Course
from grader.errors import CourseError, UsageError
from grader.setup.edition import packed, unpacked
from grader.setup.wheel import wheel_path
from tests.support.copies import KEY, NAME
from tests.support.good_stage import HIDDEN as HIDDEN_TEST
from tests.support.good_stage import MISTAKES, PUBLIC, SOLUTION, write_stage
from tests.support.places import HOUSE, ROOT

OTHER = "s91_more"
WHEEL = [f"{wheel_path('attention-grader')}{end}" for end in ("", ".sha256")]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """An author's course of two small stages; the second needs the first. The grader's own files are but a few."""
    root = tmp_path / "author"
    write_stage(root / "stages", root / "hidden", NAME)
    manifest = (root / "stages" / NAME / "stage.toml").read_text()
    needs = manifest.replace('"s90"', '"s91"').replace("requires = []", 'requires = ["s90"]')
    write_stage(root / "stages", root / "hidden", OTHER, {"stage/stage.toml": needs})
    few = [HOUSE / name for name in ("__init__.py", "cli.py", "judging/pytest.ini")]
    monkeypatch.setattr(releasing, "_own_files", lambda: few)
    return load_course(root, root / "hidden")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copy"


def test_a_copy_holds_stubs_public_tests_and_bundles(course: Course, target: Path) -> None:
    names = release(course, ReleaseOptions(course.stages, KEY), target)
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert found == set(names)
    for name in (NAME, OTHER):
        kept = {path.removeprefix(f"stages/{name}/") for path in found if path.startswith(f"stages/{name}/")}
        assert kept == {"README.md", "small.py", "stage.toml", "tests/test_small.py"}
        assert "NotImplementedError" in (target / "stages" / name / "small.py").read_text()
    assert {path for path in found if "hidden" in path} == {
        "hidden/release.json",
        *(f"hidden/{name}.{kind}" for name in (NAME, OTHER) for kind in ("sealed", "stub")),
    }
    assert {"README.md", "AGENTS.md", "LICENSE", "pyproject.toml", ".gitignore", *WHEEL} <= found


def test_a_capstone_goes_along_with_all_that_it_builds_on() -> None:
    course = load_course(ROOT)
    found = releasing._capstone(course, whole(course, [course.find("s23")]))
    names = ("README.md", "capstone.toml", "data/README.md", "data/stories.txt", "train.py")
    pictures = ("pictures/curves.svg", "pictures/scaling.svg")
    assert set(found) == {f"stages/capstone/{name}" for name in (*names, *pictures)}
    assert releasing._capstone(course, whole(course, [course.find("s22")])) == {}


def test_what_the_author_has_written_into_the_stub_is_not_released(course: Course) -> None:
    path = course.stages[0].module_path
    path.write_text(SOLUTION)
    found = copied(course, course.stages)
    assert "return x.sum" not in found[f"stages/{NAME}/small.py"].decode()
    assert path.read_text() == SOLUTION


def test_the_bundle_holds_what_grading_and_naming_need(course: Course) -> None:
    data = sealed(course.stages[0], KEY)
    content = unseal(data, KEY, Label(NAME, __version__, KEY.id), "x")
    alternatives = {name for name in content.hidden if name.startswith("alternatives/")}
    assert alternatives == {f"alternatives/{name}.py" for name in ("__init__", "einsum", "loops", "products")}
    assert {name: text for name, text in content.hidden.items() if name not in alternatives} == {
        "solution.py": SOLUTION,
        "test_hidden.py": HIDDEN_TEST,
        "mistakes.py": MISTAKES,
    }
    assert content.public == {"test_small.py": PUBLIC}


def test_the_record_has_the_digest_of_every_file_but_the_bundles(course: Course, target: Path) -> None:
    names = release(course, ReleaseOptions(course.stages, KEY), target)
    record = read_record(target / "hidden")
    own = {"hidden/release.json", *(name for name in names if name.endswith(".sealed"))}
    assert set(record.files) == set(names) - own
    assert all(digest((target / name).read_bytes()) == wanted for name, wanted in record.files.items())
    assert (record.key, record.self_paced) == (KEY.id, False)


def test_the_same_course_and_key_give_the_same_bytes_but_for_the_bundles(course: Course, tmp_path: Path) -> None:
    copies = tmp_path / "one", tmp_path / "two"
    names = {release(course, ReleaseOptions(course.stages, KEY), copy) for copy in copies}
    (same,) = names
    differ = {name for name in same if (copies[0] / name).read_bytes() != (copies[1] / name).read_bytes()}
    assert differ == {name for name in same if name.endswith(".sealed")}


def test_without_a_key_one_is_made_and_shipped(course: Course, target: Path) -> None:
    release(course, ReleaseOptions(course.stages, None), target)
    hidden = target / "hidden"
    key = read_key(hidden / "tests.key")
    assert read_record(hidden).self_paced and read_record(hidden).key == key.id
    assert unseal((hidden / f"{NAME}.sealed").read_bytes(), key, Label(NAME, __version__, key.id), "x").hidden


def test_with_a_key_it_is_nowhere_in_the_copy(course: Course, target: Path) -> None:
    release(course, ReleaseOptions(course.stages, KEY), target)
    secret = KEY.text.partition(":")[2].strip().encode()
    assert not [path for path in target.rglob("*") if path.is_file() and secret in path.read_bytes()]


def test_a_copy_asks_for_the_python_that_grades(course: Course, target: Path) -> None:
    with pytest.raises(UsageError, match="cannot be asked for"):
        release(course, ReleaseOptions(course.stages, KEY, python="3.9"), target)
    assert not target.exists()
    names = release(course, ReleaseOptions(course.stages, KEY, python="3.12"), target)
    assert ".python-version" in names and (target / ".python-version").read_text() == "3.12\n"
    assert ".python-version" in (target / "hidden" / "release.json").read_text()


def test_a_part_of_the_course_is_released_alone(course: Course, target: Path) -> None:
    names = release(course, ReleaseOptions(course.stages[:1], KEY), target)
    assert not [name for name in names if OTHER in name]


def test_what_a_stage_builds_on_comes_along(course: Course) -> None:
    assert whole(course, course.stages[1:]) == course.stages
    assert whole(course, course.stages[:1]) == course.stages[:1]


@pytest.mark.parametrize(
    "name", [f"stages/{NAME}/README.md", "grader/cli.py", "grader/report/data.json", "grader/a.key"]
)
@pytest.mark.parametrize("pack", [bytes, zlib.compress, base64.b64encode], ids=["plain", "packed", "encoded"])
def test_hidden_text_anywhere_stops_the_release(
    course: Course, target: Path, monkeypatch: pytest.MonkeyPatch, name: str, pack: Callable[[bytes], bytes]
) -> None:
    leak = pack(b"A hint: assert_array(learner.total(x), [sum(row) for row in x.tolist()])\n")
    before = releasing.copied
    monkeypatch.setattr(releasing, "copied", lambda *given: before(*given) | {name: leak})
    with pytest.raises(CourseError, match=rf"{name} holds hidden text: hidden/{NAME}/test_hidden\.py:13") as caught:
        release(course, ReleaseOptions(course.stages, KEY), target)
    assert "sum(row)" not in caught.value.message and "Nothing was written" in str(caught.value.hint)
    assert not target.exists()


def test_a_secret_of_a_stage_that_is_not_released_is_one_all_the_same(course: Course, target: Path) -> None:
    (course.stages[1].hidden_root / OTHER / "oracles.py").write_text("VALUE = 'a sentence that stands in s91 only'\n")
    (course.stages[0].folder / "README.md").write_text("# Sums\n\na sentence that stands in s91 only\n")
    with pytest.raises(CourseError, match=rf"{NAME}/README\.md holds hidden text: hidden/{OTHER}/oracles\.py:1"):
        release(course, ReleaseOptions(course.stages[:1], KEY), target)


def test_many_leaks_are_counted(course: Course, target: Path) -> None:
    (course.stages[0].folder / "notes.md").write_text(f"{HIDDEN_TEST}\n{MISTAKES}\n{SOLUTION}")
    lines = "".join(f"SECRET_{n} = 'the secret number {n}, which nobody knows'\n" for n in range(30))
    (course.stages[0].hidden_root / NAME / "oracles.py").write_text(lines)
    (course.stages[0].folder / "tests" / "data.txt").write_text(lines)
    with pytest.raises(CourseError, match=r"and \d+ more"):
        release(course, ReleaseOptions(course.stages, KEY), target)


def test_a_folder_that_holds_something_is_left_alone(course: Course, target: Path) -> None:
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        release(course, ReleaseOptions(course.stages, KEY), target)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]


def test_an_empty_folder_is_taken(course: Course, target: Path) -> None:
    target.mkdir()
    assert release(course, ReleaseOptions(course.stages, KEY), target)


def test_a_file_is_no_folder(course: Course, target: Path) -> None:
    target.write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        release(course, ReleaseOptions(course.stages, KEY), target)


def test_a_disk_that_does_not_take_it_is_named(course: Course, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        releasing._write(tmp_path / "file" / "copy", {"a": b""})


def test_a_copy_is_not_made_into_what_it_is_made_of(course: Course) -> None:
    for place in (course.root / "stages" / "copy", HOUSE / "copy"):
        with pytest.raises(UsageError, match="which the copy is made of"):
            release(course, ReleaseOptions(course.stages, KEY), place)
        assert not place.exists()


def test_a_hidden_file_that_is_no_text_is_named(course: Course, target: Path) -> None:
    (course.stages[0].hidden_root / NAME / "oracles.py").write_bytes(b"# \xff\n")
    with pytest.raises(CourseError, match=r"oracles\.py is not valid UTF-8"):
        release(course, ReleaseOptions(course.stages, KEY), target)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="cannot be read"):
        releasing._read(tmp_path / "none.py")


def test_caches_and_hidden_folders_stay_behind(course: Course) -> None:
    for name in (
        "__pycache__/small.cpython-311.pyc",
        "__pycache__/kept.py",
        ".grader/backups/small.py",
        "tests/.small.py",
    ):
        path = course.stages[0].folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert not [name for name in copied(course, course.stages) if "cache" in name or "/." in name]


def test_rooms_of_the_author_stay_behind() -> None:
    names = {path.relative_to(HOUSE).as_posix() for path in releasing._own_files()}
    assert {
        "cli.py",
        "worker/main.py",
        "judging/pytest.ini",
        "classroom/receipt.py",
        "report/verdict.schema.json",
        "gradebook/templates/base.html",
    } <= names
    rooms = ("tests/", "authoring/", "classroom/templates/", "classroom/release.py")
    assert not [name for name in names if name.startswith(rooms) or "__pycache__" in name]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_what_is_released_of_the_grader_is_under_version_control_or_new() -> None:
    root = ROOT
    done = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=root,
        capture_output=True,
        text=True,
        input="\n".join(map(str, releasing._own_files())),
        check=False,
    )
    assert done.returncode != 0 and not done.stdout


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


@pytest.mark.parametrize("name", ["tests/test_a.py", "benchmarks/a.py", f"hidden/{NAME}/x.py", "demo/half.py"])
def test_a_file_of_the_author_alone_is_named(root: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(CourseError, match=rf"small-1\.whl holds {name}, which only the author's copy may hold"):
        expect_no_answers(root, built(tmp_path, "whl", {name: b"pass\n"}))


def test_the_solution_itself_is_found(root: Path, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="holds hidden text"):
        expect_no_answers(root, built(tmp_path, "whl", {"grader/x.bin": packed({"a": SOLUTION.encode()})}))


def test_a_course_without_a_licence_is_packed_without_one(root: Path) -> None:
    (root / "LICENSE").unlink()
    assert "LICENSE" not in unpacked(self_paced(root)).files


yaml = YAML(typ="safe")


@pytest.fixture(scope="module")
def ours() -> Course:
    return load_course(ROOT)


def made(ours: Course, *names: str, home: Path = ROOT, self_paced: bool = False) -> dict[str, str]:
    stages = tuple(ours.find(name) for name in names)
    return {name: data.decode() for name, data in paperwork(ours, stages, home, self_paced).items()}


def test_the_project_needs_the_grader_from_its_wheel_and_from_no_index(ours: Course) -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = tomllib.loads(made(ours, "s01")["pyproject.toml"])
    project, wheel = found["project"], found["tool"]["uv"]["sources"]["attention-grader"]
    assert project["dependencies"] == ["attention-grader"] and project["name"] != "attention-grader"
    assert wheel == {"path": f".grader/wheels/attention_grader-{__version__}-py3-none-any.whl"}
    extras = {name: [f"attention-grader[{name}]"] for name in own["optional-dependencies"]}
    assert project["optional-dependencies"] == extras
    assert found["tool"]["uv"]["package"] is False and "dependency-groups" not in found


def test_python_is_one_that_was_tested(ours: Course) -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    project = tomllib.loads(made(ours, "s01")["pyproject.toml"])["project"]
    versions = [each.rpartition(" ")[2] for each in own["classifiers"] if "Python :: 3." in each]
    tested = yaml.load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]["check"]
    assert project["requires-python"] == own["requires-python"]
    assert versions == tested["strategy"]["matrix"]["python"]
    allowed = SpecifierSet(project["requires-python"])
    assert [f"3.{minor}" for minor in range(6, 40) if f"3.{minor}.1" in allowed] == versions


def test_a_course_on_another_subject_keeps_its_own_requirements(ours: Course, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "sorting"\ndependencies = ["attention-grader[class]", "attention-grader-of-mine", "scipy"]\n'
    )
    stages = ours.stages[:1]
    found = tomllib.loads(paperwork(Course(tmp_path, stages), stages, ROOT, True)["pyproject.toml"].decode())["project"]
    assert found["name"] == "sorting"
    assert found["dependencies"] == ["attention-grader", "attention-grader-of-mine", "scipy"]


def test_packages_are_as_old_as_the_author_s_and_not_compiled_at_each_run(ours: Course, tmp_path: Path) -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    found = tomllib.loads(made(ours, "s01")["pyproject.toml"])["tool"]
    assert found["uv"]["exclude-newer"] == own["exclude-newer"]
    lines = (ROOT / "pyproject.toml").read_text().splitlines(True)
    (tmp_path / "pyproject.toml").write_text("".join(line for line in lines if "exclude-newer" not in line))
    shutil.copy(ROOT / "LICENSE", tmp_path)
    assert "exclude-newer" not in tomllib.loads(made(ours, "s01", home=tmp_path)["pyproject.toml"])["tool"]["uv"]


def test_a_missing_licence_is_named(ours: Course, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with pytest.raises(CourseError, match="LICENSE cannot be read"):
        made(Course(tmp_path, ours.stages), "s01", home=tmp_path)


@pytest.mark.parametrize(
    ("self_paced", "said", "unsaid"),
    [
        (False, "tests run when you submit", "the key to them lies beside them"),
        (True, "the key to them lies beside them", "your instructor has the key"),
    ],
)
def test_the_readme_says_who_has_the_key(ours: Course, self_paced: bool, said: str, unsaid: str) -> None:
    readme = made(ours, "s01", "s15", self_paced=self_paced)["README.md"]
    assert said in readme and unsaid not in readme
    assert "stages/s01_matrix_operations/README.md" in readme and "`attention.py`" in readme
    assert __version__ in readme and "$" not in readme and "s16" not in readme


@pytest.mark.parametrize("released", [True, False])
def test_assistants_are_asked_to_coach_with_commands_that_there_are(ours: Course, released: bool) -> None:
    stages = (ours.find("s15"), ours.find("s16"))
    text = paperwork(ours, stages, ROOT, self_paced=True, released=released)["AGENTS.md"].decode()
    assert "coach, do not solve" in text and ours.settings.title in text and "$" not in text
    assert "cd stages/s15_attention\n" in text and "grader hint s15 " in text
    commands = set(re.findall(r"grader ([a-z]+)", text))
    assert {"show", "check", "hint"} <= commands <= set(Group.entries)


def test_the_index_lists_what_is_released(ours: Course) -> None:
    index = made(ours, "s01", "s15")["stages/README.md"]
    assert "(s15_attention/README.md)" in index and "(s17_transformer_blocks/" not in index
    assert "## Conventions" in index


def test_what_comes_after_the_course_goes_along_with_all_that_it_continues(ours: Course) -> None:
    assert "stages/beyond.md" in made(ours, *(stage.id for stage in ours.stages))
    assert "stages/beyond.md" not in made(ours, *(stage.id for stage in ours.stages[:-1]))


def test_a_course_without_an_index_has_none(ours: Course, tmp_path: Path) -> None:
    assert "stages/README.md" not in made(Course(tmp_path, ours.stages), "s01")


@pytest.mark.skipif(shutil.which("git") is None, reason="git decides what it ignores, and is not installed")
def test_no_cache_and_no_progress_is_ever_committed_but_the_wheel_is(ours: Course, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(made(ours, "s01")[".gitignore"])
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    wheel = ".grader/wheels/attention_grader-0.1.0-py3-none-any.whl"
    ignored = ["a/__pycache__/b.pyc", ".venv/c", ".grader/progress.json", ".grader/backups/d/e.py"]
    given = "\n".join([*ignored, wheel, f"{wheel}.sha256"])
    done = subprocess.run(
        ["git", "check-ignore", "--stdin"], input=given, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ignored


def test_a_copy_of_one_stage_speaks_of_no_other_but_in_its_lessons(ours: Course) -> None:
    files = {name: text for name, text in made(ours, "s01").items() if name not in ours.settings.pages}
    files["stages/README.md"] = "\n".join(  # the table of parts, and what the conventions point at, stay
        line for line in files["stages/README.md"].splitlines() if "as s15 does" not in line and "| s" not in line
    )
    assert not {name: text for name, text in files.items() if "s15" in text}
    assert f"grader start {ours.stages[-1].id}" in made(ours, *(stage.id for stage in ours.stages))["README.md"]


def test_a_course_without_a_licence_names_none(ours: Course) -> None:
    bare = replace(ours, settings=replace(ours.settings, license=""))
    found = tomllib.loads(paperwork(bare, ours.stages[:1], ROOT, False)["pyproject.toml"].decode())
    assert "license" not in found["project"] and "license" not in found["tool"]["grader"]  # "" would be refused


def test_a_copy_keeps_that_all_tests_count(ours: Course) -> None:
    strict = replace(ours, settings=replace(ours.settings, passes="all"))
    for alone in (True, False):
        project = tomllib.loads(made(strict, "s01", self_paced=alone)["pyproject.toml"])
        assert project["tool"]["grader"]["passes"] == "all"


def test_students_get_a_workflow_of_public_checks(ours: Course) -> None:
    workflows = [text for name, text in made(ours, "s01").items() if name.startswith(".github/workflows/")]
    assert workflows and all("contents: read" in text and "secrets." not in text for text in workflows)


def test_a_learner_who_installed_the_grader_gets_the_same_and_how_to_bring_a_newer_one(ours: Course) -> None:
    found = paperwork(ours, ours.stages, ROOT, self_paced=True, released=False)
    released = paperwork(ours, ours.stages, ROOT, self_paced=True)
    assert found["pyproject.toml"] == released["pyproject.toml"]
    assert tomllib.loads(found["pyproject.toml"].decode())["tool"]["grader"] == {
        "title": ours.settings.title, "license": "MIT", "packages": ["numpy"],
        "hidden": ours.settings.hidden, "drawings": ours.settings.drawings,
    }  # fmt: skip
    readme = found["README.md"].decode()
    assert "$" not in readme and "grader update" in readme and "grader update" not in released["README.md"].decode()
    assert all(f"stages/{stage.name}/README.md" in readme for stage in ours.stages)
    assert not [name for name in found if name.startswith(".github")]


def test_pages_of_the_course_go_along(ours: Course) -> None:
    assert ours.settings.pages and set(ours.settings.pages) <= made(ours, "s01").keys()


def test_a_page_that_is_missing_is_named_by_a_release(ours: Course) -> None:
    with pytest.raises(CourseError, match=r"docs/none\.md cannot be read"):
        made(replace(ours, settings=replace(ours.settings, pages=("docs/none.md",))), "s01")
