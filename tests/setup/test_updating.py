"""An update as a whole: told, carried out, cut short, and refused where a folder is not one that it can follow."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from grader import __version__
from grader.course.sealed import read_record
from grader.errors import CourseError, UsageError
from grader.progress.store import Store
from grader.setup import course_files, updating
from grader.setup.edition import Edition, newer_course
from grader.setup.making import make
from grader.setup.updating import merged, modules, update
from tests.setup.editions import (
    FILES,
    KEPT,
    MINE,
    MODULE,
    NEWER,
    NEXT,
    README,
    STUB,
    TEST,
    WHEN,
    actions,
    brought,
    edition,
    texts,
)


def test_changes_in_different_places_are_joined() -> None:
    joined = merged(MINE.encode(), STUB.encode(), NEWER.encode())
    assert joined == NEWER.replace('raise NotImplementedError("double")', "return x + x").encode()


def test_changes_of_the_same_lines_are_not() -> None:
    mine = STUB.replace("Return three times x.", "My own words.")
    assert merged(mine.encode(), STUB.encode(), NEWER.encode()) is None


def test_python_stays_python() -> None:
    base, mine, theirs = b"a = 1\n\n\n\n\n\nb = 2\n", b"a = 1\n\n\n\n\n\nb = (\n2)\n", b"a = (\n\n\n\n\n\nb = 2\n"
    assert merged(mine, base, theirs) is None


def test_what_was_no_python_before_may_stay_so() -> None:
    assert merged(b"a = (\n1\n2\n3\n4\n5\n", b"a\n1\n2\n3\n4\n5\n", b"a\n1\n2\n3\n4\n6\n") == b"a = (\n1\n2\n3\n4\n6\n"


def test_a_git_that_does_not_end_is_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*arguments: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("git", 30)

    monkeypatch.setattr("subprocess.run", hangs)
    assert merged(MINE.encode(), STUB.encode(), NEWER.encode()) is None


def test_what_a_learner_has_not_touched_becomes_the_new_course(root: Path) -> None:
    found, there = brought(root, edition("0.2.0", NEXT))
    assert actions(found) == {MODULE: ("replace", True), README: ("replace", False), TEST: ("replace", False)}
    outside = {name: text for name, text in FILES.items() if not name.startswith("hidden/")}
    assert there == outside | NEXT | {f"{KEPT}/{MODULE}": STUB}
    assert (found.before, found.after, found.kept) == ("0.1.0", "0.2.0", KEPT)
    record = read_record(root / "hidden")
    assert record.course == "0.2.0" and (root / "hidden" / "tests.key").read_text() == "key 0.2.0"


def test_a_second_update_finds_nothing_to_do(root: Path) -> None:
    brought(root, edition("0.2.0", NEXT))
    found, _ = brought(root, edition("0.2.0", NEXT))
    assert (found.changes, found.kept) == ((), None)


def test_a_learners_code_stays_where_its_stub_did_not_change(root: Path) -> None:
    (root / MODULE).write_text(MINE)
    found, there = brought(root, edition("0.2.0", {README: "# Other\n"}))
    assert there[MODULE] == MINE and set(actions(found)) == {README}


def test_a_new_stub_is_merged_into_a_learners_code(root: Path) -> None:
    (root / MODULE).write_text(MINE)
    found, there = brought(root, edition("0.2.0", {MODULE: NEWER}))
    assert actions(found) == {MODULE: ("merge", True)}
    assert there[MODULE] == NEWER.replace('raise NotImplementedError("double")', "return x + x")
    assert there[f"{KEPT}/{MODULE}"] == MINE


def test_line_ends_of_a_learner_stay_theirs(root: Path) -> None:
    (root / MODULE).write_bytes(MINE.replace("\n", "\r\n").encode())
    brought(root, edition("0.2.0", {MODULE: NEWER}))
    data = (root / MODULE).read_bytes()
    assert b"def half" in data and b"return x + x" in data
    assert data.count(b"\n") == data.count(b"\r\n")


@pytest.mark.parametrize("git", [True, False], ids=["a conflict", "no git"])
def test_where_they_cannot_be_merged_the_new_stub_lies_next_to_the_code(
    root: Path, monkeypatch: pytest.MonkeyPatch, git: bool
) -> None:
    mine = STUB.replace("Return three times x.", "My own words.") if git else MINE
    if not git:
        monkeypatch.setattr("grader.setup.updating.shutil.which", lambda name: None)
    (root / MODULE).write_text(mine)
    found, there = brought(root, edition("0.2.0", {MODULE: NEWER}))
    assert actions(found) == {f"{MODULE}.new": ("beside", False)}
    assert there[MODULE] == mine and there[f"{MODULE}.new"] == NEWER
    again, _ = brought(root, edition("0.2.0", {MODULE: NEWER}))
    assert again.changes == ()


def test_a_file_of_the_course_that_a_learner_changed_is_kept(root: Path) -> None:
    (root / README).write_text("# My notes\n")
    found, there = brought(root, edition("0.2.0", NEXT))
    assert actions(found)[README] == ("replace", True)
    assert (there[README], there[f"{KEPT}/{README}"]) == (NEXT[README], "# My notes\n")


def test_a_file_that_a_learner_changed_and_the_course_did_not_stays(root: Path) -> None:
    (root / "README.md").write_text("# My notes\n")
    found, there = brought(root, edition("0.2.0", NEXT))
    assert there["README.md"] == "# My notes\n" and "README.md" not in actions(found)


def test_files_of_a_learners_own_stay(root: Path) -> None:
    own = {"notes.txt": "mine", "stages/s01_numbers/tests/test_mine.py": "mine", "stages/s01_numbers/try.py": "mine"}
    for name, text in own.items():
        (root / name).write_text(text)
    _, there = brought(root, edition("0.2.0", NEXT))
    assert {name: there[name] for name in own} == own


def test_what_the_course_no_longer_has_goes_but_a_learners_code_stays(root: Path) -> None:
    (root / MODULE).write_text(MINE)
    (root / TEST).write_text("mine")
    gone: dict[str, str | None] = {name: None for name in FILES if "s01" in name}
    found, there = brought(root, edition("0.2.0", gone))
    assert actions(found) == {
        MODULE: ("keep", False), README: ("remove", False), TEST: ("remove", True),
        "stages/s01_numbers/stage.toml": ("remove", False),
    }  # fmt: skip
    assert there == {"README.md": FILES["README.md"], MODULE: MINE, f"{KEPT}/{TEST}": "mine"}
    assert not (root / "stages/s01_numbers/tests").exists() and not (root / "hidden/s01_numbers.stub").exists()


def test_a_new_stage_is_added_and_a_file_in_its_place_is_no_loss(root: Path) -> None:
    new = "stages/s02_more/more.py"
    (root / new).parent.mkdir()
    (root / new).write_text("mine")
    stage = {new: STUB, "hidden/s02_more.stub": STUB, "stages/s02_more/stage.toml": "schema = 1\n"}
    found, there = brought(root, edition("0.2.0", stage))
    assert there[new] == "mine" and there[f"{new}.new"] == STUB
    assert actions(found)["stages/s02_more/stage.toml"] == ("add", False)


def test_what_is_missing_is_put_back(root: Path) -> None:
    (root / MODULE).unlink()
    (root / README).unlink()
    found, there = brought(root, edition("0.1.0"))
    assert actions(found) == {MODULE: ("add", False), README: ("add", False)} and there[MODULE] == STUB


def test_a_module_is_known_by_the_digest_of_its_stub() -> None:
    files = {
        "hidden/s01_a.stub": "1",
        "stages/s01_a/a.py": "1",
        "stages/s01_a/b.py": "2",
        "stages/s01_a/tests/a.py": "1",
    }
    assert modules(files, "hidden") == {"stages/s01_a/a.py": "hidden/s01_a.stub"}


WHEEL = ".grader/wheels/grader-0.1.0-py3-none-any.whl"


def test_progress_stays(root: Path) -> None:
    Store(root).record_pass("s01", "0" * 64, 7, "0.1.0", WHEN)
    brought(root, edition("0.2.0", NEXT))
    assert set(Store(root).read().passed) == {"s01"}


def test_a_dry_run_tells_the_same_and_changes_nothing(root: Path) -> None:
    (root / MODULE).write_text(MINE)
    before = texts(root)
    told, _ = brought(root, edition("0.2.0", NEXT), dry_run=True)
    assert texts(root) == before
    done, _ = brought(root, edition("0.2.0", NEXT))
    assert told == done


def stopped_after(steps: int, write: Callable[[Path, bytes], None]) -> Callable[[Path, bytes], None]:
    """Return what writes as often as this, and is interrupted then."""
    left = iter(range(steps))

    def stopped(path: Path, data: bytes) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        write(path, data)

    return stopped


@pytest.mark.parametrize("mine", [STUB, MINE, STUB.replace("Return three times x.", "My own words.")])
def test_an_update_that_is_cut_short_anywhere_is_completed_by_the_next(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: str
) -> None:
    (root / MODULE).write_text(mine)
    new = edition("0.2.0", {**NEXT, "stages/s01_numbers/stage.toml": None, "more.md": "more"})
    whole = Path(shutil.copytree(root, tmp_path / "whole"))
    steps = sum(change.data is not None for change in update(whole, new, WHEN).changes)
    wanted = {name: text for name, text in texts(whole).items() if ".grader" not in name}
    for step in range(steps):
        cut = Path(shutil.copytree(root, tmp_path / f"cut{step}"))
        with monkeypatch.context() as patched:
            patched.setattr(updating, "write", stopped_after(step, course_files.write))
            with suppress(KeyboardInterrupt):
                update(cut, new, WHEN)
                pytest.fail(f"it was not cut short at step {step}")
        assert read_record(cut / "hidden").course == "0.1.0"
        update(cut, new, WHEN)
        assert {name: text for name, text in texts(cut).items() if ".grader" not in name} == wanted
        kept = [text for name, text in texts(cut).items() if ".grader" in name and name.endswith("numbers.py")]
        assert mine in kept or (cut / MODULE).read_text() == mine


def wheeled(version: str) -> Edition:
    """Return an edition whose grader brings a wheel of its version, which pyproject.toml names."""
    path = WHEEL.replace("0.1.0", version)
    changed = {**(NEXT if version != "0.1.0" else {}), "pyproject.toml": f"path = {path!r}\n"}
    return replace(edition(version, changed), wheel={path: version.encode(), f"{path}.sha256": b"digest"})


def test_the_wheel_is_replaced_and_is_there_whenever_pyproject_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(wheeled("0.1.0"), tmp_path / "course")
    assert (tmp_path / "course" / WHEEL).read_bytes() == b"0.1.0"
    new = wheeled("0.2.0")
    whole = Path(shutil.copytree(tmp_path / "course", tmp_path / "whole"))
    steps = len(update(whole, new, WHEN).changes)
    for step in range(steps):
        cut = Path(shutil.copytree(tmp_path / "course", tmp_path / f"cut{step}"))
        with monkeypatch.context() as patched:
            patched.setattr(updating, "write", stopped_after(step, course_files.write))
            with suppress(KeyboardInterrupt):
                update(cut, new, WHEN)
        assert (cut / (cut / "pyproject.toml").read_text().split("'")[1]).is_file()
        update(cut, new, WHEN)
        (cut / ".grader" / "update.lock").unlink(missing_ok=True)
        assert {path.name for path in (cut / ".grader" / "wheels").iterdir()} == {Path(path).name for path in new.wheel}
        assert all((cut / path).read_bytes() == data for path, data in new.wheel.items())
    assert update(whole, new, WHEN).changes == ()


def test_an_older_course_than_the_folders_is_refused(tmp_path: Path) -> None:
    make(edition("0.10.0"), tmp_path / "course")
    before = texts(tmp_path)
    with pytest.raises(UsageError, match=r"holds course 0\.10\.0, and this grader brings 0\.9\.0, which is older"):
        update(tmp_path / "course", edition("0.9.0", NEXT), WHEN)
    assert texts(tmp_path) == before


def test_the_record_of_a_newer_grader_is_refused(root: Path) -> None:
    path = root / "hidden" / "release.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(CourseError, match="was written by a newer grader: it has the schema 2, and this one reads 1"):
        update(root, edition("0.2.0", NEXT), WHEN)


def test_a_folder_that_init_did_not_make_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder that `grader init` made"):
        update(tmp_path, edition(), WHEN)


@pytest.mark.parametrize(
    "given", [{"changed": {"grader/cli.py": "pass"}}, {"changed": {WHEEL: "wheel"}}, {"self_paced": False}]
)
def test_a_copy_that_somebody_released_is_refused(tmp_path: Path, given: dict[str, object]) -> None:
    make(edition(**given), tmp_path / "copy")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="somebody released with a grader of its own"):
        update(tmp_path / "copy", edition("0.2.0", NEXT), WHEN)


@pytest.mark.parametrize("path", [MODULE, README])
def test_what_is_no_regular_file_is_refused_before_anything_changes(root: Path, path: str) -> None:
    (root / path).unlink()
    (root / path).symlink_to("README.md")
    before = texts(root)
    with pytest.raises(UsageError, match="is not a regular file; nothing was changed"):
        update(root, edition("0.2.0", NEXT), WHEN)
    assert texts(root) == before


def test_a_record_that_was_tampered_with_deletes_nothing_outside_the_folder(root: Path) -> None:
    victim = root.parent / "victim"
    victim.write_text("mine")
    path = root / "hidden" / "release.json"
    path.write_text(path.read_text().replace('"README.md"', '"../victim"'))
    with pytest.raises(CourseError, match=r"release\.json names '\.\./victim'"):
        update(root, edition("0.2.0", NEXT), WHEN)
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("folder", ["stages", "stages/s01_numbers", "hidden"])
def test_nothing_is_written_through_a_folder_that_is_a_link_elsewhere(root: Path, folder: str) -> None:
    elsewhere = shutil.move(root / folder, root.parent / "elsewhere")
    (root / folder).symlink_to(elsewhere)
    before = texts(root.parent)
    with pytest.raises(UsageError, match="behind a link that leads out of"):
        update(root, edition("0.2.0", NEXT), WHEN)
    assert texts(root.parent) == before


def test_a_disk_that_takes_nothing_is_told(root: Path) -> None:
    shutil.rmtree(root / "stages/s01_numbers/tests")
    (root / "stages/s01_numbers/tests").write_text("in the way")
    with pytest.raises(UsageError, match="cannot be written") as caught:
        update(root, edition("0.2.0", NEXT), WHEN)
    assert "run the same command again" in str(caught.value.hint)
    (root / "stages/s01_numbers/tests").unlink()
    update(root, edition("0.2.0", NEXT), WHEN)
    assert (root / TEST).read_text() == NEXT[TEST]


def test_two_updates_at_once_wait_for_each_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updating, "LOCK_SECONDS", 0.05)
    with updating._locked(root), pytest.raises(UsageError, match="another update of"):
        update(root, edition("0.2.0", NEXT), WHEN)


@pytest.mark.parametrize(("course", "told"), [("0.0.1", True), (__version__, False), ("99", False), ("odd", False)])
def test_a_grader_with_a_newer_course_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, course: str, told: bool
) -> None:
    make(edition(course), tmp_path / "course")
    hidden = tmp_path / "course" / "hidden"
    assert newer_course(hidden) is None  # no course came with this grader
    (tmp_path / "archive").touch()
    monkeypatch.setattr("grader.setup.edition.PLACE", tmp_path / "archive")
    assert (newer_course(hidden) is not None) is told
    (hidden / "release.json").write_text("damaged")
    assert newer_course(hidden) is None and newer_course(tmp_path) is None
