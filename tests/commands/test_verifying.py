"""`grader verify` tells receipts and certificates apart; classroom/ and viewing/ have the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.web.certificate import document
from tests.support.command import Here
from tests.web.test_certificate import KEY, MADE

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")


@pytest.fixture
def public(tmp_path: Path) -> str:
    form = serialization
    data = KEY.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "signing.pub").write_bytes(data)
    return str(tmp_path / "signing.pub")


def written(tmp_path: Path, text: str) -> str:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    return str(tmp_path / "file")


def test_a_certificate_that_stands_alone_is_read(here: Here, public: str, tmp_path: Path) -> None:
    done = here("verify", written(tmp_path, json.dumps(document(MADE, KEY))), "--public-key", public)
    assert done.code == 0 and done.out.splitlines()[1].startswith(f"s01 {'a' * 64}, graded 2026")


def test_a_certificate_that_nobody_signed_is_not_valid(here: Here, public: str, tmp_path: Path) -> None:
    done = here("verify", written(tmp_path, json.dumps(document(MADE))), "--public-key", public)
    assert done.code == 1 and "not valid: key: is missing" in done.err


@pytest.mark.parametrize("text", ["", "<p>a page", "{}", '{"receipt": 3}', "\x00"])
def test_anything_else_is_not_valid(here: Here, public: str, tmp_path: Path, text: str) -> None:
    done = here("verify", written(tmp_path, text), "--public-key", public)
    assert (done.code, done.out) == (1, "") and "not valid: " in done.err


def test_a_file_that_is_not_there_is_told(here: Here, public: str, tmp_path: Path) -> None:
    done = here("verify", str(tmp_path / "none"), "--public-key", public)
    assert done.code == 2 and "No such file" in done.err
