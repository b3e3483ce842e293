"""Answer each test, and never what is asked between two tests, so that the grader waits."""

import time

import numpy as np

ATTACK = "silence between two tests"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    from grader.worker.server import Server

    Server.has_changed = Server.begin_test = lambda server: time.sleep(1000)
    return 2 * x if len(x) == 2 else np.zeros_like(x)
