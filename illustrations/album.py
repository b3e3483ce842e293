"""All pictures of the course: which there are, and where each lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from illustrations import attention, learning, mathematics, models, modern, networks, scale
from illustrations.canvas import Canvas
from illustrations.references import course

FOLDER = "pictures"  # of a stage
_MODULES = (mathematics, learning, networks, attention, models, scale, modern)
PICTURES: Mapping[str, Mapping[str, Callable[[], Canvas]]] = {
    stage: pictures for module in _MODULES for stage, pictures in module.PICTURES.items()
}


def places() -> dict[Path, Callable[[], Canvas]]:
    """Return by its path what draws each picture."""
    return {
        course().find(stage).folder / FOLDER / f"{name}.svg": draw
        for stage, pictures in PICTURES.items()
        for name, draw in pictures.items()
    }
