"""Change the argument in place, so that an expectation computed from it afterwards drifts to the wrong answer."""

ATTACK = "the test's input changed in place"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    x[...] = 0
    return x
