"""Records of what a submission builds on."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from grader.submission.used import MOST, Use, uses_in, whole_digest

USE = Use("s02", "own", "ab" * 32)


def test_a_module_alone_has_its_own_digest() -> None:
    assert whole_digest("cd" * 32, ()) == "cd" * 32


def test_the_digest_covers_text_source_and_stage_of_all_that_is_used() -> None:
    others = [Use("s03", "own", "ab" * 32), Use("s02", "given", "ab" * 32), Use("s02", "own", "cd" * 32)]
    found = {whole_digest("cd" * 32, [use]) for use in (USE, *others)} | {whole_digest("ef" * 32, [USE])}
    assert len(found) == 5 and all(len(each) == 64 for each in found)


def test_uses_are_read_back_from_a_document() -> None:
    assert uses_in([asdict(USE)]) == (USE,)
    assert uses_in([]) == ()


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        ["s02"],
        [asdict(USE) | {"stage": "s2x"}],
        [asdict(USE) | {"source": "mine"}],
        [asdict(USE) | {"digest": "AB" * 32}],
        [asdict(USE) | {"digest": f"{'ab' * 32}\n"}],
        [asdict(USE) | {"more": 1}],
        [asdict(USE)] * (MOST + 1),
    ],
)
def test_another_form_is_none(found: object) -> None:
    assert uses_in(found) is None
