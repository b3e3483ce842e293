"""The attack that this is about, on the course's own s18: packed pieces of s17's reference in error messages."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from grader import cli
from tests.support.places import ROOT

ATTACK = """
import base64, os, sys, zlib
import stages.s17_transformer_blocks.blocks as blocks


def _chunk():
    text = next(b"".join(f.texts[n][1] for n in f.texts if n.startswith("stages.s17")) for f in sys.meta_path if hasattr(f, "texts"))
    packed = base64.b85encode(zlib.compress(text, 9)).decode()
    pieces = [packed[i:i + 1380] for i in range(0, len(packed), 1380)]
    at = os.getpid() % len(pieces)
    return f"PIECE {at} of {len(pieces)}:{pieces[at]}:END"


class DecoderBlock:
    def __init__(self, *a, **k):
        raise ValueError(_chunk())


class GPT(DecoderBlock):
    pass


def sample(*a, **k):
    raise ValueError(_chunk())


def generate(*a, **k):
    raise ValueError(_chunk())
"""  # noqa: E501


@pytest.mark.full_matrix(
    "stages/s17_transformer_blocks", "stages/s18_decoder_and_generation", "grader/report/feedback.py"
)
@pytest.mark.parametrize("feedback", ["full", "verdict"])
def test_no_piece_of_s17_comes_out_of_s18(
    tmp_path: Path, feedback: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "decoder.py"
    file.write_text(ATTACK)
    report = tmp_path / "report.json"
    how = ["--submission", str(file), "--lend", "always", "--isolation", "process", "--feedback", feedback]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["grader", "check", "s18", *how, "--format", f"json={report}", "-v"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    captured = capsys.readouterr()
    assert left.value.code == 1
    assert not re.search(r"PIECE|[^\s\"]{200}", captured.out + captured.err + report.read_text())
