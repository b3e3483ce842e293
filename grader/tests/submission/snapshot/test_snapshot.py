"""Taking a learner's file: where it is looked for, and how it is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.submission import MAX_BYTES, holds_stages, take
from grader.tests.submission.snapshot.taking import IN_TREE, SOURCE, put, refusal


@pytest.mark.usefixtures("_either_way")
class TestWhere:
    def test_without_a_path_the_module_of_the_course_is_taken(self, stage: Stage, course: Path) -> None:
        file = put(course / IN_TREE)
        snapshot = take(stage, None, course)
        assert (snapshot.source, snapshot.module, snapshot.origin) == (SOURCE, "attention.py", file)
        assert snapshot.label == IN_TREE

    def test_a_name_that_an_upload_changed_is_found_in_a_folder(self, stage: Stage, course: Path, inbox: Path) -> None:
        file = put(inbox / "lovelaceada_1_attention-1.py")
        put(inbox / "self_attention.py", b"another")
        assert take(stage, inbox, course).origin == file
        put(inbox / "attention (1).py")
        assert f"{inbox} holds 2 files that could be the module: attention (1).py, " in refusal(stage, inbox, course)
        put(inbox / "attention.py", b"the one")
        assert take(stage, inbox, course).source == b"the one"

    def test_the_course_itself_is_named_as_it_was_given(
        self, stage: Stage, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(course / "stages")
        assert refusal(stage, Path("../../course@nosuchref"), course).startswith("../../course ")

    def test_the_digest_is_the_sha256_of_the_bytes(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE)
        assert take(stage, None, course).digest == hashlib.sha256(SOURCE).hexdigest()

    def test_a_path_may_be_another_course(self, stage: Stage, course: Path, inbox: Path) -> None:
        file = put(inbox / IN_TREE)
        assert take(stage, inbox, course).origin == file

    def test_a_path_may_be_a_folder_with_the_module(self, stage: Stage, course: Path, inbox: Path) -> None:
        file = put(inbox / "attention.py")
        assert take(stage, inbox, course).origin == file

    def test_in_a_folder_the_courses_place_comes_first(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "attention.py", b"")
        put(inbox / IN_TREE)
        assert take(stage, inbox, course).source == SOURCE

    def test_a_path_may_be_a_python_file_of_any_name(self, stage: Stage, course: Path, inbox: Path) -> None:
        snapshot = take(stage, put(inbox / "my answer.py"), course)
        assert (snapshot.source, snapshot.module) == (SOURCE, "attention.py")

    def test_a_path_may_be_the_current_folder(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(inbox / "attention.py")
        monkeypatch.chdir(inbox)
        assert take(stage, Path(), course).source == SOURCE
        assert take(stage, Path("../inbox"), course).source == SOURCE

    def test_an_empty_file_is_taken(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE, b"")
        assert take(stage, None, course).source == b""

    def test_a_file_of_exactly_the_cap_is_taken(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE, b"#" * MAX_BYTES)
        assert len(take(stage, None, course).source) == MAX_BYTES


class TestLabel:
    def test_inside_the_course_it_is_relative(self, stage: Stage, course: Path) -> None:
        assert take(stage, put(course / "mine" / "a.py"), course).label == "mine/a.py"

    def test_outside_the_course_it_is_as_the_user_gave_it(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(inbox / "ada" / IN_TREE)
        monkeypatch.chdir(inbox)
        assert take(stage, Path("ada"), course).label == f"ada/{IN_TREE}"

    def test_control_characters_of_a_name_are_not_shown(self, stage: Stage, course: Path, inbox: Path) -> None:
        snapshot = take(stage, put(inbox / "a\x1b[31m\n.py"), course)
        assert snapshot.label.endswith("a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}.py")


class TestManyStages:
    def test_folders_archives_and_revisions_hold_several(self, inbox: Path) -> None:
        (inbox / "repo").mkdir()
        assert holds_stages(inbox)
        assert holds_stages(put(inbox / "a.tar.gz", b""))
        assert holds_stages(inbox / "repo@main")

    def test_a_module_does_not(self, inbox: Path) -> None:
        assert not holds_stages(put(inbox / "a.py"))
        assert not holds_stages(inbox / "nothing@main")
