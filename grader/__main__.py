"""`grader` from its first moment: Ctrl-C while it still imports is told in one line, too."""

from __future__ import annotations

import sys

from grader.stopping import stopped


def main() -> None:
    """Import the command line and run it."""
    try:
        from grader.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(stopped(recorded=False))


if __name__ == "__main__":
    main()
