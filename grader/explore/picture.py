"""Pictures of an exploration: whether matplotlib can draw them here, and files that are written whole or not at all."""

from __future__ import annotations

import io
import os
import warnings
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.atomic import write_atomically
from grader.errors import UsageError, installs
from grader.explore.model import Exploration

DOTS, MAX_DOTS = 160, 30_000_000  # per inch, and of a whole picture
LIGHT = (0.2, 0.75, 0.05)  # shares of red, green and blue in lightness: mirrored so, series stay apart for all eyes


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


def draw(found: Exploration, file: Path, kind: str, dark: bool = False, headed: bool = True) -> None:
    """Draw maps or drawings and write them as png or svg, whole or not at all; a picture that is there is replaced."""
    write_atomically(file, drawn(found, kind, dark, headed))


def drawn(found: Exploration, kind: str, dark: bool = False, headed: bool = True) -> bytes:
    """Return the picture as bytes; it needs no display, and nobody's settings change it.

    A png is light, or dark if asked for. An svg is as its reader's page is: it holds what makes it dark. Headed, it
    begins with what was explored.
    """
    import matplotlib

    from grader.explore.figure import figure_of

    data = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # shown as a box; an SVG keeps the character
        matplotlib.rcdefaults()
        matplotlib.rc("svg", fonttype="none", hashsalt="grader")  # text stays text, and equal pictures are equal files
        matplotlib.rc("font", family="DejaVu Sans")  # it comes with matplotlib
        figure = figure_of(found, headed)
        width, height = figure.get_size_inches()
        dots = min(DOTS, sqrt(MAX_DOTS / (width * height)))
        figure.savefig(data, format=kind, dpi=dots, metadata=metadata)
    if kind == "svg":
        return data.getvalue().replace(b"<defs>", _darkening().encode() + b"<defs>", 1)
    return _darkened(data.getvalue()) if dark else data.getvalue()


def mirrored(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return colours, their last axis red, green and blue from 0 to 1, with light for dark and the same hues.

    >>> mirrored(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    found: NDArray[np.float64] = np.clip(colours + 1 - 2 * (colours @ np.array(LIGHT))[..., None], 0.0, 1.0)
    return found


def _darkening() -> str:
    """Return what makes an svg dark where its reader's page is: mirrored, as a filter."""
    rows = ([(place == row) - 2 * share for place, share in enumerate(LIGHT)] for row in range(3))
    matrix = " ".join(f"{number:g}" for row in rows for number in (*row, 0, 1))
    return (
        "<style>@media (prefers-color-scheme: dark) { #figure_1 { filter: url(#dark) } }</style>"
        '<filter id="dark" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">'
        f'<feColorMatrix values="{matrix} 0 0 0 1 0"/></filter>'
    )


def _darkened(png: bytes) -> bytes:
    from matplotlib.image import imread, imsave

    shown, data = imread(io.BytesIO(png)).astype(np.float64), io.BytesIO()
    unsigned: dict[str, Any] = {"Software": None}
    imsave(data, mirrored(shown[..., :3]), format="png", metadata=unsigned)
    return data.getvalue()
