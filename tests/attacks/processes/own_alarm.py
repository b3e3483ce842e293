"""Take over the alarm that a timeout may rest on."""

import signal
import time

ATTACK = "SIGALRM taken over"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(60)
