"""Write the pictures of all stages, or of some: `uv run --group dev python -m illustrations s15 s17`."""

from __future__ import annotations

import sys

from illustrations.album import PICTURES, places
from illustrations.references import ROOT


def main(wanted: list[str]) -> int:
    """Write them, and say which; a name that is no stage with pictures ends it before anything is written."""
    if unknown := [name for name in wanted if name not in PICTURES]:
        print(f"{', '.join(unknown)}: no stage with pictures. There are {', '.join(PICTURES)}.", file=sys.stderr)
        return 2
    for path, draw in places().items():
        if not wanted or path.parent.parent.name.partition("_")[0] in wanted:
            path.parent.mkdir(exist_ok=True)
            path.write_text(draw().svg(), encoding="utf-8", newline="\n")
            print(path.relative_to(ROOT).as_posix())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
