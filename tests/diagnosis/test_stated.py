"""What a learner is held to know: names and numbers that pages and stubs state, whatever TeX they are written in."""

from __future__ import annotations

from pathlib import Path

from grader.diagnosis.stated import Stated, _published, of_text


def test_a_formula_states_what_its_plain_text_says(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("So $\\frac{x}{\\sqrt{d_k}} \\approx 0.25$ is `scaled`.\n", encoding="utf-8")
    assert _published(str(page), "def scale(x): ...") == of_text("def scale(x): ... So x d_k 0.25 is scaled")


def test_a_page_that_is_not_there_states_nothing(tmp_path: Path) -> None:
    assert _published(str(tmp_path / "README.md"), "y = 7") == Stated(frozenset({"y"}), frozenset({7.0}))
