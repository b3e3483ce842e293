"""stage.toml: what is read, and that every mistake is reported with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.manifest import load_course, load_stage
from grader.course.stage import Forbidden, Limits, Tolerance
from grader.errors import CourseError
from tests.course.manifests import FORWARD, HEAD, SPLIT, TABLES, Write


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(CourseError) as caught:
        load_stage(folder)
    return [line.removeprefix("stages/s15_attention/stage.toml: ") for line in str(caught.value).splitlines()]


def mistake(folder: Path) -> str:
    (line,) = mistakes(folder)
    return line


class TestReading:
    def test_a_milestone_may_be_given_and_says_something(self, write: Write) -> None:
        assert load_stage(write(HEAD + 'milestone = "you can add"\n' + SPLIT)).milestone == "you can add"
        assert load_stage(write(HEAD + SPLIT)).milestone == ""
        assert mistake(write(HEAD + "milestone = 1\n" + SPLIT)).startswith("milestone: 1 is not a")

    def test_a_course_read_from_here_is_the_same_from_elsewhere(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write(HEAD + SPLIT).parent.parent
        monkeypatch.chdir(root)
        assert load_course(Path(), root / "hidden").root == root

    def test_a_full_manifest_becomes_a_stage(self, write: Write) -> None:
        stage = load_stage(write(HEAD + 'requires = ["s01"]\nfeedback = "hint"\n' + TABLES + SPLIT + FORWARD))
        assert (stage.id, stage.title, stage.module, stage.requires) == (
            "s15",
            "Attention mechanisms",
            "attention.py",
            ("s01",),
        )
        assert stage.limits == Limits(30.0, 2.5, 256, 128, 8, 99)
        assert not stage.limits.alone
        assert stage.feedback == "hint"
        assert stage.tolerance == Tolerance(1e-8, 1e-3)
        assert stage.forbidden == Forbidden(
            ("@",), ("numpy.matmul", "numpy.linalg"), "This stage is about writing them."
        )
        assert stage.axes == {
            "split_heads": {"x": ("batch", "seq", "d_model"), "returns": ("batch", "heads", "seq", "2*d_k")}
        }
        assert [row.id for row in stage.criteria] == ["split-heads", "forward"]
        assert stage.criteria[1].needs == ("split-heads",)
        assert stage.criteria[0].hints == ("a nudge", "the idea", "nearly the answer")

    def test_tests_that_start_no_process(self, write: Write) -> None:
        limits = load_stage(write(HEAD + "[limits]\nmemory_mb = 200\nalone = true" + SPLIT)).limits
        assert limits == Limits(memory_mb=200, alone=True)

    def test_what_is_left_out_has_its_default(self, write: Write) -> None:
        stage = load_stage(write(HEAD + SPLIT))
        assert (stage.requires, stage.criteria[0].needs, stage.axes) == ((), (), {})
        assert stage.feedback == "full"
        assert (stage.limits, stage.tolerance, stage.forbidden) == (Limits(), Tolerance(), Forbidden())

    def test_a_limit_in_whole_seconds_is_a_float(self, write: Write) -> None:
        limits = load_stage(write(HEAD + "[limits]\nstage_seconds = 20" + SPLIT)).limits
        assert (limits.stage_seconds, type(limits.stage_seconds)) == (20.0, float)


class TestMistakes:
    def test_a_missing_manifest_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(CourseError, match=r"stages/s15_attention/stage.toml: cannot be read"):
            load_stage(tmp_path / "stages" / "s15_attention")

    def test_a_manifest_that_is_not_utf8_is_named(self, write: Write) -> None:
        folder = write("")
        (folder / "stage.toml").write_bytes(b'title = "\xff"')
        assert mistake(folder).startswith("cannot be read: 'utf-8' codec can't decode byte 0xff")

    def test_a_toml_mistake_is_given_with_its_line(self, write: Write) -> None:
        assert mistake(write("schema = 1\nid = s15\n")) == "line 2, column 6: Invalid value"

    def test_toml_that_ends_too_early_is_given_with_its_place(self, write: Write) -> None:
        assert mistake(write('id = """s15')).startswith("end of document: ")

    def test_another_schema_is_the_only_thing_reported(self, write: Write) -> None:
        expected = "schema: 2 is not 1, the schema that this grader reads"
        assert mistake(write("schema = 2\nnew = true")) == expected

    @pytest.mark.parametrize("key", ["schema", "id", "title", "module"])
    def test_each_required_key_is_missed(self, write: Write, key: str) -> None:
        head = "".join(line for line in HEAD.splitlines(keepends=True) if not line.startswith(key))
        assert mistake(write(head + SPLIT)).startswith(f"{key}: is missing; expected a ")

    @pytest.mark.parametrize("key", ["id", "text", "functions"])
    def test_each_required_key_of_a_row_is_missed(self, write: Write, key: str) -> None:
        row = "".join(line for line in FORWARD.splitlines(keepends=True) if not line.startswith(key))
        assert mistake(write(HEAD + SPLIT + row)).startswith(f"criteria[1].{key}: is missing; expected a ")

    def test_a_stage_without_rows_is_incomplete(self, write: Write) -> None:
        assert mistake(write(HEAD)) == "criteria: is missing; expected a list"

    def test_rows_that_are_no_tables_are_named(self, write: Write) -> None:
        assert mistake(write(HEAD + "criteria = [1]")) == "criteria[0]: 1 is not a table"

    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ('id = "s15"', 'id = "attention"', "id: 'attention' is not a stage id: s and two digits or more"),
            ('title = "Attention mechanisms"', "title = 3", "title: 3 is not a text"),
            ('title = "Attention mechanisms"', 'title = " "', "title: ' ' is not a text that says something"),
            ('"attention.py"', '"../attention.py"', "module: '../attention.py' is not the plain name of a Python file"),
            ('"attention.py"', '"attention"', "module: 'attention' is not the plain name of a Python file"),
            ('"split-heads"', '"Split Heads"', "criteria[0].id: 'Split Heads' is not kebab-case, as in 'split-heads'"),
            ('["split_heads"]', '"split_heads"', "criteria[0].functions: 'split_heads' is not a list"),
            ('["split_heads"]', "[]", "criteria[0].functions: is empty; expected at least one entry"),
            ('["split_heads"]', "[true]", "criteria[0].functions[0]: True is not a text"),
            ('["split_heads"]', '["split-heads"]', "criteria[0].functions[0]: 'split-heads' is not a Python name"),
            ('["split_heads"]', '["f", "f"]', "criteria[0].functions[1]: 'f' occurs here twice"),
            ('["a nudge", "the idea", ', "[", "criteria[0].hints: has 1 texts; expected exactly 3"),
            ('"the idea"', '""', "criteria[0].hints[1]: '' is not a text that says something"),
        ],
    )
    def test_a_wrong_value_is_named_with_its_place(self, write: Write, before: str, after: str, expected: str) -> None:
        lines = mistakes(write((HEAD + SPLIT).replace(before, after)))
        assert expected in [line[: len(expected)] for line in lines]

    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            ('requires = ["attention"]', "requires[0]: 'attention' is not a stage id: s and two digits or more"),
            ('feedback = "none"', "feedback: 'none' is not full, hint or verdict"),
            ("feedback = 1", "feedback: 1 is not a text"),
            ('uses = ["blocks"]', "uses[0]: 'blocks' is not a stage id: s and two digits or more"),
            ("lends = 1", "lends: 1 is not true or false"),
            ('lends = "true"', "lends: 'true' is not true or false"),
            ("[limits]\nstage_seconds = 0", "limits.stage_seconds: 0 is not positive and finite"),
            ("[limits]\ncall_seconds = -1.5", "limits.call_seconds: -1.5 is not positive and finite"),
            ("[limits]\nstage_seconds = inf", "limits.stage_seconds: inf is not positive and finite"),
            ("[limits]\nstage_seconds = nan", "limits.stage_seconds: nan is not positive and finite"),
            ("[limits]\nmemory_mb = 1.5", "limits.memory_mb: 1.5 is not a whole number"),
            ("[limits]\nmemory_mb = true", "limits.memory_mb: True is not a whole number"),
            ("[limits]\nalone = 1", "limits.alone: 1 is not true or false"),
            ('[limits]\ncall_seconds = "1"', "limits.call_seconds: '1' is not a number"),
            ("[limits]\ncall_seconds = 90", "limits.call_seconds: 90 is more than stage_seconds, 60"),
            ("[tolerance]\nfloat64 = 1", "tolerance.float64: 1 is not between 0 and 1"),
            ("[tolerance]\nfloat32 = 0.0", "tolerance.float32: 0.0 is not between 0 and 1"),
            ("limits = 3", "limits: 3 is not a table"),
            ('[forbidden]\noperators = ["@"]', "forbidden.reason: is missing; expected a text"),
            (
                '[forbidden]\nreason = "r"\noperators = ["matmul"]',
                "forbidden.operators[0]: 'matmul' is not an operator",
            ),
            ('[forbidden]\nreason = "r"\nnames = ["numpy."]', "forbidden.names[0]: 'numpy.' is not a Python name"),
            ('[forbidden]\nreason = "r"\nnames = ["sorted", "sort"]', "forbidden.names[1]: 'sort' is none of Python's"),
            ('[forbidden]\nreason = "r"\nnames = ["nunpy.dot"]', "forbidden.names[0]: 'nunpy' is none of Python's"),
            (
                '[forbidden]\nreason = "r"\nnames = [".list.sort"]',
                "forbidden.names[0]: '.list.sort' is not a Python",
            ),
            (
                '[axes.split_head]\nx = "n"',
                "axes.split_head: is not in a criterion's functions; did you mean 'split_heads'?",
            ),
            ('[axes.split_heads]\nx = "n, m"', "axes.split_heads.x: 'n, m' is not names of axes with spaces between"),
            ('[axes.split_heads]\nx = "… m"', "axes.split_heads.x: '… m' is not names of axes"),
            ('[axes.split_heads]\nx = ""', "axes.split_heads.x: '' is not names of axes"),
            ('[axes.split_heads]\nx-1 = "n"', "axes.split_heads.x-1: is not the name of an argument"),
            ("axes.split_heads = 3", "axes.split_heads: 3 is not a table"),
        ],
    )
    def test_a_mistake_beside_the_rows_is_named_with_its_place(self, write: Write, lines: str, expected: str) -> None:
        assert mistake(write(HEAD + lines + "\n" + SPLIT)).startswith(expected)

    def test_an_id_must_be_what_the_folder_begins_with(self, write: Write) -> None:
        expected = "id: 's16' is not what the folder's name begins with, 's15'"
        assert mistake(write(HEAD.replace("s15", "s16") + SPLIT)) == expected

    def test_an_unknown_key_is_named_with_a_near_one(self, write: Write) -> None:
        lines = mistakes(write(HEAD + "requirse = []\n" + SPLIT + "hint = 3\n[limit]\n"))
        assert lines == [
            "criteria[0].hint: is not a key of this table; did you mean 'hints'?",
            "requirse: is not a key of this table; did you mean 'requires'?",
            "limit: is not a key of this table; did you mean 'limits'?",
        ]

    @pytest.mark.parametrize("table", ["limits", "tolerance", "forbidden"])
    def test_an_unknown_key_of_a_table_is_named(self, write: Write, table: str) -> None:
        lines = mistakes(write(HEAD + f"[{table}]\nseconds_of_time = 1\n" + SPLIT))
        assert f"{table}.seconds_of_time: is not a key of this table" in lines

    def test_two_rows_with_one_id_are_named(self, write: Write) -> None:
        expected = "criteria[1].id: 'split-heads' is already the id of criteria[0]"
        assert mistake(write(HEAD + SPLIT + SPLIT)) == expected

    def test_a_row_needs_no_later_row(self, write: Write) -> None:
        expected = "criteria[0].needs[0]: 'split-heads' is not an earlier criterion; one needs only those above it"
        assert mistake(write(HEAD + FORWARD + SPLIT)) == expected

    def test_a_row_does_not_need_itself(self, write: Write) -> None:
        row = FORWARD.replace('["split-heads"]', '["forward"]')
        said = mistake(write(HEAD + SPLIT + row))
        assert said.startswith("criteria[1].needs[0]: 'forward' is not an earlier criterion")

    def test_a_row_needs_a_row_that_exists(self, write: Write) -> None:
        row = FORWARD.replace('["split-heads"]', '["split-head"]')
        expected = "criteria[1].needs[0]: 'split-head' is not the id of a criterion; did you mean 'split-heads'?"
        assert mistake(write(HEAD + SPLIT + row)) == expected

    def test_all_mistakes_are_told_at_once_with_their_file(self, write: Write) -> None:
        text = HEAD.replace('"attention.py"', "1") + "[limits]\nmemory_mb = 0\n" + SPLIT.replace("split-heads", "A B")
        with pytest.raises(CourseError) as caught:
            load_stage(write(text))
        assert str(caught.value).splitlines() == [
            "stages/s15_attention/stage.toml: module: 1 is not a text",
            "stages/s15_attention/stage.toml: criteria[0].id: 'A B' is not kebab-case, as in 'split-heads'",
            "stages/s15_attention/stage.toml: limits.memory_mb: 0 is not positive and finite",
        ]


def test_what_is_forbidden_may_be_a_module_a_builtin_or_a_method(write: Write) -> None:
    table = '[forbidden]\nreason = "r"\nnames = ["heapq", "numpy.sort", "sorted", ".sort"]\n'
    assert load_stage(write(HEAD + table + SPLIT)).forbidden.names == ("heapq", "numpy.sort", "sorted", ".sort")


def test_a_method_without_its_dot_is_told_so(write: Write) -> None:
    with pytest.raises(CourseError, match=r"a method begins with a dot: '\.sort'"):
        load_stage(write(HEAD + '[forbidden]\nreason = "r"\nnames = ["sort"]\n' + SPLIT))
