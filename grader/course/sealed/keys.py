"""The key to sealed tests: 32 random bytes in a file of one line, known by an id that gives nothing of it away."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass, field
from pathlib import Path

from grader.atomic import write_new
from grader.errors import SealError

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
