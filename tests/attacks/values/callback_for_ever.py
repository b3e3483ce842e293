"""Call the test's function again and again, without an end."""

ATTACK = "callbacks without an end"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")
ROW = "visit"


def visit(f, x):
    while True:
        f(x)
