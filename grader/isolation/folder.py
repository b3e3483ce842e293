"""A temporary folder that belongs to one process: no fork of that process removes it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref


class OwnFolder:
    """A new folder, removed by cleanup, and when the process that made it forgets it or ends.

    tempfile.TemporaryDirectory is removed by whoever forgets it, be it a fork that never used it.
    """

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="grader-")
        self._remove = weakref.finalize(self, _removed, self.name, os.getpid())

    def cleanup(self) -> None:
        """Remove the folder and all in it, as far as it can be removed."""
        self._remove()


def _removed(name: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(name, ignore_errors=True)
