"""Streams that are full or closed: what is said of them, and that a message that cannot be told stops nothing."""

from __future__ import annotations

import errno
import io
import sys
from contextlib import suppress

import pytest
from rich.text import Text

from grader.errors import OutputError
from grader.report.terminal import screen, streams
from grader.tests.support.command import Here
from grader.tests.support.streams import Full


def test_a_full_disk_is_named_where_data_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OutputError, match="stdout cannot be written to: No space left") as caught:
        screen.write("data")
    assert caught.value.hint
    sys.stdout = Full()
    with pytest.raises(OutputError):
        screen.show([Text("line")])
    screen.write("all that follows is lost without another error")


def test_a_message_that_cannot_be_told_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Full())
    screen.say("a message", "and what to do")
    screen.write("a line", error=True)


def test_a_reader_who_has_seen_enough_is_no_error_of_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(BrokenPipeError):
        screen.write("data")


def test_a_closed_stream_has_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    streams.prepare()
    stand_ins = sys.stdin, sys.stdout, sys.stderr
    assert (sys.stdin.read(), sys.stdin.isatty()) == ("", False)
    screen.say("lost")
    with pytest.raises(OutputError, match="stdout cannot be written to"):
        screen.write("data")
    for stream in stand_ins:
        with suppress(OSError):  # stdout still holds what it could not write
            stream.close()


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("status",), ("status", "--json")])
def test_no_command_calls_a_full_disk_its_own_fault(here: Here, words: tuple[str, ...]) -> None:
    here.monkeypatch.setattr(sys, "stdout", Full())
    done = here(*words)
    assert done.code == 4
    assert done.err.startswith("error: stdout cannot be written to: No space left on device\nhint: ")
