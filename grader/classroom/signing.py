"""The keys that sign receipts: Ed25519, in files of PEM."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError, installs

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MOST_BYTES = 1 << 16


def key_id(key: Ed25519PublicKey) -> str:
    """Return a short name for a public key."""
    return hashlib.sha256(b"attention-grader signing key id\n" + key.public_bytes_raw()).hexdigest()[:16]


def new_signing_key() -> tuple[bytes, bytes]:
    """Return a private key (PKCS #8) and its public key, both as PEM."""
    try:
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise _lacking() from error
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    return private, public


def read_signing_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a PEM file; UsageError, which never quotes the file, where it holds none."""
    data = _bytes(path, "signing key")
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise _lacking() from error
    try:
        key = load_pem_private_key(data, None)
    except Exception as error:  # whatever a library makes of a file that is none
        raise _no_key(path, "private") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "private")
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file; UsageError where it holds none."""
    data = _bytes(path, "public key")
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError as error:
        raise _lacking() from error
    try:
        key = load_pem_public_key(data)
    except Exception as error:  # whatever a library makes of a file that is none
        raise _no_key(path, "public") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "public")
    return key


def _bytes(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise UsageError(f"the {what} {path} cannot be read: {error.strerror}") from error


def _no_key(path: Path, kind: str) -> UsageError:
    return UsageError(f"{path} holds no {kind} Ed25519 key in PEM", "`grader keys new DIR` makes a pair.")


def _lacking() -> UsageError:
    what = "receipts need the package cryptography, which is not installed"
    return UsageError(what, installs("class", "cryptography"))
