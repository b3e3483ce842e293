"""Streams that a test writes to in place of stdout."""

from __future__ import annotations

import errno
import io
import os


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
