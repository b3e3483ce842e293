"""How the package is built: hatchling, and the course as a learner gets it, sealed, in place of its answers.

From the author's copy the course is packed by the code of `grader release`, and what was built is searched for hidden
text: one finding ends the build. That each reference passes its own tests is not proven here: a build runs apart from
pytest and from what isolates, and the workflow that publishes has proven every stage of the same commit before. An
sdist has the packed course in it already, and builds the same wheel anywhere.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))
from grader.errors import GraderError

ROOT = Path(__file__).resolve().parent
ARCHIVE = "grader/self_paced.zip"
SEALING = ["cryptography>=43", "numpy>=2.2", "tomli>=2.1"]
Settings = dict[str, Any] | None


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:  # type: ignore[no-redef]
    """Return what an sdist needs beside hatchling: what seals, where there are answers to seal."""
    return [*hatchling_build.get_requires_for_build_sdist(config_settings), *_for_sealing()]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:  # type: ignore[no-redef]
    """Return what a wheel needs beside hatchling; an editable one needs nothing."""
    return [*hatchling_build.get_requires_for_build_wheel(config_settings), *_for_sealing()]


def _for_sealing() -> list[str]:
    return [] if _is_sdist() else SEALING


def _is_sdist() -> bool:
    """Say whether this is an unpacked sdist, which has the course packed and no answers."""
    return (ROOT / "PKG-INFO").is_file()


class SealedCourse(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the packed course into what is built, and looks that no answer is left beside it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack the course, unless it is packed already, or nothing is packed at all."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if version == "editable" or _is_sdist():
            return
        from grader.classroom.release import self_paced

        try:
            data = self_paced(ROOT)
        except GraderError as error:
            raise SystemExit(f"error: the course cannot be packed: {error}") from error
        self._folder = tempfile.TemporaryDirectory(prefix="sealed-course-")
        packed = Path(self._folder.name, "course.zip")
        packed.write_bytes(data)
        build_data["force_include"][str(packed)] = ARCHIVE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Search what was built; where hidden text is found, it is deleted, and the build fails."""
        if self._folder is None:
            return
        self._folder.cleanup()
        from grader.classroom.release import expect_no_answers

        try:
            expect_no_answers(ROOT, Path(artifact_path))
        except BaseException as error:
            Path(artifact_path).unlink(missing_ok=True)
            if isinstance(error, GraderError):
                raise SystemExit(f"error: {error}\n{artifact_path} was deleted: nobody may get it.") from error
            raise
