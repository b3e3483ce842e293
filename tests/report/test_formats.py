"""The option --format: what it takes, what it refuses, and that every format renders every kind of verdict."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from grader.errors import UsageError
from grader.report.formats import CHECKS, CLASSES, Target, parsed
from grader.verdict import Verdict
from tests.support.packages import installed
from tests.support.places import ROOT
from tests.support.verdicts import PASSED, SCENE, SYNTAX, UNMARKED, VERDICT, report


def test_formats_are_named_with_or_without_a_file() -> None:
    assert parsed("github, junit=out/j.xml,json") == (
        Target("github"),
        Target("junit", Path("out/j.xml")),
        Target("json"),
    )
    assert parsed("") == ()


def test_the_option_json_is_the_format_json() -> None:
    assert parsed("", as_json=True) == (Target("json"),) == parsed("json", as_json=True)
    assert parsed("github", as_json=True) == (Target("github"), Target("json"))


def test_only_what_is_printed_takes_stdout() -> None:
    assert [target.printed for target in parsed("github,junit=x,gradescope")] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("junitt=x", "'junitt' is not a format", "Did you mean junit?"),
        ("html", "'html' is not a format", "Choose json, junit"),
        ("github,", "'' is not a format", "Choose"),
        ("junit=", "'junit=' names no file", "--format github,junit=FILE"),
        ("junit=a,junit=b", "junit is asked for twice", "once"),
        ("json,junit", "json and junit cannot both be printed", "junit=FILE"),
    ],
)
def test_a_mistake_in_the_option_is_named(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_two_documents_cannot_be_printed_with_json() -> None:
    with pytest.raises(UsageError, match="cannot both be printed"):
        parsed("gradescope", as_json=True)


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("verdict", [PASSED, VERDICT, SYNTAX, *UNMARKED.values()])
def test_every_format_renders_every_kind_of_verdict(name: str, verdict: Verdict) -> None:
    assert CHECKS[name].render(report(verdict), SCENE)
    assert CHECKS[name].render(report(PASSED, verdict, every=True), SCENE)


@pytest.mark.parametrize("verdict", [PASSED, VERDICT, SYNTAX, *UNMARKED.values()])
def test_json_is_of_the_published_shape(verdict: Verdict) -> None:
    schema = json.loads(resources.files("grader.report").joinpath("verdict.schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(CHECKS["json"].render(report(verdict), SCENE)), schema)
    found = json.loads(CHECKS["json"].render(report(verdict, every=True), SCENE))
    jsonschema.validate(found, {**schema, "$ref": "#/$defs/summary"})
    assert json.loads(CHECKS["json"].render(report(UNMARKED["locked"]), SCENE))["waits_for"] == ["s01"]


class TestOfAnInstalledPackage:
    """A format that a package of somebody else brings."""

    def test_it_is_named_after_the_grader_s_own_and_renders(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        installed(tmp_path, monkeypatch, "grader.formats", "words")
        assert [*CHECKS][-1] == "words"
        assert parsed("words=FILE") == (Target("words", Path("FILE")),)
        assert CHECKS["words"].render(report(PASSED), SCENE) == "s15: 1 of 1 criterion"
        assert not CHECKS["words"].gives_marks

    def test_it_takes_the_place_of_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = CHECKS["json"]
        installed(tmp_path, monkeypatch, "grader.formats", "json")
        assert CHECKS["json"] is before
        assert [*CHECKS].count("json") == 1

    @pytest.mark.parametrize(
        ("place", "why"), [("their_words:NOTHING", "cannot be loaded"), ("their_words:words", "no Format")]
    )
    def test_one_that_is_broken_is_named(
        self, place: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        installed(tmp_path, monkeypatch, "grader.formats", "words", place)
        with pytest.raises(UsageError, match=f"the format words .*{why}") as caught:
            CHECKS["words"]
        assert place in (caught.value.hint or "")


def test_the_pages_name_every_format() -> None:
    for formats, name in ((CHECKS, "grading.md"), (CLASSES, "class.md")):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert [each for each in formats.own if f"| `{each}` |" not in page] == []
