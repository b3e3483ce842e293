"""Zip archives: what is read of them, and each way in which one can lie."""

from __future__ import annotations

import io
import struct
import sys
import time
import zipfile
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import MAX_BYTES
from grader.submission.members import MAX_MEMBERS, read_module
from grader.submission.zipped import Zip

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
SOURCE = b"def split_heads(x, num_heads):\n    return x\n" * 3


def packed(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data, method)
    return buffer.getvalue()


GOOD = packed(("attention.py", SOURCE))


def taken(data: bytes) -> bytes:
    return read_module(STAGE, Zip(data, "ada.zip"), "ada.zip")[1]


def refused(data: bytes) -> str:
    started = time.process_time()
    with pytest.raises(SubmissionError) as caught:
        taken(data)
    assert time.process_time() - started < 2
    return caught.value.message


def with_mode(mode: int, name: str = "attention.py") -> bytes:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return packed((info, b"/etc/passwd"))


def patched(data: bytes, signature: bytes, offset: int, new: bytes) -> bytes:
    """The archive with a field of its first record of a kind replaced."""
    at = data.index(signature) + offset
    return data[:at] + new + data[at + len(new) :]


CENTRAL, LOCAL, END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"


@pytest.mark.full_matrix
def test_more_members_than_a_zip_archive_holds_are_counted() -> None:
    names = [(str(number), b"") for number in range(0x10000)]
    assert refused(packed(*names)) == "ada.zip has 65,536 members: at most 20,000 are accepted"


def test_a_zip64_archive_of_few_members_is_named_by_its_form() -> None:
    pointer = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    at = GOOD.rindex(b"PK\x05\x06")
    assert "is a zip64 archive" in refused(GOOD[:at] + pointer + GOOD[at:])


def test_a_name_that_an_upload_changed_is_found_where_no_other_is() -> None:
    named = ("ada/lovelaceada_1_attention-1.py", SOURCE)
    assert taken(packed(named, ("self_attention.py", b"another"))) == SOURCE
    assert "holds 2 files that could be the module" in refused(packed(named, ("attention-2.py", SOURCE)))
    assert taken(packed(named, ("bob/attention.py", b"the one"))) == b"the one"


class TestTaken:
    @pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
    def test_stored_and_deflated_members_are_read(self, method: int) -> None:
        assert taken(packed(("ada/attention.py", SOURCE), method=method)) == SOURCE

    def test_a_comment_at_the_end_is_fine(self) -> None:
        buffer = io.BytesIO(GOOD)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.comment = b"handed in by Ada"
        assert taken(buffer.getvalue()) == SOURCE

    def test_a_regular_file_with_its_mode_is_fine(self) -> None:
        assert taken(with_mode(0o100644)) == b"/etc/passwd"

    def test_of_the_largest_module_all_is_read(self) -> None:
        source = b"".join(b"x%d = %d\n" % (n, n * n) for n in range(60_000))[:MAX_BYTES]
        assert taken(packed(("attention.py", source))) == source

    def test_an_empty_module_is_fine(self) -> None:
        assert taken(packed(("attention.py", b""))) == b""


class TestRefused:
    def test_what_is_no_zip(self) -> None:
        assert refused(b"PK\x03\x04 and so on") == "ada.zip is not a zip archive, or is truncated"

    def test_what_is_cut_off(self) -> None:
        assert "is truncated" in refused(GOOD[:-5])

    def test_what_has_something_after_its_end(self) -> None:
        assert refused(GOOD + b"more").endswith("something follows its end")

    def test_a_link(self) -> None:
        assert refused(with_mode(0o120777)) == "ada.zip/attention.py is a link: expected a regular file"

    def test_a_link_as_a_folder(self) -> None:
        info = zipfile.ZipInfo("stages")
        info.external_attr = 0o120777 << 16
        data = packed((info, b"/"), ("stages/s15_attention/attention.py", SOURCE))
        assert refused(data).endswith("'stages' is a link, expected a folder")

    def test_a_device(self) -> None:
        assert refused(with_mode(0o020666)) == "ada.zip/attention.py is a device: expected a regular file"

    def test_a_way_out(self) -> None:
        assert "leads out" in refused(packed(("../attention.py", SOURCE)))

    @pytest.mark.skipif(sys.platform == "win32", reason="zipfile writes / there")
    def test_a_backslash(self) -> None:
        assert "backslash" in refused(packed(("stages\\attention.py", SOURCE)))

    def test_a_null_byte_in_a_name(self) -> None:
        data = packed(("attention.pyX.txt", SOURCE))
        assert "null byte" in refused(data.replace(b"attention.pyX", b"attention.py\0"))

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_member_that_is_there_twice(self) -> None:
        assert "2 times" in refused(packed(("attention.py", SOURCE), ("attention.py", b"")))

    def test_a_password(self) -> None:
        data = patched(patched(GOOD, CENTRAL, 8, b"\x01\0"), LOCAL, 6, b"\x01\0")
        assert refused(data) == "ada.zip/attention.py is encrypted: expected a file that needs no password"

    def test_a_compression_that_few_can_read(self) -> None:
        assert "expected stored or deflated" in refused(packed(("attention.py", SOURCE), method=zipfile.ZIP_LZMA))

    def test_a_small_bomb(self) -> None:
        message = refused(packed(("attention.py", b"#" * MAX_BYTES)))
        assert "it unpacks" in message
        assert message.endswith("at most 200 times as many are accepted")

    def test_a_large_bomb(self) -> None:
        message = refused(packed(("attention.py", b"#" * (20 << 20))))
        assert message.endswith("has 20,971,520 bytes: at most 1,048,576 are accepted")

    @pytest.mark.parametrize("said", [10, len(SOURCE) + 10])
    def test_a_size_that_is_not_so(self, said: int) -> None:
        size = struct.pack("<L", said)
        data = patched(patched(GOOD, CENTRAL, 24, size), LOCAL, 22, size)
        assert refused(data).startswith("ada.zip is a broken zip archive: ")

    def test_a_bomb_that_says_it_is_small(self) -> None:
        size = struct.pack("<L", 100)
        data = patched(packed(("attention.py", b"#" * (20 << 20))), CENTRAL, 24, size)
        assert refused(data).startswith("ada.zip is a broken zip archive: ")

    def test_damaged_bytes(self) -> None:
        data = bytearray(packed(("attention.py", SOURCE), method=zipfile.ZIP_STORED))
        data[60] ^= 1
        assert "broken zip archive: Bad CRC-32" in refused(bytes(data))

    def test_members_that_overlap(self) -> None:
        first = packed(("attention.py", SOURCE), ("b.py", SOURCE))
        at = first.rindex(CENTRAL)
        assert refused(first[: at + 42] + struct.pack("<L", 0) + first[at + 46 :]).endswith("its members overlap")

    def test_an_archive_that_says_it_is_zip64(self) -> None:
        assert "is a zip64 archive" in refused(patched(GOOD, END, 10, b"\xff\xff"))
        assert "is a zip64 archive" in refused(patched(GOOD, END, 12, b"\xff\xff\xff\xff"))
        at = GOOD.index(END)
        assert "is a zip64 archive" in refused(GOOD[:at] + b"PK\x06\x07" + bytes(16) + GOOD[at:])

    def test_zip64_sizes_that_are_not_so(self) -> None:
        info = zipfile.ZipInfo("attention.py")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive, archive.open(info, "w", force_zip64=True) as file:
            file.write(SOURCE)
        data = buffer.getvalue()
        assert taken(data) == SOURCE  # as programs write it that know no size beforehand
        extra = struct.pack("<HHQQ", 1, 16, 1 << 60, len(SOURCE))
        at = data.index(CENTRAL)
        lied = data[at : at + 24] + b"\xff\xff\xff\xff" + data[at + 28 : at + 30] + struct.pack("<H", len(extra))
        lied = lied[:20] + b"\xff\xff\xff\xff" + lied[24:] + data[at + 32 : at + 58] + extra
        end = bytearray(data[data.index(END) :])
        end[12:16] = struct.pack("<L", len(lied))
        assert "has 1,152,921,504,606,846,976 bytes" in refused(data[:at] + lied + bytes(end))

    def test_too_many_members(self) -> None:
        count = struct.pack("<H", MAX_MEMBERS + 1)
        assert refused(patched(GOOD, END, 10, count)) == "ada.zip has 20,001 members: at most 20,000 are accepted"

    def test_more_members_than_it_says(self) -> None:
        at, end = GOOD.index(CENTRAL), GOOD.index(END)
        entries = GOOD[at:end] * (MAX_MEMBERS + 1)
        tail = patched(GOOD[end:], END, 12, struct.pack("<L", len(entries)))
        assert refused(GOOD[:at] + entries + tail) == "ada.zip has 20,001 members: at most 20,000 are accepted"

    def test_too_long_a_list(self) -> None:
        assert "lists its members in 16,777,216 bytes" in refused(patched(GOOD, END, 12, struct.pack("<L", 1 << 24)))

    def test_a_list_that_is_not_where_it_should_be(self) -> None:
        assert "broken zip archive" in refused(patched(GOOD, END, 16, struct.pack("<L", 5000)))

    @pytest.mark.parametrize("cut", range(0, 120, 7))
    def test_whatever_is_broken_is_a_clear_refusal(self, cut: int) -> None:
        data = bytearray(GOOD)
        data[-cut - 1] ^= 0xFF
        try:
            assert taken(bytes(data)) == SOURCE  # a field that nobody reads
        except SubmissionError as error:
            assert error.message.startswith("ada.zip")
