"""Going through the stages of the full screen: by key, in a list, by search."""

from __future__ import annotations

import pytest

from grader.tests.support.command import Place
from grader.watching.events import Failed

pytest.importorskip("textual")

from textual.screen import Screen as Base
from textual.widgets import OptionList

from grader.tests.watching.tui.screen import Screen, play
from grader.watching.tui.dialogs import Choice


def choices(screen: Screen) -> list[str]:
    """Return what the list of the window offers."""
    return [str(option.prompt) for option in screen.app.screen.query_one("#choices", OptionList).options]


def test_stages_are_gone_through_listed_and_searched(place: Place) -> None:
    async def story(screen: Screen) -> None:
        board = screen.watched.session
        await screen.press("n")
        await screen.until(lambda: board.board.stage.id == "s02")
        await screen.takes(Failed(2, "s02 is locked: s01 (Numbers) comes first", "Begin there."))
        await screen.until(lambda: "s02 is locked" in screen.text("#told"))
        await screen.press("n", "p")
        await screen.until(lambda: board.board.stage.id == "s01")
        await screen.press("l")
        await screen.shows(Choice)
        await screen.press("down", "enter")  # it begins where one is
        await screen.until(lambda: board.board.stage.id == "s02")
        await screen.press("slash", *"quad", "enter")
        await screen.until(lambda: (board.board.stage.id, screen.app._row) == ("s01", "quadruple"))
        await screen.press("slash", *"quadratic", "enter")
        await screen.until(lambda: 'Nothing here is called "quadratic".' in choices(screen))
        await screen.press("escape")
        await screen.shows(Base)
        await screen.press("slash", "q", "escape")
        await screen.shows(Base)
        screen.app.query_one("#stages").focus()
        await screen.until(lambda: screen.app.focused is not None and screen.app.focused.id == "stages")
        await screen.press("down", "enter")
        await screen.until(lambda: board.board.stage.id == "s02")

    play(place.root, story)


def test_who_goes_through_the_stages_stays_there_while_the_screen_changes(place: Place) -> None:
    async def story(screen: Screen) -> None:
        stages = screen.app.query_one("#stages", OptionList)
        stages.focus()
        await screen.until(lambda: screen.app.focused is stages)
        await screen.press("down")
        await screen.until(lambda: stages.highlighted == 1)
        await screen.judged("passed", "failed")  # the lines are others
        assert stages.highlighted == 1
        screen.app._refresh()
        await screen.press("enter")
        await screen.until(lambda: screen.watched.session.board.stage.id == "s02")
        await screen.press("p")
        await screen.until(lambda: stages.highlighted == 0)

    play(place.root, story)


def test_a_window_closes_once_though_a_key_arrives_twice(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.press("l")
        await screen.shows(Choice)
        listed = screen.app.screen.query_one("#choices", OptionList)
        for _ in range(2):  # as a key that repeats: both come before the window has closed
            listed.action_select()
        await screen.shows(Base)
        for key, closes in (("question_mark", "close"), ("r", "answer(False)")):
            await screen.press(key)
            await screen.until(lambda: len(screen.app.screen_stack) == 2)
            window = screen.app.screen
            for _ in range(2):
                await window.run_action(closes)
            await screen.shows(Base)
        assert screen.app.is_running

    play(place.root, story)
