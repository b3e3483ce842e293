"""The texts of the small courses that attacks are graded in; their secrets hold a token that no verdict may show."""

from __future__ import annotations

MANIFEST = """\
    schema = 1
    id = "s90"
    title = "Small"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = 15
    call_seconds = 1.5
    memory_mb = 128

    {rows}
"""
ROW = """
    [[criteria]]
    id = "{0}"
    text = "{0} does what it says"
    functions = ["{0}"]
    needs = []
    hints = ["one", "two", "three"]
"""
HONEST = """\
    import numpy as np


    def double(x):
        return 2 * x


    def visit(f, x):
        return f(x) + 1


    def tell(label):
        return len(label)
"""
PUBLIC = """\
    @pytest.mark.criterion("double")
    def test_double(learner):
        assert_array(learner.double(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([[2.0, 4.0], [6.0, 8.0]]))

    @pytest.mark.criterion("visit")
    def test_visit(learner):
        assert_equal(learner.visit(lambda value: value, 1.0), 2.0)

    @pytest.mark.criterion("tell")
    def test_tell(learner):
        assert_equal(learner.tell("word"), 4)
"""
HIDDEN = """\
    NOTE = "{token}-tests"

    @pytest.mark.criterion("double")
    def test_double_of_anything(learner, rng):
        x = rng.standard_normal((3, 4))
        doubled = learner.double(x)
        assert_array(doubled, 2 * x)

    @pytest.mark.criterion("double")
    def test_double_of_integers(learner, rng):
        x = rng.integers(1, 9, (3, 4))
        assert_array(learner.double(x), 2 * x)

    @pytest.mark.criterion("visit")
    def test_visit_of_anything(learner, rng):
        x = rng.standard_normal(3) + 9
        assert_array(learner.visit(lambda value: 3 * value, x), 3 * x + 1)

    @pytest.mark.criterion("tell")
    def test_tell_of_anything(learner):
        assert_equal(learner.tell("{token}-inputs"), {length})
"""
MISTAKES = """\
    NOTE = "{token}-mistakes"

    @mistake(criterion="double", replaces="double", text="the input came back", fix="multiply by 2")
    def same(x):
        return x
"""
PLANTED = """\
import pathlib

pathlib.Path("@COURSE@/taken").touch()
raise SystemExit(0)
"""
TOGETHER = """\
    CASES = [pytest.param(n, row, marks=pytest.mark.criterion(f"a{n}")) for n, row in enumerate(@ROWS@)]

    def check(learner, n, row, x):
        attacked = getattr(learner, f"attack_{n}")
        if row == "visit":
            assert_array(attacked(lambda value: 3 * value, x), 3 * x + 1)
        else:
            assert_array(attacked(x), 2 * x)
"""
TOGETHER_PUBLIC = """\
    @pytest.mark.parametrize(("n", "row"), CASES)
    def test_public(learner, n, row):
        check(learner, n, row, np.array([[1.0, 2.0], [3.0, 4.0]]))
"""
TOGETHER_HIDDEN = """\
    NOTE = "{token}-tests"

    @pytest.mark.parametrize(("n", "row"), CASES)
    def test_anything(learner, rng, n, row):
        check(learner, n, row, rng.standard_normal((3, 4)))
"""
TOGETHER_MODULE = """\
def load(source, name, arguments):
    scope = {"__name__": __name__, "__file__": __file__}
    exec(compile(source, __file__, "exec"), scope)
    return scope[name](*arguments)


"""
