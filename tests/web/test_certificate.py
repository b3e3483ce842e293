"""Certificates: what was graded is signed, every change is noticed, and an unsigned one says what it is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from grader.classroom.receipt import InvalidReceiptError, opened, sealed
from grader.course.manifest import load_course
from grader.course.provenance import Provenance
from grader.errors import SubmissionError, UsageError
from grader.progress.actions import GradingRequest
from grader.progress.workspace import open_workspace
from grader.submission import take
from grader.submission.snapshot import Use
from grader.verdict import Verdict
from grader.web import certificate
from grader.web.certificate import (
    BEGIN,
    DOMAIN,
    NAME,
    Certificate,
    CertifiedModule,
    Proof,
    document,
    expect_of,
    held,
    proven,
    recorded,
    verified,
)
from grader.web.road import road
from tests.support.command import NUMBERS, SUMS, Place
from tests.watching.fakes import verdict

ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(b"k" * 32)
NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)
SAID = "2026-11-21T08:38:02+00:00"
ENTRY = CertifiedModule("s01", "Numbers", "a" * 64, 2, 7, "bubblewrap", "0.1.0", "3.13.1", "2.4.0", SAID)
MADE = Certificate("Small numbers", "graded", SAID, Provenance(python="3.13.1", numpy="2.4.0"), (ENTRY,), "Ada L")


def written(found: Certificate = MADE) -> bytes:
    return json.dumps(document(found, KEY)).encode()


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a certificate of another form, signed with the right key."""
    body = document(MADE)[NAME]
    change(body)
    return json.dumps(sealed(NAME, body, DOMAIN, KEY)).encode()


def test_what_was_signed_is_read_back() -> None:
    uses = replace(ENTRY, stage="s02", uses=(Use("s01", "own", "b" * 64),))
    whole = replace(MADE, stages=(ENTRY, uses))
    assert verified(written(whole), KEY.public_key()) == whole


@pytest.mark.parametrize(("old", "new"), [("a" * 64, "c" * 64), ("Ada L", "Eve L"), ('"seed": 7', '"seed": 8')])
def test_a_change_is_noticed(old: str, new: str) -> None:
    with pytest.raises(InvalidReceiptError, match="signature: does not fit what the certificate says"):
        verified(written().replace(old.encode(), new.encode()), KEY.public_key())


def test_another_key_is_noticed() -> None:
    other = ed25519.Ed25519PrivateKey.from_private_bytes(b"o" * 32)
    with pytest.raises(InvalidReceiptError, match="key: expected"):
        verified(written(), other.public_key())


def test_the_signature_of_a_receipt_is_none_of_a_certificate() -> None:
    body = document(MADE)[NAME]
    whole = json.dumps(sealed(NAME, body, b"attention-grader receipt 1\n", KEY)).encode()
    with pytest.raises(InvalidReceiptError, match="signature"):
        opened(NAME, whole, DOMAIN, KEY.public_key())


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("schema", lambda body: body.update(schema=2)),
        ("source", lambda body: body.update(source="invented")),
        ("when", lambda body: body.update(when="today")),
        ("student", lambda body: body.update(student="<script>")),
        ("title", lambda body: body.update(title=3)),
        ("stages", lambda body: body.update(stages={})),
        ("stages", lambda body: body.update(stages=["s01"])),
        ("module", lambda body: body["stages"][0].update(module="a")),
        ("isolation", lambda body: body["stages"][0].update(isolation="<b>")),
        ("rows", lambda body: body["stages"][0].update(rows=True)),
        ("uses", lambda body: body["stages"][0].update(uses=None)),
        ("python", lambda body: body["provenance"].update(python="<b>")),
    ],
)
def test_what_is_signed_has_to_have_the_form_of_a_certificate(field: str, change: Callable[..., object]) -> None:
    with pytest.raises(InvalidReceiptError) as caught:
        verified(changed(change), KEY.public_key())
    assert caught.value.field == field


def test_what_is_recorded_is_never_signed() -> None:
    with pytest.raises(AssertionError):
        document(replace(MADE, source="recorded"), KEY)
    assert document(replace(MADE, source="recorded"))["signature"] is None


def test_only_modules_that_are_still_what_passed_are_certified(place: Place) -> None:
    workspace = open_workspace(place.root)
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    digest = take(workspace.course.stages[0], None, place.root).digest
    workspace.store.record_pass("s01", digest, 7, "0.1.0", NOW, isolation="landlock", python="3.13.1", numpy="2.4.0")
    workspace.store.record_pass("s02", "b" * 64, 8, "0.1.0", NOW)
    found = recorded(road(workspace, NOW), workspace.store.read(), Provenance(), None)
    (entry,) = found.stages
    assert (entry.stage, entry.module, entry.isolation, entry.rows, found.source) == (
        "s01",
        digest,
        "landlock",
        2,
        "recorded",
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<p>" + BEGIN + b"{}</script><p>", b"{}"),
        (BEGIN + b"{", b"{"),
        (b' {"certificate": {}}', b' {"certificate": {}}'),
        (b'{"receipt": {}}', None),
        (b"\xff\xfe", None),
    ],
)
def test_a_certificate_is_found_where_it_stands(data: bytes, expected: bytes | None) -> None:
    assert held(data) == expected


def test_a_certificate_is_held_against_the_modules(place: Place) -> None:
    course = load_course(place.root)
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    digest = take(course.stages[0], None, place.root).digest
    right = replace(MADE, stages=(replace(ENTRY, module=digest),))
    expect_of(right, course, place.root, "s01")
    with pytest.raises(InvalidReceiptError, match=r"stages: are s01, expected s02"):
        expect_of(right, course, None, "s02")
    with pytest.raises(InvalidReceiptError, match="module: of s01 is aaa"):
        expect_of(MADE, course, place.root, None)


@contextmanager
def silent(name: str) -> Iterator[None]:
    yield None


def proof(place: Place, grade: Callable[..., Verdict]) -> Proof:
    workspace = replace(open_workspace(place.root), grade=grade)
    return proven(workspace, GradingRequest(), silent, lambda: NOW)


def grading(**statuses: str) -> Callable[..., Verdict]:
    def grade(course: Any, stage: Any, snapshot: Any, options: Any, on_test: Any, *_: Any) -> Verdict:
        return verdict(stage, *[statuses.get(stage.id, "passed")] * len(stage.criteria))

    return grade


def test_what_passes_now_is_certified_and_the_rest_is_accounted_for(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    place.sums.write_text(SUMS, encoding="utf-8")
    found = proof(place, grading(s02="failed"))
    (entry,) = found.entries
    digest = take(open_workspace(place.root).course.stages[0], None, place.root).digest
    assert (entry.stage, entry.module, entry.when) == ("s01", digest, "2026-11-21T08:38:02+00:00")
    assert found.left_out == ("s02: 0 of 2 criteria pass",)


def test_a_record_alone_certifies_nothing(place: Place) -> None:
    place.passed("s01", "s02")
    assert proof(place, grading()) == Proof((), ())


def test_nothing_is_recorded(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    proof(place, grading())
    assert place.recorded == set()


def test_a_fault_of_the_grader_certifies_nothing(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    found = proof(place, grading(s01="grader_fault"))
    assert found == Proof((), ("s01: the grader failed, which says nothing of the module",))


def test_where_hidden_tests_are_sealed_nobody_can_vouch(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    monkeypatch.setattr(certificate, "public_only", lambda stage: True)
    with pytest.raises(UsageError, match="the hidden tests of s01 are sealed"):
        proof(place, grading())


def test_a_module_that_cannot_be_taken_is_accounted_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")

    def refused(*_: object) -> None:
        raise SubmissionError("numbers_.py is too large")

    monkeypatch.setattr(certificate, "take", refused)
    assert proof(place, grading()) == Proof((), ("s01: numbers_.py is too large",))
