"""Pictures of an exploration: whether matplotlib can draw them here, and files that are written whole or not at all."""

from __future__ import annotations

import io
import os
import warnings
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any

from grader.atomic import write_atomically
from grader.errors import UsageError, installs
from grader.explore.model import Exploration

# Where a page is dark, the paper and what is written on it are, too; what lies within axes keeps its colours.
DARK = """@media (prefers-color-scheme: dark) {
#patch_1 path { fill: #14171a !important }
#figure_1 > g[id^="text"] *, #figure_1 > g[id^="legend"] text, g[id^="matplotlib.axis"] g[id^="text"] *,
g[id^="title"] * { fill: #e3e7ea !important }
g[id^="axes"] > g[id^="patch"]:first-child path { fill: #f0f3f6 !important }
}
"""
DOTS, MAX_DOTS = 160, 30_000_000  # per inch, and of a whole picture


def expect_possible(*files: Path | None) -> None:
    """Raise UsageError where pictures were asked for that cannot be drawn or written."""
    wanted = [file for file in files if file is not None]
    if wanted and find_spec("matplotlib") is None:
        raise UsageError("pictures need matplotlib, which is not installed", installs("plot", "matplotlib"))
    if len({os.path.realpath(file) for file in wanted}) < len(wanted):
        raise UsageError(f"--png and --svg both name {wanted[0]}", "Give each a file of its own.")
    for file in wanted:
        _expect_place(file)


def _expect_place(file: Path) -> None:
    target = Path(os.path.realpath(file))
    if target.is_dir():
        raise UsageError(f"{file} is a folder: expected the name of a file", f"For example {file / 'picture.png'}.")
    if target.exists() and not target.is_file():
        raise UsageError(f"{file} is not a regular file, and cannot be replaced by a picture")
    if not target.parent.is_dir():
        raise UsageError(f"{file} cannot be written: there is no folder {file.parent}")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{file} cannot be written: the folder {file.parent} is not yours to write in")


def draw(found: Exploration, file: Path, kind: str) -> None:
    """Draw maps or drawings and write them as png or svg, whole or not at all; a picture that is there is replaced."""
    write_atomically(file, drawn(found, kind))


def drawn(found: Exploration, kind: str) -> bytes:
    """Return the picture as bytes; it needs no display, and nobody's settings change it."""
    import matplotlib

    from grader.explore.panels import drawn_all

    data = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # shown as a box; an SVG keeps the character
        matplotlib.rcdefaults()
        matplotlib.rc("svg", fonttype="none", hashsalt="grader")  # text stays text, and equal pictures are equal files
        matplotlib.rc("font", family="DejaVu Sans")  # it comes with matplotlib
        figure = drawn_all(found)
        width, height = figure.get_size_inches()
        figure.savefig(data, format=kind, dpi=min(DOTS, sqrt(MAX_DOTS / (width * height))), metadata=metadata)
    return data.getvalue().replace(b'<style type="text/css">', b'<style type="text/css">' + DARK.encode(), 1)
