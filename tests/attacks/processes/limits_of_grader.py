"""Lower the grader's limits, so that it fails in place of the submission."""

import resource

ATTACK = "prlimit of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
NEEDS = "seccomp"
SAYS = "PermissionError|ProcessLookupError"


def double(x):
    resource.prlimit(int("@PID@"), resource.RLIMIT_CORE, (0, 0))
    raise RuntimeError("lowered")
