"""The sealed bundle of a stage, and the key that opens it.

A bundle is a line that names the format, a header that anyone can read, and what a key opens. The header is
authenticated with the rest (AES-256-GCM), so that a bundle passes for no other stage, version or key. A key is 32
random bytes in a file of one line, known by an id that gives nothing of it away.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.atomic import write_new
from grader.errors import SealError, installs

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM


MARK = "attention-grader-tests-key-1:"
SECRET_BYTES = 32
MOST_BYTES = 1024


@dataclass(frozen=True)
class SealKey:
    """A key; its id stands in what it seals, so that a wrong key is told from a damaged bundle."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        import hashlib  # loads OpenSSL, which `grader --help` needs not

        return hashlib.sha256(b"attention-grader key id\n" + self.secret).hexdigest()[:16]

    @property
    def text(self) -> str:
        return f"{MARK}{base64.urlsafe_b64encode(self.secret).decode()}\n"


def new_key() -> SealKey:
    """Return a key that nobody has."""
    return SealKey(os.urandom(SECRET_BYTES))


def read_key(path: Path) -> SealKey:
    """Return the key in a file; SealError, which never quotes what stands there, where there is none."""
    made = "`grader keys new DIR` makes one."
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SealError(f"the key file {path} cannot be read: {error.strerror}", made) from error
    try:
        text = data.decode("ascii").strip()
        secret = base64.b64decode(text.removeprefix(MARK), altchars=b"-_", validate=True)
    except (UnicodeDecodeError, binascii.Error):
        text, secret = "", b""
    if not text.startswith(MARK) or len(secret) != SECRET_BYTES:
        what = f"{path} holds no key to sealed tests: expected one line that begins with {MARK}"
        raise SealError(what, made)
    return SealKey(secret)


def write_private(path: Path, data: bytes) -> None:
    """Write a new file that only its owner can read, whole or not at all; UsageError where that cannot be done."""
    write_new(path, data, hint="Name a folder on another disk.", mode=0o600)


MAGIC = b"attention-grader sealed tests\n"
FORMAT = 1
NONCE_BYTES = 12
MOST_HEADER = 4096
AGAIN = "Fetch this copy of the course again, or ask whoever released it. This is not your fault."


@dataclass(frozen=True)
class Label:
    """Which stage (its folder's name) of which course version a bundle holds, and the id of the key that opens it."""

    stage: str
    course: str
    key: str


@dataclass(frozen=True)
class Content:
    """What is sealed of a stage: hidden and public files by name, stage.toml, and its data.

    given holds what the stage gives in place of modules that it uses, by file name.
    """

    hidden: Mapping[str, str]
    public: Mapping[str, str]
    manifest: str
    data: Mapping[str, bytes] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return it as values that JSON has."""
        data = {name: base64.b64encode(each).decode() for name, each in self.data.items()}
        return {**vars(self), "data": data}


@dataclass(frozen=True)
class _Header:
    format: int
    stage: str
    course: str
    key: str
    nonce: str
    size: int


def seal(content: Content, label: Label, key: SealKey, nonce: bytes) -> bytes:
    """Return a bundle; a nonce serves once."""
    data = zlib.compress(json.dumps(content.plain(), sort_keys=True).encode(), 9)
    header = _Header(FORMAT, **asdict(label), nonce=base64.b64encode(nonce).decode(), size=len(data) + 16)
    head = MAGIC + json.dumps(asdict(header), sort_keys=True).encode() + b"\n"
    return head + _cipher(key).encrypt(nonce, data, head)


def unseal(data: bytes, key: SealKey, wanted: Label, name: str) -> Content:
    """Return what was sealed; SealError says which way a bundle is not the one that is wanted."""
    head, header = _header(data, name)
    body = data[len(head) :]
    if header.stage != wanted.stage:
        raise SealError(f"{name} holds the tests of {header.stage!r}, not of {wanted.stage!r}", AGAIN)
    if header.course != wanted.course:
        what = f"{name} is of course version {header.course!r}, and this grader of {wanted.course!r}"
        raise SealError(what, "Use the grader and the bundles of one release.")
    if header.key != wanted.key:
        what = f"{name} was sealed with the key {header.key!r}, and the key given is {wanted.key!r}"
        raise SealError(what, "Give the key that this copy was released with.")
    if len(body) != header.size:
        end = "truncated" if len(body) < header.size else "too long"
        raise SealError(f"{name} is {end}: {len(body)} bytes follow its header, expected {header.size}", AGAIN)
    return _content(_decrypted(body, head, header, key, name), name)


def _header(data: bytes, name: str) -> tuple[bytes, _Header]:
    """Return the bytes of the header, with the line before it, and what they say."""
    if not data.startswith(MAGIC):
        raise SealError(f"{name} is not a sealed bundle: expected {MAGIC.decode().strip()!r} at its beginning", AGAIN)
    end = data.find(b"\n", len(MAGIC), len(MAGIC) + MOST_HEADER)
    try:
        values: Any = json.loads(data[len(MAGIC) : end]) if end > 0 else None
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, dict) and values.get("format", FORMAT) != FORMAT:
        what = f"{name} has the format {values['format']!r}, and this grader reads {FORMAT}"
        raise SealError(what, "Use the grader and the bundles of one release.")
    kinds = _Header.__annotations__
    if not isinstance(values, dict) or {key: type(value).__name__ for key, value in values.items()} != kinds:
        raise SealError(f"{name} is damaged: its header cannot be read", AGAIN)
    return data[: end + 1], _Header(**values)


def _decrypted(body: bytes, head: bytes, header: _Header, key: SealKey, name: str) -> bytes:
    cipher = _cipher(key)
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(base64.b64decode(header.nonce, validate=True), body, head)
    except (InvalidTag, ValueError) as error:
        raise SealError(f"{name} was altered after it was sealed", AGAIN) from error


def _content(data: bytes, name: str) -> Content:
    """Return what whoever has the key sealed; another program may have, so it is looked at all the same."""
    try:
        values = json.loads(zlib.decompress(data))
        files = values["hidden"], values["public"], values.get("given", {}), values.get("data", {})
        manifest = values["manifest"]
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise SealError(f"{name} opens, but does not hold a stage's tests", AGAIN) from error
    texts = [each for folder in files if isinstance(folder, dict) for each in folder.values()]
    if not all(isinstance(folder, dict) for folder in files) or not all(isinstance(x, str) for x in [*texts, manifest]):
        raise SealError(f"{name} opens, but does not hold a stage's tests", AGAIN)
    try:
        decoded = {key: base64.b64decode(text, validate=True) for key, text in files[3].items()}
    except ValueError as error:
        raise SealError(f"{name} opens, but holds data that cannot be read", AGAIN) from error
    return Content(files[0], files[1], manifest, decoded, files[2])


def _cipher(key: SealKey) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        what = "sealed tests need the package cryptography, which is not installed"
        raise SealError(what, installs("class", "cryptography")) from error
    return AESGCM(key.secret)
