"""A bundle opens with its own key, for its stage and version, as it was sealed; else it says what is wrong."""

from __future__ import annotations

import base64
import json
import sys
import zlib

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from grader.course.sealed.bundle import MAGIC, NONCE_BYTES, Content, Label, seal, unseal
from grader.errors import SealError
from grader.tests.support.copies import KEY, OTHER_KEY

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
