"""Raise and catch, and walk the traceback's frames."""

import re

ATTACK = "frames of a traceback"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    try:
        raise ValueError
    except ValueError as error:
        frame, found = error.__traceback__.tb_frame, []
        while frame is not None:
            found += [repr(value) for value in (*frame.f_locals.values(), *frame.f_globals.values())]
            frame = frame.f_back
    raise RuntimeError("found " + " ".join(re.findall("@TOKEN_HINT@[0-9a-f]{10}", " ".join(found))))
