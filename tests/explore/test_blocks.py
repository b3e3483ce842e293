"""Explorations of blocks: from norm to output, beside a post-norm block, whatever is not written yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.course.stage import Criterion, Stage
from grader.errors import UsageError
from grader.explore.model import Example
from grader.explore.session import next_function
from tests.explore.exploring import COURSE, explored, parts
from tests.support.places import ROOT

BLOCKS = (Path(__file__).parent / "explored" / "blocks.txt").read_text(encoding="utf-8")


def blocks_stage() -> Stage:
    """A stage of Transformer blocks with the rows that matter here."""
    rows = {
        "multihead-attention": ("MultiheadSelfAttention",), "layer-norm": ("LayerNorm",), "mlp": ("MLP",),
        "pre-norm-block": ("Block",), "post-norm-block": ("PostNormBlock",),
    }  # fmt: skip
    criteria = tuple(Criterion(name, name, functions, (), ("", "", "")) for name, functions in rows.items())
    contract = COURSE.find("s17").contract
    return Stage("s17", ROOT / "stages" / "s17_blocks", "Blocks", "blocks.py", (), criteria, contract=contract)


def test_a_block_is_followed_from_norm_to_output_beside_a_post_norm_block(tmp_path: Path) -> None:
    found = explored(tmp_path, blocks_stage(), BLOCKS)
    assert found.fine, parts(found)
    names = ["block", "norm1", "attention", "residual", "norm2", "mlp", "output", "post"]
    assert [step.id for step in found.steps] == names
    spreads = {name: part.facts[-1] for name, part in parts(found).items() if name in ("norm1", "output", "post")}
    assert spreads["norm1"].text == spreads["post"].text == "std of each word 1.000 1.000 1.000 1.000"
    assert max(spreads["output"].values) > 1.1
    assert [each.title for each in found.maps] == [
        "Head 0, plain", "Head 0, causal", "Head 1, plain", "Head 1, causal",
    ]  # fmt: skip
    causal = np.array(found.maps[1].weights)
    np.testing.assert_allclose(causal.sum(axis=1), 1)
    assert not causal[np.triu_indices(4, 1)].any()


def test_the_seed_draws_the_blocks_weights(tmp_path: Path) -> None:
    first, again, other = (explored(tmp_path, blocks_stage(), BLOCKS, seed=seed) for seed in (3, 3, 4))
    assert first.ran.seed == 3
    assert first.maps == again.maps != other.maps


def test_the_reference_of_the_course_is_followed_too(tmp_path: Path) -> None:
    assert explored(tmp_path, "s17").fine


def test_layers_stand_in_for_a_block_that_is_not_written_yet(tmp_path: Path) -> None:
    block = 'class Block:\n    def __init__(self, *a, **k):\n        raise NotImplementedError("Block.__init__")\n'
    found = explored(tmp_path, blocks_stage(), f"{BLOCKS}\n\n{block}")
    assert found.next_function == "Block"
    assert parts(found)["block"].status == "not_started"
    assert parts(found)["mlp"].code == "MLP(dim, 4 * dim, rng=rng).forward(norm2)"
    assert (parts(found)["mlp"].status, parts(found)["output"].waits_for) == ("passed", "Block")
    assert len(found.maps) == 4


def test_of_one_row_the_function_that_it_names_first_comes_next() -> None:
    assert next_function(COURSE.find("s12"), {"he_normal", "xavier_uniform", "elsewhere"}) == "xavier_uniform"
    assert next_function(COURSE.find("s12"), {"somewhere", "elsewhere"}) == "elsewhere"


def test_attention_is_shown_before_there_is_a_norm(tmp_path: Path) -> None:
    text = BLOCKS.replace("centred = x", 'raise NotImplementedError("x")\n        centred = x')
    found = explored(tmp_path, blocks_stage(), text)
    assert found.next_function == "LayerNorm.forward"
    assert parts(found)["attention"].code == "block.attention.forward(x)"
    assert parts(found)["residual"].waits_for == "LayerNorm.forward"


@pytest.mark.parametrize(
    ("old", "new", "part", "status", "message"),
    [
        ("centred / spread", "centred", "norm1", "warning", "standard deviation of every word should be 1"),
        ("centred / spread", "x / spread", "norm1", "warning", "mean of every word should be 0"),
        ("x = x + self.attention.forward(self.norm1", "x = self.attention.forward(self.norm1", "output", "warning",
         "what its parts give"),
        ("if mask is not None", "if False", "causal", "warning", "above the diagonal"),
        ("return hidden @", "return hidden[0] @", "mlp", "failed", "shape (4, 6) should be (batch 1, seq 4, dim 6)"),
        ("self.attention_weights = e / e", "weights = e / e", "attention", "failed", "attention_weights"),
        ("return hidden @", "import os; os._exit(5) @", "mlp", "crashed", "ended with exit code 5"),
    ],
)  # fmt: skip
def test_a_block_that_is_wrong_is_told_where(
    tmp_path: Path, old: str, new: str, part: str, status: str, message: str
) -> None:
    found = explored(tmp_path, blocks_stage(), BLOCKS.replace(old, new, 1))
    assert parts(found)[part].status == status
    assert message in parts(found)[part].message
    if status == "crashed":
        assert parts(found)["output"].waits_for == "MLP.forward"


def test_a_block_wants_embeddings(tmp_path: Path) -> None:
    Q, K, V = np.eye(4), np.eye(4), np.eye(4)
    with pytest.raises(UsageError, match="it needs embeddings, not Q, K and V"):
        explored(tmp_path, blocks_stage(), BLOCKS, sentence=Example(("a", "b", "c", "d"), Q, K, V, 2, False, "arrays"))
