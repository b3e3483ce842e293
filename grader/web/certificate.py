"""A certificate: which modules passed, how that was verified and, where a key is at hand, the signature of it.

{"certificate": {"schema": 1, "title": "…", "source": "graded", "when": "2026-11-21T08:38:02+00:00", "student": null,
"provenance": {"release": "<SHA-256>", …}, "stages": [{"stage": "<id>", "title": "…", "module": "<SHA-256 of the file>",
"rows": 14, "robust": 9, "seed": 7, "isolation": "bubblewrap", "course": "0.1.0", "python": "3.13.1", "numpy": "2.4.0",
"when": "…", "uses": […], "seen": ["<criterion>"]}]}, "key": "<id>", "signature": "<base64>"}; key and signature are
null where nobody signed.
source is "graded" where each module was graded for the certificate, "recorded" where it repeats the learner's own
record. It is signed as receipts are (`classroom/receipt.py`), and only what was graded is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from grader.classroom.receipt import InvalidReceiptError, opened, provenance_in, sealed
from grader.course.provenance import STUDENT, UNKNOWN, VERSION, Provenance, made_here
from grader.course.sealed import public_only
from grader.course.stage import Course
from grader.errors import SubmissionError, UsageError
from grader.progress.actions import GradingRequest, Workspace, is_stub
from grader.progress.state import Progress
from grader.progress.workspace import graded
from grader.submission import take
from grader.submission.snapshot import Use, uses_in
from grader.verdict import Verdict

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from grader.progress.actions import OnTest
    from grader.web.road import Road

SCHEMA = 1
DOMAIN = b"attention-grader certificate 1\n"  # no signature of a receipt can pass for one of a certificate
NAME = "certificate"
BEGIN, END = b'<script type="application/json" id="grader-certificate">', b"</script>"
HEAD_BYTES = 1000  # within which a certificate names itself
MOST_STAGES, MOST_WORDS = 1000, 400
Source = Literal["graded", "recorded"]
UNSIGNED = (
    "This certificate is not signed. It repeats what this computer recorded, and whoever has the computer can change "
    "the record, the modules and this page. To rely on it, grade the modules yourself and compare their digests."
)
SIGNED = "Each module named here was graded for this certificate, by whoever holds the key {}, before it was signed."
_CRITERION = re.compile(r"[a-z0-9-]{1,100}")
_DIGEST, _TIME = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}\+00:00")
_TEXTS = {
    "stage": re.compile(r"s[0-9]{2,}"), "module": _DIGEST, "isolation": re.compile(r"[a-z]{0,20}"),
    "course": re.compile(r"[0-9A-Za-z.+!-]{1,40}"), "when": _TIME, "python": re.compile(rf"({VERSION.pattern})?"),
    "numpy": re.compile(rf"({VERSION.pattern})?"), "title": re.compile(rf"(?s).{{0,{MOST_WORDS}}}"),
}  # fmt: skip


@dataclass(frozen=True)
class CertifiedModule:
    """One module that passed, and how; what an earlier grader did not record is empty. module is the file's SHA-256.

    rows counts its criteria, robust those of them that are robust. seen holds those whose function of the reference was
    shown before the stage had passed, as the learner's record says.
    """

    stage: str
    title: str
    module: str
    rows: int
    seed: int
    isolation: str
    course: str
    python: str
    numpy: str
    when: str
    uses: tuple[Use, ...] = ()
    robust: int | None = None
    seen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Certificate:
    """What was verified, when, and what it was verified with; student is whose work it is, where that was said."""

    title: str
    source: Source
    when: str
    provenance: Provenance
    stages: tuple[CertifiedModule, ...]
    student: str | None = None


def recorded(found: Road, progress: Progress, provenance: Provenance, student: str | None) -> Certificate:
    """Return the certificate of what is recorded: of the modules that are still the text that passed."""
    entries = []
    for stop in found.stops:
        if stop.state != "passed":
            continue
        kept, stage = progress.passed[stop.stage.id], stop.stage
        how = (kept.isolation, kept.course, kept.python, kept.numpy, kept.when)
        total = len(stage.criteria)
        entries.append(
            CertifiedModule(
                stage.id, stage.title, kept.digest, total, kept.seed, *how, robust=kept.robust, seen=stop.seen
            )
        )
    when = found.made.isoformat(timespec="seconds")
    return Certificate(found.title, "recorded", when, provenance, tuple(entries), student)


def document(found: Certificate, key: Ed25519PrivateKey | None = None) -> dict[str, Any]:
    """Return a certificate as values that JSON has; it is signed where there is a key, which only grading deserves."""
    body = {"schema": SCHEMA, **asdict(found), "stages": [_plain(entry) for entry in found.stages]}
    if key is None:
        return {NAME: body, "key": None, "signature": None}
    assert found.source == "graded", "a record that anybody can edit is not signed"
    return sealed(NAME, body, DOMAIN, key)


def verified(data: bytes, key: Ed25519PublicKey) -> Certificate:
    """Return what a signed certificate says; InvalidReceiptError names the field that is not as it should be."""
    return _certificate(opened(NAME, data, DOMAIN, key))


def held(data: bytes) -> bytes | None:
    """Return the certificate that a report holds, or that stands alone, as JSON; None for anything else."""
    begin = data.find(BEGIN)
    if begin >= 0:
        begin += len(BEGIN)
        end = data.find(END, begin)
        return data[begin:end] if end >= 0 else data[begin:]
    return data if data.lstrip()[:1] == b"{" and f'"{NAME}"'.encode() in data[:HEAD_BYTES] else None


def expect_of(found: Certificate, course: Course, submission: Path | None, stage: str | None) -> None:
    """Raise InvalidReceiptError unless a certificate is of a stage, and of the modules that somebody hands in."""
    known = {each.stage: each for each in found.stages}
    if stage is not None and (wanted := course.find(stage).id) not in known:
        raise InvalidReceiptError("stages", f"are {', '.join(known) or 'none'}, expected {wanted} among them")
    for each in known.values() if submission is not None else ():
        if stage is not None and each.stage != course.find(stage).id:
            continue
        digest = take(course.find(each.stage), submission, course.root).digest
        if digest != each.module:
            raise InvalidReceiptError("module", f"of {each.stage} is {each.module}, and what is handed in has {digest}")


def _plain(entry: CertifiedModule) -> dict[str, Any]:
    return {**asdict(entry), "uses": [asdict(use) for use in entry.uses], "seen": list(entry.seen)}


def _certificate(body: Mapping[str, Any]) -> Certificate:
    if body.get("schema") != SCHEMA:
        raise InvalidReceiptError("schema", f"is not {SCHEMA}, which this grader reads")
    title, source, when, student = (body.get(name) for name in ("title", "source", "when", "student"))
    _expect("title", isinstance(title, str) and len(title) <= MOST_WORDS)
    _expect("source", source in get_args(Source))
    _expect("when", isinstance(when, str) and _TIME.fullmatch(when) is not None)
    _expect("student", student is None or (isinstance(student, str) and STUDENT.fullmatch(student) is not None))
    stages = body.get("stages")
    _expect("stages", isinstance(stages, list) and len(stages) <= MOST_STAGES)
    made = provenance_in(body.get("provenance") or {})
    entries = tuple(_entry(each) for each in stages or ())
    return Certificate(str(title), source or "graded", str(when), made or UNKNOWN, entries, student)


def _entry(values: object) -> CertifiedModule:
    if not isinstance(values, dict):
        raise InvalidReceiptError("stages", "holds what is no JSON object")
    for name, pattern in _TEXTS.items():
        found = values.get(name)
        _expect(name, isinstance(found, str) and pattern.fullmatch(found) is not None)
    for name in ("rows", "seed"):
        _expect(name, type(values.get(name)) is int and values[name] >= 0)
    robust = values.get("robust")  # earlier certificates have none
    _expect("robust", robust is None or (type(robust) is int and 0 <= robust <= values["rows"]))
    seen = values.get("seen", [])  # earlier graders showed none
    _expect("seen", isinstance(seen, list) and len(seen) <= values["rows"] and all(map(_is_criterion, seen)))
    uses = uses_in(values.get("uses"))
    _expect("uses", uses is not None)
    texts = {name: values[name] for name in (*_TEXTS, "rows", "seed")}
    return CertifiedModule(**texts, uses=uses or (), robust=robust, seen=tuple(seen))


def _is_criterion(name: object) -> bool:
    return isinstance(name, str) and _CRITERION.fullmatch(name) is not None


def _expect(field: str, holds: bool) -> None:
    if not holds:
        raise InvalidReceiptError(field, "is missing, or not as expected")


Ticking = Callable[[str], AbstractContextManager["OnTest | None"]]


@dataclass(frozen=True)
class Proof:
    """The modules that pass, and in words why others that were begun are not among them."""

    entries: tuple[CertifiedModule, ...]
    left_out: tuple[str, ...]


def proven(workspace: Workspace, request: GradingRequest, ticking: Ticking, clock: Callable[[], datetime]) -> Proof:
    """Grade every module that was begun, and return those that pass; UsageError where hidden tests are sealed.

    Nothing is recorded. A module that builds on others is graded with those that have passed just now.
    """
    entries: list[CertifiedModule] = []
    left_out: list[str] = []
    progress = workspace.store.read()
    for stage in workspace.course.stages:
        if is_stub(stage):
            continue
        if public_only(stage):
            message = f"the hidden tests of {stage.id} are sealed, so nobody without their key can vouch for it"
            raise UsageError(message, "Give the key in GRADER_KEY_FILE, or leave out --signing-key.")
        try:
            snapshot = take(stage, None, workspace.course.root)
        except SubmissionError as error:
            left_out.append(f"{stage.id}: {error.message}")
            continue
        with ticking(stage.id) as tick:
            verdict = graded(workspace, stage, snapshot, request, tick)
        if verdict.passed and not verdict.grader_fault:
            entries.append(replace(_graded_entry(verdict, snapshot.digest, clock()), seen=progress.seen_of(stage)))
            request = replace(request, passed={**request.passed, stage.id: snapshot.digest})
        else:
            left_out.append(f"{stage.id}: {_why(verdict)}")
    return Proof(tuple(entries), tuple(left_out))


def _graded_entry(verdict: Verdict, module: str, now: datetime) -> CertifiedModule:
    run, made = verdict.run, made_here()
    when = now.astimezone(UTC).isoformat(timespec="seconds")
    versions = (made.python or "", made.numpy or "")
    total = len(verdict.criteria)
    robust = sum(each.robust for each in verdict.criteria)
    how = run.seed, run.isolation, run.course, *versions, when
    return CertifiedModule(verdict.stage, verdict.title, module, total, *how, uses=run.uses, robust=robust)


def _why(verdict: Verdict) -> str:
    if verdict.grader_fault:
        return "the grader failed, which says nothing of the module"
    passed = sum(each.status == "passed" for each in verdict.criteria)
    return f"{passed} of {len(verdict.criteria)} criteria pass"
