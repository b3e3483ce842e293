"""The modules of earlier stages that come with a submission: frozen records, and the digest of all of it together."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Source = Literal["own", "reference", "given"]
SOURCES: tuple[Source, ...] = get_args(Source)
MOST = 1000  # uses in a document
_STAGE, _DIGEST = re.compile(r"s[0-9]{2,}"), re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Use:
    """A stage whose module a submission builds on, whose text that was, and the text's SHA-256."""

    stage: str
    source: Source
    digest: str


@dataclass(frozen=True)
class UsedModule:
    """The text of a module that a submission may import by name; label is what messages call its file.

    withheld says that it is a reference which whoever handed the submission in is not to read in a report.
    """

    use: Use
    name: str
    label: str
    text: bytes
    withheld: bool = False


def uses_in(found: object) -> tuple[Use, ...] | None:
    """Return the uses in a document, which somebody else may have written; None where it has another form."""
    if not isinstance(found, list) or len(found) > MOST:
        return None
    uses: list[Use] = []
    for each in found:
        match each:
            case {"stage": str(stage), "source": str(source), "digest": str(digest), **more} if (
                not more and _STAGE.fullmatch(stage) and source in SOURCES and _DIGEST.fullmatch(digest)
            ):
                uses.append(Use(stage, next(known for known in SOURCES if known == source), digest))
            case _:
                return None
    return tuple(uses)


def whole_digest(digest: str, uses: Iterable[Use]) -> str:
    """Return the digest of a module together with all that it was graded with; of a module alone it is the module's.

    digest is the SHA-256 of the module's text.
    """
    found = [[use.stage, use.source, use.digest] for use in uses]
    return hashlib.sha256(json.dumps([digest, found]).encode()).hexdigest() if found else digest
