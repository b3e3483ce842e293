"""Stages, their rows, and the contracts of their objects."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from grader.course.manifest import load_course, load_stage
from grader.course.stage import Contract, Course, public_names
from grader.errors import CourseError, UnknownStage, UsageError
from tests.course.manifests import FORWARD, HEAD, SPLIT, TABLES, Write
from tests.support.places import ROOT


class TestStage:
    def test_a_stage_knows_its_name_number_and_files(self, write: Write) -> None:
        folder = write(HEAD + SPLIT)
        stage = load_stage(folder)
        assert (stage.name, stage.number) == ("s15_attention", 15)
        assert stage.module_path == folder / "attention.py"
        assert stage.readme_path == folder / "README.md"
        assert stage.tests_path == folder / "tests"

    def test_a_stage_can_be_sent_to_another_process(self, write: Write) -> None:
        stage = load_stage(write(HEAD + TABLES + SPLIT))
        assert pickle.loads(pickle.dumps(stage)) == stage

    def test_a_stage_can_be_a_key(self, write: Write) -> None:
        stage = load_stage(write(HEAD + TABLES + SPLIT))
        assert {stage: 1}[stage] == 1


class TestRows:
    def test_a_row_is_found_by_its_id(self, write: Write) -> None:
        assert load_stage(write(HEAD + SPLIT + FORWARD)).criterion("forward").functions[0] == "merge_heads"

    def test_an_unknown_row_names_a_near_one(self, write: Write) -> None:
        with pytest.raises(UsageError, match="'split-head' is not a criterion of s15_attention") as caught:
            load_stage(write(HEAD + SPLIT + FORWARD)).criterion("split-head")
        assert caught.value.hint == "Did you mean split-heads? The criteria are split-heads, forward."

    def test_an_unknown_row_names_those_of_which_it_is_a_part(self, write: Write) -> None:
        with pytest.raises(UsageError) as caught:
            load_stage(write(HEAD + SPLIT + FORWARD)).criterion("heads")
        assert caught.value.hint == "Did you mean split-heads? The criteria are split-heads, forward."

    def test_a_row_like_no_other_lists_them_all(self, write: Write) -> None:
        with pytest.raises(UsageError) as caught:
            load_stage(write(HEAD + SPLIT + FORWARD)).criterion("xyz")
        assert caught.value.hint == "The criteria are split-heads, forward."

    def test_a_function_belongs_to_the_first_row_that_names_it(self, write: Write) -> None:
        row = load_stage(write(HEAD + SPLIT + FORWARD)).criterion_of("split_heads")
        assert row is not None
        assert row.id == "split-heads"

    def test_a_row_is_meant_by_its_id_or_a_function_of_it(self, write: Write) -> None:
        stage = load_stage(write(HEAD + SPLIT + FORWARD))
        assert [stage.asked(name).id for name in ("forward", "split_heads", "merge_heads")] == [
            "forward",
            "split-heads",
            "forward",
        ]
        with pytest.raises(UsageError, match="'split' is not a criterion"):
            stage.asked("split")

    def test_a_function_of_several_rows_means_none_of_them(self, write: Write) -> None:
        both = FORWARD.replace('"merge_heads"', '"merge_heads", "split"'), SPLIT.replace('"split_heads"]', '"split"]')
        with pytest.raises(UsageError, match="'split' stands in 2 criteria of s15_attention: split-heads, forward"):
            load_stage(write(HEAD + both[1] + both[0])).asked("split")
        assert [row.id for row in load_stage(write(HEAD + both[1] + both[0])).meant("split()")] == [
            "split-heads",
            "forward",
        ]

    def test_a_method_alone_means_the_rows_that_name_it(self, write: Write) -> None:
        stage = load_stage(write(HEAD + SPLIT + FORWARD.replace('"merge_heads"', '"Attention.merge_heads"')))
        assert stage.asked("merge_heads").id == stage.asked("Attention.merge_heads()").id == "forward"
        assert [row.id for row in stage.meant("forward")] == ["forward"]
        assert stage.meant("heads") == ()

    def test_a_method_belongs_to_the_row_of_its_class(self, write: Write) -> None:
        row = load_stage(write(HEAD + SPLIT + FORWARD)).criterion_of("MultiHeadAttention.forward")
        assert row is not None
        assert row.id == "forward"

    def test_a_method_that_a_row_names_belongs_to_that_row(self, write: Write) -> None:
        named = FORWARD.replace('"MultiHeadAttention"', '"MultiHeadAttention.forward"')
        classed = SPLIT.replace('"split_heads"]', '"MultiHeadAttention"]')
        row = load_stage(write(HEAD + classed + named)).criterion_of("MultiHeadAttention.forward")
        assert row is not None
        assert row.id == "forward"

    def test_a_function_that_no_row_names_belongs_to_none(self, write: Write) -> None:
        assert load_stage(write(HEAD + SPLIT)).criterion_of("merge_heads") is None

    def test_public_names_come_once_in_the_order_of_the_rows(self, write: Write) -> None:
        named = FORWARD.replace('"MultiHeadAttention"', '"MultiHeadAttention.forward", "MultiHeadAttention.backward"')
        stage = load_stage(write(HEAD + SPLIT + named))
        assert public_names(stage) == ("split_heads", "merge_heads", "MultiHeadAttention")


class TestFinding:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("s15", "s15"),
            ("S15", "s15"),
            ("15", "s15"),
            (" 15 ", "s15"),
            ("1", "s01"),
            ("01", "s01"),
            ("s1", "s01"),
            ("attention", "s15"),
            ("Attention.py", "s15"),
            ("s15_attention", "s15"),
            ("S15-Attention", "s15"),
            ("attention-layer", "s16"),
            ("matrices", "s01"),
            ("stages/s15_attention", "s15"),
            ("stages/s15_attention/", "s15"),
            ("./stages/S15_Attention/tests/test_attention.py", "s15"),
            (r"stages\s16_attention_layer\layer.py", "s16"),
            ("elsewhere/s01_matrix_operations/../s15_attention", "s15"),
        ],
    )
    def test_a_stage_is_found_by(self, course: Course, text: str, found: str) -> None:
        assert course.find(text).id == found

    def test_a_stage_is_found_by_a_relative_path_from_within(
        self, course: Course, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(course.root / "stages" / "s15_attention")
        assert (course.find(".").id, course.find("./attention.py").id) == ("s15", "s15")

    def test_a_name_is_no_path(self, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(course.root / "stages" / "s15_attention")
        with pytest.raises(UnknownStage):
            course.find("tests")

    @pytest.mark.parametrize(
        ("text", "hint"),
        [
            ("atention", "Did you mean s15_attention?"),
            ("attent", "Did you mean s15_attention or s16_attention_layer?"),
            ("s61", "The stages are s01, s15, s16, s17."),
            ("99", "The stages are s01, s15, s16, s17."),
            ("", "The stages are s01, s15, s16, s17."),
            ("stages/nothing", "The stages are s01, s15, s16, s17."),
        ],
    )
    def test_an_unknown_stage_is_answered_with_near_ones(self, course: Course, text: str, hint: str) -> None:
        with pytest.raises(UnknownStage, match="is not a stage of this course") as caught:
            course.find(text)
        assert caught.value.hint == hint

    def test_a_name_of_two_stages_is_ambiguous(self, course: Course) -> None:
        with pytest.raises(UnknownStage, match="'layer' may mean s16_attention_layer or s17_other_layer") as caught:
            course.find("layer")
        assert caught.value.hint == "Name the stage by its id."


MANIFEST = """
schema = 1
id = "s90"
title = "Layers"
module = "layers.py"

[axes]
"Layer.backward" = {{ grad_output = "batch" }}

{tables}

[[criteria]]
id = "layer"
text = "Layer"
functions = ["Layer", "Layer.forward", "Layer.__add__", "build"]
needs = []
hints = ["a", "b", "c"]
"""


def contract(tmp_path: Path, tables: str) -> Contract:
    folder = tmp_path / "s90_layers"
    folder.mkdir()
    (folder / "stage.toml").write_text(MANIFEST.format(tables=tables), encoding="utf-8")
    return load_stage(folder).contract


def test_methods_of_rows_and_of_axes_are_members(tmp_path: Path) -> None:
    found = contract(tmp_path, "")
    assert found.members == {"Layer": {"forward", "__add__", "backward"}} and found.values == {}


def test_what_the_tables_list_is_added(tmp_path: Path) -> None:
    tables = """
        [members]
        Layer = ["params", "parts", "__mul__"]
        build = ["forward"]
        parts = ["params"]

        [values]
        params = "dict of arrays"
        build = "array"
    """
    found = contract(tmp_path, tables)
    assert found.members["Layer"] == {"forward", "__add__", "backward", "params", "parts", "__mul__"}
    assert found.members["build"] == {"forward"} and found.members["parts"] == {"params"}
    assert found.values == {"params": "dict of arrays", "build": "array"}


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            '[members]\nLayr = ["x"]',
            "members.Layr: is neither in a criterion's functions nor a member of a class; did you mean",
        ),
        ('[members]\nLayer = ["x", "x"]', "members.Layer[1]: 'x' is listed already"),
        ('[members]\nLayer = ["forward"]', "members.Layer[0]: 'forward' is listed already"),
        ('[members]\nLayer = ["_x"]', "members.Layer[0]: '_x' is not an attribute, a method, or an operator"),
        ('[members]\nLayer = ["x.y"]', "members.Layer[0]: 'x.y' is not an attribute, a method, or an operator"),
        ('[members]\nLayer = "x"', "members.Layer: 'x' is not a list"),
        ("[members]\nLayer = []", "members.Layer: "),
        ('[values]\nparams = "array"', "values.params: is neither in a criterion's functions nor a member of a class"),
        ('[values]\nbuild = "list"', "values.build: 'list' is not 'array' or 'dict of arrays'"),
        ("[values]\nbuild = 3", "values.build: 3 is not a text"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, tables: str, said: str) -> None:
    with pytest.raises(CourseError) as caught:
        contract(tmp_path, tables)
    assert f"s90_layers/stage.toml: {said}" in caught.value.message


def test_a_stage_knows_the_members_of_those_that_it_builds_on() -> None:
    found = load_course(ROOT).find("s21").whole_contract
    assert {"router_weights", "forward", "params"} <= found.members["MoELayer"]
    assert "params" in found.members["MLP"] and found.values["params"] == "dict of arrays"
