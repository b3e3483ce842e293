"""`grader serve`, the command: it prints an address, ends by signals, and says what it lacks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
import webbrowser
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.command import RUN, Here, Place
from tests.support.patience import SLACK
from tests.support.places import HOUSE
from tests.test_flow import loaded


def taking(opened: list[str]) -> Callable[[str], bool]:
    """Return a browser that notes what it is to open."""

    def browser(address: str) -> bool:
        opened.append(address)
        return True

    return browser


def test_it_loads_neither_jinja_nor_numpy_before_it_is_asked_for() -> None:
    assert not {"jinja2", "numpy", "markdown_it", "watchfiles", "pytest"} & loaded("grader.commands.watching")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the command has served, without serving it."""
    served: list[Any] = []

    def serve(workspace: Any, stage: Any, port: int, ready: Callable[[str], None]) -> None:
        served.append((stage.id, port))
        ready("http://127.0.0.1:8000/key/")

    monkeypatch.setattr("grader.web.http_server.serve", serve)
    return served


def test_the_address_of_the_stage_goes_to_stdout(here: Here, run: list[Any]) -> None:
    done = here("serve", "s02", "--port", "8000")
    assert (done.code, done.out, run) == (0, "http://127.0.0.1:8000/key/stages/s02\n", [("s02", 8000)])
    assert "for you alone" in done.err and done.err.endswith("Stopped.\n")


def test_the_page_can_be_opened(here: Here, run: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", taking(opened))
    here("serve", "--open")
    assert opened == ["http://127.0.0.1:8000/key/stages/s01"] and run == [("s01", 0)]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert "Open the address yourself" in here("serve", "--open").err


def test_a_port_in_use_and_what_is_no_port_are_told(here: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = here("serve", "--port", str(port))
    assert (done.code, done.out) == (2, "") and f"port {port} of 127.0.0.1 is in use" in done.err
    assert here("serve", "--port", "65536").code == 2
    assert here("serve", "s99").code == 2


@pytest.mark.some_of(2, "grader/web")
@pytest.mark.skipif(os.name != "posix", reason="signals are sent another way")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_a_signal_ends_it_with_all_that_it_started(place: Place, number: signal.Signals) -> None:
    variables = {**os.environ, "PYTHONPATH": str(HOUSE.parent), "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "serve"], cwd=place.root, env=variables, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=SLACK) as answer:
            assert b"<h1" in answer.read()
        process.send_signal(number)
        rest, told = process.communicate(timeout=2 * SLACK)  # whoever holds its pipes has ended, too
    assert (process.returncode, rest) == (0, "") and told.endswith("Stopped.\n")
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=SLACK)
