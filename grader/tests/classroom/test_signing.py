"""The keys of receipts: made, read, and refused where a file holds none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from grader.classroom.signing import key_id, new_signing_key, read_public_key, read_signing_key
from grader.errors import UsageError


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "signing.key", tmp_path / "signing.pub"
    for path, data in zip(paths, new_signing_key(), strict=True):
        path.write_bytes(data)
    return paths


def test_the_two_halves_belong_together(pair: tuple[Path, Path]) -> None:
    private, public = read_signing_key(pair[0]), read_public_key(pair[1])
    assert key_id(private.public_key()) == key_id(public)
    public.verify(private.sign(b"text"), b"text")


def test_each_pair_is_new() -> None:
    assert new_signing_key() != new_signing_key()


def other_kind() -> tuple[bytes, bytes]:
    key = X25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    return private, key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize("content", ["text", "halves exchanged", "another kind"])
def test_a_file_without_such_a_key_is_refused(pair: tuple[Path, Path], content: str) -> None:
    if content == "text":
        pair[0].write_text("swordfish"), pair[1].write_text("swordfish")
    elif content == "another kind":
        pair[0].write_bytes(other_kind()[0]), pair[1].write_bytes(other_kind()[1])
    else:
        pair = pair[1], pair[0]
    for read, path, kind in ((read_signing_key, pair[0], "private"), (read_public_key, pair[1], "public")):
        with pytest.raises(UsageError, match=f"holds no {kind} Ed25519 key") as caught:
            read(path)
        assert "swordfish" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for read in (read_signing_key, read_public_key):
        with pytest.raises(UsageError, match="cannot be read"):
            read(tmp_path / "none")


def test_a_missing_package_is_named(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("hazmat.primitives.asymmetric.ed25519", "hazmat.primitives"):
        monkeypatch.setitem(sys.modules, f"cryptography.{module}", None)
    for make in (new_signing_key, lambda: read_signing_key(pair[0]), lambda: read_public_key(pair[1])):
        with pytest.raises(UsageError, match="cryptography") as caught:
            make()
        assert "uv sync --extra class" in str(caught.value.hint)
