"""Keep the test's function and pass it off as an own result."""

ATTACK = "a test's function returned as the result"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
ROW = "visit"


def visit(f, x):
    return f
