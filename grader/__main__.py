"""`grader` from its first moment: Ctrl-C while it still imports is told in one line, too, and other signals end it."""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__" and sys.path and not sys.flags.safe_path:
    try:
        _here = os.getcwd()
    except OSError:  # the folder was removed
        _here = ""
    if sys.path[0] in (_here, ""):
        del sys.path[0]  # `python -m` puts the current folder there, before Python's own modules

from grader.process import end_in_order, exit_code, stopped

# New objects after which rings are looked for: a command that lists or explains ends before, one that grades goes on.
NEW_OBJECTS = 100_000


def main() -> None:
    """Import the command line and run it."""
    end_in_order()
    gc.set_threshold(NEW_OBJECTS)
    try:
        from grader.course.import_guard import GUARD

        GUARD.install()
        from grader.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(stopped(recorded=False))
    except SystemExit as ended:
        sys.exit(exit_code(ended.code))
    finally:
        gc.freeze()  # Python would look for rings in all that there is, once more, before it ends


if __name__ == "__main__":
    main()
