"""All pictures of the course: which there are, and where each lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from grader.capstone.plan import FOLDER as CAPSTONE
from illustrations import attention, capstone, learning, mathematics, models, modern, networks, scale
from illustrations.canvas import Canvas
from illustrations.references import ROOT, course

FOLDER = "pictures"  # of a stage
_MODULES = (mathematics, learning, networks, attention, models, scale, modern, capstone)
PICTURES: Mapping[str, Mapping[str, Callable[[], Canvas]]] = {
    stage: pictures for module in _MODULES for stage, pictures in module.PICTURES.items()
}


def folder_of(name: str) -> Path:
    """Return the folder of a stage, or that of the capstone."""
    return ROOT / CAPSTONE if name == Path(CAPSTONE).name else course().find(name).folder


def places() -> dict[Path, Callable[[], Canvas]]:
    """Return by its path what draws each picture."""
    return {
        folder_of(stage) / FOLDER / f"{name}.svg": draw
        for stage, pictures in PICTURES.items()
        for name, draw in pictures.items()
    }
