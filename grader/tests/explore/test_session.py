"""Explorations over a real process: what works is shown, what does not is named, whatever a module may do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course, Criterion, Limits, Stage
from grader.errors import GraderFault, UsageError
from grader.explore.example import LESSON, example
from grader.explore.model import Array, Example, Exploration, Part
from grader.explore.session import explore, next_function
from grader.submission import take
from grader.tests.support.places import HIDDEN, ROOT

REFERENCE = (HIDDEN / "s15_attention" / "solution.py").read_text(encoding="utf-8")
BLOCKS = (Path(__file__).parent / "explored" / "blocks.txt").read_text(encoding="utf-8")
COURSE = load_course(ROOT)
FUNCTIONS = (
    "compute_attention_scores", "attention_weights", "scaled_dot_product_attention", "apply_attention_mask",
    "split_heads", "create_causal_mask",
)  # fmt: skip
PROJECTED = ["head-1-projected", "head-2-projected"]
Explore = Callable[..., Exploration]


def blocks_stage() -> Stage:
    """A stage of Transformer blocks with the rows that matter here."""
    rows = {
        "multihead-attention": ("MultiheadSelfAttention",), "layer-norm": ("LayerNorm",), "mlp": ("MLP",),
        "pre-norm-block": ("Block",), "post-norm-block": ("PostNormBlock",),
    }  # fmt: skip
    criteria = tuple(Criterion(name, name, functions, (), ("", "", "")) for name, functions in rows.items())
    return Stage("s17", ROOT / "stages" / "s17_blocks", "Blocks", "blocks.py", (), criteria)


@pytest.fixture
def walk(tmp_path: Path) -> Explore:
    """Explore a module's text: of stage 15, or of the blocks."""

    def run(
        text: str,
        sentence: Example | None = None,
        stage: Stage | None = None,
        seconds: float = 10,
        seed: int = 0,
        course: Course = COURSE,
    ) -> Exploration:
        chosen = stage or course.find("s15")
        chosen = replace(chosen, limits=Limits(30, seconds, 1024))
        file = tmp_path / chosen.module
        file.write_text(text, encoding="utf-8")
        found = sentence or example(None, None, None)
        return explore(course, chosen, take(chosen, file, course.root), found, seed, "process")

    return run


def parts(found: Exploration) -> dict[str, Part]:
    return {part.id: part for step in found.steps for part in step.parts}


def statuses(found: Exploration) -> dict[str, str]:
    return {step.id: step.status for step in found.steps}


def without(*functions: str) -> str:
    """The reference, with functions that are not written yet."""
    stubs = [f"def {name}(*args, **kwargs):\n    raise NotImplementedError('{name}')\n" for name in functions]
    return "\n".join([REFERENCE, *stubs])


def softmax(scores: Array) -> Array:
    powers: Array = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


# The lesson's own sentence.


def test_the_reference_shows_the_five_steps_of_the_lesson_and_its_heads(walk: Explore) -> None:
    found = walk(REFERENCE)
    assert found.fine
    assert (found.next_function, found.look_at, found.problem) == (None, None, None)
    shown = {name: [fact.text for fact in part.facts] for name, part in parts(found).items()}
    assert shown["raw"] == ["range [0.500, 2.500]"]
    assert shown["scaled"] == ["range [0.204, 1.021]"]
    assert shown["mask"] == ["10 of 16 pairs allowed"]
    assert shown["masked"] == ["allowed [0.204, 1.021]", "6 masked at -1e9"]
    assert shown["weights"] == shown["causal-weights"] == ["rows' sums 1.000 1.000 1.000 1.000"]
    assert parts(found)["output"].shape == (4, 6)
    assert parts(found)["split"].shape == (1, 2, 4, 3)
    assert all(step.notice for step in found.steps)


def test_the_maps_are_plain_causal_and_one_a_head(walk: Explore) -> None:
    E = np.array(list(LESSON.values()))
    scores = E @ E.T / np.sqrt(6)
    later = np.triu(np.ones((4, 4), dtype=bool), 1)
    heads = [softmax(E[:, part] @ E[:, part].T / np.sqrt(3)) for part in (slice(0, 3), slice(3, 6))]
    found = {each.id: each for each in walk(REFERENCE).maps}
    assert list(found) == ["plain", "causal", "head-1", "head-2", *PROJECTED]
    expected = [softmax(scores), softmax(np.where(later, -np.inf, scores)), *heads]
    for each, weights in zip(found.values(), expected, strict=False):
        np.testing.assert_allclose(each.weights, weights, atol=1e-12)
    assert [each.head for each in found.values()] == [None, None, 1, 2, 1, 2]
    assert [each.causal for each in found.values()] == [False, True, *[False] * 4]


def test_a_sentence_of_ones_own_has_notices_of_its_own(walk: Explore) -> None:
    found = walk(REFERENCE, example("a dog sat", None, 3))
    assert found.fine
    notices = {step.id: step.notice or "" for step in found.steps}
    assert "more than any other two words" in notices["raw-scores"]
    assert "3 of 9 scores go." in notices["masked-scores"]
    assert "features 4 to 6" not in notices["raw-scores"]
    heads = [f"head-{head}" for head in (1, 2, 3)]
    assert [each.id for each in found.maps] == ["plain", "causal", *heads, *(f"{head}-projected" for head in heads)]


def test_one_word_can_be_explored(walk: Explore) -> None:
    assert walk(REFERENCE, example("alone", None, None)).maps[1].weights == ((1.0,),)


def test_queries_keys_and_values_may_differ(walk: Explore) -> None:
    rng = np.random.default_rng(7)
    Q, K, V = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 6))
    found = walk(REFERENCE, Example(("a", "b", "c"), Q, K, V, 2, False, "arrays"))
    assert found.fine
    assert parts(found)["output"].shape == (3, 6)
    assert parts(found)["projections"].facts[0].text == "left out: a layer takes 4 features of V too, not 6"
    np.testing.assert_allclose(found.maps[0].weights, softmax(Q @ K.T / 2), atol=1e-12)


# Half-finished modules.


def test_an_untouched_stub_begins_with_the_first_row_of_the_checklist(walk: Explore) -> None:
    stub = COURSE.find("s15").module_path.read_text(encoding="utf-8")
    found = walk(stub)
    assert (found.fine, found.next_function, found.maps) == (False, "compute_attention_scores", ())
    assert set(statuses(found).values()) == {"not_started", "blocked"}


@pytest.mark.parametrize("missing", FUNCTIONS)
def test_a_function_that_is_missing_comes_next_and_what_needs_it_waits(walk: Explore, missing: str) -> None:
    found = walk(without(missing))
    assert (found.fine, found.next_function, found.look_at) == (False, missing, None)
    for part in parts(found).values():
        assert part.status in ("passed", "not_started", "blocked")
        assert part.waits_for == (None if part.status == "passed" else missing)


@pytest.mark.parametrize(
    ("missing", "maps"),
    [
        ("create_causal_mask", ["plain", "head-1", "head-2", *PROJECTED]),
        ("apply_attention_mask", ["plain", "head-1", "head-2", *PROJECTED]),
        ("split_heads", ["plain", "causal"]),
        ("scaled_dot_product_attention", ["plain", "causal"]),
        ("attention_weights", []),
    ],
)
def test_what_works_is_drawn(walk: Explore, missing: str, maps: list[str]) -> None:
    assert [each.id for each in walk(without(missing)).maps] == maps


def test_attention_that_needs_no_other_function_is_drawn_without_them(walk: Explore) -> None:
    alone = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
"""
    found = walk(without("compute_attention_scores", "attention_weights") + alone)
    assert statuses(found)["output"] == "passed"
    assert [each.id for each in found.maps] == ["plain", "causal", "head-1", "head-2", *PROJECTED]
    assert found.next_function == "compute_attention_scores"


# Modules that answer wrongly, or not at all.


def broken(function: str, body: str, arguments: str = "*args, **kwargs") -> str:
    return f"{REFERENCE}\n_right = {function}\n\n\ndef {function}({arguments}):\n    {body}\n"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("return None", "failed", "returned None: is a return statement missing?"),
        ("return np.full((4, 4), np.nan)", "failed", "all 16 values are NaN"),
        ("w = _right(*args); w[1, 2] = np.nan; return w", "failed", "1 of 16 values is NaN, first at [1, 2]"),
        ("return _right(*args)[:, :3]", "failed", "shape (4, 3) should be (seq_q 4, seq_k 4)"),
        ("return _right(*args).tolist()", "failed", "returned a list of 4; wrap it with np.array"),
        ("return _right(*args) * 1j", "failed", "dtype complex128"),
        ("return (x for x in args)", "failed", "generator"),
        ("return 1 / 0", "failed", "ZeroDivisionError: division by zero   (line "),
        ("raise SystemExit(3)", "failed", "left with sys.exit() instead of returning"),
        ("import os; os._exit(7)", "crashed", "it ended with exit code 7"),
        ("import os; os.abort()", "crashed", "ended by signal 6"),
        ("return np.zeros((1 << 40,))", "over_limit", "takes 8388608 MB, more than the 1024 MB"),
        ("return _right(*args) * 0.5", "warning", "each row of weights should sum to 1, row 1 sums to 0.500"),
        ("return _right(*args) + np.array([2, -2, 0, 0])", "warning", "weights should lie between 0 and 1"),
        ("args[0][0] = 0; return _right(*args)", "warning", "changed an argument in place"),
    ],
)
def test_what_comes_instead_is_said_and_the_rest_waits(walk: Explore, body: str, status: str, message: str) -> None:
    found = walk(broken("attention_weights", body))
    part = parts(found)["weights"]
    assert (found.fine, found.look_at, part.status) == (False, "attention_weights", status)
    assert message in part.message
    assert part.where is not None
    if status == "warning":
        assert "plain" in [each.id for each in found.maps]
    else:
        assert parts(found)["causal-weights"].waits_for == "attention_weights"
    assert parts(found)["masked"].status == "passed"


def test_a_function_that_never_returns_costs_one_wait_where_it_is_called_and_one_behind_it(walk: Explore) -> None:
    found = walk(broken("attention_weights", "while True: pass"), seconds=0.4)
    shown = {name: part.status for name, part in parts(found).items()}
    assert (shown["weights"], shown["causal-weights"]) == ("timed_out", "blocked")
    assert (shown["output"], shown["causal-output"], shown["head-weights"]) == ("timed_out", "blocked", "blocked")
    assert "did not return within 0.4 s" in parts(found)["weights"].message


@pytest.mark.parametrize(
    ("function", "body", "part", "message"),
    [
        ("compute_attention_scores", "return _right(args[0], args[1], False)", "scaled", "divided by √d_k = 2.449"),
        ("create_causal_mask", "return np.triu(np.ones((4, 4), bool))", "mask", "True on and below the diagonal"),
        ("apply_attention_mask", "return _right(*args) + 1", "masked", "should stay as they were"),
        ("apply_attention_mask", "return args[0] * args[1]", "masked", "so low that no weight is left"),
        (
            "scaled_dot_product_attention",
            "return _right(*args[:3])",
            "causal-output",
            "above the diagonal, should be 0",
        ),
        ("split_heads", "return args[0].reshape(1, 2, 4, 3)", "split", "3 features of every word, in their order"),
    ],
)
def test_what_is_always_true_is_watched_over(walk: Explore, function: str, body: str, part: str, message: str) -> None:
    found = walk(broken(function, body))
    assert (parts(found)[part].status, found.look_at) == ("warning", function)
    assert message in parts(found)[part].message


@pytest.mark.parametrize(
    ("function", "body", "part", "message"),
    [
        ("create_causal_mask", "return np.full((4, 4), 7)", "mask", "True and False"),
        (
            "scaled_dot_product_attention",
            "return _right(*args)[0]",
            "output",
            "returned one array where (output, weights)",
        ),
        ("scaled_dot_product_attention", "return 1, 2, 3", "output", "returned 3 values where (output, weights)"),
        ("scaled_dot_product_attention", "return None", "output", "returned None where (output, weights)"),
        ("scaled_dot_product_attention", "return _right(*args)[::-1]", "output", "output: shape (4, 4) should be"),
        ("compute_attention_scores", "return np.full((4, 4), np.inf)", "raw", "all 16 values are infinite"),
    ],
)
def test_what_cannot_be_used_is_said(walk: Explore, function: str, body: str, part: str, message: str) -> None:
    found = walk(broken(function, body))
    assert parts(found)[part].status == "failed"
    assert message in parts(found)[part].message


def test_a_function_that_was_deleted_is_named(walk: Explore) -> None:
    found = walk(f"{REFERENCE}\ndel split_heads\n")
    assert "does not define split_heads: was it renamed or deleted?" in parts(found)["split"].message
    assert found.look_at == "split_heads"


def test_what_is_printed_and_warned_about_is_told(walk: Explore) -> None:
    body = "import warnings; print('hello'); warnings.warn('careful'); return _right(*args, **kwargs)"
    part = parts(walk(broken("create_causal_mask", body)))["mask"]
    assert part.notes[0] == "printed: hello"
    assert part.notes[1].startswith("UserWarning: careful (line ")


@pytest.mark.parametrize(
    ("text", "kind"), [("def f(:\n", "syntax"), ("import torch\n", "import"), ("1 / 0\n", "import-error")]
)
def test_a_module_that_cannot_be_run_is_a_problem_and_no_fault(walk: Explore, text: str, kind: str) -> None:
    found = walk(text)
    assert found.problem is not None
    assert (found.problem.kind, found.fine, found.steps) == (kind, False, ())


def test_a_fault_of_the_grader_is_not_a_learners(walk: Explore, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("drawings.s15.steps.span", faulty)
    with pytest.raises(GraderFault, match="the grader failed: ZeroDivisionError: ours"):
        walk(REFERENCE)


def test_a_value_that_is_too_much_to_look_at_costs_its_step(walk: Explore, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object) -> None:
        [np.ones(1 << 22) for _ in range(100)]

    monkeypatch.setattr("drawings.s15.steps.span", greedy)
    found = walk(REFERENCE)
    parts_of = [part for step in found.steps for part in step.parts]
    worst = next(part for part in parts_of if part.status != "passed")
    assert worst.status == "over_limit" and "returned took more than 384 MB of memory" in worst.message
    assert parts_of[-1].status == "blocked" and parts_of[-1].message == f"waits for {worst.function}"
    assert found.look_at == worst.function and not found.maps


# Transformer blocks.


def test_a_block_is_followed_from_norm_to_output_beside_a_post_norm_block(walk: Explore) -> None:
    found = walk(BLOCKS, stage=blocks_stage())
    assert found.fine, parts(found)
    names = ["block", "norm1", "attention", "residual", "norm2", "mlp", "output", "post"]
    assert [step.id for step in found.steps] == names
    spreads = {name: part.facts[-1] for name, part in parts(found).items() if name in ("norm1", "output", "post")}
    assert spreads["norm1"].text == spreads["post"].text == "std of each word 1.000 1.000 1.000 1.000"
    assert max(spreads["output"].values) > 1.1
    assert [each.title for each in found.maps] == [
        "Head 1, plain", "Head 1, causal", "Head 2, plain", "Head 2, causal",
    ]  # fmt: skip
    causal = np.array(found.maps[1].weights)
    np.testing.assert_allclose(causal.sum(axis=1), 1)
    assert not causal[np.triu_indices(4, 1)].any()


def test_the_seed_draws_the_blocks_weights(walk: Explore) -> None:
    first, again, other = (walk(BLOCKS, stage=blocks_stage(), seed=seed) for seed in (3, 3, 4))
    assert first.ran.seed == 3
    assert first.maps == again.maps != other.maps


def test_the_reference_of_the_course_is_followed_too(walk: Explore) -> None:
    stage = COURSE.find("s17")
    text = (HIDDEN / stage.name / "solution.py").read_text(encoding="utf-8")
    assert walk(text, stage=stage).fine


def test_layers_stand_in_for_a_block_that_is_not_written_yet(walk: Explore) -> None:
    block = 'class Block:\n    def __init__(self, *a, **k):\n        raise NotImplementedError("Block.__init__")\n'
    found = walk(f"{BLOCKS}\n\n{block}", stage=blocks_stage())
    assert found.next_function == "Block"
    assert parts(found)["block"].status == "not_started"
    assert parts(found)["mlp"].code == "MLP(dim, 4 * dim, rng=rng).forward(norm2)"
    assert (parts(found)["mlp"].status, parts(found)["output"].waits_for) == ("passed", "Block")
    assert len(found.maps) == 4


def test_of_one_row_the_function_that_it_names_first_comes_next() -> None:
    assert next_function(COURSE.find("s12"), {"he_normal", "xavier_uniform", "elsewhere"}) == "xavier_uniform"
    assert next_function(COURSE.find("s12"), {"somewhere", "elsewhere"}) == "elsewhere"


def test_attention_is_shown_before_there_is_a_norm(walk: Explore) -> None:
    text = BLOCKS.replace("centred = x", 'raise NotImplementedError("x")\n        centred = x')
    found = walk(text, stage=blocks_stage())
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
    walk: Explore, old: str, new: str, part: str, status: str, message: str
) -> None:
    found = walk(BLOCKS.replace(old, new, 1), stage=blocks_stage())
    assert parts(found)[part].status == status
    assert message in parts(found)[part].message
    if status == "crashed":
        assert parts(found)["output"].waits_for == "MLP.forward"


def test_a_block_wants_embeddings(walk: Explore) -> None:
    Q, K, V = np.eye(4), np.eye(4), np.eye(4)
    with pytest.raises(UsageError, match="it needs embeddings, not Q, K and V"):
        walk(BLOCKS, Example(("a", "b", "c", "d"), Q, K, V, 2, False, "arrays"), blocks_stage())
