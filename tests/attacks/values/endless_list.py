"""Return a list that contains itself."""

ATTACK = "a list that contains itself"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "a value that contains itself"


def double(x):
    result = []
    result.append(result)
    return result
