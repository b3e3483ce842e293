"""A file is written whole or not at all, and there is one place that does it."""

from __future__ import annotations

import ast
import errno
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.atomic import drafts, write_atomically, write_new
from grader.errors import GraderError, ProgressError, UsageError
from tests.support.full_disk import full_disk, needs_limits
from tests.support.places import HOUSE

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="no modes there, and links are for administrators")

# What writes a file by other means, and why a reader never meets a part of it. This list only gets shorter.
BY_HAND = {
    "atomic.py": "it is the one that is used elsewhere",
    "authoring/new.py": "folders beside their places, moved there whole; a new one, emptied where a file fails",
    "capstone/checkpoint.py": "gives a damaged file another name",
    "classroom/release.py": "a new folder, emptied where one of its files fails",
    "doctor/guards.py": "a folder for temporary files",
    "commands/classes/students.py": "another name for a student",
    "gradebook/pages.py": "a file or a folder beside its place, moved there once it is whole",
    "gradebook/cluster.py": "a folder for temporary files",
    "isolation/bubblewrap.py": "a folder for temporary files",
    "isolation/bundle.py": "a folder for temporary files",
    "isolation/leftovers.py": "moves what is to be deleted",
    "judging/judge_process.py": "the null device",
    "judging/fresh_judge.py": "a folder for temporary files",
    "progress/store.py": "gives a damaged file another name",
    "setup/updating.py": "backups, in a folder that is new with every update; a folder for temporary files",
    "submission/git.py": "a folder for temporary files",
    "worker/confine.py": "a file of the kernel's",
    "worker/kernel.py": "a file of the kernel's",
    "gradebook/store.py": "an empty file, which SQLite fills",
}
_WHOLE = {"write_text", "write_bytes", "touch", "rename", "NamedTemporaryFile", "mkstemp"}
_WORDS = re.compile(r"\b(write_text|write_bytes|touch|rename|NamedTemporaryFile|mkstemp|shutil|replace|open)\b")
_COPIES = {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move"}


def writes(node: ast.AST) -> bool:
    """Say whether a call writes a whole file, or puts one in another's place."""
    if not isinstance(node, ast.Call):
        return False
    function = ast.unparse(node.func)
    name = function.rpartition(".")[2]
    if name in _WHOLE or (function.startswith("shutil.") and name in _COPIES):
        return True
    if name == "replace":  # of a path: texts are replaced by two arguments, dataclasses by names
        return function == "os.replace" or (
            "." in function and len(node.args) == 1 and not node.keywords and not function.startswith("dataclasses")
        )
    if name != "open":
        return False
    given = [*node.args, *(each.value for each in node.keywords if each.arg in ("mode", "flags"))]
    modes = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(set(mode) <= set("wxbt+") and set(mode) & set("wx") for mode in modes) or any(
        "O_CREAT" in ast.unparse(each) for each in given
    )


def test_no_other_place_writes_a_whole_file_by_hand() -> None:
    found = {
        path.relative_to(HOUSE).as_posix()
        for path in HOUSE.rglob("*.py")
        if _WORDS.search(text := path.read_text(encoding="utf-8"))
        if any(writes(node) for node in ast.walk(ast.parse(text)))
    }
    assert found == set(BY_HAND)


@pytest.mark.parametrize("content", ["übung\r\n", b"\x00\xff"])
def test_a_file_is_made_and_replaced(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "a"
    for _ in range(2):
        write_atomically(path, content)
        assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.listdir(tmp_path) == ["a"]


def test_missing_folders_are_made_where_that_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a cannot be written: there is no folder .*x") as caught:
        write_atomically(tmp_path / "x" / "a", "1", hint="Try.")
    assert caught.value.hint == "Try." and not os.listdir(tmp_path)
    write_atomically(tmp_path / "x" / "a", "1", parents=True)
    assert (tmp_path / "x" / "a").read_text() == "1"


@posix_only
def test_a_file_keeps_its_mode_and_a_new_one_has_what_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", "1")
        write_new(tmp_path / "b", "1", mode=0o600)
        (tmp_path / "c").touch()
        (tmp_path / "c").chmod(0o755)
        write_atomically(tmp_path / "c", "1", mode=0o600)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"a": 0o640, "b": 0o600, "c": 0o755}


@posix_only
class TestLinks:
    def test_the_file_behind_one_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "far").mkdir()
        (tmp_path / "far" / "a").write_text("old")
        (tmp_path / "a").symlink_to("far/a")
        write_atomically(tmp_path / "a", "new")
        assert (tmp_path / "a").is_symlink() and (tmp_path / "far" / "a").read_text() == "new"

    def test_it_is_replaced_itself_where_it_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "victim").write_text("mine")
        (tmp_path / "a").symlink_to("victim")
        write_atomically(tmp_path / "a", "new", follow=False)
        assert not (tmp_path / "a").is_symlink() and (tmp_path / "victim").read_text() == "mine"

    def test_a_new_file_goes_through_none(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("victim")
        with pytest.raises(UsageError, match="already exists"):
            write_new(tmp_path / "a", "new")
        assert os.listdir(tmp_path) == ["a"]

    def test_links_in_a_circle_are_told(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("a")
        with pytest.raises(UsageError, match="a cannot be written"):
            write_atomically(tmp_path / "a", "new")

    @pytest.mark.parametrize("follow", [True, False])
    def test_what_is_no_file_stays(self, tmp_path: Path, follow: bool) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()
        for name in ("pipe", "folder"):
            with pytest.raises(ProgressError, match="is not a regular file, and was not replaced"):
                write_atomically(tmp_path / name, "new", ProgressError, follow=follow)
        assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


@needs_limits
@pytest.mark.parametrize("room", [0, 5])
@pytest.mark.parametrize("write", [write_atomically, write_new])
def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path, write: object, room: int) -> None:
    assert callable(write)
    (tmp_path / "old").write_text("old")
    with full_disk(room), pytest.raises(GraderError, match="cannot be written: File too large"):
        write(tmp_path / ("old" if write is write_atomically else "new"), "longer than that")
    assert os.listdir(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "old"


@pytest.mark.parametrize("failing", ["fsync", "replace", "link", "open"])
def test_whatever_fails_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    if failing == "link":  # as on a file system without links: a rename does
        write_new(tmp_path / "a", "1")
        monkeypatch.undo()
        assert os.listdir(tmp_path) == ["a"]
        return
    with pytest.raises(UsageError, match="a cannot be written: No space left on device"):
        write_atomically(tmp_path / "a", "1")
    monkeypatch.undo()
    assert not os.listdir(tmp_path)


def test_a_command_that_is_stopped_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", "1")
    monkeypatch.undo()
    assert not os.listdir(tmp_path)


def test_a_file_that_somebody_makes_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def late(source: Path, target: Path) -> None:
        target.write_text("theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(UsageError, match="already exists; it was not replaced"):
        write_new(tmp_path / "a", "mine")
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "theirs"


def test_what_a_killed_process_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    write_new(tmp_path / "a", "1")
    (tmp_path / ".a.b.tmp").touch()
    (left,) = drafts(tmp_path / "a")
    assert left.name.startswith(".a.") and left.name != ".a.b.tmp"


@pytest.mark.parametrize("write", [write_atomically, write_new])
def test_a_text_that_utf_8_cannot_encode_is_explained(tmp_path: Path, write: Callable[..., None]) -> None:
    path = tmp_path / "file"
    with pytest.raises(UsageError, match=r"file cannot be written: its text holds '\\udc80'"):
        write(path, "a\udc80")
    assert not list(tmp_path.iterdir())
