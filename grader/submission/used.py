"""The modules of earlier stages that come with a submission: frozen records, and the digest of all of it together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Source = Literal["own", "reference", "given"]
SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True)
class Use:
    """A stage whose module a submission builds on, whose text that was, and the text's SHA-256."""

    stage: str
    source: Source
    digest: str


@dataclass(frozen=True)
class UsedModule:
    """The text of a module that a submission may import by name; label is what messages call its file."""

    use: Use
    name: str
    label: str
    text: bytes


def whole_digest(digest: str, uses: Iterable[Use]) -> str:
    """Return the digest of a module together with all that it was graded with; of a module alone it is the module's.

    digest is the SHA-256 of the module's text.
    """
    found = [[use.stage, use.source, use.digest] for use in uses]
    return hashlib.sha256(json.dumps([digest, found]).encode()).hexdigest() if found else digest
