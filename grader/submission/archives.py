"""Zip and tar archives under byte budgets: their members, and one of them read."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from grader.course.stage import Stage
from grader.errors import NotHandedIn, SubmissionError
from grader.submission.files import (
    MAX_BYTES,
    MAX_RATIO,
    ArchiveBudget,
    expect_kind,
    expect_parent,
    expect_size,
    expected,
    folded,
    is_renamed,
    kind,
    places,
    printable,
    several,
    shown,
    suggestion,
)

MAX_MEMBERS = 20_000
MAX_PATH = 1024  # characters
MAX_DEPTH = 40  # folders within folders
_LITTER = "__MACOSX"  # where macOS puts what it knows about the other members


@dataclass(frozen=True)
class ArchiveMember:
    """One entry of an archive: its name as written there, what it is, its size, and its position."""

    name: str
    kind: str
    size: int
    index: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The name as a path; ./ and doubled slashes mean nothing."""
        return tuple(part for part in self.name.split("/") if part not in ("", "."))


class Archive(Protocol):
    """What holds members: a zip or tar archive, or a folder."""

    def members(self) -> Sequence[ArchiveMember]:
        """All that it holds; raises SubmissionError where that is too much, or broken."""

    def read(self, member: ArchiveMember, limit: int = MAX_BYTES) -> bytes:
        """The bytes of a regular file in it, no more than limit; raises SubmissionError."""


def read_chosen(
    stage: Stage, archive: Archive, members: Sequence[ArchiveMember], label: str, what: str = "an archive"
) -> tuple[tuple[str, ...], bytes]:
    """Return the path of the module of a stage among an archive's members, and its bytes; what says what it is."""
    member = choose(stage, members, label, what)
    return member.parts, archive.read(member)


def choose(stage: Stage, members: Sequence[ArchiveMember], label: str, what: str = "an archive") -> ArchiveMember:
    """The module, where the members leave no doubt which it is.

    It lies where it would lie in a folder or, since archives often hold one folder with everything, below others; else
    it has a name that an upload changed. Two such are one too many. Raises SubmissionError.
    """
    for member in members:
        check_name(member.name, label)
    paths = [(member, member.parts) for member in members if member.parts and member.parts[0] != _LITTER]
    for place in places(stage):
        if any(parts == place for _, parts in paths):
            return _checked(place, paths, label)
    below = [{parts for _, parts in paths if parts[-len(place) :] == place} for place in places(stage)]
    for found in (*below, {parts for _, parts in paths if is_renamed(parts[-1], stage.module)}):
        if len({folded(parts) for parts in found}) > 1:
            raise several(label, ["/".join(parts) for parts in sorted(found)])
        if found:
            return _checked(min(found), paths, label)
    names = ["/".join(parts) for _, parts in paths]
    raise NotHandedIn(f"{label} is {what} without {expected(stage)}", suggestion(names))


def check_name(name: str, label: str) -> None:
    """Raise SubmissionError where a name is made to lead out of the archive, or to exhaust whoever reads it."""
    parts = name.split("/")
    fault = None
    if len(name) > MAX_PATH:
        fault = f"has {len(name):,} characters: at most {MAX_PATH:,} are accepted"
    elif len(parts) > MAX_DEPTH:
        fault = f"lies {len(parts) - 1} folders deep: at most {MAX_DEPTH - 1} are accepted"
    elif ".." in parts:
        fault = 'leads out of the archive: expected a name without ".."'
    elif name.startswith("/") or re.match("[A-Za-z]:", name):
        fault = "is absolute: expected a path within the archive"
    elif "\\" in name:
        fault = "holds a backslash: expected / between folders"
    elif "\0" in name:
        fault = "holds a null byte"
    if fault:
        raise SubmissionError(
            f"{label} cannot be accepted: the name '{shown(name)}' {fault}", "Create the archive again."
        )


def _checked(
    path: tuple[str, ...], paths: Sequence[tuple[ArchiveMember, tuple[str, ...]]], label: str
) -> ArchiveMember:
    """The one member of that path; nothing on the way to it may be a link, or have a second of almost the same name."""
    label = f"{label}/{printable('/'.join(path))}"
    key = folded(path)
    same = [member for member, parts in paths if parts == path]
    for member, parts in paths:
        common = len(parts) if len(parts) <= len(path) else len(path)
        if parts[:common] == path[:common]:
            if common < len(path):
                expect_parent(member.kind, label, parts[-1])
        elif (alike := _alike(parts, path, key)) is not None:
            names = f"'{shown('/'.join(path[:alike]))}' and '{shown('/'.join(parts[:alike]))}'"
            raise SubmissionError(f"{label} cannot be accepted: {names} differ only in how they are written")
    if len(same) > 1:
        raise SubmissionError(f"{label} is there {len(same)} times: expected once", "Create the archive again.")
    expect_kind(same[0].kind, label)
    expect_size(same[0].size, label)
    return same[0]


def _alike(parts: tuple[str, ...], path: tuple[str, ...], key: tuple[str, ...]) -> int | None:
    """How many parts, from the top, differ only in how they are written; None where one truly differs."""
    for at, (part, wanted) in enumerate(zip(parts, path, strict=False)):
        if part != wanted:
            return at + 1 if folded([part]) == key[at : at + 1] else None
    return None


MAX_MEMORY = 64 << 20  # of the decompressor: an xz file says how much it wants
MAX_STREAMS = 10_000  # one after the other in one file, as pigz and bgzip write them
_CHUNK = 1 << 16


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _decompressor(data: bytes) -> _Decompressor | None:
    """What unpacks data that begins like this; None where it is not compressed."""
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31)
    if data.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_MEMORY)
    return None


class Unpacked:
    """A file of bytes that is read once, from its beginning."""

    def __init__(self, data: bytes, label: str) -> None:
        self._data = data
        self._label = label
        self._machine = _decompressor(data)
        self._position = 0  # in data
        self._pending = b""  # taken from data, and not yet unpacked
        self._ready = b""
        self._budget = ArchiveBudget(label, len(data))
        self._streams = 1

    def read(self, count: int) -> bytes:
        """The next bytes; fewer only at the end."""
        pieces: list[bytes] = []
        while count > 0 and (self._ready or self._fill()):
            pieces.append(self._ready[:count])
            self._ready = self._ready[count:]
            count -= len(pieces[-1])
        return b"".join(pieces)

    def skip(self, count: int) -> bool:
        """Pass over bytes, keeping none; False where the end comes before."""
        while count > 0 and (self._ready or self._fill()):
            passed = min(count, len(self._ready))
            self._ready = self._ready[passed:]
            count -= passed
        return count == 0

    def _fill(self) -> bool:
        """Unpack the next piece; False at the end."""
        while not self._ready:
            try:
                more = self._step()
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, MemoryError) as error:
                raise SubmissionError(
                    f"{self._label} cannot be unpacked: {error}", "Create the archive again."
                ) from error
            if not more and not self._ready:
                return False
        self._budget.spend(len(self._ready))
        return True

    def _step(self) -> bool:
        """One call of the decompressor, or one piece of a file that is not compressed."""
        hungry = getattr(self._machine, "needs_input", True)  # else it has more to give of what it was given
        if hungry and not self._pending:
            self._pending = self._data[self._position : self._position + _CHUNK]
            self._position += len(self._pending)
        if self._machine is None:
            self._ready, self._pending = self._pending, b""
            return bool(self._ready)
        if self._machine.eof:
            return self._next_stream()
        given = self._pending if hungry else b""
        self._ready = self._machine.decompress(given, _CHUNK)
        if self._machine.eof:
            self._pending = self._machine.unused_data
        elif hungry:
            self._pending = getattr(self._machine, "unconsumed_tail", b"")
            if not given and not self._ready:
                raise EOFError("it is truncated")
        return True

    def _next_stream(self) -> bool:
        """Begin the stream that follows in the same file, if one does; padding ends it."""
        following = _decompressor(self._pending + self._data[self._position : self._position + 6])
        if following is None:
            return False
        self._streams += 1
        if self._streams > MAX_STREAMS:
            raise EOFError(f"it has more than {MAX_STREAMS:,} streams")
        self._machine = following
        return True


MAX_DIRECTORY = 4 << 20  # bytes of the list of members
_END = struct.Struct("<4s4H2LH")  # the record that closes an archive
_POINTER = struct.Struct("<4sLQL")  # before it in a zip64 archive: where the larger record begins
_LARGE_END = struct.Struct("<4sQ2H2L4Q")
_ENCRYPTED = 0x1 | 0x2000
_LOCAL_HEADER = 30  # bytes before a member's own, at least
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, OverflowError,
    NotImplementedError, MemoryError,
)  # fmt: skip


class Zip:
    """The archive in data; label names it in messages."""

    def __init__(self, data: bytes, label: str) -> None:
        self._label = label
        self._data = data
        self._budget = ArchiveBudget(label, len(data))  # of all members together
        self._check_end()
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
        except _UNREADABLE as error:
            raise self._broken(error) from error

    def members(self) -> Sequence[ArchiveMember]:
        """All members; their headers and bytes may not overlap, which is how a small archive holds a huge one."""
        infos = self._file.infolist()
        self._expect_few(len(infos))  # which need not be as many as the end says
        end = 0
        for info in sorted(infos, key=lambda info: info.header_offset):
            if info.header_offset < 0:
                raise self._broken("its list of members is not where its end says")
            if info.header_offset < end:
                raise SubmissionError(
                    f"{self._label} cannot be accepted: two of its members overlap", "Create the archive again."
                )
            end = info.header_offset + _LOCAL_HEADER + info.compress_size
        return [self._member(index, info) for index, info in enumerate(infos)]

    def read(self, member: ArchiveMember, limit: int = MAX_BYTES) -> bytes:
        """One member's bytes, unpacked no further than limit: than a module may be long."""
        info = self._file.infolist()[member.index]
        label = f"{self._label}/{printable('/'.join(member.parts))}"
        if info.flag_bits & _ENCRYPTED:
            raise SubmissionError(f"{label} is encrypted: expected a file that needs no password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            packed = f"compressed by an unsupported method ({info.compress_type})"
            raise SubmissionError(f"{label} is {packed}: expected stored or deflated", "Create the archive again.")
        if info.file_size > MAX_RATIO * max(info.compress_size, 1):
            ratio = f"it unpacks {info.compress_size:,} bytes to {info.file_size:,}"
            raise SubmissionError(
                f"{label} cannot be accepted: {ratio}, at most {MAX_RATIO} times as many are accepted"
            )
        self._budget.spend(info.file_size)
        try:
            with self._file.open(info) as file:
                source = file.read(limit + 1)
        except _UNREADABLE as error:
            raise self._broken(error) from error
        if len(source) != info.file_size:
            raise self._broken(f"{label} has another size than the archive's list says")
        return source

    def _member(self, index: int, info: zipfile.ZipInfo) -> ArchiveMember:
        # The name as it is written: zipfile cuts it at a null byte and, on Windows, turns its backslashes.
        mode = info.external_attr >> 16
        what = kind(mode) if stat.S_IFMT(mode) else "a file"
        if info.orig_filename.endswith("/") and what == "a file":
            what = "a folder"
        return ArchiveMember(info.orig_filename, what, info.file_size, index)

    def _check_end(self) -> None:
        """Look at the record at the end before zipfile does, which makes an object of each member that it claims."""
        at = self._data.rfind(b"PK\x05\x06", -_END.size - 0xFFFF)
        if at < 0 or len(self._data) < at + _END.size:
            raise SubmissionError(f"{self._label} is not a zip archive, or is truncated", "Create the archive again.")
        _, _, _, _, count, size, _, comment = _END.unpack_from(self._data, at)
        if at + _END.size + comment != len(self._data):
            raise self._broken("something follows its end")
        if (large := self._count_of_zip64(at)) is not None:
            self._expect_few(large)
        if count == 0xFFFF or size == 0xFFFFFFFF or large is not None:
            form = "a zip64 archive, a form for more than 65,534 members or 4 GB"
            raise SubmissionError(f"{self._label} is {form}", "Create the archive again, with the module alone.")
        self._expect_few(count)
        if size > MAX_DIRECTORY:
            what = f"lists its members in {size:,} bytes: at most {MAX_DIRECTORY:,} are accepted"
            raise SubmissionError(f"{self._label} {what}", "Hand in the module alone.")

    def _count_of_zip64(self, end: int) -> int | None:
        """How many members the larger record of a zip64 archive claims, which lies before the end; None without one."""
        pointer = self._data[max(end - _POINTER.size, 0) : end]
        if not pointer.startswith(b"PK\x06\x07"):
            return None
        _, _, at, _ = _POINTER.unpack(pointer)
        record = self._data[at : at + _LARGE_END.size]
        complete = len(record) == _LARGE_END.size and record.startswith(b"PK\x06\x06")
        return _LARGE_END.unpack(record)[7] if complete else 0

    def _expect_few(self, count: int) -> None:
        if count > MAX_MEMBERS:
            what = f"{self._label} has {count:,} members: at most {MAX_MEMBERS:,} are accepted"
            raise SubmissionError(what, "Hand in the module alone.")

    def _broken(self, why: object) -> SubmissionError:
        return SubmissionError(f"{self._label} is a broken zip archive: {shown(str(why))}", "Create the archive again.")


TAR_BLOCK = 512
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

    def members(self) -> Sequence[ArchiveMember]:
        """All members, found by passing over what lies between their headers."""
        return [member for member, _ in self._walk(None)]

    def read(self, member: ArchiveMember, limit: int = MAX_BYTES) -> bytes:
        """One member's bytes; expects that its size was looked at."""
        return next(source for found, source in self._walk(member.index, limit) if found == member)

    def _walk(self, wanted: int | None, limit: int = MAX_BYTES) -> Iterator[tuple[ArchiveMember, bytes]]:
        """Each member, and of the wanted one what it holds."""
        stream = Unpacked(self._data, self._label)
        more = _More()
        for index in range(MAX_MEMBERS + 1):
            header = stream.read(TAR_BLOCK)
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
            member = ArchiveMember(_name(header, more), _kind(header, more), size, index)
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
        stream.skip(-size % TAR_BLOCK)  # what fills up the last block
        return source

    def _check(self, header: bytes) -> None:
        """The sum of a header's bytes stands in it; some programs took bytes for signed numbers."""
        if len(header) < TAR_BLOCK:
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
        stream.skip(-size % TAR_BLOCK)
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
        for _ in range(MAX_EXTRA // TAR_BLOCK):
            if goes_on in (b"\0", b""):
                return
            goes_on = stream.read(TAR_BLOCK)[504:505]
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
