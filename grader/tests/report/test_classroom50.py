"""The result.json of Classroom 50: of the published shape, with what the environment says of the submission."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from grader.report.classroom50 import classroom50, missing
from grader.report.graded import Scene
from grader.tests.support.verdicts import (
    CLASSROOM50,
    NOW,
    SCENE,
    TEXTS,
    UNMARKED,
    VERDICT,
    obeyed_by_a_runner,
    report,
    written,
)
from grader.verdict import Verdict

SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.report").joinpath("schemas/classroom50.schema.json").read_text("utf-8")
)


def read(*verdicts: Verdict, scene: Scene = SCENE) -> dict[str, Any]:
    """The document, if the schema accepts it and the rules that a schema cannot say hold."""
    result: dict[str, Any] = json.loads(classroom50(report(*verdicts), scene))
    jsonschema.Draft202012Validator(SCHEMA).validate(result)
    assert result["score"] == sum(test["score"] for test in result["tests"]) <= result["max-score"]
    assert all(test["score"] <= test["max-score"] for test in result["tests"])
    return result


def test_the_schema_is_a_schema_and_refuses_what_is_wrong() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    good = read(VERDICT)
    wrongs: list[dict[str, Any]] = [
        {"schema": "v2"},
        {"score": 0.5},
        {"submission": "main"},
        {"datetime": "now"},
        {"usernames": []},
    ]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**good, **wrong}, SCHEMA)


def test_it_names_the_submission_as_the_environment_does() -> None:
    result = read(VERDICT)
    assert (result["classroom"], result["assignment"], result["owner"]) == ("numerics", "attention", "learner")
    assert (result["submission"], result["review"]) == (CLASSROOM50["SUBMISSION_TAG"], CLASSROOM50["COMMIT_URL"])
    assert (result["assignment_type"], result["datetime"]) == ("individual", "2026-11-21T12:30:05Z")
    more = {**CLASSROOM50, "OWNER": "group-1", "ASSIGNMENT_TYPE": "group", "REVIEW_URL": "https://example.org/r"}
    other = read(VERDICT, scene=Scene(NOW, more))
    assert (other["owner"], other["assignment_type"], other["review"]) == ("group-1", "group", "https://example.org/r")


def test_each_row_is_a_test_of_one_point() -> None:
    result = read(VERDICT)
    assert (result["score"], result["max-score"]) == (1, 5)
    assert [test["passed"] for test in result["tests"]] == [True, False, False, False, False]
    assert [test["status"] for test in result["tests"]] == ["passed", "failed", "not_started", "blocked", "crashed"]
    assert "72 of 96" in result["tests"][1]["output"]


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=list(UNMARKED))
def test_what_gives_no_marks_has_nothing_of_nothing(verdict: Verdict) -> None:
    result = read(verdict)
    assert (result["score"], result["max-score"], result["tests"]) == (0, 0, [])


@pytest.mark.parametrize("name", ["CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "USERNAME"])
def test_what_the_environment_lacks_is_named(name: str) -> None:
    lack = missing({key: value for key, value in CLASSROOM50.items() if key != name})
    assert lack is not None
    assert ("OWNER" if name == "USERNAME" else name) in lack


def test_a_tag_that_is_no_submission_s_is_named() -> None:
    assert missing(CLASSROOM50) is None
    assert "submit/" in (missing({**CLASSROOM50, "SUBMISSION_TAG": "v1"}) or "")


@given(TEXTS)
def test_whatever_a_learner_wrote_is_text(text: str) -> None:
    verdict = replace(written(text), problem=None)
    document = classroom50(report(verdict), SCENE)
    assert document.isascii()
    assert obeyed_by_a_runner(document) == []
    for test in read(verdict)["tests"]:
        assert obeyed_by_a_runner(test["output"]) == []
