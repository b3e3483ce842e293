"""Show the source of everyone who called, with inspect."""

import inspect

ATTACK = "inspect.stack and getsource"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    found = []
    for level in inspect.stack(context=50):
        found.append("".join(level.code_context or ()))
    raise RuntimeError("".join(found)[-1400:])
