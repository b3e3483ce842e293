"""Define an exception in a function's place: made in the grader's process, it would leave no trace of a call."""

ATTACK = "an exception in a function's place"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "returned a double where one array was expected"
ALONE = True


class double(ValueError):
    pass
