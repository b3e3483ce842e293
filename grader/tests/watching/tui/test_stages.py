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
