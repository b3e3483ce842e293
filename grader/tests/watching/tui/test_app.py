"""The full screen, driven by Textual's pilot; what grades and watches is replaced by fakes."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader import __version__
from grader.progress import last_check
from grader.report.terminal.layout import Look
from grader.submission import take
from grader.tests.support.command import NUMBERS, Place
from grader.tests.support.patience import SLACK
from grader.tests.watching.fakes import Watched, verdict

pytest.importorskip("textual")

from textual.pilot import Pilot
from textual.screen import Screen as Base
from textual.widgets import Markdown, OptionList, Static

from grader.watching.events import Counted, Explored, Failed, Saved
from grader.watching.session import Session
from grader.watching.tui.app import Posted, Watching
from grader.watching.tui.dialogs import Choice, Question, Reading

Story = Callable[["Screen"], Awaitable[None]]


class Screen:
    """An app on a session of fakes, and its pilot."""

    def __init__(self, root: Path, ascii: bool = False) -> None:
        self.watched = Watched(root)
        self.app = Watching(self._made, self.watched.first, Look(80, ascii=ascii))
        self.pilot: Pilot[None]

    def _made(self, post: object, width: object) -> Session:
        return self.watched.session

    async def takes(self, event: object) -> None:
        """Let an event arrive as threads post it."""
        self.app.post_message(Posted(event))  # type: ignore[arg-type]
        await self.pilot.pause()

    async def judged(self, *statuses: str) -> None:
        made = verdict(self.watched.session.board.stage, *statuses)
        await self.takes(self.watched.judged(made))
        await self.until(lambda: self.watched.session.board.verdict is made)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds; others may use the machine, too."""
        ends_at = time.monotonic() + SLACK
        while not holds():
            assert time.monotonic() < ends_at, inspect.getsource(holds)
            await self.pilot.pause(0.01)

    async def shows(self, kind: type[object]) -> None:
        """Wait until the window on top is of a kind; of kind Base, until there is none over the screen."""
        await self.until(lambda: type(self.app.screen) is kind)

    def text(self, where: str) -> str:
        return str(self.app.screen_stack[0].query_one(where, Static).content)

    def options(self, where: str) -> list[str]:
        listed = self.app.screen_stack[0].query_one(where, OptionList)
        return [str(each.prompt) for each in listed.options]


def play(root: Path, story: Story, size: tuple[int, int] = (140, 30), ascii: bool = False) -> Screen:
    """Run an app through a story."""
    screen = Screen(root, ascii)

    async def run() -> None:
        async with screen.app.run_test(size=size, notifications=True) as pilot:
            screen.pilot = pilot
            await screen.until(lambda: screen.watched.checks.asked)  # the first stage is open
            await story(screen)

    asyncio.run(run())
    return screen


def reading(screen: Screen) -> str:
    """Return what the window on top has to read."""
    return str(screen.app.screen.query_one("#reading Static", Static).content)


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
        await screen.takes(Counted(1, "double", "failed"))
        await screen.judged("failed", "blocked")
        await screen.until(
            lambda: screen.text("#title").endswith("0 of 2 criteria") and "s01 · Numbers" in screen.text("#title")
        )
        await screen.until(lambda: screen.options("#stages") == ["→ s01 Numbers", "· s02 Sums"])
        await screen.until(lambda: screen.options("#rows")[0] == "✗ double is right  0 of 2 tests")
        await screen.until(lambda: "This is the square." in screen.text("#told"))
        await screen.until(lambda: not screen.app.has_class("narrow") and screen.app.query_one("#stages").display)
        await screen.press("down")
        await screen.until(lambda: "quadruple" in screen.text("#told") and "square" not in screen.text("#told"))
        await screen.judged("passed", "passed")
        await screen.until(lambda: "s01 · Numbers is complete." in screen.text("#told"))
        await screen.takes(Explored("s01", "\x1b[31ma curve\x1b[0m"))
        await screen.until(lambda: "a curve" in screen.text("#told") and "\x1b" not in screen.text("#told"))
        await screen.takes(Failed(1, "s01 has no module", "Put it back."))
        await screen.until(lambda: "Put it back." in screen.text("#told"))

    screen = play(place.root, story)
    assert screen.watched.explored == ["s01"] and screen.watched.checks.closed


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


def test_keys_open_windows_that_keys_close(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        for key in ("h", "s", "question_mark"):
            await screen.press(key)
            await screen.shows(Reading)
            await screen.press("down", "n", "escape")
            await screen.shows(Base)
        await screen.until(lambda: screen.watched.session.board.stage.id == "s01")  # n meant nothing in a window
        await screen.until(lambda: screen.watched.workspace.store.read().hints == {"s01/double": 1})
        await screen.press("h")
        await screen.shows(Reading)
        await screen.press("h")
        await screen.until(lambda: screen.watched.workspace.store.read().hints == {"s01/double": 3})
        await screen.shows(Reading)
        await screen.press("h")  # there is no fourth
        await screen.shows(Reading)
        await screen.press("escape")
        await screen.press("d", "e")
        await screen.until(lambda: screen.watched.explored == ["s01"])
        await screen.until(lambda: any("s01 has passed" in each.message for each in screen.app._notifications))
        await screen.press("c")
        await screen.until(lambda: screen.watched.checks.asked[-1] == ("s01", "double"))
        await screen.press("q")

    assert play(place.root, story).watched.checks.closed


def test_a_hint_stands_below_what_the_last_check_found(place: Place) -> None:
    async def story(screen: Screen) -> None:
        failed = verdict(screen.watched.first, "failed", "blocked")
        snapshot = take(screen.watched.first, None, place.root)
        failed = replace(failed, run=replace(failed.run, submission=snapshot.digest, course=__version__))
        last_check.remember(screen.watched.workspace.store.folder, screen.watched.first, failed)
        await screen.takes(screen.watched.judged(failed))
        await screen.press("h")
        await screen.shows(Reading)
        await screen.until(lambda: "The last check: This is the square." in reading(screen))
        title = str(screen.app.screen.query_one(".window-title", Static).content)
        assert title == "s01 · double is right · hint 1 of 3, a question"
        assert reading(screen).splitlines()[-1] == "    double: a nudge"

    play(place.root, story)


PAGE = """\
# Numbers

## Doubling

### Step 1: twice

- [ ] double is right

### Step 2: twice again

- [ ] quadruple is right
"""


def test_the_specification_opens_at_the_step_of_the_row_and_s_leads_to_all_of_it(place: Place) -> None:
    (place.numbers.parent / "README.md").write_text(PAGE, encoding="utf-8")

    def shown(screen: Screen) -> str:
        return screen.app.screen.query_one("#reading Markdown", Markdown).source

    async def story(screen: Screen) -> None:
        await screen.judged("passed", "failed")
        await screen.press("s")
        await screen.shows(Reading)
        await screen.until(lambda: "step 2 of 2" in shown(screen) and "Step 1" not in shown(screen))
        await screen.press("h")  # means nothing here
        await screen.shows(Reading)
        await screen.press("s")
        await screen.until(lambda: type(screen.app.screen) is Reading and shown(screen) == PAGE)
        await screen.press("escape")
        await screen.shows(Base)
        await screen.press("up")
        await screen.until(lambda: screen.app._row == "double")
        await screen.press("s")
        await screen.until(lambda: type(screen.app.screen) is Reading and "step 1 of 2" in shown(screen))

    play(place.root, story)


def test_in_ascii_every_sign_of_a_window_is_ascii(place: Place) -> None:
    table = "\n| a · b | π |\n|---|---|\n| 1 | 2 |\n"
    (place.numbers.parent / "README.md").write_text(PAGE + table, encoding="utf-8")

    def drawn(screen: Screen) -> str:
        lines = screen.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in line) for line in lines)

    async def story(screen: Screen) -> None:
        await screen.judged("passed", "failed")
        await screen.press("s", "s")
        await screen.shows(Reading)
        await screen.until(lambda: "a * b" in drawn(screen) and "pi" in drawn(screen))
        await screen.until(lambda: drawn(screen).isascii())
        await screen.press("escape", "slash", *"zzz")
        await screen.until(lambda: "Nothing here is called" in drawn(screen))
        await screen.until(lambda: drawn(screen).isascii())

    play(place.root, story, (80, 40), ascii=True)


def test_a_save_of_a_test_checks_again_and_says_so(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        await screen.takes(Saved(screen.watched.first.tests_path / "test_double.py"))
        await screen.until(lambda: "tests/test_double.py was saved." in screen.text("#told"))
        await screen.until(lambda: screen.watched.checks.anew == [False, True])

    play(place.root, story)


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


def test_a_reset_asks_and_a_comparison_shows_both(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("2 * x", "x + x"), encoding="utf-8")
    place.passed("s01")

    async def story(screen: Screen) -> None:
        await screen.takes(screen.watched.judged(replace(verdict(screen.watched.first, "passed", "passed"))))
        await screen.press("d")
        await screen.shows(Reading)
        await screen.until(lambda: "return x + x" in reading(screen) and "measures them" in reading(screen))
        beside = next(line for line in reading(screen).splitlines() if "return x + x" in line)
        assert "│" in beside and beside.endswith("return 2 * x")
        await screen.press("q", "r")
        await screen.shows(Question)
        await screen.press("n")
        await screen.until(lambda: "x + x" in place.numbers.read_text(encoding="utf-8"))
        await screen.press("r", "y")
        await screen.until(lambda: "NotImplementedError" in place.numbers.read_text(encoding="utf-8"))
        await screen.until(lambda: "is the stub again" in screen.text("#told"))

    play(place.root, story)


def test_the_failing_line_opens_and_an_editor_that_is_missing_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, ...]] = []
    monkeypatch.setattr("grader.watching.tui.app.started", lambda how: opened.append(how.command))
    monkeypatch.setattr("grader.watching.tui.app.shutil.which", lambda name: f"/bin/{name}")
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
