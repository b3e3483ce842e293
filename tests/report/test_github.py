"""Documents for GitHub Actions, GitHub Classroom's reporter and Classroom 50, by the rules of each."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from grader.errors import UsageError
from grader.outcome import Where
from grader.report.escape import plain
from grader.report.github import (
    ANNOTATIONS,
    LIMIT,
    annotation_lines,
    autograding,
    classroom50,
    expect_runner,
    summary,
    within,
)
from grader.report.graded import ReportContext, details
from grader.verdict import Verdict
from tests.support.verdicts import (
    CLASSROOM50,
    CRASH,
    LABEL,
    NOW,
    PASSED,
    PUBLIC,
    SCENE,
    SPLIT,
    SYNTAX,
    TEXTS,
    UNMARKED,
    VERDICT,
    obeyed_by_a_runner,
    report,
    unescaped,
    written,
)

COMMAND = re.compile(r"::error (?:file=([^:,]*),line=(\d+),)?title=([^:,]*)::([^\r\n]*)")


class Tags(HTMLParser):
    """Which elements a page has, with what attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[str] = set()
        self.attributes: list[object] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.found.add("comment")

    def handle_decl(self, decl: str) -> None:
        self.found.add("declaration")


def page(*verdicts: Verdict) -> Tags:
    """The summary as a reader of GitHub's Markdown shows it."""
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False}).enable("table")
    return Tags(reader.render(summary(report(*verdicts), SCENE)))


def commands(*verdicts: Verdict, scene: ReportContext = SCENE) -> list[tuple[str, str, str, str]]:
    """File, line, title and message of each annotation, as the runner reads them."""
    found = []
    for line in annotation_lines(report(*verdicts), scene):
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        file, number, name, message = (part or "" for part in match.groups())
        found.append((unescaped(file), number, unescaped(name), unescaped(message)))
    return found


def test_the_summary_has_a_table_of_the_rows_and_tells_of_those_that_fail() -> None:
    shown = page(VERDICT)
    assert {"h2", "table", "h3", "pre", "code"} <= shown.found
    for text in (
        "s15 · Attention mechanisms",
        "1 of 5 criteria",
        "scores are QKᵀ/√d_k",
        "waits for split_heads",
        LABEL,
    ):
        assert text in shown.text
    assert details(SPLIT, VERDICT) in shown.text
    assert shown.text.count("not started") == 1


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=list(UNMARKED))
def test_what_gives_no_marks_heads_the_summary_and_is_an_annotation(verdict: Verdict) -> None:
    assert page(verdict).text.startswith("Not graded")
    file, line, name, message = commands(verdict)[0]
    assert (file, line, name) == ("", "", "grader")
    assert message


def test_a_module_that_cannot_be_graded_is_told_and_annotated_on_its_line() -> None:
    assert "expected ':'" in page(SYNTAX).text
    assert [each[:3] for each in commands(SYNTAX)] == [(LABEL, "3", "s15 · Attention mechanisms")]


@given(TEXTS)
def test_whatever_a_learner_wrote_is_text_in_the_summary(text: str) -> None:
    verdict = written(text)
    shown = page(verdict)
    assert shown.found <= {"h2", "h3", "p", "strong", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
    assert shown.attributes == []
    assert details(verdict.criteria[0], verdict) in shown.text
    assert obeyed_by_a_runner(summary(report(verdict), SCENE)) == []


def test_a_summary_is_cut_between_blocks_and_says_so() -> None:
    blocks = ["a" * 100, "b" * 100, "c" * 100]
    assert within(iter(blocks), 1000) == "\n\n".join([*blocks, ""])
    cut = within(iter(blocks), 300)
    assert cut.startswith("\n\n".join(blocks[:2]))
    assert (cut.count("c" * 9), "The rest is left out" in cut, len(cut) <= 300) == (0, True, True)
    assert within(iter(blocks), 20) == ""


def test_a_summary_keeps_within_what_github_takes() -> None:
    row = replace(
        SPLIT, failures=tuple(replace(PUBLIC, message=f"{n}\n" + "√" * 1400, diagnosis=None) for n in range(2))
    )
    text = summary(report(replace(VERDICT, criteria=(row,) * 300)), SCENE)
    assert LIMIT - 20_000 < len(text.encode()) <= LIMIT
    assert text.endswith("at most 1 MB._\n")
    assert text.count("<pre>") == text.count("</pre>")


def test_an_annotation_stands_on_the_learner_s_own_line() -> None:
    assert commands(replace(VERDICT, criteria=(SPLIT,))) == [
        (
            LABEL,
            "142",
            "s15 split-heads",
            "split_heads reshapes: 2 of 4 tests\nsplit_heads(x: float64 (2, 6, 8), num_heads=2)\n"
            "72 of 96 values differ\nTokens are mixed across heads.",
        )
    ]


def test_a_file_outside_of_the_repository_is_named_in_the_message() -> None:
    ((file, line, _, message),) = commands(replace(VERDICT, criteria=(SPLIT,)), scene=ReportContext(NOW))
    assert (file, line) == ("", "")
    assert message.endswith(f"\n{LABEL}:142")


def test_rows_that_pass_wait_or_have_not_begun_are_not_annotated() -> None:
    assert [each[2] for each in commands(VERDICT)] == ["s15 split-heads", "s15 crash"]
    assert commands(PASSED) == []


def test_a_step_has_at_most_so_many_annotations() -> None:
    assert len(commands(replace(VERDICT, criteria=(SPLIT, CRASH) * 20))) == ANNOTATIONS == 10


def test_a_long_message_is_cut() -> None:
    row = replace(SPLIT, failures=(replace(PUBLIC, message="x" * 5000),))
    assert 1000 < len(commands(replace(VERDICT, criteria=(row,)))[0][3]) < 1100


@given(TEXTS)
def test_whatever_a_learner_wrote_cannot_end_or_begin_a_command(text: str) -> None:
    verdict = replace(written(text), problem=None)
    for file, line, _, message in commands(verdict):
        assert file == plain(text or "x")
        assert line == "3"
        assert message.startswith("split_heads reshapes: 2 of 4 tests")
    lines = annotation_lines(report(verdict), SCENE)
    assert len(lines) == 1
    assert "##[" not in lines[0] and "\n" not in lines[0] and "\r" not in lines[0]


def test_a_place_with_signs_of_its_own_is_read_back() -> None:
    row = replace(SPLIT, failures=(replace(PUBLIC, where=Where("a,b:c%2C=d.py", 3)),))
    assert commands(replace(VERDICT, criteria=(row,)))[0][0] == "a,b:c%2C=d.py"


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


CLASSROOM50_SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.report").joinpath("schemas/classroom50.schema.json").read_text("utf-8")
)


def classroom50_result(*verdicts: Verdict, scene: ReportContext = SCENE) -> dict[str, Any]:
    """The document, if the schema accepts it and the rules that a schema cannot say hold."""
    result: dict[str, Any] = json.loads(classroom50(report(*verdicts), scene))
    jsonschema.Draft202012Validator(CLASSROOM50_SCHEMA).validate(result)
    assert result["score"] == sum(test["score"] for test in result["tests"]) <= result["max-score"]
    assert all(test["score"] <= test["max-score"] for test in result["tests"])
    return result


def test_the_schema_is_a_schema_and_refuses_what_is_wrong_of_classroom50() -> None:
    jsonschema.Draft202012Validator.check_schema(CLASSROOM50_SCHEMA)
    good = classroom50_result(VERDICT)
    wrongs: list[dict[str, Any]] = [
        {"schema": "v2"},
        {"score": 0.5},
        {"submission": "main"},
        {"datetime": "now"},
        {"usernames": []},
    ]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**good, **wrong}, CLASSROOM50_SCHEMA)


def test_it_names_the_submission_as_the_environment_does() -> None:
    result = classroom50_result(VERDICT)
    assert (result["classroom"], result["assignment"], result["owner"]) == ("numerics", "attention", "learner")
    assert (result["submission"], result["review"]) == (CLASSROOM50["SUBMISSION_TAG"], CLASSROOM50["COMMIT_URL"])
    assert (result["assignment_type"], result["datetime"]) == ("individual", "2026-11-21T12:30:05Z")
    more = {**CLASSROOM50, "OWNER": "group-1", "ASSIGNMENT_TYPE": "group", "REVIEW_URL": "https://example.org/r"}
    other = classroom50_result(VERDICT, scene=ReportContext(NOW, more))
    assert (other["owner"], other["assignment_type"], other["review"]) == ("group-1", "group", "https://example.org/r")


def test_each_row_is_a_test_of_one_point_of_classroom50() -> None:
    result = classroom50_result(VERDICT)
    assert (result["score"], result["max-score"]) == (1, 5)
    assert [test["passed"] for test in result["tests"]] == [True, False, False, False, False]
    assert [test["status"] for test in result["tests"]] == ["passed", "failed", "not_started", "blocked", "crashed"]
    assert "72 of 96" in result["tests"][1]["output"]


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=list(UNMARKED))
def test_what_gives_no_marks_has_nothing_of_nothing(verdict: Verdict) -> None:
    result = classroom50_result(verdict)
    assert (result["score"], result["max-score"], result["tests"]) == (0, 0, [])


@pytest.mark.parametrize("name", ["CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "USERNAME"])
def test_what_the_environment_lacks_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="OWNER" if name == "USERNAME" else name):
        expect_runner({key: value for key, value in CLASSROOM50.items() if key != name})


def test_a_tag_that_is_no_submission_s_is_named() -> None:
    expect_runner(CLASSROOM50)
    with pytest.raises(UsageError, match="submit/"):
        expect_runner({**CLASSROOM50, "SUBMISSION_TAG": "v1"})


@given(TEXTS)
def test_whatever_a_learner_wrote_is_text(text: str) -> None:
    verdict = replace(written(text), problem=None)
    document = classroom50(report(verdict), SCENE)
    assert document.isascii()
    assert obeyed_by_a_runner(document) == []
    for test in classroom50_result(verdict)["tests"]:
        assert obeyed_by_a_runner(test["output"]) == []
