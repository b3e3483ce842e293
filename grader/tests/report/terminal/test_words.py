"""What is said of a row in a few words, and of a row whose values are right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import KINDS
from grader.report.github import summary
from grader.report.graded import reached
from grader.report.gradescope import gradescope
from grader.report.junit import junit
from grader.report.terminal.checklist import Style, summary_lines, verdict_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.words import LACKING, WORDS, status_choices, status_words
from grader.tests.support.verdicts import RIGHT, SCENE, SCORES, SPLIT, VERDICT, report
from grader.verdict import GRAVITY, KindCount

ROW = replace(VERDICT, criteria=(SCORES, RIGHT))


def shown(width: int, ascii: bool = False, **style: object) -> list[str]:
    lines = verdict_lines(ROW, Style(Look(width, ascii), "grader check s15", **style))  # type: ignore[arg-type]
    return [line.plain for line in lines]


def test_a_row_whose_values_are_right_says_what_is_missing() -> None:
    assert status_words(RIGHT) == "values right (9 of 9) · refusals missing (0 of 3)"
    counts = (
        KindCount("values", 4, 4),
        KindCount("refusals", 3, 3),
        KindCount("dtype", 1, 2),
        KindCount("speed", 0, 1),
    )
    several = replace(RIGHT, tests_passed=8, tests_total=10, kinds=counts)
    assert status_words(several) == "values right (4 of 4) · dtype wrong (1 of 2) · too slow (0 of 1)"


def test_there_are_words_for_every_kind_and_status() -> None:
    assert set(LACKING) == set(KINDS)
    assert {*WORDS, "failed", "not_started", "blocked"} == set(GRAVITY)


def test_it_has_a_mark_of_its_own_and_is_counted_apart() -> None:
    lines = shown(120)
    assert "1 of 2 criteria · 1 with right values" in lines[0]
    assert lines[2].startswith("◐ layer_norm normalises") and lines[2].endswith(status_words(RIGHT))
    assert "█" * 10 + "░" * 10 in lines[0]


@pytest.mark.parametrize(("width", "words"), [(80, 0), (60, 1), (46, 2), (40, 3)])
def test_where_a_line_is_narrow_its_words_are_fewer(width: int, words: int) -> None:
    lines = shown(width)
    row = next(line for line in lines if line.startswith("◐"))
    assert row.endswith(status_choices(RIGHT)[words]) and len(row) <= width
    assert " ".join(lines).count("values right (9 of 9)") == 1  # a row that is told whole has them below


def test_the_title_counts_them_by_their_mark_where_it_is_narrow() -> None:
    assert "1 of 2 criteria · 1 ◐" in shown(80)[0]
    assert "1 of 2 criteria - 1 [/]" in shown(80, ascii=True)[0]
    assert shown(80, ascii=True)[2].startswith("[/] layer_norm normalises")
    assert all(line.isascii() for line in shown(80, ascii=True)[2:3])


def test_a_wrong_row_is_told_before_one_whose_values_are_right() -> None:
    both = replace(VERDICT, criteria=(RIGHT, SPLIT))
    lines = [line.plain for line in verdict_lines(both, Style(Look(120), "grader check s15"))]
    assert lines[1].startswith("◐") and lines[2].startswith("✗") and lines[3].startswith("    split_heads(")


def test_every_format_says_so() -> None:
    found = report(ROW)
    assert reached(ROW) == "1 of 2 criteria · 1 with right values"
    assert "| ◐ | layer&#95;norm normalises | values right &#40;9 of 9&#41; · refusals" in summary(found, SCENE)
    assert "values right (9 of 9)" in junit(found, SCENE) and "refusals missing (0 of 3)" in junit(found, SCENE)
    assert '"values_right": true' in gradescope(found, SCENE)
    assert "values right (9 of 9)" in gradescope(found, SCENE).replace("\\u00b7", "·")
    assert any("1 of 2 criteria · 1 ◐" in line.plain for line in summary_lines((ROW,), Look(80)))
