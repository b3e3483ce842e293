"""The view without Textual: what fits on a screen, pages of what does not, and what keys lead to."""

from __future__ import annotations

import pytest

from grader.report.terminal.layout import Look
from grader.tests.support.command import Place
from grader.tests.watching.fakes import Watched, verdict
from grader.watching.events import Explored, Typed
from grader.watching.keys import Keys
from grader.watching.live import Page, Screen, page, steady

LOOK = Look(80)
HEIGHT = 24


class Shown(Watched):
    """The view on a session of fakes."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.root)
        self.session.open(self.first)
        self.session.take(self.judged(verdict(self.first, "failed", "blocked")))
        self.screen = Screen(self.session, Keys(self.session, LOOK))

    def after(self, *keys: str) -> list[str]:
        """Return the lines after some keys, each pressed once the screen is drawn."""
        for key in keys:
            self.screen.page(LOOK, HEIGHT, 5.0)
            self.screen.take(Typed(key))
        return lines(self.screen.page(LOOK, HEIGHT, 5.0))


def lines(found: Page) -> list[str]:
    return [line.plain for line in found.lines]


@pytest.fixture
def shown(place: Place) -> Shown:
    text = "# Numbers\n\n## Idea\n\n" + "".join(f"Sentence {number}.\n\n" for number in range(60))
    (place.numbers.parent / "README.md").write_text(text, encoding="utf-8")
    return Shown(place)


def test_rows_and_what_is_wrong_stand_between_title_and_keys(shown: Shown) -> None:
    found = shown.after()
    assert found[0].startswith("s01 · Numbers") and found[2].startswith("✗ double is right")
    assert any("This is the square." in line for line in found) and found[-1].endswith("q quit")
    assert len(found) <= HEIGHT


def test_a_live_screen_keeps_the_letters_that_the_terminal_has() -> None:
    found = iter([Look(80), Look(100, ascii=True), Look(60, ascii=True)])
    look = steady(lambda: next(found))
    assert [look(), look()] == [Look(100), Look(60)]


def test_keys_are_not_torn_apart(shown: Shown) -> None:
    foot = lines(page(shown.session.board, Look(40), HEIGHT, "", 5.0))[-4:]
    assert all(len(line) <= 40 for line in foot)
    assert "  ".join(foot).endswith("r reset  l list  ? help  q quit")


def test_a_long_answer_takes_the_rows_place_and_is_turned_to_its_end_and_back(shown: Shown) -> None:
    first = shown.after(
        "s",
    )
    assert len(first) == HEIGHT and not any("double is right" in line for line in first)
    assert "Sentence 0." in first and "Space goes on" in first[-3] and "b goes back" not in first[-3]
    seen = [line for line in first if line.startswith("Sentence")]
    while "Space goes on" in (found := shown.after(" "))[-3]:
        assert len(found) == HEIGHT and "b goes back" in found[-3]
        seen += [line for line in found if line.startswith("Sentence")]
    seen += [line for line in found if line.startswith("Sentence")]
    assert seen == [f"Sentence {number}." for number in range(60)]
    assert shown.after(" ", " ") == found  # there is nothing further
    assert shown.after(*["b"] * 20) == first


@pytest.mark.parametrize(("on", "back"), [(" ", "b"), ("\x1b[6~", "\x1b[5~"), ("\x1b[B", "\x1b[A")])
def test_pages_are_turned_by_several_keys(shown: Shown, on: str, back: str) -> None:
    first = shown.after("s")
    assert shown.after(on) != first and shown.after(back) == first


@pytest.mark.parametrize("key", ["\x1b", "\x1b[C", "\n"])
def test_escape_and_enter_go_back_to_the_rows(shown: Shown, key: str) -> None:
    before = shown.after()
    assert shown.after("s", " ") != before and shown.after(key) == before


def test_another_answer_begins_at_its_beginning(shown: Shown) -> None:
    shown.after("s", " ", " ")
    assert "Sentence 0." in shown.after("s")


def test_a_verdict_ends_what_was_read_and_a_picture_has_pages_too(shown: Shown) -> None:
    shown.after("s", " ")
    shown.screen.take(shown.judged(verdict(shown.first, "passed", "passed")))
    assert any("is complete." in line for line in shown.after())
    shown.screen.take(Explored("s01", "\n".join(f"row {number}" for number in range(50))))
    assert any("Space goes on" in line for line in shown.after())
    while "row 49" not in (found := shown.after(" ")):
        assert any("Space goes on" in line for line in found)


@pytest.mark.parametrize("height", range(1, 12))
def test_a_low_terminal_breaks_nothing(shown: Shown, height: int) -> None:
    shown.screen.take(Typed("s"))
    for _ in range(3):
        assert shown.screen.page(LOOK, height, 5.0).lines
        shown.screen.take(Typed(" "))


def test_q_ends_it(shown: Shown) -> None:
    assert not shown.screen.ended
    shown.after("q")
    assert shown.screen.ended
