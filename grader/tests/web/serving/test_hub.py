"""Who listens hears the latest at once, never waits in vain for what is over, and holds up nobody."""

from __future__ import annotations

import threading

import pytest

from grader.tests.support.patience import SLACK
from grader.web.serving.hub import MOST, Hub, Listener


def test_a_listener_hears_the_latest_and_then_what_follows() -> None:
    hub = Hub()
    hub.publish("one")
    with hub.listener() as listener:
        assert listener is not None and listener.take(0) == "one" and listener.take(0) is None
        hub.publish("two")
        assert listener.take(0) == "two"


def test_a_slow_listener_holds_one_frame() -> None:
    hub = Hub()
    with hub.listener() as listener:
        assert listener is not None
        for frame in "abc":
            hub.publish(frame)
        assert (listener.take(0), listener.take(0)) == ("c", None)


def test_the_same_frame_is_no_news() -> None:
    hub = Hub()
    with hub.listener() as listener:
        assert listener is not None
        hub.publish("a")
        listener.take(0)
        hub.publish("a")
        assert listener.take(0) is None


def test_who_has_left_is_forgotten() -> None:
    hub = Hub()
    with pytest.raises(OSError), hub.listener():
        assert len(hub) == 1
        raise OSError
    assert len(hub) == 0


def test_too_many_listeners_are_turned_away() -> None:
    hub = Hub()
    places = [hub.listener() for _ in range(MOST)]
    for each in places:
        each.__enter__()
    with hub.listener() as one_more:
        assert one_more is None
    places.pop().__exit__(None, None, None)
    with hub.listener() as fits:
        assert fits is not None


def test_closing_ends_every_wait_after_the_last_frame() -> None:
    hub = Hub()
    with hub.listener() as listener:
        assert listener is not None
        hub.publish("last")
        hub.close()
        assert listener.take(0) == "last"
        with pytest.raises(EOFError):
            listener.take(SLACK)
    with hub.listener() as late:
        assert late is None


def test_a_wait_ends_with_the_frame_that_comes() -> None:
    listener, heard = Listener(), []
    waits = threading.Thread(target=lambda: heard.append(listener.take(SLACK)))
    waits.start()
    listener.put("now")
    waits.join(SLACK)
    assert heard == ["now"]
