"""Return a list of lists that is small in memory and 2^40 values long for whoever walks it."""

ATTACK = "lists that share lists"
OUTCOME = ("over_limit", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    result = [0.0]
    for _ in range(40):
        result = [result, result]
    return result
