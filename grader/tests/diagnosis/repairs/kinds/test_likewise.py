"""What is done at one place and not at another is put right: a factor, a step, a copy, the first value of a loop."""

from __future__ import annotations

import pytest

from grader.tests.diagnosis.repairs.made import repairs

STEP = "def relu(x):\n    return np.maximum(x, 0)\n\n\n"
CASES = {
    "a view that is changed": (
        "def f(x):\n    v = x[:2]\n    v[0] += 1.0\n    return x + v.sum()",
        "f(np.ones(3))",
        "v = x[:2].copy()\nv[0] += 1.0\nreturn x + v.sum()",
        "x[:2] were not copied",
    ),
    "an argument that is changed": (
        "def f(x, m):\n    x *= m\n    return x",
        "f(np.ones(3), 2.0)",
        "x = x * m\nreturn x",
        "x, which was handed in, were changed in place",
    ),
    "a divisor that another line has": (
        "def f(g, q, k):\n    dq = (g @ k) / np.sqrt(q.shape[-1])\n    dk = g.T @ q\n    return dq + dk",
        "f(np.ones((3, 3)), np.ones((3, 4)), np.ones((3, 4)))",
        "dq = g @ k / np.sqrt(q.shape[-1])\ndk = g.T @ q / np.sqrt(q.shape[-1])\nreturn dq + dk",
        "the product of g transposed and q were not divided by the square root",
    ),
    "half of an argument": (
        "def f(z):\n    return (1 + np.tanh(z)) / 2",
        "f(np.ones(3))",
        "return (1 + np.tanh(z / 2)) / 2",
        "z were not divided by 2",
    ),
    "a scale that stretches": (
        "def f(g, most):\n    scale = most / float(np.sqrt((g * g).sum()))\n    return g * scale",
        "f(np.ones(3), 5.0)",
        "scale = min(1.0, most / float(np.sqrt((g * g).sum())))\nreturn g * scale",
        "`most / float(np.sqrt((g * g).sum()))` were taken even where it is more than 1",
    ),
    "an axis that is put in elsewhere": (
        "def f(mask):\n    return np.ones((2, 3, 4, 4)) * mask[:, None, :, None]",
        "f(np.ones((2, 4)))",
        "return np.ones((2, 3, 4, 4)) * mask[:, None, None, :]",
        "`mask[:, None, :, None]` stood where `mask[:, None, None, :]` belongs",
    ),
    "places for what stands there": (
        "def f(y, order):\n    chosen = np.argsort(y[order])\n    return chosen",
        "f(np.array([2.0, 0.0, 1.0]), np.array([1, 2, 0]))",
        "chosen = order[np.argsort(y[order])]\nreturn chosen",
        "the places in order were used, where the numbers that stand there belong",
    ),
    "a first value of a loop": (
        "def f(x, y):\n    bias = y.mean()\n    for each in x:\n        bias = bias + each\n    return bias",
        "f(np.ones(3), np.ones(3))",
        "bias = 0.0\nfor each in x:\n    bias = bias + each\nreturn bias",
        "bias began with `y.mean()`, where it begins with 0",
    ),
    "a first value of what is kept": (
        "def f(state, grads):\n    old = state.get('v') or {k: grads[k] ** 2 for k in grads}\n    return old['w'] + 1",
        "f({}, {'w': np.ones(2)})",
        "old = state.get('v') or {k: 0 * grads[k] ** 2 for k in grads}\nreturn old['w'] + 1",
        "old began with `grads[k] ** 2`, where it begins with zeros",
    ),
    "a step further inside": (
        f"{STEP}def f(x, a, b):\n    return relu(x @ a @ b)",
        "f(np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2)))",
        "return relu(x @ a) @ b",
        "`relu(x @ a @ b)` stood where `relu(x @ a) @ b` belongs",
    ),
    "a step further outside": (
        f"{STEP}def f(x, a):\n    y = relu(x) @ a\n    return y",
        "f(np.ones((2, 3)), np.ones((3, 4)))",
        "y = relu(x @ a)\nreturn y",
        "a were used outside of relu, where it belongs inside",
    ),
    "a step in another line": (
        f"{STEP}def f(x, a, b):\n    hidden = x @ a + 1\n    out = relu(hidden @ b + 1)\n    return out",
        "f(np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2)))",
        "hidden = relu(x @ a + 1)\nout = hidden @ b + 1\nreturn out",
        "`relu` were applied where out is made, and belongs where hidden is made",
    ),
    "a count that each round raises": (
        "def f(x, t):\n    s = 0.0\n    for a in x:\n        t += 1\n        s = s + a * t\n    return s",
        "f([1.0, 2.0], 0)",
        "s = 0.0\nt += 1\nfor a in x:\n    s = s + a * t\nreturn s",
        "t were raised in every round of the loop",
    ),
    "another number than the object's own": (
        "class A:\n    def __init__(self, value):\n        self.value = value\n\n"
        "    def f(self, other):\n        return 2.0 ** self.value * np.log(self.value)",
        "A(3.0).f(2.0)",
        "return 2.0 ** self.value * np.log(other)",
        "value were used where other belongs",
    ),
    "numbers on both sides of 0": (
        "def f(rng, limit, n):\n    return rng.uniform(0, limit, size=n)",
        "f(np.random.default_rng(1), 2.0, 3)",
        "return rng.uniform(-limit, limit, size=n)",
        "numbers were drawn from 0 on, where they begin at -limit",
    ),
    "a deviation for a mean": (
        "def f(rng, n):\n    return rng.normal(0.02, size=n)",
        "f(np.random.default_rng(1), 3)",
        "return rng.normal(0.0, 0.02, n)",
        "0.02 were the mean of numbers, where it is their standard deviation",
    ),
}


@pytest.mark.parametrize(("text", "call", "belongs", "said"), CASES.values(), ids=CASES)
def test_what_is_done_elsewhere_is_put_right(text: str, call: str, belongs: str, said: str) -> None:
    found = repairs(text, call)
    assert belongs in found, "\n\n".join(found)
    assert said in found[belongs]


def test_what_no_loop_goes_on_with_begins_with_no_zero() -> None:
    found = repairs("def f(x, y):\n    bias = y.mean()\n    return x + bias", "f(np.ones(3), np.ones(3))")
    assert not [said for each in found.values() for said in each if "began with" in said]


def test_an_own_array_may_be_changed_in_place() -> None:
    found = repairs("def f(x):\n    y = x + 1\n    y *= 2\n    return y", "f(np.ones(3))")
    assert not [said for each in found.values() for said in each if "handed in" in said]
