"""What a learner's code prints is kept up to a limit, and the rest counted."""

from __future__ import annotations

from grader.worker.printed import OUTPUT_LIMIT, Printed


def test_what_was_written_is_taken_once() -> None:
    printed = Printed()
    print("one", 2, file=printed)
    assert (printed.take(), printed.take()) == ("one 2\n", "")


def test_beyond_the_limit_characters_are_counted_only() -> None:
    printed = Printed()
    assert printed.write("x" * (OUTPUT_LIMIT - 1)) == OUTPUT_LIMIT - 1
    assert printed.write("abc") == 3
    assert printed.take() == "x" * (OUTPUT_LIMIT - 1) + "a\n[2 more characters were printed]"
    printed.write("more")
    assert printed.take() == "\n[4 more characters were printed]"


def test_it_is_no_terminal() -> None:
    assert not Printed().isatty()


def test_it_has_what_programs_ask_of_standard_output() -> None:
    printed = Printed()
    printed.reconfigure(encoding="latin-1", line_buffering=True)
    assert printed.buffer.write(b"caf\xc3\xa9 \xff\n") == 8
    printed.buffer.flush()
    printed.writelines(["a", "b"])
    printed.close()
    assert printed.take() == "café \ufffd\nab"
    assert (printed.fileno(), printed.writable(), printed.readable(), printed.closed) == (1, True, False, False)


def test_bytes_without_end_are_counted_too() -> None:
    printed = Printed()
    data = b"x" * (1 << 20)
    assert printed.buffer.write(data) == len(data)
    assert len(printed.take()) < OUTPUT_LIMIT + 100
