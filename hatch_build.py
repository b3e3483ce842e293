"""How the package is built: hatchling, and the course as a learner gets it, sealed, in place of its answers.

From the author's copy the course is packed by the code of `grader release`, and what was built is searched for hidden
text: one finding ends the build. An sdist has the packed course in it already, and builds the same wheel anywhere.
An editable install, as `uv sync` makes it, needs none of this.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling import build as hatchling_build
from hatchling.build import *  # noqa: F403  # this module is the build backend as well
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
ARCHIVE = "grader/self_paced.zip"
SEALING = ["cryptography>=43"]


def get_requires_for_build_sdist(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what an sdist needs beside hatchling: what seals, where there are answers to seal."""
    return [*hatchling_build.get_requires_for_build_sdist(config_settings), *_for_sealing()]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what a wheel needs beside hatchling; an editable one needs nothing."""
    return [*hatchling_build.get_requires_for_build_wheel(config_settings), *_for_sealing()]


def _for_sealing() -> list[str]:
    return [] if (ROOT / ARCHIVE).exists() else SEALING


class SealedCourse(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the packed course into what is built, and looks that no answer is left beside it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack the course, unless it is packed already, or nothing is packed at all."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if version == "editable" or (ROOT / ARCHIVE).exists():
            return
        sys.path.insert(0, str(ROOT))
        from grader.classroom.packing import self_paced

        self._folder = tempfile.TemporaryDirectory(prefix="sealed-course-")
        packed = Path(self._folder.name, "course.zip")
        packed.write_bytes(self_paced(ROOT))
        build_data["force_include"][str(packed)] = ARCHIVE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Search what was built; where hidden text is found, it is deleted, and the build fails."""
        if self._folder is None:
            return
        self._folder.cleanup()
        from grader.classroom.packing import expect_no_answers

        try:
            expect_no_answers(ROOT, Path(artifact_path))
        except BaseException:
            Path(artifact_path).unlink(missing_ok=True)
            raise
