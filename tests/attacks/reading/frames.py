"""Walk the frames of all threads down, for a test's local values."""

import re
import sys

ATTACK = "frames of the caller"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    found = []
    for frame in sys._current_frames().values():
        while frame is not None:
            found += [
                f"{name} {value!r}" for scope in (frame.f_locals, frame.f_globals) for name, value in scope.items()
            ]
            frame = frame.f_back
    raise RuntimeError("found " + " ".join(re.findall("@TOKEN_HINT@[0-9a-f]{10}", " ".join(found))))
