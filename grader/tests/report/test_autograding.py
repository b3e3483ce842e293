"""The result for GitHub Classroom's reporter: as it reads it, and with nothing that its log would obey."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from grader.report.autograding import autograding
from grader.report.graded import details
from grader.tests.support.verdicts import (
    LABEL,
    PASSED,
    SCENE,
    SPLIT,
    TEXTS,
    UNMARKED,
    VERDICT,
    obeyed_by_a_runner,
    report,
    written,
)
from grader.verdict import Verdict

SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.report").joinpath("schemas/autograding.schema.json").read_text("utf-8")
)


def read(*verdicts: Verdict) -> dict[str, Any]:
    """The result as the reporter gets it, if the schema accepts it."""
    encoded = autograding(report(*verdicts, every=len(verdicts) > 1), SCENE)
    assert "\n" not in encoded
    result: dict[str, Any] = json.loads(base64.b64decode(encoded, validate=True))
    jsonschema.Draft202012Validator(SCHEMA).validate(result)
    return result


def posted(result: dict[str, Any]) -> str | None:
    """What the reporter tells GitHub Classroom (notify-classroom.js): nothing where max_score is 0."""
    if not result["max_score"]:
        return None
    return f"Points {sum(test['score'] for test in result['tests'])}/{result['max_score']}"


def test_the_schema_is_a_schema_and_refuses_what_is_wrong() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    good = read(VERDICT)
    wrongs: list[dict[str, Any]] = [{"status": "passed"}, {"tests": []}, {"max_score": -1}, {"more": 1}]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**good, **wrong}, SCHEMA)


def test_each_row_is_a_test_of_one_point() -> None:
    result = read(VERDICT)
    assert [(test["status"], test["score"]) for test in result["tests"]] == [
        ("pass", 1),
        ("fail", 0),
        ("fail", 0),
        ("fail", 0),
        ("error", 0),
    ]
    assert (result["status"], posted(result)) == ("fail", "Points 1/5")
    assert result["tests"][1] == {
        "name": "s15 · split_heads reshapes",
        "status": "fail",
        "message": details(SPLIT, VERDICT),
        "score": 0,
        "filename": LABEL,
        "line_no": 142,
    }


def test_a_pass_is_a_pass() -> None:
    assert (read(PASSED)["status"], posted(read(PASSED))) == ("pass", "Points 1/1")
    assert read(replace(PASSED, passed=False))["status"] == "fail"
    assert posted(read(PASSED, VERDICT)) == "Points 2/6"


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=list(UNMARKED))
def test_what_gives_no_marks_is_an_error_and_is_not_posted(verdict: Verdict) -> None:
    result = read(verdict)
    assert (result["status"], posted(result), len(result["tests"])) == ("error", None, 1)
    assert result["tests"][0]["message"]


@given(TEXTS)
def test_the_reporter_s_log_obeys_nothing_that_a_learner_wrote(text: str) -> None:
    verdict = replace(written(text), problem=None)
    for test in read(verdict)["tests"]:
        for printed in (test["name"], test["message"] or "", test["filename"] or ""):
            assert obeyed_by_a_runner(printed) == []
            assert all(char == "\n" or char.isprintable() for char in printed)
