"""Receipts: what a grading found, signed (Ed25519), so that whoever has the public key can tell a real one.

{"receipt": {"schema": 1, "course": "0.1.0", "stage": "<id>", "submission": "<SHA-256>", "seed": 7, "isolation":
"bubblewrap", "feedback": "full", "when": "2026-11-21T08:38:02+00:00", "passed": true, "criteria": {"split-heads":
"passed", …}, "provenance": {"commit": "<SHA>", "python": "3.13.1", …}}, "key": "<id>", "signature": "<base64>"}. What
is signed is the receipt as canonical JSON: sorted keys, no spaces, ASCII. Earlier receipts have no provenance. What a
module was graded with of earlier stages stands in uses: [{"stage": "<id>", "source": "own", "digest": "<SHA-256>"}].
robust says how many criteria pass with every test of refusals and of the dtype.

The keys are Ed25519 as well, in files of PEM.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from grader.course.provenance import STUDENT, UNKNOWN, VERSION, Provenance
from grader.course.stage import FEEDBACK
from grader.errors import GraderFault, UsageError, installs
from grader.outcome import Status
from grader.submission.snapshot import Use, uses_in
from grader.verdict import Verdict

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


MOST_KEY_BYTES = 1 << 16
SCHEMA = 1
DOMAIN = b"attention-grader receipt 1\n"  # no other signature made with the key can pass for a receipt's
MOST_BYTES = 1 << 20
_TEXTS = {
    "course": re.compile(r"[0-9A-Za-z.+!-]{1,40}"),
    "stage": re.compile(r"s[0-9]{2,}"),
    "submission": re.compile(r"[0-9a-f]{64}"),
    "isolation": re.compile(r"[a-z]{1,20}"),
    "feedback": re.compile("|".join(FEEDBACK)),
    "when": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}\+00:00"),
}
_MADE = {
    "commit": re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}"),
    "release": re.compile(r"[0-9a-f]{64}"),
    "python": VERSION,
    "numpy": VERSION,
    "student": STUDENT,
    "revision": re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}"),
}
_CRITERION = re.compile(r"[a-z0-9-]{1,100}")


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
    found: Ed25519PrivateKey = _key(path, "signing key", "private")
    return found


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file; UsageError where it holds none."""
    found: Ed25519PublicKey = _key(path, "public key", "public")
    return found


def _key(path: Path, what: str, kind: Literal["private", "public"]) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_KEY_BYTES)
    except OSError as error:
        raise UsageError(f"the {what} {path} cannot be read: {error.strerror}") from error
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
    except ImportError as error:
        raise _lacking() from error
    none = UsageError(f"{path} holds no {kind} Ed25519 key in PEM", "`grader keys new DIR` makes a pair.")
    try:
        key = load_pem_private_key(data, None) if kind == "private" else load_pem_public_key(data)
    except Exception as error:  # whatever a library makes of a file that is none
        raise none from error
    if not isinstance(key, Ed25519PrivateKey if kind == "private" else Ed25519PublicKey):
        raise none
    return key


def _lacking() -> UsageError:
    what = "receipts need the package cryptography, which is not installed"
    return UsageError(what, installs("class", "cryptography"))


class InvalidReceiptError(Exception):
    """Why a receipt is not valid: the field, and what is wrong with it."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field


@dataclass(frozen=True)
class Receipt:
    """What was graded and how, what came of each criterion, how many are robust; None in an earlier receipt."""

    course: str
    stage: str
    submission: str
    seed: int
    isolation: str
    feedback: str
    when: str
    passed: bool
    criteria: Mapping[str, str]
    provenance: Provenance = UNKNOWN
    uses: tuple[Use, ...] = ()
    robust: int | None = None


def receipt_of(verdict: Verdict, now: datetime) -> Receipt:
    """Return the receipt of a whole grading; GraderFault where a verdict is none that may count."""
    run = verdict.run
    reasons = {
        "the grader failed": verdict.grader_fault,
        "the stage is locked": verdict.locked,
        "only public tests were run": run.public_only,
        f"only {run.only} was graded": run.only is not None,
        "there was nothing to grade": not run.submission,
    }
    if why := next((why for why, holds in reasons.items() if holds), None):
        raise GraderFault(f"no receipt is given: {why}")
    return Receipt(
        run.course,
        verdict.stage,
        run.submission,
        run.seed,
        run.isolation,
        verdict.feedback,
        now.astimezone(UTC).isoformat(timespec="seconds"),
        verdict.passed,
        {each.id: each.status for each in verdict.criteria},
        run.provenance,
        run.uses,
        sum(each.robust for each in verdict.criteria),
    )


def signed(receipt: Receipt, key: Ed25519PrivateKey) -> str:
    """Return a receipt as it is written, with its signature."""
    return json.dumps(sealed("receipt", {"schema": SCHEMA, **asdict(receipt)}, DOMAIN, key), indent=2) + "\n"


def verified(data: bytes, key: Ed25519PublicKey) -> Receipt:
    """Return what a receipt says once its signature holds; InvalidReceiptError names the field that does not."""
    return _receipt(opened("receipt", data, DOMAIN, key))


def sealed(name: str, body: Mapping[str, Any], domain: bytes, key: Ed25519PrivateKey) -> dict[str, Any]:
    """Return a signed document: what it says under its name, the id of the key, and the signature."""
    signature = base64.b64encode(key.sign(_canonical(body, domain))).decode()
    return {name: body, "key": key_id(key.public_key()), "signature": signature}


def opened(name: str, data: bytes, domain: bytes, key: Ed25519PublicKey) -> dict[str, Any]:
    """Return what a signed document says once its signature holds; InvalidReceiptError names the field that does not.

    What it says may still have any form.
    """
    from cryptography.exceptions import InvalidSignature

    whole = _parsed(data, name)
    body: dict[str, Any] = whole[name]
    if whole["key"] != key_id(key):
        raise InvalidReceiptError(
            "key", f"expected {key_id(key)}, the id of the public key given; another key signed it"
        )
    try:
        key.verify(base64.b64decode(whole["signature"], validate=True), _canonical(body, domain))
    except (InvalidSignature, binascii.Error, ValueError) as error:
        raise InvalidReceiptError("signature", f"does not fit what the {name} says: it was changed since") from error
    return body


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        raise InvalidReceiptError(name, f"has {len(data)} bytes, expected at most {MOST_BYTES}")
    try:
        whole = json.loads(data, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise InvalidReceiptError(name, f"is not JSON as expected ({type(error).__name__})") from error
    if not isinstance(whole, dict):
        raise InvalidReceiptError(name, "is not a JSON object")
    for field, kind in ((name, dict), ("key", str), ("signature", str)):
        if type(whole.get(field)) is not kind:
            raise InvalidReceiptError(field, "is missing, or of another type than expected")
    return whole


def _receipt(body: dict[str, Any]) -> Receipt:
    """Return a signed body as a receipt; also what is signed has to be of the expected form."""
    if body.get("schema") != SCHEMA:
        raise InvalidReceiptError("schema", f"is not {SCHEMA}, which this grader reads")
    for field, pattern in _TEXTS.items():
        if not isinstance(body.get(field), str) or not pattern.fullmatch(body[field]):
            raise InvalidReceiptError(field, f"is missing, or not as expected: {pattern.pattern}")
    for field, kind in (("seed", int), ("passed", bool), ("criteria", dict)):
        if type(body.get(field)) is not kind:
            raise InvalidReceiptError(field, f"is missing, or no {kind.__name__}")
    criteria = body["criteria"]
    if not all(_CRITERION.fullmatch(name) and status in get_args(Status) for name, status in criteria.items()):
        raise InvalidReceiptError("criteria", "holds what is no criterion, or no status of one")
    if body["passed"] and not (criteria and all(status == "passed" for status in criteria.values())):
        raise InvalidReceiptError("passed", "is true, and not every criterion has passed")
    robust = body.get("robust")
    if robust is not None and not (type(robust) is int and 0 <= robust <= list(criteria.values()).count("passed")):
        raise InvalidReceiptError("robust", "is not as expected: at most as many as there are criteria that passed")
    known = {name: body[name] for name in Receipt.__annotations__ if name not in ("provenance", "uses", "robust")}
    uses = uses_in(body.get("uses", []))
    if uses is None:
        raise InvalidReceiptError("uses", "is not as expected: a list of stage, source and digest")
    return Receipt(**known, provenance=provenance_in(body.get("provenance", {})), uses=uses, robust=robust)


def provenance_in(values: object) -> Provenance:
    """Return the provenance that a signed document says; InvalidReceiptError where it has another form."""
    if not isinstance(values, dict):
        raise InvalidReceiptError("provenance", "is no JSON object")
    for field, pattern in _MADE.items():
        found = values.get(field)
        if found is not None and not (isinstance(found, str) and pattern.fullmatch(found)):
            raise InvalidReceiptError(field, f"is not as expected: {pattern.pattern}")
    if not isinstance(values.get("changed"), bool | None):
        raise InvalidReceiptError("changed", "is no bool")
    return Provenance(**{name: values.get(name) for name in Provenance.__annotations__})


def _canonical(body: Mapping[str, Any], domain: bytes) -> bytes:
    return domain + json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a key that is there twice reads differently to different readers."""
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key occurs twice")
    return values


def _refused(text: str) -> None:
    raise ValueError(f"{text} is not JSON")
