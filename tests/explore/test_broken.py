"""Explorations of modules that are wrong, missing, endless or strange: each step says what it lacks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.errors import GraderFault
from tests.explore.exploring import broken, explored, parts, reference, wrong_is_told


@pytest.mark.some_of(4)
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
        ("return _right(*args) * 0.5", "warning", "each row of weights should sum to 1, row 0 sums to 0.500"),
        ("return _right(*args) + np.array([2, -2, 0, 0])", "warning", "weights should lie between 0 and 1"),
        ("args[0][0] = 0; return _right(*args)", "warning", "changed an argument in place"),
    ],
)
def test_what_comes_instead_is_said_and_the_rest_waits(tmp_path: Path, body: str, status: str, message: str) -> None:
    found = explored(tmp_path, "s15", broken("s15", "attention_weights", body))
    part = parts(found)["weights"]
    assert (found.fine, found.look_at, part.status) == (False, "attention_weights", status)
    assert message in part.message
    assert part.where is not None
    if status == "warning":
        assert "plain" in [each.id for each in found.maps]
    else:
        assert parts(found)["causal-weights"].waits_for == "attention_weights"
    assert parts(found)["masked"].status == "passed"


def test_a_function_that_never_returns_costs_one_wait_where_it_is_called_and_one_behind_it(tmp_path: Path) -> None:
    found = explored(tmp_path, "s15", broken("s15", "attention_weights", "while True: pass"), seconds=0.4)
    shown = {name: part.status for name, part in parts(found).items()}
    assert (shown["weights"], shown["causal-weights"]) == ("timed_out", "blocked")
    assert (shown["output"], shown["causal-output"], shown["head-weights"]) == ("timed_out", "blocked", "blocked")
    assert "did not return within 0.4 s" in parts(found)["weights"].message


test_what_is_always_true_is_watched_over_and_what_cannot_be_used_is_said = wrong_is_told("s15", [
    ("compute_attention_scores", "return _right(args[0], args[1], False)", "scaled", "warning",
     "divided by √d_k = 2.449"),
    ("create_causal_mask", "return np.triu(np.ones((4, 4), bool))", "mask", "warning",
     "True on and below the diagonal"),
    ("apply_attention_mask", "return _right(*args) + 1", "masked", "warning", "should stay as they were"),
    ("apply_attention_mask", "return args[0] * args[1]", "masked", "warning", "so low that no weight is left"),
    ("scaled_dot_product_attention", "return _right(*args[:3])", "causal-output", "warning",
     "above the diagonal, should be 0"),
    ("split_heads", "return args[0].reshape(1, 2, 4, 3)", "split", "warning",
     "3 features of every word, in their order"),
    ("create_causal_mask", "return np.full((4, 4), 7)", "mask", "failed", "True and False"),
    ("scaled_dot_product_attention", "return _right(*args)[0]", "output", "failed",
     "returned one array where (output, weights)"),
    ("scaled_dot_product_attention", "return 1, 2, 3", "output", "failed", "returned 3 values where (output, weights)"),
    ("scaled_dot_product_attention", "return None", "output", "failed", "returned None where (output, weights)"),
    ("scaled_dot_product_attention", "return _right(*args)[::-1]", "output", "failed",
     "output: shape (4, 4) should be"),
    ("compute_attention_scores", "return np.full((4, 4), np.inf)", "raw", "failed", "all 16 values are infinite"),
], looks=True, one_in=1)  # fmt: skip


def test_a_function_that_was_deleted_is_named(tmp_path: Path) -> None:
    found = explored(tmp_path, "s15", reference("s15") + "\ndel split_heads\n")
    assert "does not define split_heads: was it renamed or deleted?" in parts(found)["split"].message
    assert found.look_at == "split_heads"


def test_what_is_printed_and_warned_about_is_told(tmp_path: Path) -> None:
    body = "import warnings; print('hello'); warnings.warn('careful'); return _right(*args, **kwargs)"
    part = parts(explored(tmp_path, "s15", broken("s15", "create_causal_mask", body)))["mask"]
    assert part.notes[0] == "printed: hello"
    assert part.notes[1].startswith("UserWarning: careful (line ")


@pytest.mark.parametrize(
    ("text", "kind"), [("def f(:\n", "syntax"), ("import msgpack\n", "import"), ("1 / 0\n", "import-error")]
)
def test_a_module_that_cannot_be_run_is_a_problem_and_no_fault(tmp_path: Path, text: str, kind: str) -> None:
    found = explored(tmp_path, "s15", text)
    assert found.problem is not None
    assert (found.problem.kind, found.fine, found.steps) == (kind, False, ())


def test_a_fault_of_the_grader_is_not_a_learners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("drawings.s15.steps.span", faulty)
    with pytest.raises(GraderFault, match="the grader failed: ZeroDivisionError: ours"):
        explored(tmp_path, "s15")


@pytest.mark.full_matrix
def test_a_value_that_is_too_much_to_look_at_costs_its_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object) -> None:
        [np.ones(1 << 22) for _ in range(100)]

    monkeypatch.setattr("drawings.s15.steps.span", greedy)
    found = explored(tmp_path, "s15")
    parts_of = [part for step in found.steps for part in step.parts]
    worst = next(part for part in parts_of if part.status != "passed")
    assert worst.status == "over_limit" and "returned took more than 384 MB of memory" in worst.message
    assert parts_of[-1].status == "blocked" and parts_of[-1].message == f"waits for {worst.function}"
    assert found.look_at == worst.function and not found.maps
