"""Chromium without a window, driven through a pipe (the DevTools protocol): no port, and nothing else to install."""

from __future__ import annotations

import base64
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import SLACK

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--no-default-browser-check", "--disable-features=Translate,OptimizationHints,MediaRouter", "--hide-scrollbars",
)  # fmt: skip
WAIT_SECONDS = 2 * SLACK
# Puts the pipes where the browser looks for them, 3 to read and 4 to write, and becomes the browser.
BEGIN = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def found() -> str:
    """Return the browser's command; skip the test where there is none."""
    given = os.environ.get("GRADER_BROWSER")
    path = given or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None or os.name != "posix":
        pytest.skip("no Chromium is installed (`apt-get install chromium`), or this system has no pipes for it")
    return path


class Page:
    """One page: it notes its requests, what its console says, and errors of its scripts."""

    def __init__(self, send: Callable[[str, dict[str, Any]], Any], events: Callable[[], list[dict[str, Any]]]) -> None:
        self._send = send
        self._events = events
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def call(self, method: str, **parameters: Any) -> Any:
        """Return what a command of the protocol gives."""
        return self._send(method, parameters)

    def open(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """Return the value of an expression, which may be a promise."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, script: str, seconds: float = WAIT_SECONDS) -> Any:
        """Return the first value of an expression that is true; fails where none comes in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.1)
        pytest.fail(f"after {seconds:g} s this still does not hold: {script}\n{self.run('document.body.innerText')}")

    def press(self, key: str, shift: bool = False) -> None:
        """Press a key, as Tab, Enter or a space."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        common = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window another size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark: bool = True) -> None:
        """Prefer dark colours, or light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Write what is seen as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def printed(self) -> bytes:
        """Return the page as PDF, as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def listen(self) -> None:
        """Take note of all that has happened so far."""
        for event in self._events():
            told = event.get("params", {})
            if event["method"] == "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            elif event["method"] == "Runtime.exceptionThrown":
                self.complaints.append(str(told["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(told["args"]))
            elif event["method"] == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                self.complaints.append(str(told["entry"]))


class _Pipe:
    """Commands go one way, answers and events come the other, each ended by a zero byte."""

    def __init__(self, write: int, read: int) -> None:
        self._write = write
        self._read = read
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._events: list[dict[str, Any]] = []
        self._number = 0
        threading.Thread(target=self._follow, daemon=True).start()

    def send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> Any:
        self._number += 1
        place = self._answers[self._number] = queue.Queue()
        whole = {"id": self._number, "method": method, "params": parameters}
        data = json.dumps({**whole, **({"sessionId": session} if session else {})}).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        told = place.get(timeout=WAIT_SECONDS)
        assert "error" not in told, (method, told["error"])
        return told["result"]

    def events(self) -> list[dict[str, Any]]:
        told, self._events = self._events, []
        return told

    def _follow(self) -> None:
        rest = b""
        while piece := _read(self._read):
            *whole, rest = (rest + piece).split(b"\0")
            for text in whole:
                told = json.loads(text)
                if "id" in told:
                    self._answers.pop(told["id"]).put(told)
                else:
                    self._events.append(told)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Start a browser with a profile of its own in folder, and give its page; it ends with all its processes."""
    command = found()
    to_it, from_us = os.pipe()
    to_us, from_it = os.pipe()
    options = [*OPTIONS, f"--user-data-dir={folder / 'profile'}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    begin = [sys.executable, "-c", BEGIN, str(to_it), str(from_it), command, *options, "about:blank"]
    process = subprocess.Popen(
        begin, pass_fds=(to_it, from_it), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    os.close(to_it)
    os.close(from_it)
    try:
        yield _page(_Pipe(from_us, to_us))
    finally:
        process.terminate()
        try:
            process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(from_us)


def _page(pipe: _Pipe) -> Page:
    target = pipe.send("Target.createTarget", {"url": "about:blank"})["targetId"]
    session = pipe.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
    pipe.send("Emulation.setFocusEmulationEnabled", {"enabled": True}, session)  # else one page at most hears of focus
    page = Page(lambda method, parameters: pipe.send(method, parameters, session), pipe.events)
    for domain in ("Page", "Runtime", "Network", "Log"):
        page.call(f"{domain}.enable")
    return page
