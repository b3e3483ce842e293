"""The full screen, driven by Textual's pilot; what grades and watches is replaced by fakes."""

from __future__ import annotations

import pytest
from textual.screen import Screen as Base
from textual.widgets import OptionList

from grader.watching.board import CheckFailed, CountedTest, Explored, FileSaved
from grader.watching.tui import FEET, foot, help_text
from grader.watching.windows import Choice
from tests.support.command import Place
from tests.watching.screen import Screen, play

pytest.importorskip("textual")


def test_a_tick_while_the_screen_is_taken_down_does_nothing(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.app.screen_stack[0].remove_children()
        assert screen.app.session.board.since is not None  # a check runs, so that a tick shows how long
        screen.app._tick()

    play(place.root, story)


def test_three_columns_show_the_stages_the_rows_and_what_is_wrong_first(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.until(lambda: "The check is running." in screen.text("#told"))
        await screen.until(lambda: "checking" in screen.text("#title"))
        await screen.takes(CountedTest(1, "double", "failed"))
        await screen.judged("failed", "blocked")
        await screen.until(
            lambda: screen.text("#title").endswith("0 of 2 criteria") and "s01 · Numbers" in screen.text("#title")
        )
        await screen.until(lambda: screen.options("#stages") == ["→ s01 Numbers", "· s02 Sums"])
        await screen.until(lambda: screen.options("#rows")[0] == "✗ 0/2  double is right")
        await screen.until(lambda: "This is the square." in screen.text("#told"))
        await screen.until(lambda: not screen.app.has_class("narrow") and screen.app.query_one("#stages").display)
        await screen.press("down")
        await screen.until(lambda: "quadruple" in screen.text("#told") and "square" not in screen.text("#told"))
        await screen.judged("passed", "passed")
        await screen.until(lambda: "s01 · Numbers is complete." in screen.text("#told"))
        await screen.takes(Explored("s01", "\x1b[31ma curve\x1b[0m"))
        await screen.until(lambda: "a curve" in screen.text("#told") and "\x1b" not in screen.text("#told"))
        await screen.takes(CheckFailed(1, "s01 has no module", "Put it back."))
        await screen.until(lambda: "Put it back." in screen.text("#told"))

    screen = play(place.root, story)
    assert screen.watched.explored == ["s01"] and screen.watched.checks.closed


@pytest.mark.parametrize("size", [(140, 30), (80, 24)])
def test_a_message_that_passes_does_not_cover_what_is_wrong(place: Place, size: tuple[int, int]) -> None:
    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        await screen.until(lambda: "This is the square." in screen.text("#told"))
        screen.app.notify("Run on the example.")
        await screen.until(lambda: bool(screen.app.screen_stack[0].query("Toast")))
        toast, told = screen.app.screen_stack[0].query_one("Toast"), screen.app.query_one("#detail")
        await screen.until(lambda: toast.region.height > 0 and not toast.region.overlaps(told.region))

    play(place.root, story, size)


def test_in_80_columns_the_checklist_stands_above_what_is_wrong(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        rows, detail = (screen.app.query_one(where) for where in ("#rows", "#detail"))
        await screen.until(lambda: screen.app.has_class("narrow") and not screen.app.query_one("#stages").display)
        await screen.until(
            lambda: rows.region.bottom <= detail.region.y and rows.region.width == 80 and detail.region.height >= 10
        )
        told = screen.app.query_one("#told")
        await screen.until(lambda: told.region.height == len(screen.text("#told").splitlines()) > 2)
        await screen.until(lambda: screen.text("#foot").endswith("q quit") and len(screen.text("#foot")) <= 78)
        await screen.until(
            lambda: all(
                line.isascii() for line in (*screen.options("#rows"), screen.text("#told"), screen.text("#title"))
            )
        )
        await screen.judged("passed", "passed")
        await screen.until(lambda: screen.app.has_class("done") and "65" in str(rows.styles.max_height))
        await screen.judged("failed", "blocked")
        await screen.until(lambda: not screen.app.has_class("done") and "45" in str(rows.styles.max_height))
        await screen.pilot.resize_terminal(34, 30)
        await screen.until(lambda: screen.text("#foot") == "h hint  ? help  q quit")
        await screen.until(lambda: "double is right" in screen.text("#told"))
        await screen.until(lambda: max(len(line) for line in screen.text("#told").splitlines()) <= 32)
        await screen.pilot.resize_terminal(150, 30)
        await screen.until(lambda: not screen.app.has_class("narrow"))
        await screen.until(lambda: max(len(line) for line in screen.text("#told").splitlines()) > 34)

    play(place.root, story, (80, 24), ascii=True)


def test_a_picture_that_was_asked_for_is_moved_to_also_below_a_chosen_row(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[float] = []

    async def story(screen: Screen) -> None:
        monkeypatch.setattr(screen.app.query_one("#detail"), "scroll_to", lambda y, **_: moved.append(y))
        await screen.judged("failed", "blocked")
        await screen.press("down", "e")
        await screen.takes(Explored("s01", "a picture"))
        await screen.until(lambda: "quadruple" in screen.text("#told") and "a picture" in screen.text("#told"))
        await screen.until(lambda: moved == [screen.text("#told").splitlines().index("a picture")])
        await screen.judged("failed", "blocked")
        await screen.until(lambda: "a picture" not in screen.text("#told"))

    play(place.root, story)


def test_a_save_of_a_test_checks_again_and_says_so(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        await screen.takes(FileSaved(screen.watched.first.tests_path / "test_double.py"))
        await screen.until(lambda: "tests/test_double.py was saved." in screen.text("#told"))
        await screen.until(lambda: screen.watched.checks.anew == [False, True])

    play(place.root, story)


def test_the_failing_line_opens_and_an_editor_that_is_missing_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, ...]] = []
    monkeypatch.setattr("grader.watching.tui.started", lambda how: opened.append(how.command))
    monkeypatch.setattr("grader.watching.tui.shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setenv("TERM_PROGRAM", "vscode")

    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        await screen.press("enter", "o")
        await screen.until(lambda: opened == [("code", "--goto", f"{place.numbers}:6")] * 2)
        monkeypatch.setenv("TERM_PROGRAM", "")
        monkeypatch.setenv("EDITOR", "")
        monkeypatch.setenv("VISUAL", "")
        await screen.press("o")
        await screen.until(lambda: any("EDITOR is not set" in each.message for each in screen.app._notifications))

    play(place.root, story)


pytest.importorskip("textual")


def test_the_keys_fit_into_a_window_of_80_columns_and_24_lines() -> None:
    lines = help_text().splitlines()
    assert max(map(len, lines)) <= 66 and len(lines) <= 16


def test_every_foot_names_the_help_and_fits_where_it_is_shown() -> None:
    assert [len(each) for each in FEET] == sorted((len(each) for each in FEET), reverse=True)
    assert all(each.endswith("? help  q quit") for each in FEET)
    assert [foot(width) for width in (120, 80, 60, 34, 10)] == [*FEET, FEET[-1]]


pytest.importorskip("textual")


def choices(screen: Screen) -> list[str]:
    """Return what the list of the window offers."""
    return [str(option.prompt) for option in screen.app.screen.query_one("#choices", OptionList).options]


def test_stages_are_gone_through_listed_and_searched(place: Place) -> None:
    async def story(screen: Screen) -> None:
        board = screen.watched.session
        await screen.press("n")
        await screen.until(lambda: board.board.stage.id == "s02")
        await screen.takes(CheckFailed(2, "s02 is locked: s01 (Numbers) comes first", "Begin there."))
        await screen.until(lambda: "s02 is locked" in screen.text("#told"))
        await screen.press("n", "p")
        await screen.until(lambda: board.board.stage.id == "s01")
        await screen.press("l")
        await screen.shows(Choice)
        await screen.press("down", "enter")  # it begins where one is
        await screen.until(lambda: board.board.stage.id == "s02")
        await screen.press("slash", *"quad", "enter")
        await screen.until(lambda: (board.board.stage.id, screen.app._criterion) == ("s01", "quadruple"))
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
