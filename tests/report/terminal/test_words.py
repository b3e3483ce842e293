"""What is said of a row in a few words, of a row whose values are right, and of one that is not robust."""

from __future__ import annotations

import html
import json
from dataclasses import replace

import pytest

from grader.criterion import KindCount
from grader.outcome import KINDS
from grader.report.github import annotation_lines, autograding_document, classroom50, summary
from grader.report.gradescope import gradescope
from grader.report.junit import junit
from grader.report.problems import problems
from grader.report.terminal.checklist import Style, summary_lines, verdict_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.words import LACKING, WORDS, note_choices, reached_words, status_words
from grader.verdict import GRAVITY, Verdict
from tests.support.verdicts import DIAGNOSIS, PUBLIC, RIGHT, SCENE, SCORES, SPLIT, TEXTBOOK, VERDICT, report

ROW = replace(VERDICT, criteria=(SCORES, RIGHT))
BARE = replace(VERDICT, passed=True, criteria=(SCORES, TEXTBOOK))
MISSING = "1 of 3 refusals missing"


def shown(width: int, ascii: bool = False, verdict: Verdict = ROW, **style: object) -> list[str]:
    lines = verdict_lines(verdict, Style(Look(width, ascii), "grader check s15", **style))  # type: ignore[arg-type]
    return [line.plain for line in lines]


def test_a_row_whose_values_are_right_says_what_is_wrong() -> None:
    assert status_words(RIGHT) == "values right · 3 of 3 edge cases wrong"
    counts = (
        KindCount("values", 4, 4),
        KindCount("refusals", 3, 3),
        KindCount("dtype", 1, 2),
        KindCount("speed", 0, 1),
    )
    several = replace(RIGHT, tests_passed=8, tests_total=10, kinds=counts)
    assert status_words(several) == "values right · 1 of 2 dtypes wrong · too slow in 1 of 1 tests"


def test_a_row_that_passes_says_how_much_robustness_is_missing() -> None:
    assert status_words(TEXTBOOK) == f"11 of 12 tests · {MISSING}"
    both = replace(
        TEXTBOOK, tests_passed=10, kinds=(*TEXTBOOK.kinds[:1], KindCount("refusals", 1, 2), KindCount("dtype", 0, 1))
    )
    assert status_words(both) == "10 of 12 tests · 1 of 2 refusals missing · 1 of 1 dtypes wrong"


def test_there_are_words_for_every_kind_and_status() -> None:
    assert set(LACKING) == set(KINDS)
    assert {*WORDS, "failed", "not_started", "blocked"} == set(GRAVITY)


def test_what_is_nearly_right_has_a_mark_of_its_own_and_is_not_counted() -> None:
    lines = shown(120)
    assert "1 of 2 criteria   " in lines[0] and "robust" not in lines[0]
    assert lines[2].startswith("◐ 9/12  layer_norm normalises") and lines[2].endswith(status_words(RIGHT))
    assert "█" * 10 + "░" * 10 in lines[0]
    assert shown(80, ascii=True)[2].startswith("[/] 9/12  layer_norm normalises")


class TestRobustness:
    """What a criterion that passes lacks is counted apart, and told beside its mark."""

    def test_the_title_counts_it_apart_and_the_bar_is_full(self) -> None:
        for width in (120, 80):
            assert "2 of 2 criteria · 1 robust   " in shown(width, verdict=BARE)[0]
            assert "█" * 20 in shown(width, verdict=BARE)[0]
        assert "2 of 2 criteria - 1 robust" in shown(80, ascii=True, verdict=BARE)[0]

    def test_it_is_counted_only_where_it_is_asked_for_and_apart(self) -> None:
        assert reached_words(replace(BARE, criteria=(SCORES,))) == "1 of 1 criterion"
        assert (
            reached_words(replace(BARE, passes="all", criteria=(SCORES, replace(TEXTBOOK, tests_passed=12))))
            == "2 of 2 criteria"
        )
        failed = replace(TEXTBOOK, status="failed", tests_passed=2)
        assert reached_words(replace(BARE, criteria=(failed,))) == "0 of 1 criterion"

    def test_the_row_keeps_its_mark_and_says_what_is_missing(self) -> None:
        line = next(line for line in shown(80, verdict=BARE) if "apply_attention_mask" in line)
        assert line.startswith("✓ 11/12  apply_attention_mask") and line.endswith(MISSING)
        assert not any(line.startswith(("✗", "◐")) for line in shown(80, verdict=BARE))

    def test_the_cause_is_told_where_no_row_fails(self) -> None:
        lines = shown(120, verdict=BARE)
        assert any(DIAGNOSIS.text in line for line in lines) and not any(DIAGNOSIS.fix in line for line in lines)
        lines = shown(120, verdict=BARE, verbose=True)
        assert any(DIAGNOSIS.text in line for line in lines) and not any(DIAGNOSIS.fix in line for line in lines)

    def test_where_a_row_fails_that_one_is_told_and_this_one_on_request(self) -> None:
        both = replace(VERDICT, criteria=(TEXTBOOK, replace(SPLIT, failures=(replace(PUBLIC, diagnosis=None),))))
        assert not any(DIAGNOSIS.text in line for line in shown(120, verdict=both))
        assert any(DIAGNOSIS.text in line for line in shown(120, verdict=both, only=TEXTBOOK.id))
        assert any(DIAGNOSIS.text in line for line in shown(120, verdict=both, verbose=True))

    def test_the_others_are_counted_below(self) -> None:
        two = replace(BARE, criteria=(TEXTBOOK, replace(TEXTBOOK, id="other")))
        said = "1 more criterion is not robust: -v, or grader check s15 other"
        assert any(line.startswith(said) for line in shown(120, verdict=two))

    @pytest.mark.parametrize("width", [24, 40, 60, 80, 120])
    def test_no_line_is_wider_than_the_terminal(self, width: int) -> None:
        lines = [line for line in shown(width, verdict=BARE) if not line.strip().startswith("grader ")]
        assert max(map(len, lines)) <= width

    def test_every_format_says_so(self) -> None:
        found = report(BARE)
        assert "2 of 2 criteria · 1 robust" in summary(found, SCENE) and MISSING in summary(found, SCENE)
        suites = html.unescape(junit(found, SCENE))
        assert 'failures="0"' in suites and f"<system-out>11 of 12 tests · {MISSING}." in suites
        assert '<property name="robust" value="1"/>' in suites
        (_, test) = json.loads(gradescope(found, SCENE))["tests"]
        assert (test["score"], test["status"], test["extra_data"]["robust"]) == (1.0, "passed", False)
        assert test["extra_data"]["robustness"] == {"tests_passed": 2, "tests_total": 3} and MISSING in test["output"]
        assert autograding_document(found)["status"] == "pass"
        assert MISSING in autograding_document(found)["tests"][1]["message"]
        assert MISSING in json.loads(classroom50(found, SCENE))["tests"][1]["output"]
        assert f": warning: {TEXTBOOK.text}: 11 of 12 tests · {MISSING} · " in problems(found, SCENE)
        (line,) = annotation_lines(found, SCENE)
        assert line.startswith("::warning ") and MISSING in line
        assert any("2 of 2 criteria · 1 robust" in line.plain for line in summary_lines((BARE,), Look(80)))


@pytest.mark.parametrize(("width", "words"), [(100, 0), (80, 0), (60, 1), (40, 1)])
def test_where_a_line_is_narrow_its_words_are_fewer(width: int, words: int) -> None:
    lines = shown(width)
    place = next(place for place, line in enumerate(lines) if line.startswith("◐"))
    told = " ".join(" ".join(lines[place : place + 2]).split())
    assert note_choices(RIGHT)[words] in told and max(map(len, lines[place : place + 2])) <= width
    assert " ".join(" ".join(lines).split()).count("3 of 3 edge cases wrong") == 1


def test_a_wrong_row_is_told_before_one_whose_values_are_right() -> None:
    both = replace(VERDICT, criteria=(RIGHT, SPLIT))
    lines = [line.plain for line in verdict_lines(both, Style(Look(120), "grader check s15"))]
    assert [line[:1] for line in lines[1:5]] == ["◐", "✗", "", "✗"] and "split_heads" in lines[4]


def test_every_format_says_that_values_are_right() -> None:
    found = report(ROW)
    assert reached_words(ROW) == "1 of 2 criteria"
    assert "| ◐ | layer&#95;norm normalises | values right · 3 of 3 edge cases wrong |" in summary(found, SCENE)
    assert "values right · 3 of 3 edge cases wrong" in html.unescape(junit(found, SCENE))
    assert '"values_right": true' in gradescope(found, SCENE)
    assert "values right · 3 of 3 edge cases wrong" in gradescope(found, SCENE).replace("\\u00b7", "·")
