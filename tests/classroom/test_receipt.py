"""A receipt says what was graded; whatever is changed in it afterwards makes it invalid, and the field is named."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from grader.classroom.receipt import (
    DOMAIN,
    InvalidReceiptError,
    key_id,
    new_signing_key,
    read_public_key,
    read_signing_key,
    receipt_of,
    signed,
    verified,
)
from grader.course.provenance import Provenance
from grader.errors import GraderFault, UsageError
from grader.submission.snapshot import Use
from grader.verdict import Verdict
from tests.support.verdicts import EMPTY, PASSED, SYNTAX, UNMARKED, VERDICT

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
PUBLIC = KEY.public_key()
NOW = datetime(2026, 11, 21, 13, 30, 5, 999, timezone(timedelta(hours=1)))
MADE = Provenance("c" * 40, True, None, "3.13.1", "2.4.0", "class/ada", "d" * 40)
USE = Use("s02", "own", "cd" * 32)
RECEIPT = receipt_of(replace(VERDICT, run=replace(VERDICT.run, provenance=MADE, uses=(USE,))), NOW)
TEXT = signed(RECEIPT, KEY)
WHOLE: dict[str, Any] = json.loads(TEXT)


def invalid(data: bytes | str) -> InvalidReceiptError:
    with pytest.raises(InvalidReceiptError) as caught:
        verified(data.encode() if isinstance(data, str) else data, PUBLIC)
    return caught.value


def resigned(body: dict[str, Any]) -> str:
    """Return a receipt with any body, signed with the right key."""
    data = DOMAIN + json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    return json.dumps({**WHOLE, "receipt": body, "signature": base64.b64encode(KEY.sign(data)).decode()})


def test_a_receipt_says_what_was_graded_and_how() -> None:
    assert asdict(RECEIPT) == {
        "course": "0.1.0",
        "stage": "s15",
        "submission": "ab" * 32,
        "seed": 40817,
        "isolation": "bubblewrap",
        "feedback": "full",
        "when": "2026-11-21T12:30:05+00:00",
        "passed": False,
        "criteria": {
            "scores": "passed",
            "split-heads": "failed",
            "merge-heads": "not_started",
            "forward": "blocked",
            "crash": "crashed",
        },
        "provenance": asdict(MADE),
        "uses": (asdict(USE),),
        "robust": 1,
    }


def test_a_receipt_of_an_earlier_grader_does_not_say_how_robust_it_is() -> None:
    body = {name: value for name, value in WHOLE["receipt"].items() if name != "robust"}
    assert verified(resigned(body).encode(), PUBLIC) == replace(RECEIPT, robust=None)


@pytest.mark.parametrize("robust", [-1, 2, 1.0, "1", True])
def test_no_more_criteria_are_robust_than_pass(robust: object) -> None:
    assert invalid(resigned({**WHOLE["receipt"], "robust": robust})).field == "robust"


@pytest.mark.parametrize("verdict", [VERDICT, PASSED, SYNTAX, replace(VERDICT, feedback="hint")])
def test_a_signed_receipt_is_valid(verdict: Verdict) -> None:
    receipt = receipt_of(verdict, NOW)
    assert verified(signed(receipt, KEY).encode(), PUBLIC) == receipt


def test_a_receipt_of_before_says_nothing_of_what_it_was_made_with() -> None:
    body = {name: value for name, value in WHOLE["receipt"].items() if name not in ("provenance", "uses")}
    assert verified(resigned(body).encode(), PUBLIC) == replace(RECEIPT, provenance=Provenance(), uses=())


@pytest.mark.parametrize("uses", [None, [1], [asdict(USE) | {"source": "mine"}]])
def test_uses_are_held_to_their_form(uses: object) -> None:
    assert invalid(resigned(WHOLE["receipt"] | {"uses": uses})).field == "uses"


@pytest.mark.parametrize(
    ("field", "value"),
    [("commit", "HEAD"), ("release", "x"), ("python", 3), ("numpy", "2\n"), ("student", "ada\x1b[2J"), ("changed", 1)],
)
def test_what_it_was_made_with_is_held_to_its_form(field: str, value: object) -> None:
    body = WHOLE["receipt"] | {"provenance": WHOLE["receipt"]["provenance"] | {field: value}}
    assert invalid(resigned(body)).field == field
    assert invalid(resigned(WHOLE["receipt"] | {"provenance": []})).field == "provenance"


def test_nothing_but_the_layout_may_change() -> None:
    assert verified(json.dumps(WHOLE, sort_keys=True).encode(), PUBLIC) == RECEIPT


def test_the_same_receipt_gives_the_same_bytes() -> None:
    assert signed(RECEIPT, KEY) == TEXT


@pytest.mark.parametrize("field", WHOLE["receipt"])
def test_a_changed_field_does_not_fit_the_signature(field: str) -> None:
    value = WHOLE["receipt"][field]
    other = {str: f"{value}0", int: 1, bool: True, dict: {"scores": "passed"}, list: []}[type(value)]
    changed = {**WHOLE["receipt"], field: other if other != value else 2}
    assert invalid(json.dumps({**WHOLE, "receipt": changed})).field == "signature"
    left_out = {name: kept for name, kept in WHOLE["receipt"].items() if name != field}
    assert invalid(json.dumps({**WHOLE, "receipt": left_out})).field == "signature"


def test_a_field_that_was_added_does_not_fit_the_signature() -> None:
    assert invalid(json.dumps({**WHOLE, "receipt": {**WHOLE["receipt"], "bonus": 1}})).field == "signature"


@pytest.mark.parametrize("signature", ["", "?", "AAAA", base64.b64encode(bytes(64)).decode()])
def test_another_signature_is_refused(signature: str) -> None:
    assert invalid(json.dumps({**WHOLE, "signature": signature})).field == "signature"


def test_a_signature_for_something_else_is_refused() -> None:
    body = json.dumps(WHOLE["receipt"], sort_keys=True, separators=(",", ":")).encode()
    bare = base64.b64encode(KEY.sign(body)).decode()
    assert invalid(json.dumps({**WHOLE, "signature": bare})).field == "signature"


def test_another_key_is_named() -> None:
    error = invalid(signed(RECEIPT, OTHER))
    assert error.field == "key" and key_id(PUBLIC) in str(error)
    claimed = {**json.loads(signed(RECEIPT, OTHER)), "key": key_id(PUBLIC)}
    assert invalid(json.dumps(claimed)).field == "signature"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"receipt": NaN}',
        b" " * ((1 << 20) + 1),
        TEXT.replace('"seed"', '"passed": true, "seed"'),
        TEXT.replace("{", '{"key": "", ', 1),
    ],
)
def test_what_is_no_receipt_is_refused(data: bytes | str) -> None:
    assert invalid(data).field == "receipt"


@pytest.mark.parametrize("field", ["receipt", "key", "signature"])
@pytest.mark.parametrize("value", [None, 7, [], ["x"]])
def test_a_part_of_another_type_is_named(field: str, value: object) -> None:
    assert invalid(json.dumps({**WHOLE, field: value})).field == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", 2),
        ("course", ""),
        ("course", "0.1.0\x1b[2J"),
        ("stage", "x15"),
        ("submission", "AB" * 32),
        ("isolation", "none at all"),
        ("feedback", "everything"),
        ("when", "today"),
        ("seed", True),
        ("seed", "7"),
        ("passed", 1),
        ("criteria", []),
        ("criteria", {"scores": "perfect"}),
        ("criteria", {"scores": ["passed"]}),
        ("criteria", {"\x1b[2J": "passed"}),
        ("passed", True),
    ],
)
def test_what_is_signed_and_of_another_form_is_named(field: str, value: object) -> None:
    assert invalid(resigned({**WHOLE["receipt"], field: value})).field == field


def test_what_is_signed_and_whole_is_valid_that_way() -> None:
    assert verified(resigned(WHOLE["receipt"]).encode(), PUBLIC) == RECEIPT


def test_a_pass_of_no_row_is_no_pass() -> None:
    assert invalid(resigned({**WHOLE["receipt"], "passed": True, "criteria": {}})).field == "passed"


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=UNMARKED)
def test_what_gives_no_marks_gets_no_receipt(verdict: Verdict) -> None:
    empty = replace(verdict.run, submission="") if verdict.problem is not None else verdict.run
    with pytest.raises(GraderFault, match="no receipt is given"):
        receipt_of(replace(verdict, run=empty), datetime.now(UTC))


@pytest.mark.parametrize(
    ("changes", "why"), [({"only": "scores"}, "only scores was graded"), ({"public_only": True}, "only public tests")]
)
def test_half_a_grading_gets_no_receipt(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(GraderFault, match=why):
        receipt_of(replace(VERDICT, run=replace(VERDICT.run, **changes)), NOW)


def test_an_empty_verdict_is_no_pass() -> None:
    assert not receipt_of(EMPTY, NOW).passed


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
