"""Names of files as they are shown and compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.submission.files import expected, folded, is_renamed, places, printable, shown, suggestion

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())


def test_control_characters_and_undecodable_bytes_are_not_shown() -> None:
    assert printable("a\x1b[31m\udcff\udc81\u202eb") == "a\ufffd[31mÿ\ufffd\ufffdb"


def test_a_long_name_is_cut() -> None:
    assert shown("a" * 200) == "a" * 159 + "…"
    assert shown("a" * 160) == "a" * 160


@pytest.mark.parametrize(("one", "other"), [("A", "a"), ("ß", "SS"), ("é", "e\u0301"), ("É", "e\u0301")])
def test_names_that_one_file_system_takes_for_another_are_one(one: str, other: str) -> None:
    assert folded([one]) == folded([other])


def test_other_names_are_not() -> None:
    assert folded(["a", "b"]) != folded(["a", "c"])


def test_the_place_in_the_course_comes_first() -> None:
    assert places(STAGE) == (("stages", "s15_attention", "attention.py"), ("attention.py",))
    assert expected(STAGE) == "stages/s15_attention/attention.py or attention.py"


def test_five_python_files_are_suggested_at_most() -> None:
    assert suggestion(f"{name}.py" for name in "gfedcba") == "Python files in it: a.py, b.py, c.py, d.py, e.py"
    assert suggestion(["notes.txt"]) is None


@pytest.mark.parametrize(
    "name",
    [
        "lovelaceada_1_attention-1.py",
        "lovelaceada_late_12345_67890_attention.py",
        "Essay_ada_attempt_2026-11-21-10-00-00_attention.py",
        "attention-2.py",
        "attention_1.py",
        "attention (1).py",
        "attention(12).py",
    ],
)
def test_a_name_that_an_upload_changed_is_known(name: str) -> None:
    assert is_renamed(name, "attention.py")


@pytest.mark.parametrize(
    "name",
    ["self_attention.py", "attention2.py", "1attention.py", "attention.py.bak", "attention-old.py", "xattention-1.py"],
)
def test_another_module_is_not_taken_for_it(name: str) -> None:
    assert not is_renamed(name, "attention.py")
