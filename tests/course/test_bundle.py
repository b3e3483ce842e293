"""Sealed bundles and their keys: what opens, and each way in which one does not."""

from __future__ import annotations

import base64
import json
import os
import sys
import zlib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from grader.course.bundle import (
    MAGIC,
    MARK,
    NONCE_BYTES,
    Content,
    Label,
    SealKey,
    new_key,
    read_key,
    seal,
    unseal,
    write_private,
)
from grader.errors import SealError, UsageError
from tests.support.copies import KEY, OTHER_KEY

LABEL = Label("s90_small", "0.1.0", KEY.id)
CONTENT = Content(
    {"solution.py": "def total(x):\n    return x.sum(axis=1)  # é\n"}, {"test_small.py": "pass\n"}, "id = 1\n"
)
NONCE = bytes(range(NONCE_BYTES))
BUNDLE = seal(CONTENT, LABEL, KEY, NONCE)
HEAD = BUNDLE[: BUNDLE.index(b"\n", len(MAGIC)) + 1]
HEADER = json.loads(HEAD[len(MAGIC) :])


def refused(data: bytes, wanted: Label = LABEL) -> str:
    with pytest.raises(SealError) as caught:
        unseal(data, KEY, wanted, "s90_small.sealed")
    assert caught.value.exit_code == 4 and caught.value.hint
    return caught.value.message


def with_header(**changes: object) -> bytes:
    """Return the bundle with another header, as someone without the key can write it."""
    header = {name: value for name, value in {**HEADER, **changes}.items() if value is not None}
    return MAGIC + json.dumps(header, sort_keys=True).encode() + b"\n" + BUNDLE[len(HEAD) :]


def sealed_bytes(plain: bytes) -> bytes:
    """Return a bundle of something else than a stage, as someone with the key can make it."""
    data = zlib.compress(plain)
    head = HEAD.replace(f'"size": {HEADER["size"]}'.encode(), f'"size": {len(data) + 16}'.encode())
    return head + AESGCM(KEY.secret).encrypt(NONCE, data, head)


def test_what_was_sealed_comes_back() -> None:
    assert unseal(BUNDLE, KEY, LABEL, "x") == CONTENT


def test_nothing_of_the_content_can_be_read_without_the_key() -> None:
    for text in (b"total", b"solution", b"sum(axis"):
        assert text not in BUNDLE
        assert text not in b"".join(base64.b64encode(BUNDLE[start:]) for start in range(3))


def test_the_same_content_and_nonce_give_the_same_bytes_and_another_nonce_gives_others() -> None:
    assert seal(CONTENT, LABEL, KEY, NONCE) == BUNDLE
    assert seal(CONTENT, LABEL, KEY, NONCE[::-1])[len(HEAD) :] != BUNDLE[len(HEAD) :]


def test_a_wrong_key_is_told_from_damage() -> None:
    with pytest.raises(SealError) as caught:
        unseal(BUNDLE, OTHER_KEY, Label("s90_small", "0.1.0", OTHER_KEY.id), "s90_small.sealed")
    assert KEY.id in caught.value.message and OTHER_KEY.id in caught.value.message


@pytest.mark.parametrize("kept", [len(HEAD), len(HEAD) + 20, len(BUNDLE) - 1])
def test_a_bundle_that_is_cut_off_says_so(kept: int) -> None:
    assert "is truncated" in refused(BUNDLE[:kept])


def test_a_bundle_that_is_longer_says_so() -> None:
    assert "is too long" in refused(BUNDLE + b"x")


@pytest.mark.parametrize("place", range(len(HEAD), len(BUNDLE), 7))
def test_each_changed_byte_is_noticed(place: int) -> None:
    changed = BUNDLE[:place] + bytes([BUNDLE[place] ^ 1]) + BUNDLE[place + 1 :]
    assert "was altered" in refused(changed)


def test_a_bundle_of_another_stage_or_version_is_named() -> None:
    assert "'s90_small', not of 's91_other'" in refused(BUNDLE, Label("s91_other", "0.1.0", KEY.id))
    assert "course version '0.1.0', and this grader of '0.2.0'" in refused(BUNDLE, Label("s90_small", "0.2.0", KEY.id))


@pytest.mark.parametrize(
    ("field", "wanted"),
    [("stage", Label("s91_other", "0.1.0", KEY.id)), ("course", Label("s90_small", "0.2.0", KEY.id))],
)
def test_a_header_that_is_rewritten_to_fit_does_not_open(field: str, wanted: Label) -> None:
    assert "was altered" in refused(with_header(**{field: getattr(wanted, field)}), wanted)


def test_another_nonce_does_not_open() -> None:
    assert "was altered" in refused(with_header(nonce=base64.b64encode(NONCE[::-1]).decode()))
    assert "was altered" in refused(with_header(nonce="?"))


def test_another_format_is_named() -> None:
    assert "format 2, and this grader reads 1" in refused(with_header(format=2))


@pytest.mark.parametrize(
    "data",
    [
        MAGIC,
        MAGIC + b"{}\n",
        MAGIC + b"[1]\n",
        MAGIC + b"[" * 100_000 + b"\n",
        MAGIC + b" " * 10_000,
        with_header(key=None),
        with_header(size="7"),
        with_header(more=1),
    ],
)
def test_a_header_that_cannot_be_read_is_damage(data: bytes) -> None:
    assert "its header cannot be read" in refused(data)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", MAGIC[:-1]])
def test_something_else_is_no_bundle(data: bytes) -> None:
    assert "is not a sealed bundle" in refused(data)


@pytest.mark.parametrize(
    "plain",
    [
        b"no JSON",
        b"[]",
        b"{}",
        b'{"hidden": {}, "public": [], "manifest": ""}',
        b'{"hidden": {"a": 1}, "public": {}, "manifest": ""}',
        b'{"hidden": {}, "public": {}, "manifest": 1}',
    ],
)
def test_what_opens_and_is_no_stage_is_refused(plain: bytes) -> None:
    assert "does not hold a stage's tests" in refused(sealed_bytes(plain))


def test_what_opens_is_used() -> None:
    plain = b'{"hidden": {}, "public": {}, "manifest": "m"}'
    assert unseal(sealed_bytes(plain), KEY, LABEL, "x") == Content({}, {}, "m")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(SealError, match="cryptography") as caught:
        unseal(BUNDLE, KEY, LABEL, "x")
    assert "uv sync --extra class" in str(caught.value.hint)


def test_a_key_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "tests.key"
    path.write_text(KEY.text)
    assert read_key(path) == KEY


def test_a_key_is_shown_nowhere_and_its_id_is_not_its_secret() -> None:
    assert "secret" not in repr(KEY) and KEY.secret.hex()[:16] != KEY.id
    assert KEY.id != OTHER_KEY.id and len(KEY.id) == 16


def test_new_keys_differ() -> None:
    assert new_key() != new_key() and len(new_key().secret) == 32


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"swordfish",
        MARK.encode(),
        MARK.encode() + b"c3dvcmRmaXNo",
        SealKey(bytes(33)).text.encode(),
        KEY.text.removeprefix(MARK).encode(),
        MARK.encode() + b"swordfish!" * 4,
        b"\xff" * 100,
        KEY.text.encode() * 100,
    ],
)
def test_a_file_without_a_key_is_refused_and_not_quoted(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tests.key"
    path.write_bytes(data)
    with pytest.raises(SealError, match="holds no key to sealed tests") as caught:
        read_key(path)
    assert "swordfish" not in str(caught.value) and caught.value.exit_code == 4


def test_a_missing_key_file_says_how_one_is_made(tmp_path: Path) -> None:
    with pytest.raises(SealError, match="cannot be read") as caught:
        read_key(tmp_path / "none.key")
    assert "grader keys new" in str(caught.value.hint)


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_a_secret_file_is_its_owners_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_private(tmp_path / "a.key", b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a.key").read_bytes() == b"text"


def test_a_secret_file_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.key").write_text("kept")
    with pytest.raises(UsageError, match="already exists"):
        write_private(tmp_path / "a.key", b"text")
    assert (tmp_path / "a.key").read_text() == "kept"


def test_a_secret_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_private(tmp_path / "none" / "a.key", b"text")
