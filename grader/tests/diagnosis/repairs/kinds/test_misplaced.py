"""What stands in the wrong place is put where it belongs, and told by the learner's own text."""

from __future__ import annotations

import pytest

from grader.tests.diagnosis.repairs.made import repairs

ROW = "np.ones(3), np.ones(3)"
CASES = {
    "what an entry begins with": (
        "def f(grads, x):\n    grads['x'] = x\n    return grads",
        "{}, 2.5",
        "grads['x'] = 1.0\nreturn grads",
        "`x` stood where `1.0` belongs",
    ),
    "a bias behind a curve": (
        "def f(x, b):\n    return np.tanh(x) + b",
        ROW,
        "return np.tanh(x + b)",
        "b were added outside of tanh, where it belongs inside",
    ),
    "a bias inside of a product": (
        "def f(x, W, b):\n    return x @ (W + b)",
        "np.ones((2, 3)), np.ones((3, 3)), np.ones(3)",
        "return x @ W + b",
        "`x @ (W + b)` stood where `x @ W + b` belongs",
    ),
    "parentheses": (
        "def f(a, b):\n    return (a - b) // 2",
        "8, 2",
        "return a - b // 2",
        "`(a - b) // 2` stood where `a - b // 2` belongs",
    ),
    "a factor that is squared as well": (
        "def f(h):\n    return (4 * h) ** 2",
        "0.5",
        "return 4 * h ** 2",
        "`(4 * h) ** 2` stood where `4 * h ** 2` belongs",
    ),
    "a factor that is not squared": (
        "def f(h):\n    return 4 * h**2",
        "0.5",
        "return (4 * h) ** 2",
        "the brackets around `4 * h` were missing",
    ),
    "a number for a length": (
        "def f(x):\n    return x.reshape(1, -1)",
        "np.ones((3, 2, 2))",
        "return x.reshape(len(x), -1)",
        "`1` stood where `len(x)` belongs",
    ),
    "two names in each other's places": (
        "def f(x, scale, shift):\n    return shift * x + scale",
        "np.ones((2, 3)), np.ones(3), np.zeros(3)",
        "return scale * x + shift",
        "scale and shift were in each other's places",
    ),
    "a last part that is shorter": (
        "def f(n, size):\n    return list(range(0, n - size + 1, size))",
        "8, 2",
        "return list(range(0, n, size))",
        "the last part were dropped where it is shorter: the range ends at `n - size + 1`, where `n` belongs",
    ),
    "a last part that is taken": (
        "def f(n, size):\n    return list(range(0, n, size))",
        "8, 2",
        "return list(range(0, n - size + 1, size))",
        "a last, shorter part were taken: the range ends at `n`, where `n - size + 1` belongs",
    ),
    "draws on one side": (
        "def f(rng, limit):\n    return rng.uniform(0, limit)",
        "np.random.default_rng(1), 2.0",
        "return rng.uniform(-limit, limit)",
        "numbers were drawn from 0 on, where they begin at -limit",
    ),
    "a late division": (
        "def f(n, k, step):\n    return int(n // step) - k",
        "8, 2, 3",
        "return int((n - k) // step)",
        "`k` were subtracted after the division, where it belongs before",
    ),
    "a number that a value is held against": (
        "def f(x, most):\n    return x if x > 0 else 1.0",
        "3.0, 2.0",
        "return x if x > most else 1.0",
        "x were compared with 0, where most belongs",
    ),
    "a number that a name is set to": (
        "def f(x, size, step):\n    if step is None:\n        step = 1\n    return x[::step]",
        "np.ones(4), 2, None",
        "if step is None:\n    step = size\nreturn x[::step]",
        "step were set to 1, where size belongs",
    ),
    "a row for a column": (
        "def f(x, j):\n    return x[j]",
        "np.ones((3, 3)), 1",
        "return x[:, j]",
        "`x[j]` stood where `x[:, j]` belongs",
    ),
    "a column for a row": (
        "def f(x, j):\n    return x[:, j]",
        "np.ones((3, 3)), 1",
        "return x[j, :]",
        "`x[:, j]` stood where `x[j, :]` belongs",
    ),
    "an argument that is never used": (
        "def f(x, rounds):\n    for _ in range(1):\n        x = x + x\n    return x",
        "np.ones(3), 4",
        "for _ in range(rounds):\n    x = x + x\nreturn x",
        "rounds were always 1, whatever is passed",
    ),
    "a limit that is never used": (
        "def f(loss, best, least):\n    return loss < best",
        "1.0, 2.0, 0.5",
        "return loss < best - least",
        "least were not subtracted from best",
    ),
    "a step that belongs in the loop": (
        "def f(x, n):\n    y = 0 * x\n    g = x + y\n    for _ in range(n):\n        y = y + g\n    return y",
        "np.ones(2), 3",
        "y = 0 * x\ng = x + y\nfor _ in range(n):\n    g = x + y\n    y = y + g\nreturn y",
        "g were set once, before the loop",
    ),
    "a step that belongs before the loop": (
        "def f(x, n):\n    for _ in range(n):\n        y = 0 * x\n        y = y + x\n    return y",
        "np.ones(2), 3",
        "y = 0 * x\nfor _ in range(n):\n    y = y + x\nreturn y",
        "y were set back in every round of the loop",
    ),
    "a return that belongs behind the loop": (
        "def f(x, n):\n    for _ in range(n):\n        x = x + 1\n        return x",
        "np.ones(2), 3",
        "for _ in range(n):\n    x = x + 1\nreturn x",
        "it returned after the first round of the loop",
    ),
    "a difference that is thrown away": (
        "def f(x):\n    x - 1\n    return x",
        "np.ones(2)",
        "x = x - 1\nreturn x",
        "the new value of x were not kept",
    ),
    "two entries in each other's places": (
        "def f(a, b):\n    return {'a': b, 'b': a}",
        "np.ones(2), np.ones(3)",
        "return {'a': a, 'b': b}",
        "the values of a and b were in each other's places",
    ),
    "an index that is never asked": (
        "def f(x, at):\n    return x[np.arange(len(at)), 0]",
        "np.ones((2, 3)), np.array([1, 2])",
        "return x[np.arange(len(at)), at]",
        "at were always 0, whatever is passed",
    ),
    "a length that is not divided out": (
        "def f(x):\n    y = 2 * x\n    return y",
        "np.ones(3)",
        "y = 2 * x\nreturn y / np.linalg.norm(y)",
        "y were not divided by the norm of y",
    ),
    "a slope": (
        "def f(g, i):\n    return g * 2",
        ROW,
        "return g * 2 * (i * (1 - i))",
        "the factor i * (1 - i) were left out of (g * 2)",
    ),
    "an entry of a list": (
        "class ReLU:\n    pass\n\ndef g(n):\n    return n\n\ndef f(n):\n    return [g(n), ReLU(), g(2), g(3)]",
        "1",
        "return [g(n), ReLU(), g(2), ReLU(), g(3)]",
        "ReLU() were left out behind g(2)",
    ),
    "a matrix": (
        "def f(Q, b):\n    return b",
        "np.ones((3, 2)), np.ones(3)",
        "return np.swapaxes(Q, -1, -2) @ b",
        "the matrix product with the transpose of Q were left out",
    ),
    "a loop that begins at the row's own number": (
        "def f(x):\n    s = 0.0\n    for i in range(3):\n        for j in range(i, 3):\n"
        "            s = s + x[i, j]\n    return s",
        "np.ones((3, 3))",
        "s = 0.0\nfor i in range(3):\n    for j in range(3):\n        s = s + x[i, j]\nreturn s",
        "the loop began at i, where it begins at 0",
    ),
    "what is added before a product": (
        "def f(x, b, W):\n    return (x + b) @ W",
        "np.ones((2, 3)), np.ones(3), np.ones((3, 3))",
        "return x @ W + b",
        "`(x + b) @ W` stood where `x @ W + b` belongs",
    ),
}


@pytest.mark.parametrize(("text", "arguments", "body", "said"), CASES.values(), ids=CASES)
def test_it_is_tried_and_told(text: str, arguments: str, body: str, said: str) -> None:
    found = repairs(text, f"f({arguments})")
    assert body in found, sorted(found)
    assert said in found[body], found[body]


def test_a_number_is_not_taken_off_each_entry_of_what_is_counted() -> None:
    assert not any("len(x - 1)" in body for body in repairs("def f(x):\n    return len(x) - 1", "f(np.ones(3))"))


def test_of_what_is_not_divided_nothing_is_said_about_a_division() -> None:
    for operator in ("+", "*"):
        found = repairs(f"def f(a, b, n):\n    return a {operator} b", "f(1.0, 2.0, 3.0)")
        said = [each for body in found.values() for each in body]
        assert said and not any("after the division" in each for each in said)


def test_fewer_places_are_not_places_further_down() -> None:
    found = repairs("def f(x):\n    return x[np.arange(len(x) - 1)]", "f(np.ones(3))")
    assert "return x[np.arange(len(x))]" in found and "return x[np.arange(len(x)) - 1]" not in found


def test_a_term_is_left_out_and_not_turned_into_a_factor_of_1() -> None:
    found = repairs("def f(x, n):\n    return x - n + 1", "f(5.0, 2.0)")
    assert "return x - n" in found and "return (x - n) * 1" not in found
    assert "return (x - n) * 2" not in found and "return 1 * (x - n)" not in found
