"""What is told of a module that wanted more memory than its stage gives: how much it asked for, and what it held."""

from __future__ import annotations

import re

_SIZE = r"(\d{1,9}(?:\.\d{0,9})?) (bytes|[KMGTPE]iB)"  # what has more digits is not NumPy's
_NUMPY = re.compile(rf"Unable to allocate {_SIZE} for an array with shape (\([\d, ]*\))")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def too_much(said: str, most: int) -> str:
    """Return the message for a MemoryError that said so much, in a stage of most MB (of 2**20 bytes, as in stage.toml).

    "Unable to allocate 488. MiB for an array with shape (64000000,) …" becomes "an array of shape (64000000,) takes
    488 MB, and about 536 MB or more are held already: together more than the 1024 MB that a stage may use".
    """
    found = _NUMPY.match(said)
    if found is None:
        return f"with this the module would use more than the {most} MB that a stage may use"
    size = round(float(found[1]) * 1024.0 ** (_UNITS.index(found[2]) - _UNITS.index("MiB")))
    array = f"an array of shape {found[3]} takes {size} MB"
    if size > most:
        return f"{array}, more than the {most} MB that a stage may use"
    held = f"about {most - size} MB or more are held already"
    return f"{array}, and {held}: together more than the {most} MB that a stage may use"
