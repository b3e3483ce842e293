"""The document of an exploration, and its published schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import jsonschema
import numpy as np
import pytest

from grader.explore.document import _drawing, exploration_document
from grader.explore.model import PartStatus
from grader.isolation.tiers import TIERS
from grader.submission.parsing import Problem
from grader.tests.commands.exploring.typed import PLAIN, SCHEMA, Grader
from grader.tests.explore.test_terminal import ALL, BLANKS, GRAPHS


def test_the_document_holds_words_steps_ranges_and_weights(run: Grader) -> None:
    found = run("s15", *PLAIN, "--json").json
    assert (found["schema"], found["stage"], found["fine"], found["seed"]) == (4, "s15", True, 0)
    assert found["words"] == ["The", "cat", "sat", "down"]
    assert found["inputs"]["Q"][0] == [1.0, 0.5, 0.0, 0.5, 0.0, 0.0]
    first = found["steps"][0]["parts"][0]
    assert first["facts"] == [{"name": "range", "values": [0.5, 2.5], "text": "range [0.500, 2.500]"}]
    assert (first["shape"], first["axes"]) == ([4, 4], ["seq_q", "seq_k"])
    causal = np.array(next(each["weights"] for each in found["maps"] if each["id"] == "causal"))
    np.testing.assert_allclose(causal.sum(axis=1), 1)
    assert not np.triu(causal, 1).any()


def test_what_went_wrong_is_in_the_document_too(run: Grader, tmp_path: Path) -> None:
    file = tmp_path / "attention.py"
    file.write_text("def attention_weights(scores):\n    return 1 / 0\n", encoding="utf-8")
    done = run("s15", *PLAIN, "--json", submission=file)
    parts = {part["id"]: part for step in done.json["steps"] for part in step["parts"]}
    assert (done.code, parts["weights"]["status"], parts["raw"]["status"]) == (1, "blocked", "failed")
    file.write_text("def f(:\n", encoding="utf-8")
    done = run("s15", *PLAIN, "--json", submission=file)
    assert (done.code, done.json["problem"]["kind"], done.json["steps"]) == (1, "syntax", [])


def test_the_schema_is_a_schema_and_knows_every_status_tier_and_kind_of_problem() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    definitions = SCHEMA["$defs"]
    named = {name for part in get_args(PartStatus) for name in get_args(part)}
    assert set(definitions["status"]["enum"]) == named
    assert {*TIERS} <= {*definitions["exploration"]["properties"]["isolation"]["examples"]}
    assert set(definitions["problem"]["properties"]["kind"]["enum"]) == set(get_args(get_type_hints(Problem)["kind"]))


def test_the_schema_describes_every_key_that_is_written(run: Grader) -> None:
    found = run("s15", *PLAIN, "--json").json
    step = found["steps"][0]
    part = step["parts"][0]
    written = {"exploration": found, "step": step, "part": part, "fact": part["facts"][0], "map": found["maps"][0]}
    for name, each in written.items():
        definition = SCHEMA["$defs"][name]
        assert set(definition["properties"]) == set(definition["required"]) == set(each), name


def test_the_schema_describes_every_key_of_every_kind_of_drawing() -> None:
    for each in ALL:
        written = _drawing(each)
        jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{written['kind']}"}).validate(written)
        definition = SCHEMA["$defs"][written["kind"]]
        assert set(definition["properties"]) == set(definition["required"]) == set(written)


def test_a_cell_without_a_value_is_null_and_edges_are_pairs_of_places() -> None:
    assert _drawing(BLANKS)["panels"][0]["values"] == [[19.0, None], [None, None]]
    graph = _drawing(GRAPHS)["panels"][0]
    assert graph["edges"] == [[0, 1], [1, 2], [1, 2], [1, 3], [2, 3]]
    assert graph["nodes"][1] == {"name": "a = 3·x", "column": 1, "row": 1, "value": 6.0, "gradient": 13.0}


@pytest.mark.parametrize("wrong", [{"schema": 2}, {"isolation": "none"}, {"maps": None}, {"heads": 0}])
def test_the_schema_refuses_what_is_wrong(run: Grader, wrong: dict[str, Any]) -> None:
    found = {**run("s15", *PLAIN, "--json").json, **wrong}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(found)


def test_half_characters_do_not_reach_the_document() -> None:
    from grader.explore.example import example
    from grader.explore.model import Exploration, Ran

    found = Exploration("s15", "t", example("a\udcff", None, None), Ran("f.py", "0" * 64, "process", None, None))
    assert exploration_document(found)["words"] == ["a?"]
