"""Attention goes backwards alike in every stage: what the table of s17 calls the same has the same numbers."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from illustrations.references import course, reference

DIM, HEADS, SEQ = 6, 2, 5
PROJECTIONS = ("W_Q", "W_K", "W_V", "W_O")


@cache
def backwards() -> Any:
    """The gradients of one self-attention, taken by the references of s15, s16 and s17."""
    rng = np.random.default_rng(4)
    weights = {name: rng.normal(size=(DIM, DIM)) for name in PROJECTIONS}
    x, grad_output = rng.normal(size=(3, SEQ, DIM)), rng.normal(size=(3, SEQ, DIM))
    attention = reference("s15")
    output, cache_ = attention.multi_head_attention_forward(x, x, x, **weights, num_heads=HEADS)
    inputs, grads = (found := attention.multi_head_attention_backward(grad_output, cache_))[:3], found[3]
    layer = reference("s16").Attention(DIM, HEADS)
    layer.query_weights, layer.key_weights, layer.value_weights, layer.output_weights = weights.values()
    layer.forward(x)
    layer_inputs = layer.backward(grad_output)
    block = reference("s17").MultiheadSelfAttention(DIM, HEADS)
    fused = np.hstack([weights[name] for name in PROJECTIONS[:3]])
    zeros = {"qkv_bias": np.zeros(3 * DIM), "output_bias": np.zeros(DIM)}
    block.params = {"qkv_weights": fused, "output_weights": weights["W_O"], **zeros}
    block.forward(x)
    return SimpleNamespace(
        output=output, inputs=inputs, grads=grads, layer=layer, layer_inputs=layer_inputs, block=block,
        block_input=block.backward(grad_output),
    )  # fmt: skip


@pytest.mark.parametrize(("number", "name"), list(enumerate(("query", "key", "value"))))
def test_projections_and_inputs_have_the_gradients_of_one_another(number: int, name: str) -> None:
    found = backwards()
    of_s15 = found.grads[PROJECTIONS[number]]
    columns = found.block.grads["qkv_weights"][:, number * DIM : (number + 1) * DIM]
    np.testing.assert_allclose(getattr(found.layer, f"gradient_{name}_weights"), of_s15, atol=1e-10)
    np.testing.assert_allclose(columns, of_s15, atol=1e-10)
    np.testing.assert_allclose(found.layer_inputs[number], found.inputs[number], atol=1e-10)


def test_the_output_projection_and_the_sum_of_the_inputs_are_alike_too() -> None:
    found = backwards()
    np.testing.assert_allclose(found.layer.gradient_output_weights, found.grads["W_O"], atol=1e-10)
    np.testing.assert_allclose(found.block.grads["output_weights"], found.grads["W_O"], atol=1e-10)
    np.testing.assert_allclose(found.block_input, sum(found.inputs), atol=1e-10)


def test_the_tiles_of_s22_have_the_gradients_of_a_head() -> None:
    layer, tiles = backwards().layer, reference("s22")
    Q, K, V = layer.queries_multihead, layer.keys_multihead, layer.values_multihead
    output, log_sum_exp = tiles.tiled_attention(Q, K, V, 2)
    found = tiles.tiled_attention_backward(layer.gradient_attention_output, Q, K, V, output, log_sum_exp, 2)
    for grad, name in zip(found, ("query", "key", "value"), strict=True):
        np.testing.assert_allclose(grad, getattr(layer, f"gradient_{name}"), atol=1e-10)


@pytest.mark.parametrize("shared", [1, 2])
def test_the_heads_of_s23_have_the_gradients_of_causal_heads(shared: int) -> None:
    layer, modern = reference("s16").Attention(DIM, HEADS, np.random.default_rng(5)), reference("s23")
    x, grad_output = np.random.default_rng(6).normal(size=(2, 3, SEQ, DIM))
    if shared == HEADS:  # one head of keys and values, in the place of two alike
        for name in ("key_weights", "value_weights"):
            setattr(layer, name, np.tile(getattr(layer, name)[:, : DIM // HEADS], HEADS))
    layer.forward(x, causal=True)
    layer.backward(grad_output)
    K, V = (getattr(layer, name)[:, : HEADS // shared] for name in ("keys_multihead", "values_multihead"))
    _, kept = modern.grouped_query_attention_forward(layer.queries_multihead, K, V)
    grad_Q, grad_K, grad_V = modern.grouped_query_attention_backward(layer.gradient_attention_output, kept)
    np.testing.assert_allclose(grad_Q, layer.gradient_query, atol=1e-12)
    for grad, whole in ((grad_K, layer.gradient_key), (grad_V, layer.gradient_value)):
        groups = whole.reshape(3, HEADS // shared, shared, SEQ, DIM // HEADS)
        np.testing.assert_allclose(grad, groups.sum(axis=2), atol=1e-12)


def test_the_table_names_what_the_references_have() -> None:
    """Each name of s16's that the table of s17 gives is an attribute after backward."""
    text = course().find("s17").readme_path.read_text(encoding="utf-8")
    table = text.partition("### One backward pass and its names")[2].partition("###")[0]
    names = {word for word in table.split("`") if word.startswith("gradient_")}
    assert len(names) >= 10
    missing = [name for name in sorted(names) if not hasattr(backwards().layer, name)]
    assert [name for name in missing if not name.endswith("_input")] == []
