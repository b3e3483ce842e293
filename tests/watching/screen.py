"""An app on a session of fakes, and the stories that Textual's pilot plays on it."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from grader.report.terminal.layout import Look
from grader.watching.session import WatchSession
from grader.watching.tui import Posted, Watching
from tests.support.patience import SLACK
from tests.watching.fakes import Watched, verdict

Story = Callable[["Screen"], Awaitable[None]]


class Screen:
    """An app on a session of fakes, and its pilot."""

    def __init__(self, root: Path, ascii: bool = False) -> None:
        self.watched = Watched(root)
        self.app = Watching(self._made, self.watched.first, Look(80, ascii=ascii))
        self.pilot: Pilot[None]

    def _made(self, post: object, width: object) -> WatchSession:
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
