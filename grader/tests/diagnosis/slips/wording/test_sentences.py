"""Each kind of change is told in one true sentence: a small function, what was and is in it, the clause."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.names import are_kin
from grader.tests.diagnosis.slips.made import told

SCALED = (
    """
def scaled(Q, K, mask=None, d_k=4):
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return scores / np.sqrt(d_k)
""",
    "scaled(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 2)) > 0)",
)
TOTAL = (
    """
def total(x, weights, base):
    result = base + 0.0
    for place in range(len(x)):
        result += weights[place] * x[place]
    return result
""",
    "total([1.0, 2.0], [3.0, 4.0], 1.0)",
)
HEADS = (
    """
def project(x, W):
    return x @ W


def heads(params, query, key):
    K = project(key, params["W_K"])
    V = project(query, params["W_V"])
    return project(K, V) + params["b_V"], V
""",
    """heads({"W_K": np.ones((2, 1)), "W_V": np.ones((2, 1)) * 2, "b_V": np.ones((1, 1))}, *np.eye(2)[:, None])""",
)
SPREAD = (
    """
def spread(x, mean):
    centred = x - mean
    variance = np.mean(centred**2, axis=-1, keepdims=True)
    return -np.maximum(variance, 1e-5) ** 0.5 * x.shape[-1]
""",
    "spread(np.arange(6.0).reshape(2, 3), 1.0)",
)
COUNT = (
    """
def count(n, low, high):
    found = []
    if n < low or n > high:
        return found
    for k in range(n):
        if k == low:
            continue
        found.append(k // 2)
    return found[1:]
""",
    "count(6, 1, 9)",
)
UPDATE = (
    """
def update(params, grads, rate=0.1, nesterov=False):
    params["W"] -= rate * grads["W"]
    params["b"] = params["b"] - rate * grads["b"]
    sizes = np.tril(np.ones((3, 2)))
    return np.std(sizes, ddof=1) if nesterov else np.sum(sizes)
""",
    """update({"W": np.ones(2), "b": np.zeros(2)}, {"W": np.ones(2), "b": np.ones(2)}, 0.2)""",
)

CASES = [
    (SCALED, "Q @", "K @", "K were used where Q belongs"),
    (SCALED, "np.swapaxes(K, -1, -2)", "K", "K were not transposed"),
    (SCALED, "np.swapaxes(K, -1, -2)", "K.T", "`.T` reversed all axes of K instead of swapping its last two"),
    (SCALED, "K, -1, -2", "K, 0, 1", "axes 0 and 1 of K were swapped instead of the last two"),
    (SCALED, "Q @ np.swapaxes(K, -1, -2)", "np.swapaxes(K, -1, -2) @ Q",
     "Q and the transpose of K were multiplied in the other order"),
    (SCALED, "Q @ np", "Q * np", "Q and the transpose of K were multiplied elementwise instead of as matrices"),
    (SCALED, "Q @ np", "np", "the matrix product with Q were left out"),
    (SCALED, "(mask, scores, -1e9)", "(~mask, scores, -1e9)", "mask were inverted"),
    (SCALED, "(mask, scores, -1e9)", "(mask, -1e9, scores)", "the two cases of the condition on mask were swapped"),
    (SCALED, "-1e9", "1e9", "1e+09 stood where the formula has -1e+09"),
    (SCALED, "mask is not None", "False", "the special case for mask were left out"),
    (SCALED, "mask is not None", "True", "the special case for mask were always taken"),
    (SCALED, " / np.sqrt(d_k)", "", "the division by the square root of d_k were left out"),
    (SCALED, "np.sqrt(d_k)", "d_k", "the square root of d_k were not taken"),
    (SCALED, "sqrt(d_k)", "sqrt(d_k**2)", "the square of d_k stood where d_k itself belongs"),
    (SCALED, "    scores = Q", "    mask = None\n    scores = Q", "mask were ignored"),
    (SCALED, "    scores = Q", "    Q, K = (K, Q)\n    scores = Q", "Q and K were confused throughout"),
    (SCALED, "    scores = Q", "    d_k = 1\n    scores = Q", "d_k were always 1, whatever is passed"),
    (TOTAL, "base + 0.0", "base - 0.0", "0 were subtracted instead of added"),
    (TOTAL, "len(x)", "len(weights)", "weights were used where x belongs"),
    (TOTAL, "range(len(x))", "range(len(x) - 1)", "the loop made one round too few"),
    (TOTAL, "range(len(x))", "range(1, len(x))", "the loop left out its first round"),
    (TOTAL, "range(len(x))", "reversed(range(len(x)))", "the loop ran backwards"),
    (TOTAL, "range(len(x))", "()", "the loop did not run at all"),
    (TOTAL, "result += ", "result -= ", "the running value were reduced instead of increased"),
    (TOTAL, "result += ", "result = ", "the running value were replaced each time instead of added to"),
    (TOTAL, "weights[place] * ", "", "that part of x were not multiplied by that part of weights"),
    (TOTAL, "    return", "        return result\n    return", "it returned after the first round of the loop"),
    (HEADS, 'params["W_K"]', 'params["W_V"]', "W_V were used where W_K belongs"),
    (HEADS, "(K, V)", "(V, K)", "key and query were swapped in project"),
    (HEADS, ' + params["b_V"]', "", "b_V were not added to the result of project for key"),
    (HEADS, "project(key, ", "project(None, ", "key did not reach project"),
    (HEADS, 'project(key, params["W_K"])', "key", "project were not applied to key"),
    (SPREAD, "x - mean", "mean - x", "x were subtracted from mean instead of mean from x"),
    (SPREAD, "x - mean", "x", "mean were not subtracted from x"),
    (SPREAD, "centred**2", "centred", "(x - mean) were not squared"),
    (SPREAD, "axis=-1, ", "", "the mean were taken over the whole array at once instead of along the last axis"),
    (SPREAD, "axis=-1", "axis=0", "it worked along the first axis instead of the last axis"),
    (SPREAD, ", keepdims=True", "", "keepdims were left out of the mean"),
    (SPREAD, "np.maximum(variance, 1e-5)", "variance", "the lower bound were left out, and only the mean were kept"),
    (SPREAD, "maximum", "minimum", "the minimum were taken instead of the maximum"),
    (SPREAD, "x.shape[-1]", "x.shape[-2]",
     "the size of the second-to-last axis of x were taken instead of that of the last axis"),
    (COUNT, "n < low", "n <= low", "`<=` stood where `<` belongs in the comparison of n with low"),
    (COUNT, "n < low or n > high", "n > high", "the condition on n and low were left out"),
    (COUNT, " or ", " and ", "`and` stood where `or` belongs in a condition"),
    (COUNT, "continue", "pass", "`continue` were left out of a loop"),
    (COUNT, "append", "extend", "`extend` were called instead of `append`"),
    (COUNT, "k // 2", "k / 2", "the quotient were not rounded down to a whole number"),
    (COUNT, "[1:]", "[2:]", "a slice began at 2 instead of 1"),
    (COUNT, "[1:]", "[:]", "a slice began at the first entry"),
    (UPDATE, 'grads["b"]', 'grads["W"]', "W were used where b belongs"),
    (UPDATE, "-= rate", "= rate", "W were replaced each time instead of subtracted from"),
    (UPDATE, "-= rate", "+= rate", "W were increased instead of reduced"),
    (UPDATE, "ones((3, 2))", "ones((2, 3))", "3 and 2 stood in the other order"),
    (UPDATE, "np.ones((3, 2)))", "np.ones((3, 2)), 1)",
     "the edge of the triangle lay one diagonal above the main diagonal"),
    (UPDATE, ", ddof=1", "", "ddof were left out of the standard deviation"),
    (UPDATE, "np.std(sizes, ddof=1) if nesterov else ", "", "the case distinction on nesterov were left out"),
    (UPDATE, "np.sum", "np.mean", "the mean were taken instead of the sum"),
]  # fmt: skip


@cache
def changes(text: str, call: str) -> dict[str, list[Clause]]:
    return told(text, call)


@pytest.mark.parametrize(("function", "was", "now", "said"), CASES, ids=[each[3] for each in CASES])
def test_a_change_is_told(function: tuple[str, str], was: str, now: str, said: str) -> None:
    text, call = function
    assert was in text
    wanted = ast.unparse(ast.parse(text.replace(was, now, 1)).body[-1])
    found = changes(text, call)
    assert wanted in found, f"no change gives\n{wanted}"
    assert said in [each.said for each in found[wanted]]


@pytest.mark.parametrize("function", [SCALED, TOTAL, HEADS, SPREAD, COUNT, UPDATE], ids=lambda each: each[0].split()[1])
def test_every_clause_is_one_part_of_a_sentence_and_every_remedy_a_whole_one(function: tuple[str, str]) -> None:
    for clauses in changes(*function).values():
        for each in clauses:
            assert each.said == each.said.strip() and not each.said.endswith(".") and "  " not in each.said
            assert each.fix[0].isupper() and each.fix.endswith(".") and 0 <= each.rank <= 4
            assert " _" not in each.said and "None were" not in each.said


@pytest.mark.parametrize(
    ("one", "other", "kin"),
    [("K", "V", True), ("W_Q", "W_K", True), ("grad_Q", "grad_K", True), ("mask", "scores", False)],
)
def test_names_with_a_part_in_common_are_likely_confused(one: str, other: str, kin: bool) -> None:
    assert are_kin(one, other) is are_kin(other, one) is kin
