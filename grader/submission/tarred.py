"""A tar archive, compressed or not: read along its headers, with bounds that tarfile has not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.errors import SubmissionError
from grader.submission.files import MAX_BYTES
from grader.submission.members import MAX_MEMBERS, Member
from grader.submission.unpacked import Unpacked

BLOCK = 512
MAX_EXTRA = 1 << 16  # bytes of a header that only says more about the next member
_KINDS = {
    b"0": "a file", b"\0": "a file", b"7": "a file", b"1": "a hard link", b"2": "a link", b"3": "a device",
    b"4": "a device", b"5": "a folder", b"6": "a named pipe", b"S": "a sparse file",
}  # fmt: skip
_EXTRA = (b"x", b"g", b"L", b"K")  # headers about what follows them
_WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
_RECORD = re.compile(rb"(\d{1,7}) ")


@dataclass
class _More:
    """What extra headers say about the next member."""

    name: bytes | None = None
    size: int | None = None
    sparse: bool = False


class Tar:
    """The archive in data; label names it in messages."""

    def __init__(self, data: bytes, label: str) -> None:
        self._data = data
        self._label = label

    def members(self) -> Sequence[Member]:
        """All members, found by passing over what lies between their headers."""
        return [member for member, _ in self._walk(None)]

    def read(self, member: Member, limit: int = MAX_BYTES) -> bytes:
        """One member's bytes; expects that its size was looked at."""
        return next(source for found, source in self._walk(member.index, limit) if found == member)

    def _walk(self, wanted: int | None, limit: int = MAX_BYTES) -> Iterator[tuple[Member, bytes]]:
        """Each member, and of the wanted one what it holds."""
        stream = Unpacked(self._data, self._label)
        more = _More()
        for index in range(MAX_MEMBERS + 1):
            header = stream.read(BLOCK)
            if not header.strip(b"\0"):
                if index == 0:
                    raise self._broken("it is empty")
                return
            self._check(header)
            kind, size = header[156:157], self._number(header[124:136])
            if kind in _EXTRA:
                self._learn(kind, self._extra(stream, size), more)
                continue
            size = 0 if kind in _WITHOUT_DATA else size if more.size is None else more.size
            member = Member(_name(header, more), _kind(header, more), size, index)
            if kind == b"S":
                self._pass_map(header, stream)
            yield member, self._data_of(stream, size, limit if index == wanted else 0)
            more = _More()
        what = f"{self._label} has more than {MAX_MEMBERS:,} members and headers"
        raise SubmissionError(what, "Hand in the module alone.")

    def _data_of(self, stream: Unpacked, size: int, limit: int) -> bytes:
        source = stream.read(min(size, limit))
        if not stream.skip(size - len(source)):
            raise self._broken("it is truncated")
        stream.skip(-size % BLOCK)  # what fills up the last block
        return source

    def _check(self, header: bytes) -> None:
        """The sum of a header's bytes stands in it; some programs took bytes for signed numbers."""
        if len(header) < BLOCK:
            raise self._broken("it is truncated, or is not a tar archive")
        rest = header[:148] + b" " * 8 + header[156:]
        plain = sum(rest)
        said = re.fullmatch(rb"[\0 ]*([0-7]+)[\0 ]*", header[148:156])
        if said is None or int(said[1], 8) not in (plain, plain - 256 * sum(byte > 127 for byte in rest)):
            raise self._broken("a header's checksum is wrong, or this is not a tar archive")

    def _number(self, digits: bytes) -> int:
        """Octal digits or, for what does not fit, a bit and the number itself."""
        if digits[:1] == b"\x80":
            return int.from_bytes(digits[1:], "big")
        text = digits.split(b"\0", 1)[0].strip()
        if not re.fullmatch(rb"[0-7]*", text):
            raise self._broken("a header holds an invalid number")
        return int(text or b"0", 8)

    def _extra(self, stream: Unpacked, size: int) -> bytes:
        if size > MAX_EXTRA:
            what = f"has a header of {size:,} bytes: at most {MAX_EXTRA:,} are accepted"
            raise SubmissionError(f"{self._label} {what}", "Create the archive again.")
        data = stream.read(size)
        stream.skip(-size % BLOCK)
        return data

    def _learn(self, kind: bytes, data: bytes, more: _More) -> None:
        """Take what an extra header says; GNU's hold one name, the others records with a length before each."""
        if kind in (b"L", b"K"):
            if kind == b"L":
                more.name = data.split(b"\0", 1)[0]
            return
        for key, value in self._records(data):
            ours = key in (b"path", b"size") or key.startswith(b"GNU.sparse.")
            if kind == b"g" and ours:
                raise self._broken(f"a header says the {key.decode('ascii', 'replace')} of all members")
            if key in (b"path", b"GNU.sparse.name"):
                more.name = value
            elif key == b"size":
                if not re.fullmatch(rb"[0-9]{1,20}", value):
                    raise self._broken("a header holds an invalid size")
                more.size = int(value)
            more.sparse |= key.startswith(b"GNU.sparse.")

    def _records(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Read `30 mtime=1700000000.5` and a line end, where 30 is the length of all that."""
        at = 0
        while at < len(data) and data[at : at + 1] != b"\0":
            found = _RECORD.match(data, at)
            end = at + int(found[1]) if found else 0
            if found is None or not found.end() < end <= len(data) or b"=" not in data[found.end() : end]:
                raise self._broken("a header holds a record of another form")
            key, _, value = data[found.end() : end - 1].partition(b"=")
            yield key, value
            at = end

    def _pass_map(self, header: bytes, stream: Unpacked) -> None:
        """Pass over the blocks in which GNU tar goes on to say where a sparse file's holes are."""
        goes_on = header[482:483]
        for _ in range(MAX_EXTRA // BLOCK):
            if goes_on in (b"\0", b""):
                return
            goes_on = stream.read(BLOCK)[504:505]
        raise self._broken("a sparse file has too many holes")

    def _broken(self, why: str) -> SubmissionError:
        return SubmissionError(f"{self._label} is a broken tar archive: {why}", "Create the archive again.")


def _kind(header: bytes, more: _More) -> str:
    kind = header[156:157]
    if kind in (b"0", b"\0", b"7") and header[:100].split(b"\0", 1)[0].endswith(b"/"):
        return "a folder"  # as the first tar wrote it
    return "a sparse file" if more.sparse else _KINDS.get(kind, "something special")


def _name(header: bytes, more: _More) -> str:
    name = more.name
    if name is None:
        name = header[:100].split(b"\0", 1)[0]
        if header[257:263] == b"ustar\0" and (prefix := header[345:500].split(b"\0", 1)[0]):
            name = prefix + b"/" + name
    return name.decode("utf-8", "surrogateescape")
