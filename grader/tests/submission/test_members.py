"""Which member of an archive is taken, and which archives leave a doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission.members import MAX_DEPTH, MAX_PATH, Member, choose

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
IN_TREE = "stages/s15_attention/attention.py"


def members(*names: str | tuple[str, str]) -> list[Member]:
    pairs = [name if isinstance(name, tuple) else (name, "a file") for name in names]
    return [Member(name, kind, 10, index) for index, (name, kind) in enumerate(pairs)]


def chosen(*names: str | tuple[str, str]) -> str:
    return choose(STAGE, members(*names), "ada.zip").name


def refused(*names: str | tuple[str, str]) -> str:
    with pytest.raises(SubmissionError) as caught:
        choose(STAGE, members(*names), "ada.zip")
    return caught.value.message


class TestWhich:
    @pytest.mark.parametrize(
        ("names", "taken"),
        [
            (("attention.py",), "attention.py"),
            (("./attention.py",), "./attention.py"),
            (("attention.py", IN_TREE, "sub/attention.py"), IN_TREE),
            (("sub/attention.py", "attention.py"), "attention.py"),
            (("ada/README.md", "ada/attention.py"), "ada/attention.py"),
            ((f"course-main/{IN_TREE}", "course-main/other/attention.py"), f"course-main/{IN_TREE}"),
            (("attention.py", "__MACOSX/._attention.py", "__MACOSX/attention.py"), "attention.py"),
            (("a/attention.py", "__MACOSX/a/attention.py"), "a/attention.py"),
        ],
    )
    def test_it_is_the_same_as_in_a_folder_or_the_only_one_below(self, names: tuple[str, ...], taken: str) -> None:
        assert chosen(*names) == taken

    def test_two_below_are_one_too_many(self) -> None:
        message = refused("b/attention.py", "a/attention.py")
        assert message == "ada.zip holds 2 files that could be the module: a/attention.py, b/attention.py"

    def test_two_courses_are_one_too_many(self) -> None:
        assert "holds 2 files that could be the module" in refused(f"a/{IN_TREE}", f"b/{IN_TREE}")

    def test_none_says_what_there_is(self) -> None:
        with pytest.raises(SubmissionError) as caught:
            choose(STAGE, members("Attention.py", "notes.txt"), "ada.zip")
        assert caught.value.message == f"ada.zip is an archive without {IN_TREE} or attention.py"
        assert caught.value.hint == "Python files in it: Attention.py"

    def test_an_archive_within_is_not_opened(self) -> None:
        assert "without" in refused("attention.zip", "attention.py.gz")


class TestDoubts:
    @pytest.mark.parametrize("other", ["Attention.py", "ATTENTION.PY", "attention.Py"])
    def test_names_that_differ_only_in_case_are_refused(self, other: str) -> None:
        assert refused("attention.py", other).endswith(
            f"'attention.py' and '{other}' differ only in how they are written"
        )
        assert "differ only" in refused(other, "attention.py")

    def test_so_are_folders_on_the_way(self) -> None:
        assert refused(IN_TREE, "Stages/readme.md").endswith(
            "'stages' and 'Stages' differ only in how they are written"
        )

    def test_so_are_modules_below_that_differ_only_in_case(self) -> None:
        assert "differ only" in refused("ada/attention.py", "Ada/attention.py")

    def test_elsewhere_they_do_no_harm(self) -> None:
        assert chosen("attention.py", "docs/a.md", "docs/A.md") == "attention.py"

    def test_a_member_that_is_there_twice_is_refused(self) -> None:
        assert refused("attention.py", "attention.py").endswith("attention.py is there 2 times: expected once")
        assert refused("attention.py", "./attention.py").endswith("attention.py is there 2 times: expected once")

    @pytest.mark.parametrize("kind", ["a link", "a hard link", "a device", "a folder", "a sparse file", "a named pipe"])
    def test_only_a_regular_file_is_taken(self, kind: str) -> None:
        assert refused(("attention.py", kind)) == f"ada.zip/attention.py is {kind}: expected a regular file"

    @pytest.mark.parametrize("kind", ["a link", "a file"])
    def test_only_folders_lead_to_it(self, kind: str) -> None:
        assert refused(("stages", kind), IN_TREE).endswith(f"'stages' is {kind}, expected a folder")
        assert chosen(("stages/", "a folder"), IN_TREE) == IN_TREE

    def test_a_link_elsewhere_does_no_harm(self) -> None:
        assert chosen((".venv/bin/python", "a link"), "attention.py") == "attention.py"

    def test_a_module_too_large_is_refused_by_what_the_archive_says(self) -> None:
        with pytest.raises(SubmissionError, match="has 104,857,600 bytes: at most 1,048,576 are accepted"):
            choose(STAGE, [Member("attention.py", "a file", 100 << 20, 0)], "ada.zip")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("../attention.py", "leads out of the archive: expected no .."),
            ("a/../../attention.py", "leads out of the archive: expected no .."),
            ("/etc/attention.py", "is absolute: expected a path within the archive"),
            ("C:/attention.py", "is absolute: expected a path within the archive"),
            ("c:attention.py", "is absolute: expected a path within the archive"),
            ("stages\\attention.py", "holds a backslash: expected / between folders"),
            ("attention.py\0.txt", "holds a null byte"),
            ("a/" * MAX_DEPTH + "b", f"lies {MAX_DEPTH} folders deep: at most {MAX_DEPTH - 1} are accepted"),
            ("a" * (MAX_PATH + 1), "has 1,025 characters: at most 1,024 are accepted"),
        ],
    )
    def test_one_that_is_a_trap_spoils_the_archive(self, name: str, why: str) -> None:
        message = refused("attention.py", name)
        assert message.startswith("ada.zip cannot be accepted: the name '")
        assert message.endswith(why)

    def test_two_dots_within_a_name_are_no_way_out(self) -> None:
        assert chosen("attention.py", "a..b/c..") == "attention.py"

    def test_control_characters_are_not_shown(self) -> None:
        assert "\x1b" not in refused("../\x1b[31m")
