"""Zip and tar archives: the module among their members, bytes under a budget, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import sys
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import MAX_BYTES, archives, files
from grader.submission.archives import (
    MAX_DEPTH,
    MAX_MEMBERS,
    MAX_PATH,
    TAR_BLOCK,
    Archive,
    ArchiveMember,
    Tar,
    Unpacked,
    Zip,
    choose,
    read_chosen,
)
from tests.support.work import with_calls

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
IN_TREE = "stages/s15_attention/attention.py"


def unpacked(archive: Archive, label: str) -> bytes:
    """The module in an archive."""
    return read_chosen(STAGE, archive, archive.members(), label)[1]


def members(*names: str | tuple[str, str]) -> list[ArchiveMember]:
    pairs = [name if isinstance(name, tuple) else (name, "a file") for name in names]
    return [ArchiveMember(name, kind, 10, index) for index, (name, kind) in enumerate(pairs)]


def chosen(*names: str | tuple[str, str]) -> str:
    return choose(STAGE, members(*names), "ada.zip").name


def refused(*names: str | tuple[str, str]) -> str:
    with pytest.raises(SubmissionError) as caught:
        choose(STAGE, members(*names), "ada.zip")
    return caught.value.message


class TestWhich:
    @pytest.mark.parametrize(
        ("names", "taken"),
        [
            (("attention.py",), "attention.py"),
            (("./attention.py",), "./attention.py"),
            (("attention.py", IN_TREE, "sub/attention.py"), IN_TREE),
            (("sub/attention.py", "attention.py"), "attention.py"),
            (("ada/README.md", "ada/attention.py"), "ada/attention.py"),
            ((f"course-main/{IN_TREE}", "course-main/other/attention.py"), f"course-main/{IN_TREE}"),
            (("attention.py", "__MACOSX/._attention.py", "__MACOSX/attention.py"), "attention.py"),
            (("a/attention.py", "__MACOSX/a/attention.py"), "a/attention.py"),
        ],
    )
    def test_it_is_the_same_as_in_a_folder_or_the_only_one_below(self, names: tuple[str, ...], taken: str) -> None:
        assert chosen(*names) == taken

    def test_two_below_are_one_too_many(self) -> None:
        message = refused("b/attention.py", "a/attention.py")
        assert message == "ada.zip holds 2 files that could be the module: a/attention.py, b/attention.py"

    def test_two_courses_are_one_too_many(self) -> None:
        assert "holds 2 files that could be the module" in refused(f"a/{IN_TREE}", f"b/{IN_TREE}")

    def test_none_says_what_there_is(self) -> None:
        with pytest.raises(SubmissionError) as caught:
            choose(STAGE, members("Attention.py", "notes.txt"), "ada.zip")
        assert caught.value.message == f"ada.zip is an archive without {IN_TREE} or attention.py"
        assert caught.value.hint == "Python files in it: Attention.py"

    def test_an_archive_within_is_not_opened(self) -> None:
        assert "without" in refused("attention.zip", "attention.py.gz")


class TestDoubts:
    @pytest.mark.parametrize("other", ["Attention.py", "ATTENTION.PY", "attention.Py"])
    def test_names_that_differ_only_in_case_are_refused(self, other: str) -> None:
        assert refused("attention.py", other).endswith(
            f"'attention.py' and '{other}' differ only in how they are written"
        )
        assert "differ only" in refused(other, "attention.py")

    def test_so_are_folders_on_the_way(self) -> None:
        assert refused(IN_TREE, "Stages/readme.md").endswith(
            "'stages' and 'Stages' differ only in how they are written"
        )

    def test_so_are_modules_below_that_differ_only_in_case(self) -> None:
        assert "differ only" in refused("ada/attention.py", "Ada/attention.py")

    def test_elsewhere_they_do_no_harm(self) -> None:
        assert chosen("attention.py", "docs/a.md", "docs/A.md") == "attention.py"

    def test_a_member_that_is_there_twice_is_refused(self) -> None:
        assert refused("attention.py", "attention.py").endswith("attention.py is there 2 times: expected once")
        assert refused("attention.py", "./attention.py").endswith("attention.py is there 2 times: expected once")

    @pytest.mark.parametrize("kind", ["a link", "a hard link", "a device", "a folder", "a sparse file", "a named pipe"])
    def test_only_a_regular_file_is_taken(self, kind: str) -> None:
        assert refused(("attention.py", kind)) == f"ada.zip/attention.py is {kind}: expected a regular file"

    @pytest.mark.parametrize("kind", ["a link", "a file"])
    def test_only_folders_lead_to_it(self, kind: str) -> None:
        assert refused(("stages", kind), IN_TREE).endswith(f"'stages' is {kind}, expected a folder")
        assert chosen(("stages/", "a folder"), IN_TREE) == IN_TREE

    def test_a_link_elsewhere_does_no_harm(self) -> None:
        assert chosen((".venv/bin/python", "a link"), "attention.py") == "attention.py"

    def test_a_module_too_large_is_refused_by_what_the_archive_says(self) -> None:
        with pytest.raises(SubmissionError, match="has 104,857,600 bytes: at most 1,048,576 are accepted"):
            choose(STAGE, [ArchiveMember("attention.py", "a file", 100 << 20, 0)], "ada.zip")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("../attention.py", 'leads out of the archive: expected a name without ".."'),
            ("a/../../attention.py", 'leads out of the archive: expected a name without ".."'),
            ("/etc/attention.py", "is absolute: expected a path within the archive"),
            ("C:/attention.py", "is absolute: expected a path within the archive"),
            ("c:attention.py", "is absolute: expected a path within the archive"),
            ("stages\\attention.py", "holds a backslash: expected / between folders"),
            ("attention.py\0.txt", "holds a null byte"),
            ("a/" * MAX_DEPTH + "b", f"lies {MAX_DEPTH} folders deep: at most {MAX_DEPTH - 1} are accepted"),
            ("a" * (MAX_PATH + 1), "has 1,025 characters: at most 1,024 are accepted"),
        ],
    )
    def test_one_that_is_a_trap_spoils_the_archive(self, name: str, why: str) -> None:
        message = refused("attention.py", name)
        assert message.startswith("ada.zip cannot be accepted: the name '")
        assert message.endswith(why)

    def test_two_dots_within_a_name_are_no_way_out(self) -> None:
        assert chosen("attention.py", "a..b/c..") == "attention.py"

    def test_control_characters_are_not_shown(self) -> None:
        assert "\x1b" not in refused("../\x1b[31m")


DATA = random.Random(7).randbytes(300_000) + bytes(300_000)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.fixture(params=PACKERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refused_file(data: bytes, count: int = 1 << 30) -> str:
    with pytest.raises(SubmissionError) as caught:
        Unpacked(data, "ada.tar").skip(count)
    return caught.value.message


def test_all_comes_out_in_pieces(name: str) -> None:
    stream = Unpacked(PACKERS[name](DATA), "ada.tar")
    pieces = []
    while piece := stream.read(99_991):
        pieces.append(piece)
    assert b"".join(pieces) == DATA


def test_what_is_passed_over_is_not_given(name: str) -> None:
    stream = Unpacked(PACKERS[name](DATA), "ada.tar")
    assert stream.skip(150_001)
    assert stream.read(1000) == DATA[150_001:151_001]
    assert not stream.skip(len(DATA))


def test_streams_that_follow_each_other_are_one(name: str) -> None:
    pack = PACKERS[name]
    assert Unpacked(pack(DATA[:1000]) + pack(DATA[1000:]), "ada.tar").read(1 << 30) == DATA


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_padding_after_the_end_is_left_alone(name: str) -> None:
    assert Unpacked(PACKERS[name](DATA) + bytes(1000), "ada.tar").read(1 << 30) == DATA


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_what_is_cut_off_is_refused(name: str) -> None:
    assert "cannot be unpacked" in refused_file(PACKERS[name](DATA)[:-20])


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_what_is_damaged_is_refused(name: str) -> None:
    data = bytearray(PACKERS[name](DATA))
    data[len(data) // 2 : len(data) // 2 + 50] = bytes(50)
    assert refused_file(bytes(data)).startswith("ada.tar cannot be unpacked: ")


@pytest.mark.some_of(3)
@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_a_bomb_is_refused_with_little_memory(name: str) -> None:
    bomb = PACKERS[name](bytes(30 << 20))
    tracemalloc.start()
    try:
        assert refused_file(bomb) == "ada.tar unpacks to more than 200 times its size"
        assert tracemalloc.get_traced_memory()[1] < 16 << 20  # of which xz takes eight
    finally:
        tracemalloc.stop()


def test_more_than_the_cap_is_refused_whatever_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_TOTAL", 500_000)
    assert refused_file(DATA) == "ada.tar unpacks to more than 500,000 bytes"


def test_too_many_streams_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_STREAMS", 10)
    assert refused_file(gzip.compress(b"") * 11) == "ada.tar cannot be unpacked: it has more than 10 streams"


def test_a_decompressor_that_wants_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMORY", 1 << 20)
    assert "Memory usage limit exceeded" in refused_file(lzma.compress(DATA, preset=6))


SOURCE = b"def split_heads(x, num_heads):\n    return x\n" * 3


def packed(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data, method)
    return buffer.getvalue()


GOOD = packed(("attention.py", SOURCE))


def taken(data: bytes) -> bytes:
    return unpacked(Zip(data, "ada.zip"), "ada.zip")


def refusal_of(taken: Callable[[bytes], bytes], data: bytes) -> str:
    """Return the message with which an archive is refused; it took a bounded number of calls."""

    def refused() -> str:
        with pytest.raises(SubmissionError) as caught:
            taken(data)
        return caught.value.message

    message, calls = with_calls(refused)
    assert calls < 100_000 + len(data)
    return message


def refused_zip(data: bytes) -> str:
    return refusal_of(taken, data)


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
    assert refused_zip(packed(*names)) == "ada.zip has 65,536 members: at most 20,000 are accepted"


def test_a_zip64_archive_of_few_members_is_named_by_its_form() -> None:
    pointer = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    at = GOOD.rindex(b"PK\x05\x06")
    assert "is a zip64 archive" in refused_zip(GOOD[:at] + pointer + GOOD[at:])


def test_a_name_that_an_upload_changed_is_found_where_no_other_is() -> None:
    named = ("ada/lovelaceada_1_attention-1.py", SOURCE)
    assert taken(packed(named, ("self_attention.py", b"another"))) == SOURCE
    assert "holds 2 files that could be the module" in refused_zip(packed(named, ("attention-2.py", SOURCE)))
    assert taken(packed(named, ("bob/attention.py", b"the one"))) == b"the one"


class TestTakenZip:
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


class TestRefusedZip:
    def test_what_is_no_zip(self) -> None:
        assert refused_zip(b"PK\x03\x04 and so on") == "ada.zip is not a zip archive, or is truncated"

    def test_what_is_cut_off(self) -> None:
        assert "is truncated" in refused_zip(GOOD[:-5])

    def test_what_has_something_after_its_end(self) -> None:
        assert refused_zip(GOOD + b"more").endswith("something follows its end")

    def test_a_link(self) -> None:
        assert refused_zip(with_mode(0o120777)) == "ada.zip/attention.py is a link: expected a regular file"

    def test_a_link_as_a_folder(self) -> None:
        info = zipfile.ZipInfo("stages")
        info.external_attr = 0o120777 << 16
        data = packed((info, b"/"), ("stages/s15_attention/attention.py", SOURCE))
        assert refused_zip(data).endswith("'stages' is a link, expected a folder")

    def test_a_device(self) -> None:
        assert refused_zip(with_mode(0o020666)) == "ada.zip/attention.py is a device: expected a regular file"

    def test_a_way_out(self) -> None:
        assert "leads out" in refused_zip(packed(("../attention.py", SOURCE)))

    @pytest.mark.skipif(sys.platform == "win32", reason="zipfile writes / there")
    def test_a_backslash(self) -> None:
        assert "backslash" in refused_zip(packed(("stages\\attention.py", SOURCE)))

    def test_a_null_byte_in_a_name(self) -> None:
        data = packed(("attention.pyX.txt", SOURCE))
        assert "null byte" in refused_zip(data.replace(b"attention.pyX", b"attention.py\0"))

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_member_that_is_there_twice(self) -> None:
        assert "2 times" in refused_zip(packed(("attention.py", SOURCE), ("attention.py", b"")))

    def test_a_password(self) -> None:
        data = patched(patched(GOOD, CENTRAL, 8, b"\x01\0"), LOCAL, 6, b"\x01\0")
        assert refused_zip(data) == "ada.zip/attention.py is encrypted: expected a file that needs no password"

    def test_a_compression_that_few_can_read(self) -> None:
        assert "expected stored or deflated" in refused_zip(packed(("attention.py", SOURCE), method=zipfile.ZIP_LZMA))

    def test_a_small_bomb(self) -> None:
        message = refused_zip(packed(("attention.py", b"#" * MAX_BYTES)))
        assert "it unpacks" in message
        assert message.endswith("at most 200 times as many are accepted")

    def test_a_large_bomb(self) -> None:
        message = refused_zip(packed(("attention.py", b"#" * (20 << 20))))
        assert message.endswith("has 20,971,520 bytes: at most 1,048,576 are accepted")

    @pytest.mark.parametrize("said", [10, len(SOURCE) + 10])
    def test_a_size_that_is_not_so(self, said: int) -> None:
        size = struct.pack("<L", said)
        data = patched(patched(GOOD, CENTRAL, 24, size), LOCAL, 22, size)
        assert refused_zip(data).startswith("ada.zip is a broken zip archive: ")

    def test_a_bomb_that_says_it_is_small(self) -> None:
        size = struct.pack("<L", 100)
        data = patched(packed(("attention.py", b"#" * (20 << 20))), CENTRAL, 24, size)
        assert refused_zip(data).startswith("ada.zip is a broken zip archive: ")

    def test_damaged_bytes(self) -> None:
        data = bytearray(packed(("attention.py", SOURCE), method=zipfile.ZIP_STORED))
        data[60] ^= 1
        assert "broken zip archive: Bad CRC-32" in refused_zip(bytes(data))

    def test_members_that_overlap(self) -> None:
        first = packed(("attention.py", SOURCE), ("b.py", SOURCE))
        at = first.rindex(CENTRAL)
        assert refused_zip(first[: at + 42] + struct.pack("<L", 0) + first[at + 46 :]).endswith("its members overlap")

    def test_an_archive_that_says_it_is_zip64(self) -> None:
        assert "is a zip64 archive" in refused_zip(patched(GOOD, END, 10, b"\xff\xff"))
        assert "is a zip64 archive" in refused_zip(patched(GOOD, END, 12, b"\xff\xff\xff\xff"))
        at = GOOD.index(END)
        assert "is a zip64 archive" in refused_zip(GOOD[:at] + b"PK\x06\x07" + bytes(16) + GOOD[at:])

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
        assert "has 1,152,921,504,606,846,976 bytes" in refused_zip(data[:at] + lied + bytes(end))

    def test_too_many_members(self) -> None:
        count = struct.pack("<H", MAX_MEMBERS + 1)
        assert refused_zip(patched(GOOD, END, 10, count)) == "ada.zip has 20,001 members: at most 20,000 are accepted"

    def test_more_members_than_it_says(self) -> None:
        at, end = GOOD.index(CENTRAL), GOOD.index(END)
        entries = GOOD[at:end] * (MAX_MEMBERS + 1)
        tail = patched(GOOD[end:], END, 12, struct.pack("<L", len(entries)))
        assert refused_zip(GOOD[:at] + entries + tail) == "ada.zip has 20,001 members: at most 20,000 are accepted"

    def test_too_long_a_list(self) -> None:
        assert "lists its members in 16,777,216 bytes" in refused_zip(
            patched(GOOD, END, 12, struct.pack("<L", 1 << 24))
        )

    def test_a_list_that_is_not_where_it_should_be(self) -> None:
        assert "broken zip archive" in refused_zip(patched(GOOD, END, 16, struct.pack("<L", 5000)))

    @pytest.mark.parametrize("cut", range(0, 120, 7))
    def test_whatever_is_broken_is_a_clear_refusal(self, cut: int) -> None:
        data = bytearray(GOOD)
        data[-cut - 1] ^= 0xFF
        try:
            assert taken(bytes(data)) == SOURCE  # a field that nobody reads
        except SubmissionError as error:
            assert error.message.startswith("ada.zip")


SOURCE_TAR = b"def split_heads(x, num_heads):\n    return x\n" * 30


def info(name: str, kind: bytes = tarfile.REGTYPE, size: int = len(SOURCE_TAR), link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, size, link
    return member


def packed_tar(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def header(name: str, kind: bytes, size: int) -> bytes:
    """A header as it is written, whatever it claims."""
    return info(name, kind, size).tobuf(tarfile.GNU_FORMAT)


def stamped(raw: bytes, *fields: tuple[int, bytes]) -> bytes:
    """A header with these fields at their places, and the sum that fits."""
    made = bytearray(raw)
    for place, field in fields:
        made[place : place + len(field)] = field
    made[148:156] = b"%06o\0 " % sum(made[:148] + b" " * 8 + made[156:])
    return bytes(made)


SPARSE = stamped(header("core", b"S", 512), (482, b"\1"))
HOLES = bytes(504) + b"\1" + bytes(7)  # a block of a sparse file that another one follows


def block(data: bytes) -> bytes:
    return data + bytes(-len(data) % TAR_BLOCK)


GOOD_TAR = packed_tar((info("attention.py"), SOURCE_TAR))


def taken_tar(data: bytes) -> bytes:
    return unpacked(Tar(data, "ada.tar"), "ada.tar")


def refused_tar(data: bytes) -> str:
    return refusal_of(taken_tar, data)


class TestTakenTar:
    @pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
    def test_each_format_is_read(self, form: int) -> None:
        members = [(info("a/other.py"), bytes(len(SOURCE_TAR))), (info(f"a/{IN_TREE}"), SOURCE_TAR)]
        assert taken_tar(packed_tar(*members, form=form)) == SOURCE_TAR

    @pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
    def test_a_long_name_is_read(self, form: int) -> None:
        name = f"{'long' * 14}/{'name' * 14}/{IN_TREE}"
        member = Tar(packed_tar((info(name), SOURCE_TAR), form=form), "ada.tar").members()[0]
        assert (member.name, member.kind, member.size) == (name, "a file", len(SOURCE_TAR))

    def test_a_name_beyond_ascii_is_read(self) -> None:
        assert taken_tar(packed_tar((info("Übung/attention.py"), SOURCE_TAR))) == SOURCE_TAR

    def test_an_archive_made_by_git_is_read(self) -> None:
        global_header = tarfile.TarInfo.create_pax_global_header({"comment": "0" * 40})
        assert taken_tar(global_header + GOOD_TAR) == SOURCE_TAR

    def test_folders_and_links_elsewhere_do_no_harm(self) -> None:
        members = [(info("bin", tarfile.DIRTYPE, 0), b""), (info("bin/python", tarfile.SYMTYPE, 0, "/usr"), b"")]
        assert taken_tar(packed_tar(*members, (info("attention.py"), SOURCE_TAR))) == SOURCE_TAR

    def test_without_blocks_at_its_end_it_is_whole(self) -> None:
        assert taken_tar(header("attention.py", b"0", len(SOURCE_TAR)) + SOURCE_TAR) == SOURCE_TAR

    def test_a_size_in_binary_is_read(self) -> None:
        size = b"\x80" + len(SOURCE_TAR).to_bytes(11, "big")
        raw = stamped(header("attention.py", b"0", len(SOURCE_TAR)), (124, size))
        assert taken_tar(raw + block(SOURCE_TAR)) == SOURCE_TAR

    def test_a_sparse_file_elsewhere_is_passed_over(self) -> None:
        assert taken_tar(SPARSE + HOLES + bytes(TAR_BLOCK) + bytes(512) + GOOD_TAR) == SOURCE_TAR


class TestRefusedTar:
    @pytest.mark.parametrize("data", [b"", bytes(1024)], ids=["nothing", "zeros"])
    def test_what_is_empty(self, data: bytes) -> None:
        assert refused_tar(data) == "ada.tar is a broken tar archive: it is empty"

    def test_what_is_no_tar(self) -> None:
        assert "this is not a tar archive" in refused_tar(b"#" * 2000)
        assert "or is not a tar archive" in refused_tar(b"#" * 200)

    def test_what_is_cut_off(self) -> None:
        assert refused_tar(GOOD_TAR[:700]) == "ada.tar is a broken tar archive: it is truncated"

    def test_a_wrong_sum(self) -> None:
        assert "checksum is wrong" in refused_tar(b"b" + GOOD_TAR[1:])

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
        data = packed_tar((info("attention.py", kind, 0, "/etc/passwd"), b""))
        assert refused_tar(data) == f"ada.tar/attention.py is {what}: expected a regular file"

    def test_a_folder_as_the_first_tar_wrote_it(self) -> None:
        assert Tar(header("a/", b"\0", 0), "ada.tar").members()[0].kind == "a folder"

    def test_a_link_as_a_folder(self) -> None:
        data = packed_tar((info("stages", tarfile.SYMTYPE, 0, "/"), b""), (info(IN_TREE), SOURCE_TAR))
        assert refused_tar(data).endswith("'stages' is a link, expected a folder")

    def test_a_sparse_module(self) -> None:
        assert "is a sparse file" in refused_tar(header("attention.py", b"S", 512) + bytes(512))
        member = info("attention.py")
        member.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.name": "attention.py"}
        assert "is a sparse file" in refused_tar(packed_tar((member, SOURCE_TAR)))

    def test_a_sparse_file_with_endless_holes(self) -> None:
        assert "too many holes" in refused_tar(SPARSE + HOLES * 1000)

    def test_a_way_out(self) -> None:
        assert "leads out" in refused_tar(packed_tar((info("../attention.py"), SOURCE_TAR)))
        assert "is absolute" in refused_tar(packed_tar((info("/attention.py"), SOURCE_TAR)))

    def test_a_member_that_is_there_twice(self) -> None:
        assert "2 times" in refused_tar(
            packed_tar((info("attention.py"), SOURCE_TAR), (info("attention.py"), SOURCE_TAR))
        )

    def test_a_module_too_large(self) -> None:
        size = MAX_BYTES + 1
        assert "has 1,048,577 bytes" in refused_tar(packed_tar((info("attention.py", size=size), bytes(size))))

    def test_a_size_of_exabytes(self) -> None:
        raw = stamped(header("big", b"0", 0), (124, b"\x80" + (1 << 80).to_bytes(11, "big")))
        assert refused_tar(raw + GOOD_TAR).endswith("it is truncated")

    @pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
    def test_a_huge_header_is_not_read(self, kind: bytes) -> None:
        tracemalloc.start()
        try:
            message = refused_tar(header("h", kind, 1 << 30) + bytes(1 << 20))
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()
        assert message == "ada.tar has a header of 1,073,741,824 bytes: at most 65,536 are accepted"

    def test_headers_without_end(self) -> None:
        with pytest.raises(SubmissionError, match=r"^ada\.tar has more than 20,000 members and headers$"):
            taken_tar(header("h", b"L", 0) * (MAX_MEMBERS + 1))

    @pytest.mark.parametrize(
        "records",
        [b"5 a=b\n", b"999 path=a\n", b"x path=a\n", b"0 path=a\n", b"9 nothing\n", b"1" * 60_000, b"\xb2 path=a\n"],
        ids=["too short", "too long", "no length", "nil", "no sign", "digits", "a digit of another kind"],
    )
    def test_records_of_another_form(self, records: bytes) -> None:
        data = header("h", b"x", len(records)) + block(records) + GOOD_TAR
        if records.startswith(b"5"):
            assert "another form" in refused_tar(data) or taken_tar(data) == SOURCE_TAR
            return
        assert refused_tar(data).endswith("a header holds a record of another form")

    @pytest.mark.parametrize("key", ["path", "size", "GNU.sparse.major"])
    def test_a_header_for_all_members_that_says_what_each_has_of_its_own(self, key: str) -> None:
        data = tarfile.TarInfo.create_pax_global_header({key: "1"}) + GOOD_TAR
        assert refused_tar(data).endswith(f"a header says the {key} of all members")

    @pytest.mark.parametrize("size", ["-1", "1e9", "9" * 30, ""])
    def test_a_size_that_is_none(self, size: str) -> None:
        member = info("attention.py")
        member.pax_headers = {"size": size}
        assert refused_tar(packed_tar((member, SOURCE_TAR))).endswith("a header holds an invalid size")

    @pytest.mark.parametrize("number", [b"99999999999\0", b"\xff" * 12], ids=["no octal", "negative"])
    def test_a_number_that_is_none(self, number: bytes) -> None:
        raw = stamped(header("a", b"0", 0), (124, number))
        assert refused_tar(raw).endswith("a header holds an invalid number")

    @pytest.mark.parametrize("positions", [range(0, 512, 37), range(512, 2000, 101)])
    def test_whatever_is_broken_is_a_clear_refusal(self, positions: Sequence[int]) -> None:
        for position in positions:
            data = bytearray(GOOD_TAR)
            data[position] ^= 0xFF
            try:
                assert len(taken_tar(bytes(data))) == len(SOURCE_TAR)  # its content is not the archive's to guard
            except SubmissionError as error:
                assert error.message.startswith("ada.tar")
