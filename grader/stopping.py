"""What is said when somebody stops a command with Ctrl-C, however early or late that comes."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

STOPPED = 130  # as a shell says that SIGINT ended a command


def stopped(recorded: bool) -> int:
    """Say on stderr, in one line, that the command was stopped, and return its exit code.

    recorded says whether anything may stand in the progress file; another Ctrl-C no longer interrupts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    graded = sys.argv[1:2] == ["check"]
    said = "stopped; nothing was recorded" if graded and not recorded else "stopped"
    with suppress(OSError, AttributeError, ValueError):  # a closed stderr
        begin = "\r\x1b[K" if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else ""  # over ^C
        sys.stderr.write(f"{begin}{said}\n")
        sys.stderr.flush()
    return STOPPED
