"""The server, the watch and the pages together: they begin and end together, whatever ends them."""

from __future__ import annotations

import signal
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.progress.actions import Workspace
from grader.progress.workspace import open_workspace
from grader.tests.support.command import Place
from grader.tests.support.patience import SLACK
from grader.tests.watching.fakes import Checks, Saves
from grader.watching.session import Session
from grader.web.serving import running
from grader.web.serving.running import serve

CHECKS: list[Checks] = []


@pytest.fixture
def workspace(place: Place, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    def made(workspace: Workspace, post: object, width: Callable[[], int], colour: bool) -> Session:
        CHECKS.append(Checks())
        assert (width(), colour) == (running.WIDTH, False)
        return Session(workspace, CHECKS[-1], Saves(), lambda stage: False)

    monkeypatch.setattr(running, "made", made)
    return open_workspace(place.root)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_in_its_turn(workspace: Workspace, number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    read: list[bytes] = []
    threads = threading.active_count()

    def ready(address: str) -> None:
        with urllib.request.urlopen(f"{address}road", timeout=SLACK) as answer:
            read.append(answer.read())
        signal.raise_signal(number)

    serve(workspace, workspace.course.stages[0], 0, ready)
    assert b"The road" in read[0] and CHECKS[-1].closed
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert threading.active_count() <= threads + 1  # the connection's own thread may still be ending


def test_what_fails_at_the_beginning_leaves_nothing_running(workspace: Workspace) -> None:
    def ready(address: str) -> None:
        raise OSError("no terminal")

    with pytest.raises(OSError, match="no terminal"):
        serve(workspace, workspace.course.stages[0], 0, ready)
    assert not [each for each in threading.enumerate() if "serve_forever" in each.name]


def test_the_port_is_free_again_afterwards(workspace: Workspace) -> None:
    ports: list[int] = []

    def ready(address: str) -> None:
        ports.append(int(address.split(":")[2].split("/")[0]))
        signal.raise_signal(signal.SIGTERM)

    serve(workspace, workspace.course.stages[0], 0, ready)
    serve(workspace, workspace.course.stages[0], ports[0], ready)
    assert ports[0] == ports[1] and Path(workspace.course.root).is_dir()
