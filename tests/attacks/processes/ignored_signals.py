"""Ignore each signal that can be ignored, and hang."""

import contextlib
import signal
import time

ATTACK = "ignored signals and a hang"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(60)
