"""No link leads out of what was handed in, not even one that is put there while it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.submission import files, take
from grader.tests.submission.snapshot.taking import IN_TREE, SOURCE, needs_links, put, refusal


@pytest.mark.usefixtures("_either_way")
class TestRefused:
    @needs_links
    def test_the_module_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (course / IN_TREE).symlink_to(put(inbox / "secret.py"))
        assert refusal(stage, None, course) == f"{IN_TREE} is a link: expected a regular file"

    @needs_links
    def test_a_file_given_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (inbox / "link.py").symlink_to(put(inbox / "a.py"))
        assert refusal(stage, inbox / "link.py", course).endswith("link.py is a link: expected a regular file")

    @needs_links
    def test_a_link_to_nothing_is_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (inbox / "attention.py").symlink_to(inbox / "nothing")
        assert refusal(stage, inbox, course).endswith("attention.py is a link: expected a regular file")

    @needs_links
    @pytest.mark.parametrize("part", ["stages", "stages/s15_attention"])
    def test_no_folder_below_a_path_may_be_a_link(self, stage: Stage, course: Path, inbox: Path, part: str) -> None:
        put(course / IN_TREE)
        (inbox / part).parent.mkdir(exist_ok=True)
        (inbox / part).symlink_to(course / part)
        expected = f"cannot be accepted: '{Path(part).name}' is a link, expected a folder"
        assert refusal(stage, inbox, course).endswith(expected)

    @needs_links
    def test_a_folder_given_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(course / IN_TREE)
        (inbox / "ada").symlink_to(course)
        assert refusal(stage, inbox / "ada", course).endswith("'ada' is a link, expected a folder")

    @needs_links
    def test_a_link_above_the_path_is_the_users_own(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "ada" / "attention.py")
        (inbox.parent / "also").symlink_to(inbox)
        assert take(stage, inbox.parent / "also" / "ada", course).source == SOURCE

    def test_a_file_exchanged_between_the_look_and_the_opening_is_refused(
        self, stage: Stage, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = put(course / IN_TREE)
        real_open = os.open

        def exchanging(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
            if Path(path).name == "attention.py":
                file.rename(file.with_name("old.py"))
                put(file, b"another")
            return real_open(path, flags, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", exchanging)
        assert refusal(stage, None, course) == f"{IN_TREE} was replaced while it was read"

    @needs_links
    def test_a_link_put_there_between_the_look_and_the_opening_is_not_followed(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = put(course / IN_TREE)
        secret = put(inbox / "secret.py", b"SECRET")
        real_open = os.open

        def exchanging(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
            if Path(path).name == "attention.py":
                file.unlink()
                file.symlink_to(secret)
            return real_open(path, flags, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", exchanging)
        assert f"{IN_TREE} cannot be read: " in refusal(stage, None, course)


@pytest.mark.skipif(not files._HAS_DIR_FD, reason="without openat a folder can only be looked at")
def test_a_folder_that_becomes_a_link_after_the_look_is_not_followed(
    stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(course / IN_TREE).parent
    put(inbox / "attention.py", b"SECRET")
    real_open = os.open

    def exchanging(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
        if path == "s15_attention":
            folder.rename(folder.with_name("old"))
            folder.symlink_to(inbox)
        return real_open(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchanging)
    assert f"{IN_TREE} cannot be read: " in refusal(stage, None, course)
