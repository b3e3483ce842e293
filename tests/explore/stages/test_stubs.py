"""The stub of a stage draws nothing, and leads to the first function of its checklist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.explore.exploring import stubbed

BY_DEFAULT = ("s04", "s18")
FIRST = {
    "s01": "dot_product",
    "s02": "forward_substitution",
    "s03": "finite_difference",
    "s04": "normal_pdf",
    "s05": "sgd_step",
    "s06": "normal_equation",
    "s07": "sigmoid",
    "s09": "ridge_penalty",
    "s10": "build_vocabulary",
    "s11": "relu",
    "s12": "xavier_uniform",
    "s13": "im2col",
    "s14": "rnn_forward",
    "s16": "Attention",
    "s18": "GPT",
    "s19": "CrossAttention",
    "s20": "patchify",
    "s21": "router",
    "s22": "tiled_attention",
    "s23": "rotary_forward",
}
FULL = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("stage", [pytest.param(each, marks=[] if each in BY_DEFAULT else FULL) for each in FIRST])
def test_a_stub_draws_nothing_and_begins_with_its_first_function(tmp_path: Path, stage: str) -> None:
    found = stubbed(tmp_path, stage)
    assert (found.fine, found.maps, found.drawings, found.next_function) == (False, (), (), FIRST[stage])
    assert {part.status for step in found.steps for part in step.parts} <= {"not_started", "blocked"}
