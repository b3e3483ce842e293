"""A zip archive: its list of members, held against the file itself, and one member unpacked in memory."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence

from grader.errors import SubmissionError
from grader.submission.budget import MAX_RATIO, ArchiveBudget
from grader.submission.files import MAX_BYTES, kind
from grader.submission.members import MAX_MEMBERS, Member
from grader.submission.names import printable, shown

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

    def members(self) -> Sequence[Member]:
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

    def read(self, member: Member, limit: int = MAX_BYTES) -> bytes:
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

    def _member(self, index: int, info: zipfile.ZipInfo) -> Member:
        # The name as it is written: zipfile cuts it at a null byte and, on Windows, turns its backslashes.
        mode = info.external_attr >> 16
        what = kind(mode) if stat.S_IFMT(mode) else "a file"
        if info.orig_filename.endswith("/") and what == "a file":
            what = "a folder"
        return Member(info.orig_filename, what, info.file_size, index)

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
