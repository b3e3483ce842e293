"""The tables [members] and [values] of a manifest, and what stages that build on others know."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.contract import Contract
from grader.course.manifest import load_course, load_stage
from grader.errors import CourseError
from grader.tests.support.places import ROOT

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
            "members.Layr: is neither in a row's functions nor a member of a class; did you mean",
        ),
        ('[members]\nLayer = ["x", "x"]', "members.Layer[1]: 'x' is listed already"),
        ('[members]\nLayer = ["forward"]', "members.Layer[0]: 'forward' is listed already"),
        ('[members]\nLayer = ["_x"]', "members.Layer[0]: '_x' is not an attribute, a method, or an operator"),
        ('[members]\nLayer = ["x.y"]', "members.Layer[0]: 'x.y' is not an attribute, a method, or an operator"),
        ('[members]\nLayer = "x"', "members.Layer: 'x' is not a list"),
        ("[members]\nLayer = []", "members.Layer: "),
        ('[values]\nparams = "array"', "values.params: is neither in a row's functions nor a member of a class"),
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
