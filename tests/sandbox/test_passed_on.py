"""What a planned question names of an earlier answer arrives as if the test had sent it."""

from __future__ import annotations

import socket
import threading
import types
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed
from grader.sandbox.connection import Connection, RemoteModule
from grader.sandbox.process import names_of
from grader.sandbox.proxies import Handles
from grader.sandbox.recorded import Recording
from grader.worker.server import Server

SOURCE = """
import numpy as np

def forward(x):
    return x * 2, {"x": x, "sizes": (3, [np.arange(3.0)])}

def describe(value, x=None):
    return repr(value), x is not None and value["x"] is x

def add_one(cache):
    cache["x"] += 1
    cache["seen"] = True

def nothing(value):
    return ()
"""


@pytest.fixture
def planned() -> Iterator[tuple[RemoteModule, Recording]]:
    """A module behind a server, and what goes through the channel of a test that is planned."""
    module = types.ModuleType("learner_module")
    exec(SOURCE, module.__dict__)
    server = Server(module, "module.py")
    ours, theirs = socket.socketpair()
    names = names_of(server.names())

    def serve() -> None:
        with suppress(ChannelClosed):
            server.run(Channel(theirs))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    recording = Recording(Channel(ours))
    connection = Connection(recording, names, 5.0, 1e12)  # type: ignore[arg-type]  # it stands for a channel
    yield RemoteModule(connection, "module", tuple(names)), recording
    ours.close()
    thread.join(5.0)
    theirs.close()


def given(recording: Recording) -> list[object]:
    """Return the arguments of the last question; None stands for what it names."""
    args: list[object] = recording.steps[-1].given()[0]
    return list(args)


def test_what_came_is_named_and_arrives_as_it_was(planned: tuple[RemoteModule, Recording]) -> None:
    learner, recording = planned
    x = np.array([1.0, 2.5])
    _, cache = learner.forward(x)
    told, _ = learner.describe(cache)
    assert given(recording) == [None]
    assert told == repr({"x": x, "sizes": (3, [np.arange(3.0)])})
    assert learner.describe(cache["sizes"][1])[0] == repr([np.arange(3.0)]) and given(recording) == [None]


def test_what_the_test_has_changed_is_sent(planned: tuple[RemoteModule, Recording]) -> None:
    learner, recording = planned
    _, cache = learner.forward(np.ones(2))
    cache["sizes"][1][0][1] = 7.0
    told, _ = learner.describe(cache)
    assert given(recording) != [None] and "7." in told
    cache["more"] = 1
    assert "more" in learner.describe(cache)[0] and given(recording) != [None]


def test_one_object_stays_one(planned: tuple[RemoteModule, Recording]) -> None:
    learner, recording = planned
    x = np.ones(2)
    _, cache = learner.forward(x)
    assert cache["x"] is x
    assert learner.describe(cache, cache["x"])[1] is True and given(recording)[0] is None
    assert learner.describe(cache, x)[1] is True
    learner.describe(x)
    assert given(recording)[0] is not None  # it is the test's own, also where an answer holds it


def test_what_a_call_changes_in_what_is_named_the_test_has(planned: tuple[RemoteModule, Recording]) -> None:
    learner, recording = planned
    _, cache = learner.forward(np.array([1.0, 2.0]))
    learner.add_one(cache)
    assert given(recording) == [None]
    assert cache["seen"] is True and cache["x"].tolist() == [2.0, 3.0]
    assert "2., 3." in learner.describe(cache)[0] and given(recording) != [None]  # it is no longer what came


def test_the_empty_tuple_is_nobody_s(planned: tuple[RemoteModule, Recording]) -> None:
    learner, recording = planned
    learner.describe(learner.nothing(1))
    assert given(recording) == [()]


def test_a_learner_s_process_names_nothing() -> None:
    class Requests:
        def request(self, *args: object, **kwargs: object) -> None:
            raise AssertionError

    handles = Handles(Requests(), None)  # type: ignore[arg-type]  # no limit is met
    with pytest.raises(codec.WireError, match="names parts of earlier answers"):
        handles.unwrap(codec.EARLIER, [1, "object", "x", [], []], None)


def test_a_value_that_contains_itself_is_walked_once() -> None:
    value: list[object] = [np.ones(1)]
    value.append(value)
    assert list(map(type, codec.shared_in((value, value)))) == [list, np.ndarray]
