"""The learner's copy: what is in it, what is not, and that nothing is written where hidden text would be left in it."""

from __future__ import annotations

import base64
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import __version__
from grader.classroom import release as releasing
from grader.classroom.release import Plan, copied, release, sealed, whole
from grader.course.bundle import Label, read_key, unseal
from grader.course.manifest import load_course
from grader.course.sealed import digest, read_record
from grader.course.stage import Course
from grader.errors import CourseError, UsageError
from grader.setup.wheel import wheel_path
from grader.tests.support.copies import KEY, NAME
from grader.tests.support.good_stage import HIDDEN as HIDDEN_TEST
from grader.tests.support.good_stage import MISTAKES, PUBLIC, SOLUTION, write_stage
from grader.tests.support.places import HOUSE, ROOT

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
    names = release(course, Plan(course.stages, KEY), target)
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
    found = releasing._capstone(course, whole(course, [course.find("s18")]))
    names = ("README.md", "capstone.toml", "data/README.md", "data/stories.txt", "train.py")
    assert set(found) == {f"stages/capstone/{name}" for name in names}
    assert releasing._capstone(course, whole(course, [course.find("s17")])) == {}


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
    names = release(course, Plan(course.stages, KEY), target)
    record = read_record(target / "hidden")
    own = {"hidden/release.json", *(name for name in names if name.endswith(".sealed"))}
    assert set(record.files) == set(names) - own
    assert all(digest((target / name).read_bytes()) == wanted for name, wanted in record.files.items())
    assert (record.key, record.self_paced) == (KEY.id, False)


def test_the_same_course_and_key_give_the_same_bytes_but_for_the_bundles(course: Course, tmp_path: Path) -> None:
    copies = tmp_path / "one", tmp_path / "two"
    names = {release(course, Plan(course.stages, KEY), copy) for copy in copies}
    (same,) = names
    differ = {name for name in same if (copies[0] / name).read_bytes() != (copies[1] / name).read_bytes()}
    assert differ == {name for name in same if name.endswith(".sealed")}


def test_without_a_key_one_is_made_and_shipped(course: Course, target: Path) -> None:
    release(course, Plan(course.stages, None), target)
    hidden = target / "hidden"
    key = read_key(hidden / "tests.key")
    assert read_record(hidden).self_paced and read_record(hidden).key == key.id
    assert unseal((hidden / f"{NAME}.sealed").read_bytes(), key, Label(NAME, __version__, key.id), "x").hidden


def test_with_a_key_it_is_nowhere_in_the_copy(course: Course, target: Path) -> None:
    release(course, Plan(course.stages, KEY), target)
    secret = KEY.text.partition(":")[2].strip().encode()
    assert not [path for path in target.rglob("*") if path.is_file() and secret in path.read_bytes()]


def test_a_part_of_the_course_is_released_alone(course: Course, target: Path) -> None:
    names = release(course, Plan(course.stages[:1], KEY), target)
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
        release(course, Plan(course.stages, KEY), target)
    assert "sum(row)" not in caught.value.message and "Nothing was written" in str(caught.value.hint)
    assert not target.exists()


def test_a_secret_of_a_stage_that_is_not_released_is_one_all_the_same(course: Course, target: Path) -> None:
    (course.stages[1].hidden_root / OTHER / "oracles.py").write_text("VALUE = 'a sentence that stands in s91 only'\n")
    (course.stages[0].folder / "README.md").write_text("# Sums\n\na sentence that stands in s91 only\n")
    with pytest.raises(CourseError, match=rf"{NAME}/README\.md holds hidden text: hidden/{OTHER}/oracles\.py:1"):
        release(course, Plan(course.stages[:1], KEY), target)


def test_many_leaks_are_counted(course: Course, target: Path) -> None:
    (course.stages[0].folder / "notes.md").write_text(f"{HIDDEN_TEST}\n{MISTAKES}\n{SOLUTION}")
    lines = "".join(f"SECRET_{n} = 'the secret number {n}, which nobody knows'\n" for n in range(30))
    (course.stages[0].hidden_root / NAME / "oracles.py").write_text(lines)
    (course.stages[0].folder / "tests" / "data.txt").write_text(lines)
    with pytest.raises(CourseError, match=r"and \d+ more"):
        release(course, Plan(course.stages, KEY), target)


def test_a_folder_that_holds_something_is_left_alone(course: Course, target: Path) -> None:
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        release(course, Plan(course.stages, KEY), target)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]


def test_an_empty_folder_is_taken(course: Course, target: Path) -> None:
    target.mkdir()
    assert release(course, Plan(course.stages, KEY), target)


def test_a_file_is_no_folder(course: Course, target: Path) -> None:
    target.write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        release(course, Plan(course.stages, KEY), target)


def test_a_disk_that_does_not_take_it_is_named(course: Course, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        releasing._write(tmp_path / "file" / "copy", {"a": b""})


def test_a_copy_is_not_made_into_what_it_is_made_of(course: Course) -> None:
    for place in (course.root / "stages" / "copy", HOUSE / "copy"):
        with pytest.raises(UsageError, match="which the copy is made of"):
            release(course, Plan(course.stages, KEY), place)
        assert not place.exists()


def test_a_hidden_file_that_is_no_text_is_named(course: Course, target: Path) -> None:
    (course.stages[0].hidden_root / NAME / "oracles.py").write_bytes(b"# \xff\n")
    with pytest.raises(CourseError, match=r"oracles\.py is not valid UTF-8"):
        release(course, Plan(course.stages, KEY), target)


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
        "gradebook/pages/base.html",
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
