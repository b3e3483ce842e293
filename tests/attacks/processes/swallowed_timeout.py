"""Catch everything, exceptions of a timeout too, and go on: timeouts by signal in the same interpreter fell to it."""

ATTACK = "a loop that swallows every exception"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
