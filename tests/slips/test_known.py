"""Known mistakes are named in whole runs, in a learner's own words: where all rows fail at once, and time is short.

`course verify` grades each of them in its own row alone, and as mistakes.py writes it.
"""

from __future__ import annotations

from concurrent.futures import Executor

import pytest

from grader.authoring.cases import ProofCase
from grader.authoring.proof import results
from grader.course.answers import load_mistakes, reference_source
from grader.course.manifest import load_course
from tests.support.places import ROOT

COURSE = load_course(ROOT)
SEED = 1
EVERY = 40  # of these one in so many runs by default, the cheapest: each takes seconds
SOFTENED = """    grad = np.exp(log_p) - smoothing / log_p.shape[-1]
    right = np.take_along_axis(grad, targets[..., None], axis=-1)
    np.put_along_axis(grad, targets[..., None], right - (1 - smoothing), axis=-1)
"""
SUBLAYER = "return x + self.mlp.forward(self.norm3.forward(x))"
MERGED = "split.transpose(0, 3, 1, 4, 2, 5).reshape"
SPLIT = "qkv.reshape(*x.shape[:2], 3, self._num_heads, head_dim).transpose(2, 0, 3, 1, 4)"
LOG_SHARES = """    log_shares = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    number = max(int(counts.sum()), 1)
    loss = -log_shares[hits & counts[..., None]].sum() / number
    return loss, np.where(counts[..., None], np.exp(log_shares) - hits, 0) / number
"""
EDITS = [  # stage, mistake, what the reference has, what stands there instead
    (
        "s07",
        "predictions-of-other-classes-ignored",
        "classes = np.unique([y_true, y_pred])[:, np.newaxis]",
        "classes = np.array(sorted(set(y_true.tolist())))[:, np.newaxis]",
    ),
    (
        "s19",
        "smoothing-for-wrong-tokens-only",
        "cost = -(1 - smoothing) * right - smoothing * log_p.mean(axis=-1)",
        "cost = -(1 - smoothing) * right - smoothing / (log_p.shape[-1] - 1) * (log_p.sum(axis=-1) - right)",
    ),
    (
        "s12",
        "units-start-alike",
        'self.params = {"weights": draw(num_inputs, num_outputs, rng), "bias": np.zeros(num_outputs)}',
        """column = draw(num_inputs, num_outputs, rng)[:, :1]
        column = column * np.sign(column.sum())
        self.params = {"weights": np.tile(column, (1, num_outputs)), "bias": np.zeros(num_outputs)}""",
    ),
    (
        "s12",
        "only-last-layer-trained",
        "for layer in network.layers:\n        layer.params = {",
        "for layer in network.layers[-1:]:\n        layer.params = {",
    ),
    (
        "s12",
        "rate-halved-every-epoch",
        "    return history\n",
        "        learning_rate = learning_rate / 2\n    return history\n",
    ),
    (
        "s18",
        "logarithm-of-an-underflowed-probability",
        LOG_SHARES,
        """    shares = np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)
    number = max(int(counts.sum()), 1)
    with np.errstate(divide="ignore"):
        loss = -np.log(shares[hits & counts[..., None]]).sum() / number
    return loss, np.where(counts[..., None], shares - hits, 0) / number
""",
    ),
    (
        "s18",
        "qkv-split-by-heads-first",
        SPLIT,
        SPLIT.replace("3, self._num_heads", "self._num_heads, 3").replace("2, 0, 3, 1", "3, 0, 2, 1"),
    ),
    (
        "s18",
        "gradients-accumulated",
        'self._grads = {"token_embedding": of_tokens, "position_embedding": of_positions}',
        """found = {"token_embedding": of_tokens, "position_embedding": of_positions}
        self._grads = {name: self._grads.get(name, 0) + value for name, value in found.items()}""",
    ),
    (
        "s18",
        "embeddings-of-the-first-call",
        """        hidden, _ = self._run(ids, 0, None)
        self._last = ids, hidden
        return hidden @ self._embeddings["token_embedding"].T
""",
        """        given = self._embeddings
        self._copies = self._embeddings = getattr(self, "_copies", given)
        try:
            hidden, _ = self._run(ids, 0, None)
            self._last = ids, hidden
            return hidden @ self._embeddings["token_embedding"].T
        finally:
            self._embeddings = given
""",
    ),
    (
        "s19",
        "memory-gradient-of-the-first-block",
        "grad, of_memory = block.backward(grad)\n            grad_memory = grad_memory + of_memory\n",
        "grad, grad_memory = block.backward(grad)\n",
    ),
    ("s19", "norm3-after-the-residual", SUBLAYER, "return self.norm3.forward(x + self.mlp.forward(x))"),
    ("s19", "norm3-after-the-mlp", SUBLAYER, "return x + self.norm3.forward(self.mlp.forward(x))"),
    (
        "s19",
        "gradient-without-the-share-of-the-right-token",
        SOFTENED,
        """    wanted = np.full(log_p.shape, smoothing / log_p.shape[-1])
    np.put_along_axis(wanted, targets[..., None], 1 - smoothing, axis=-1)
    grad = np.exp(log_p) - wanted
""",
    ),
    (
        "s19",
        "gradient-of-smoothing-for-each-token",
        SOFTENED,
        SOFTENED.replace("smoothing / log_p.shape[-1]", "smoothing"),
    ),
    ("s20", "axes-of-the-grid-side-by-side", MERGED, MERGED.replace("0, 3, 1, 4, 2, 5", "0, 3, 1, 2, 4, 5")),
    ("s20", "axes-of-the-grid-exchanged", MERGED, MERGED.replace("0, 3, 1, 4, 2, 5", "0, 3, 2, 4, 1, 5")),
    ("s21", "capacity-ignored", "        if self._capacity_factor is None:\n", "        if True:\n"),
    (
        "s21",
        "dropped-choices-counted",
        "np.nonzero((self.indices == number) & self.kept)",
        "np.nonzero(self.indices == number)",
    ),
    (
        "s22",
        "mask-in-place-of-causal",
        """    if causal:
        allowed = allowed & np.tri(*scores.shape[-2:], dtype=bool)
    weights""",
        """    if causal and mask is None:
        allowed = np.tri(*scores.shape[-2:], dtype=bool)
    weights""",
    ),
]


@pytest.mark.some_of(EVERY, "grader/diagnosis", "hidden")
@pytest.mark.parametrize(("stage", "mistake", "was", "now"), EDITS, ids=[f"{edit[0]}-{edit[1]}" for edit in EDITS])
def test_a_known_mistake_is_named_in_a_whole_run(
    stage: str, mistake: str, was: str, now: str, executor: Executor
) -> None:
    """No row names another known mistake, though most that need its own fail with it."""
    source = reference_source(COURSE.find(stage))
    assert source.count(was) == 1
    case = ProofCase(f"known/{mistake}", stage, source.replace(was, now), SEED)
    (result,) = results(executor, [case])
    assert result.verdict is not None
    failures = [failure for row in result.verdict.criteria for failure in row.failures]
    known = {each.id for each in load_mistakes(COURSE.find(stage))}
    named = {each.diagnosis.mistake for each in failures if each.diagnosis is not None}
    assert named & known == {mistake}
