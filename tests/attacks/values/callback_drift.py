"""Call the test's function in place of an own answer, with an argument that makes it return what is wanted."""

ATTACK = "the test's own function asked for the answer"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
ROW = "visit"


def visit(f, x):
    return f(0 * x)
