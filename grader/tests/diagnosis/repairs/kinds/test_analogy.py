"""A line is held against its likes, and a default against the right module's."""

from __future__ import annotations

import ast
import marshal

from grader.diagnosis.repairs.kinds.analogy import defaults
from grader.tests.diagnosis.repairs.made import loaded, repairs, written

ODD = """
class Layer:
    def update(self, rate):
        self.key = self.key - rate * self.key_grad
        self.query = self.query - rate * self.query_grad
        self.value = self.value - self.value_grad
"""
ONE_LESS = """
def f(mean, var, new_mean, new_var):
    mean = 0.9 * mean + new_mean
    return mean, var, new_var
"""


def _found(text: str, call: str) -> dict[str, list[str]]:
    return repairs(text, call)


def test_the_line_that_differs_from_its_likes_is_made_as_they_are() -> None:
    made = "layer = Layer(); vars(layer).update({n: np.ones(2) for n in ('key', 'query', 'value', 'key_grad'," + (
        " 'query_grad', 'value_grad')}); layer.update(0.1)"
    )
    found = _found(ODD, f"exec({made!r})")
    [body] = [each for each in found if "self.value = self.value - rate * self.value_grad" in each]
    assert "`self.value_grad` stood where `rate * self.value_grad` belongs" in found[body]


def test_a_line_that_is_missing_beside_its_like_is_put_in() -> None:
    found = _found(ONE_LESS, "f(1.0, 1.0, 2.0, 2.0)")
    body = "mean = 0.9 * mean + new_mean\nvar = 0.9 * var + new_var\nreturn (mean, var, new_var)"
    assert "the line for var beside that for mean were left out" in found[body]


def test_a_missing_line_may_take_another_value_of_the_same_shape() -> None:
    head = "def f(run_mean, run_var, x):\n    mu, spread = x.mean(0), x.var(0)\n"
    text = f"{head}    run_mean = 0.9 * run_mean + mu\n    return run_mean, run_var"
    found = _found(text, "f(np.ones(3), np.ones(3), np.ones((2, 3)))")
    [body] = [each for each in found if "run_var = 0.9 * run_var + spread" in each]
    assert "the line for run_var beside that for run_mean were left out" in found[body]


def test_a_line_is_missing_where_what_it_sets_is_used_be_its_like_right_or_not() -> None:
    text = "def f(mean, var, new_mean, new_var):\n    mean = mean + new_mean\n    return mean, var"
    source = written(text, "f(1.0, 1.0, 2.0, 2.0)")
    definition = source.definitions["f"]
    _, changes = source.schema("f", 0, 1, frozenset(), lambda each: each is definition.body[-1])
    assert [each for each in changes if each.kind == "missing"]
    _, changes = source.schema("f", 0, 1, frozenset(), lambda each: False)
    assert not [each for each in changes if each.kind == "missing"]


def test_no_line_makes_a_function_of_the_module_a_name_of_its_own() -> None:
    helpers = "def check_input(v):\n    return v\n\ndef pair(v):\n    return v, v\n\n"
    body = "x = check_input(x)\n    output, weights = pair(x)\n    return output, weights"
    source = written(f"{helpers}def f(x):\n    {body}", "f(1)")
    definition, _ = source.schema("f", 0, 1, frozenset())
    module = loaded(source.whole())
    exec(marshal.loads(source.code_of("f", definition)), module.__dict__)
    assert module.f(1) == (1, 1)


def test_a_default_is_the_right_modules() -> None:
    own, right = (ast.parse(f"def f(x, eps={eps}):\n    return x").body[0] for eps in ("1e-06", "1e-05"))
    assert isinstance(own, ast.FunctionDef) and isinstance(right, ast.FunctionDef)
    [(kind, change)] = defaults(own, right)
    assert kind == "default"
    assert ast.unparse(ast.fix_missing_locations(change)) == "eps = 1e-05 if eps == 1e-06 else eps"
    assert not list(defaults(own, own)) and not list(defaults(own, None))


def test_a_case_gives_its_function_what_the_other_cases_give_theirs() -> None:
    text = """
def f(X, j, kind):
    present = X[:, j]
    if kind == "mean":
        value = np.mean(present)
    else:
        value = np.median(X[1:])
    return value
"""
    found = repairs(text, "f(np.ones((3, 2)), 1, 'median')")
    right = [said for body, said in found.items() if "np.median(present)" in body and "np.mean(present)" in body]
    assert right and "`X[1:]` stood where `present` belongs" in right[0]
