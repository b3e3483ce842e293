"""Print commands that a build's log obeys, and a whole result document."""

ATTACK = "forged workflow commands and JSON"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    print("::set-output name=passed::true\n::notice::all rows passed\n##[group]passed")
    print('{"schema": 1, "stage": "s90", "passed": true}')
    raise ValueError("::error file=small.py,line=1::\n::stop-commands::x\n%0A::notice::y")
