"""Attacks as they are handed in: bytes that no file of ours holds, archives that no honest packer writes."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

FILLINGS = {
    b"NULL": b"\0",
    b"LARGE": b"x" * (3 << 20),
    b"DEEP": b'"\n' + b"(" * 100_000 + b")" * 100_000 + b'\n"',
    b"BYTES": b"\xff\xfe\x80",
    b"ZEROS": b"0" * (40 << 20),
}


def filled(text: str) -> bytes:
    """Return a text's bytes with what no file of the catalogue could hold itself."""
    found = text.encode()
    for name, filling in FILLINGS.items():
        found = found.replace(b"@%s@" % name, filling)
    return found


def archive(folder: Path, kind: str) -> Path:
    """Return where the archive of a folder lies."""
    return folder / f"handed_in.{kind}"


def pack(folder: Path, kind: str, files: Mapping[str, bytes], links: Mapping[str, str]) -> None:
    """Write an archive into a folder: links first, then files, under the names that are given."""
    if kind == "zip":
        assert not links
        with zipfile.ZipFile(archive(folder, kind), "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, data in files.items():
                zipped.writestr(name, data)
        return
    with tarfile.open(archive(folder, kind), "w") as tarred:
        for name, target in links.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tarred.addfile(link)
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tarred.addfile(member, io.BytesIO(data))
