"""Keep a hidden test's input in a file, and show it in a public test that had to wait for a function that hangs."""

import pathlib

ATTACK = "hidden inputs shown by a public test that comes late"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
ROW = "visit"
FEEDBACK = "verdict"
NOTES = pathlib.Path("inputs.txt")


def double(x):
    while True:
        pass


def visit(f, x):
    if x is None:
        return double(x)
    raise ValueError(NOTES.read_text())


def tell(label):
    NOTES.write_text(label)
    return 0
