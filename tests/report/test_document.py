"""The machine-readable verdict: its shape is the published one, and its text survives every pipe."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources
from typing import Any, get_args, get_type_hints

import jsonschema
import pytest

from grader.criterion import KindCount
from grader.isolation.tiers import TIERS
from grader.outcome import Diagnosis, Gradient, Status, Where
from grader.report.document import dumps, summary_document, verdict_document
from grader.submission.parsing import Problem
from grader.verdict import CriterionResult, Failure, Run, Verdict

SCHEMA: dict[str, Any] = json.loads(resources.files("grader.report").joinpath("verdict.schema.json").read_text("utf-8"))
FOUND = Diagnosis("reshape-without-transpose", "split-heads", "Tokens are mixed across heads.", "Swap axes 1 and 2.")
FAILURE = Failure(
    "test_attention.py::TestHeads::test_split",
    True,
    "failed",
    "split_heads(x: float64 (2, 6, 8), num_heads=2)",
    "72 of 96 values differ",
    FOUND,
    Where("stages/s15_attention/attention.py", 142),
    ("printed: hello",),
)
ROWS = (
    CriterionResult("attention-scores", "scores are QKᵀ/√d_k", "passed", 5, 5),
    CriterionResult("split-heads", "split_heads reshapes", "failed", 2, 4, (FAILURE,)),
    CriterionResult("forward", "forward", "blocked", 0, 3, (), ("split_heads",)),
)
RUN = Run(40817, "bubblewrap", None, 0.61234, "0.1.0", "ab" * 32, "stages/s15_attention/attention.py")
VERDICT = Verdict("s15", "Attention mechanisms", False, ROWS, RUN)


def valid(document: dict[str, Any], definition: str = "verdict") -> dict[str, Any]:
    """The document, after a round trip through its text, if the schema accepts it."""
    read: dict[str, Any] = json.loads(dumps(document))
    jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{definition}"}).validate(read)
    return read


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


SPLIT_HEADS = {
    "id": "split-heads",
    "text": "split_heads reshapes",
    "status": "failed",
    "tests_passed": 2,
    "tests_total": 4,
    "robust": False,
    "robustness": {"tests_passed": 0, "tests_total": 0},
    "values_right": False,
    "kinds": {},
    "waits_for": [],
    "failures": [
        {
            "test": "test_attention.py::TestHeads::test_split",
            "hidden": True,
            "status": "failed",
            "kind": None,
            "call": "split_heads(x: float64 (2, 6, 8), num_heads=2)",
            "message": "72 of 96 values differ",
            "cause": {
                "id": "reshape-without-transpose",
                "criterion": "split-heads",
                "function": None,
                "line": None,
                "text": "Tokens are mixed across heads.",
                "fix": "Swap axes 1 and 2.",
                "evidence": "split_heads(x: float64 (2, 6, 8), num_heads=2): 72 of 96 values differ",
            },
            "where": "stages/s15_attention/attention.py:142",
            "notes": ["printed: hello"],
            "unexplained": None,
            "help": None,
            "gradients": [],
        }
    ],
}


def test_a_verdict_has_the_keys_of_the_design_with_its_values() -> None:
    document = valid(verdict_document(VERDICT))
    assert {key: document[key] for key in ("schema", "stage", "passed", "locked", "seed", "isolation", "unlocked")} == {
        "schema": 3,
        "stage": "s15",
        "passed": False,
        "locked": False,
        "seed": 40817,
        "isolation": "bubblewrap",
        "unlocked": [],
    }
    assert (document["duration_s"], document["course"], document["submission"]) == (0.612, "0.1.0", "ab" * 32)
    assert document["criteria"][1] == SPLIT_HEADS
    assert document["criteria"][2]["waits_for"] == ["split_heads"]


@pytest.mark.parametrize(
    "verdict",
    [
        replace(VERDICT, problem=Problem("syntax", "line 3: expected ':'", 3, None)),
        replace(VERDICT, problem=Problem("missing", "defines nothing", None, "Put it back.")),
        replace(VERDICT, faults=("test_hidden.py cannot be collected",)),
        replace(VERDICT, passed=True, criteria=ROWS[:1], unlocked=("s16", "s17")),
        replace(VERDICT, run=replace(RUN, isolation="process", isolation_note="bwrap is missing", only="split-heads")),
        replace(VERDICT, criteria=(replace(ROWS[1], failures=(replace(FAILURE, diagnosis=None, where=None),)),)),
        replace(VERDICT, locked=True, criteria=(), run=replace(RUN, isolation="none", submission="")),
    ],
)
def test_every_kind_of_verdict_is_valid(verdict: Verdict) -> None:
    valid(verdict_document(verdict))


def test_where_no_cause_is_known_the_reason_stands_in_its_place() -> None:
    cut = replace(FAILURE, unexplained="the search for a cause took 60 s")
    rows = [replace(ROWS[1], failures=(each,)) for each in (cut, replace(cut, diagnosis=None))]
    for row, reason in zip(rows, (None, {"reason": cut.unexplained}), strict=True):
        (failure,) = valid(verdict_document(replace(VERDICT, criteria=(row,))))["criteria"][0]["failures"]
        assert failure["unexplained"] == reason and (failure["cause"] is None) == (reason is not None)
    found = replace(FAILURE, message=f"{FAILURE.message}\nhalf of it", pattern="half of it")
    found = replace(found, diagnosis=replace(FOUND, function="split_heads", line=12))
    row = replace(ROWS[1], failures=(found,))
    (failure,) = valid(verdict_document(replace(VERDICT, criteria=(row,))))["criteria"][0]["failures"]
    assert (failure["cause"]["function"], failure["cause"]["line"]) == ("split_heads", 12)
    assert failure["cause"]["evidence"].endswith(": 72 of 96 values differ")


def test_known_mistakes_between_which_nothing_decides_are_not_shown() -> None:
    failures = tuple(
        replace(each, undecided=("twice", "whole")) for each in (FAILURE, replace(FAILURE, diagnosis=None))
    )
    found = dumps(verdict_document(replace(VERDICT, criteria=(replace(ROWS[-1], failures=failures),))))
    assert "twice" not in found and "whole" not in found


def test_a_locked_verdict_names_what_comes_first() -> None:
    locked = replace(VERDICT, locked=True, criteria=())
    assert valid(verdict_document(locked, ["s01"]))["waits_for"] == ["s01"]


def test_several_verdicts_are_one_document_that_passes_only_if_all_do() -> None:
    passing = replace(VERDICT, passed=True, criteria=ROWS[:1])
    assert valid(summary_document([passing, passing]), "summary")["passed"] is True
    assert valid(summary_document([passing, VERDICT]), "summary")["passed"] is False
    assert valid(summary_document([]), "summary")["passed"] is False


def test_a_row_says_by_kind_what_stands() -> None:
    counts = (KindCount("values", 9, 9), KindCount("refusals", 0, 3))
    row = replace(ROWS[1], tests_passed=9, tests_total=12, kinds=counts, failures=(replace(FAILURE, kind="refusals"),))
    found = valid(verdict_document(replace(VERDICT, criteria=(row,))))["criteria"][0]
    assert (found["status"], found["robust"], found["values_right"]) == ("failed", False, True)
    assert found["robustness"] == {"tests_passed": 0, "tests_total": 3}
    assert found["kinds"] == {
        "values": {"tests_passed": 9, "tests_total": 9},
        "refusals": {"tests_passed": 0, "tests_total": 3},
    }
    assert found["failures"][0]["kind"] == "refusals"


def test_the_schema_describes_every_key_that_is_written() -> None:
    document = verdict_document(replace(VERDICT, problem=Problem("syntax", "", 1, "")))
    row = document["criteria"][1]
    written = {
        "verdict": document,
        "criterion": row,
        "failure": row["failures"][0],
        "cause": row["failures"][0]["cause"],
        "problem": document["problem"],
        "summary": summary_document([]),
    }
    for name, part in written.items():
        definition = SCHEMA["$defs"][name]
        assert set(definition["properties"]) == set(definition["required"]) == set(part), name


def test_the_schema_knows_every_status_tier_and_kind_of_problem() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["status"]["enum"]) == set(get_args(Status))
    isolation = definitions["verdict"]["properties"]["isolation"]
    assert {*TIERS, "none"} <= {*isolation["examples"]}
    assert all(re.fullmatch(isolation["pattern"], name) for name in isolation["examples"])
    assert set(definitions["problem"]["properties"]["kind"]["enum"]) == set(get_args(get_type_hints(Problem)["kind"]))


@pytest.mark.parametrize("wrong", [{"schema": 1}, {"seed": -1}, {"isolation": "none at all"}, {"criteria": None}])
def test_the_schema_refuses_what_is_wrong(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid({**verdict_document(VERDICT), **wrong})


def test_what_a_learner_wrote_is_data_and_nothing_else() -> None:
    evil = "\x1b[2J\x9b31m\u202e\x00\udc80 [red]"
    verdict = replace(VERDICT, criteria=(replace(ROWS[1], failures=(replace(FAILURE, message=evil, call=evil),)),))
    text = dumps(verdict_document(verdict))
    assert text.isascii()
    assert all(char == "\n" or char.isprintable() for char in text)
    message = json.loads(text)["criteria"][0]["failures"][0]["message"]
    assert message == evil.replace("\udc80", "?")


def test_a_build_s_log_obeys_no_document() -> None:
    evil = "##[add-mask]x\n::error::y ##vso[task]"
    text = dumps({"message": evil, "\\##[": [evil]})
    assert "##[" not in text and "##vso[" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert json.loads(text) == {"message": evil, "\\##[": [evil]}


def test_gradients_stand_beside_the_right_ones() -> None:
    wrong = Gradient("grad_W", "W", (4, 3), (4, 3), 0.5, (1, 2), "1.0", "2.0", "factor", "got = 2 × expected")
    shapeless = Gradient("grad_b", "", (5, 3), (3,), None, finding="shape")
    failure = replace(FAILURE, gradients=(wrong, shapeless, Gradient("grad_x", "x", (), (), 0.0)))
    row = replace(ROWS[1], failures=(failure,))
    told = valid(verdict_document(replace(VERDICT, criteria=(row,))))["criteria"][0]["failures"][0]["gradients"]
    assert told[0] == {
        "name": "grad_W",
        "of": "W",
        "right": False,
        "shape": [4, 3],
        "expected_shape": [4, 3],
        "relative_error": 0.5,
        "worst": {"index": [1, 2], "expected": "1.0", "got": "2.0"},
        "finding": "factor",
        "text": "got = 2 × expected",
    }
    assert [(each["of"], each["relative_error"], each["worst"], each["finding"]) for each in told[1:]] == [
        (None, None, None, "shape"), ("x", 0.0, None, None),
    ]  # fmt: skip
