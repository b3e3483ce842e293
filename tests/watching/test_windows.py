"""Windows over the full screen: hints, the specification, comparisons, questions, and the keys that close them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from grader import __version__
from grader.progress import last_check
from grader.progress.hints import Hint
from grader.submission import take
from tests.support.command import NUMBERS, Place
from tests.watching.fakes import verdict

pytest.importorskip("textual")

from textual.screen import Screen as Base
from textual.widgets import Markdown, Static

from grader.watching.windows import Question, TextWindow
from tests.watching.screen import Screen, play


def reading(screen: Screen) -> str:
    """Return what the window on top has to read."""
    return str(screen.app.screen.query_one("#reading Static", Static).content)


def test_keys_open_windows_that_keys_close(place: Place) -> None:
    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        for key in ("h", "s", "question_mark"):
            await screen.press(key)
            await screen.shows(TextWindow)
            await screen.press("down", "n", "escape")
            await screen.shows(Base)
        await screen.press("question_mark")
        await screen.shows(TextWindow)
        await screen.press("question_mark")
        await screen.shows(Base)
        await screen.until(lambda: screen.watched.session.board.stage.id == "s01")  # n meant nothing in a window
        await screen.until(lambda: screen.watched.workspace.store.read().hints == {"s01/double": 1})
        await screen.press("h")
        await screen.shows(TextWindow)
        await screen.press("h")
        await screen.until(lambda: screen.watched.workspace.store.read().hints == {"s01/double": 3})
        await screen.shows(TextWindow)
        await screen.press("h")  # there is no fourth
        await screen.shows(TextWindow)
        await screen.press("escape")
        await screen.press("d", "e")
        await screen.until(lambda: screen.watched.explored == ["s01"])
        await screen.until(lambda: any("s01 has passed" in each.message for each in screen.app._notifications))
        await screen.press("c")
        await screen.until(lambda: screen.watched.checks.asked[-1] == ("s01", "double"))
        await screen.press("q")

    assert play(place.root, story).watched.checks.closed


def reads(screen: Screen, words: str) -> bool:
    return words in reading(screen)


def test_a_hint_stands_below_what_the_last_check_found(place: Place) -> None:
    async def story(screen: Screen) -> None:
        failed = verdict(screen.watched.first, "failed", "blocked")
        snapshot = take(screen.watched.first, None, place.root)
        failed = replace(failed, run=replace(failed.run, submission=snapshot.digest, course=__version__))
        last_check.remember(screen.watched.workspace.store.folder, screen.watched.first, failed)
        await screen.takes(screen.watched.judged(failed))
        await screen.press("h")
        await screen.shows(TextWindow)
        await screen.until(lambda: "The last check: This is the square." in reading(screen))
        title = str(screen.app.screen.query_one(".window-title", Static).content)
        assert title == "s01 · double is right · hint 1 of 3, a question"
        assert reading(screen).splitlines()[-1] == "    double: a nudge" and "Multiply by 2." not in reading(screen)
        for words in ("the idea", "nearly", "Multiply by 2."):  # what to write comes after the three hints
            await screen.press("h")
            await screen.until(partial(reads, screen, words))

    play(place.root, story)


def test_a_hint_fills_its_window_which_is_as_high_as_the_hint(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "words " * 40

    async def story(screen: Screen) -> None:
        await screen.judged("failed", "blocked")
        found = screen.watched.session.hint()
        assert isinstance(found, Hint)
        app, longer = screen.app, replace(found, text=long)
        monkeypatch.setattr(screen.watched.session, "hint", lambda _: longer)
        await screen.press("h")
        await screen.shows(TextWindow)
        await screen.until(lambda: 0 < app.screen.query_one(".window").size.height < 12)
        assert max(map(len, reading(screen).splitlines())) > 90
        await screen.until(lambda: app.screen.query_one("#reading").max_scroll_y == 0)
        await screen.until(lambda: app.screen.query_one(".window-foot").size.height == 1)
        await screen.press("escape")

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
        await screen.shows(TextWindow)
        await screen.until(lambda: "step 2 of 2" in shown(screen) and "Step 1" not in shown(screen))
        await screen.press("h")  # means nothing here
        await screen.shows(TextWindow)
        await screen.press("s")
        await screen.until(lambda: type(screen.app.screen) is TextWindow and shown(screen) == PAGE)
        await screen.press("escape")
        await screen.shows(Base)
        await screen.press("up")
        await screen.until(lambda: screen.app._criterion == "double")
        await screen.press("s")
        await screen.until(lambda: type(screen.app.screen) is TextWindow and "step 1 of 2" in shown(screen))

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
        await screen.shows(TextWindow)
        await screen.until(lambda: "a * b" in drawn(screen) and "pi" in drawn(screen))
        await screen.until(lambda: drawn(screen).isascii())
        await screen.press("escape", "slash", *"zzz")
        await screen.until(lambda: "Nothing here is called" in drawn(screen))
        await screen.until(lambda: drawn(screen).isascii())

    play(place.root, story, (80, 40), ascii=True)


def test_a_reset_asks_and_a_comparison_shows_both(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("2 * x", "x + x"), encoding="utf-8")
    place.passed("s01")

    async def story(screen: Screen) -> None:
        await screen.takes(screen.watched.judged(replace(verdict(screen.watched.first, "passed", "passed"))))
        await screen.press("d")
        await screen.shows(TextWindow)
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
