"""Tar archives: what is read of them, and each way in which one can lie."""

from __future__ import annotations

import io
import tarfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import MAX_BYTES
from grader.submission.members import MAX_MEMBERS, read_module
from grader.submission.tarred import BLOCK, Tar

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
SOURCE = b"def split_heads(x, num_heads):\n    return x\n" * 30
IN_TREE = "stages/s15_attention/attention.py"


def info(name: str, kind: bytes = tarfile.REGTYPE, size: int = len(SOURCE), link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, size, link
    return member


def packed(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def header(name: str, kind: bytes, size: int) -> bytes:
    """A header as it is written, whatever it claims."""
    return info(name, kind, size).tobuf(tarfile.GNU_FORMAT)


def block(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK)


GOOD = packed((info("attention.py"), SOURCE))


def taken(data: bytes) -> bytes:
    return read_module(STAGE, Tar(data, "ada.tar"), "ada.tar")[1]


def refused(data: bytes) -> str:
    started = time.process_time()
    with pytest.raises(SubmissionError) as caught:
        taken(data)
    assert time.process_time() - started < 4
    return caught.value.message


class TestTaken:
    @pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
    def test_each_format_is_read(self, form: int) -> None:
        members = [(info("a/other.py"), bytes(len(SOURCE))), (info(f"a/{IN_TREE}"), SOURCE)]
        assert taken(packed(*members, form=form)) == SOURCE

    @pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
    def test_a_long_name_is_read(self, form: int) -> None:
        name = f"{'long' * 14}/{'name' * 14}/{IN_TREE}"
        member = Tar(packed((info(name), SOURCE), form=form), "ada.tar").members()[0]
        assert (member.name, member.kind, member.size) == (name, "a file", len(SOURCE))

    def test_a_name_beyond_ascii_is_read(self) -> None:
        assert taken(packed((info("Übung/attention.py"), SOURCE))) == SOURCE

    def test_an_archive_made_by_git_is_read(self) -> None:
        global_header = tarfile.TarInfo.create_pax_global_header({"comment": "0" * 40})
        assert taken(global_header + GOOD) == SOURCE

    def test_folders_and_links_elsewhere_do_no_harm(self) -> None:
        members = [(info("bin", tarfile.DIRTYPE, 0), b""), (info("bin/python", tarfile.SYMTYPE, 0, "/usr"), b"")]
        assert taken(packed(*members, (info("attention.py"), SOURCE))) == SOURCE

    def test_without_blocks_at_its_end_it_is_whole(self) -> None:
        assert taken(header("attention.py", b"0", len(SOURCE)) + SOURCE) == SOURCE

    def test_a_size_in_binary_is_read(self) -> None:
        raw = bytearray(header("attention.py", b"0", len(SOURCE)))
        raw[124:136] = b"\x80" + len(SOURCE).to_bytes(11, "big")
        raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
        assert taken(bytes(raw) + block(SOURCE)) == SOURCE

    def test_a_sparse_file_elsewhere_is_passed_over(self) -> None:
        raw = bytearray(header("core", b"S", 512))
        raw[482] = 1
        raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
        first, last = bytearray(BLOCK), bytes(BLOCK)
        first[504] = 1
        assert taken(bytes(raw) + bytes(first) + last + bytes(512) + GOOD) == SOURCE


class TestRefused:
    @pytest.mark.parametrize("data", [b"", bytes(1024)], ids=["nothing", "zeros"])
    def test_what_is_empty(self, data: bytes) -> None:
        assert refused(data) == "ada.tar is a broken tar archive: it is empty"

    def test_what_is_no_tar(self) -> None:
        assert "this is not a tar archive" in refused(b"#" * 2000)
        assert "or is not a tar archive" in refused(b"#" * 200)

    def test_what_is_cut_off(self) -> None:
        assert refused(GOOD[:700]) == "ada.tar is a broken tar archive: it is truncated"

    def test_a_wrong_sum(self) -> None:
        assert "checksum is wrong" in refused(b"b" + GOOD[1:])

    @pytest.mark.parametrize(
        ("kind", "what"),
        [
            (tarfile.SYMTYPE, "a link"),
            (tarfile.LNKTYPE, "a hard link"),
            (tarfile.CHRTYPE, "a device"),
            (tarfile.BLKTYPE, "a device"),
            (tarfile.FIFOTYPE, "a named pipe"),
            (tarfile.DIRTYPE, "a folder"),
            (b"V", "something special"),
        ],
    )
    def test_what_is_no_regular_file(self, kind: bytes, what: str) -> None:
        data = packed((info("attention.py", kind, 0, "/etc/passwd"), b""))
        assert refused(data) == f"ada.tar/attention.py is {what}: expected a regular file"

    def test_a_folder_as_the_first_tar_wrote_it(self) -> None:
        assert Tar(header("a/", b"\0", 0), "ada.tar").members()[0].kind == "a folder"

    def test_a_link_as_a_folder(self) -> None:
        data = packed((info("stages", tarfile.SYMTYPE, 0, "/"), b""), (info(IN_TREE), SOURCE))
        assert refused(data).endswith("'stages' is a link, expected a folder")

    def test_a_sparse_module(self) -> None:
        assert "is a sparse file" in refused(header("attention.py", b"S", 512) + bytes(512))
        member = info("attention.py")
        member.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.name": "attention.py"}
        assert "is a sparse file" in refused(packed((member, SOURCE)))

    def test_a_sparse_file_with_endless_holes(self) -> None:
        raw = bytearray(header("core", b"S", 512))
        raw[482] = 1
        raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
        more = bytearray(BLOCK)
        more[504] = 1
        assert "too many holes" in refused(bytes(raw) + bytes(more) * 1000)

    def test_a_way_out(self) -> None:
        assert "leads out" in refused(packed((info("../attention.py"), SOURCE)))
        assert "is absolute" in refused(packed((info("/attention.py"), SOURCE)))

    def test_a_member_that_is_there_twice(self) -> None:
        assert "2 times" in refused(packed((info("attention.py"), SOURCE), (info("attention.py"), SOURCE)))

    def test_a_module_too_large(self) -> None:
        size = MAX_BYTES + 1
        assert "has 1,048,577 bytes" in refused(packed((info("attention.py", size=size), bytes(size))))

    def test_a_size_of_exabytes(self) -> None:
        raw = bytearray(header("big", b"0", 0))
        raw[124:136] = b"\x80" + (1 << 80).to_bytes(11, "big")
        raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
        assert refused(bytes(raw) + GOOD).endswith("it is truncated")

    @pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
    def test_a_huge_header_is_not_read(self, kind: bytes) -> None:
        tracemalloc.start()
        try:
            message = refused(header("h", kind, 1 << 30) + bytes(1 << 20))
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()
        assert message == "ada.tar has a header of 1,073,741,824 bytes: at most 65,536 are accepted"

    def test_headers_without_end(self) -> None:
        message = refused(header("h", b"L", 0) * (MAX_MEMBERS + 1))
        assert message == "ada.tar has more than 20,000 members and headers"

    @pytest.mark.parametrize(
        "records",
        [b"5 a=b\n", b"999 path=a\n", b"x path=a\n", b"0 path=a\n", b"9 nothing\n", b"1" * 60_000, b"\xb2 path=a\n"],
        ids=["too short", "too long", "no length", "nil", "no sign", "digits", "a digit of another kind"],
    )
    def test_records_of_another_form(self, records: bytes) -> None:
        data = header("h", b"x", len(records)) + block(records) + GOOD
        if records.startswith(b"5"):
            assert "another form" in refused(data) or taken(data) == SOURCE
            return
        assert refused(data).endswith("a header holds a record of another form")

    @pytest.mark.parametrize("key", ["path", "size", "GNU.sparse.major"])
    def test_a_header_for_all_members_that_says_what_each_has_of_its_own(self, key: str) -> None:
        data = tarfile.TarInfo.create_pax_global_header({key: "1"}) + GOOD
        assert refused(data).endswith(f"a header says the {key} of all members")

    @pytest.mark.parametrize("size", ["-1", "1e9", "9" * 30, ""])
    def test_a_size_that_is_none(self, size: str) -> None:
        member = info("attention.py")
        member.pax_headers = {"size": size}
        assert refused(packed((member, SOURCE))).endswith("a header holds an invalid size")

    def test_a_number_that_is_none(self) -> None:
        raw = bytearray(header("a", b"0", 0))
        raw[124:136] = b"99999999999\0"
        raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
        assert refused(bytes(raw)).endswith("a header holds an invalid number")

    def test_a_negative_size(self) -> None:
        raw = bytearray(header("a", b"0", 0))
        raw[124:136] = b"\xff" * 12
        raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
        assert refused(bytes(raw)).endswith("a header holds an invalid number")

    @pytest.mark.parametrize("positions", [range(0, 512, 37), range(512, 2000, 101)])
    def test_whatever_is_broken_is_a_clear_refusal(self, positions: Sequence[int]) -> None:
        for position in positions:
            data = bytearray(GOOD)
            data[position] ^= 0xFF
            try:
                assert len(taken(bytes(data))) == len(SOURCE)  # its content is not the archive's to guard
            except SubmissionError as error:
                assert error.message.startswith("ada.tar")
