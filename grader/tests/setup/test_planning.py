"""A newer course in a learner's folder: what changes, what stays, and what is kept of what a learner wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.sealed import read_record
from grader.setup.planning import modules
from grader.tests.setup.editions import (
    FILES,
    KEPT,
    MINE,
    MODULE,
    NEWER,
    NEXT,
    README,
    STUB,
    TEST,
    actions,
    brought,
    edition,
)


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
        monkeypatch.setattr("grader.setup.merging.shutil.which", lambda name: None)
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
