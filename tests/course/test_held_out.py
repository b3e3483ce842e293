"""What a stage measures its trained model by was not trained on: the course's own tests, with models that only watch.

A watching model answers zeros and learns nothing, so a whole training takes no time. What it reads before a backward
pass is trained on; what it reads without a backward pass after it is measured.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.course.manifest import load_course
from grader.course.provided import data_files, named
from hidden.capstone import stories
from tests.support.places import ROOT

COURSE = load_course(ROOT)
SEEDS = range(3)


class Watched:
    """The samples that a model reads, batch by batch, by whether a backward pass follows."""

    def __init__(self) -> None:
        self.trained: list[bytes] = []
        self.others: list[list[bytes]] = []

    def read(self, samples: Any) -> None:
        self.others.append([sample.tobytes() for sample in np.ascontiguousarray(samples)])

    def learn(self) -> None:
        self.trained += self.others.pop()


class Model:
    """Stands for any model of the course: its parameters stay, its answers are zeros of a shape."""

    def __init__(self, watched: Watched, shape: Callable[..., tuple[int, ...]], **attributes: Any) -> None:
        self.watched, self.shape = watched, shape
        self.params: dict[str, Any] = {}
        self.grads: dict[str, Any] = {}
        self.__dict__.update(attributes)

    def forward(self, x: Any, *_: Any, **__: Any) -> Any:
        self.watched.read(x)
        return np.zeros(self.shape(*x.shape))

    def backward(self, grad: Any) -> Any:
        self.watched.learn()
        return np.zeros_like(grad)

    def load(self, params: Any) -> None:
        """Keep the parameters that there are."""

    set_params = load


def loss(logits: Any, *_: Any) -> Any:
    return 0.0, np.zeros_like(logits)


def networks(watched: Watched) -> Any:
    def train(network: Any, points: Any, *_: Any) -> None:
        watched.read(points)
        watched.learn()

    def network(layers: Any) -> Model:
        return Model(watched, lambda points, _: (points, 2))

    return SimpleNamespace(train=train, NeuralNetwork=network, Dense=lambda *_: None)


def images(watched: Watched) -> Any:
    held = {name: {"weights": 0.0, "bias": 0.0} for name in ("params", "grads")}

    def build_lenet(classes: int, rng: Any) -> list[Model]:
        first = Model(watched, lambda count, *_: (count, classes), **held)
        return [first, *(Model(Watched(), lambda *shape: shape, **held) for _ in range(4))]

    return SimpleNamespace(build_lenet=build_lenet)


def recurrent(watched: Watched) -> Any:
    params = dict.fromkeys(("W_x", "W_h", "b"), np.zeros(1))

    def lstm(inputs: int, hidden: int, rng: Any) -> Model:
        return Model(watched, lambda batch, time, _: (batch, time, hidden), params=params, grads=params)

    return SimpleNamespace(LSTM=lstm)


def encoders(watched: Watched) -> Any:
    parts = dict.fromkeys(("norm1", "attention", "norm2", "mlp"), SimpleNamespace())

    def encoder(depth: int, *_: Any, **__: Any) -> Model:
        blocks = [SimpleNamespace(**parts) for _ in range(depth)]
        return Model(watched, lambda *shape: shape, blocks=blocks, norm=SimpleNamespace())

    return SimpleNamespace(Encoder=encoder)


def decoders(watched: Watched) -> Any:
    def gpt(size: int, *_: Any) -> Model:
        return Model(watched, lambda batch, seq: (batch, seq, size))

    return SimpleNamespace(GPT=gpt, cross_entropy_loss=loss)


def translators(watched: Watched) -> Any:
    def transformer(size: int, *_: Any, **__: Any) -> Model:
        def decode(tokens: Any, *_: Any) -> Any:
            return np.zeros((*tokens.shape, size))

        return Model(watched, lambda batch, seq: (batch, seq, size), decode=decode, encode=lambda x, _: watched.read(x))

    return SimpleNamespace(
        Transformer=transformer, shift_right=lambda answers, _: answers, label_smoothing_loss=lambda *_: 0.0,
        label_smoothing_gradient=lambda logits, *_: np.zeros_like(logits),
    )  # fmt: skip


def viewers(watched: Watched) -> Any:
    def vit(*_: Any, **__: Any) -> Model:
        params = {"positions": np.zeros((5, 32))}
        return Model(watched, lambda count, *_: (count, 10), params=params, grads=params)

    return SimpleNamespace(ViT=vit)


def experts(watched: Watched) -> Any:
    def layer(*_: Any, **__: Any) -> Model:
        params = {"router_weights": np.zeros(1)}
        indices = np.zeros((1, 1), dtype=int)
        return Model(watched, lambda *shape: shape, params=params, grads=params, experts=(), indices=indices)

    return SimpleNamespace(MoELayer=layer)


def module(path: str) -> ModuleType:
    """Return a fresh module of tests, a hidden one or one that learners get."""
    spec = importlib.util.spec_from_file_location("watched_tests", next(ROOT.glob(path)))
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def watch(path: str, stands_for: Callable[[Watched], Any], seed: int) -> Watched:
    """Run a test of the course on a model that watches; what it says of answers of zeros does not matter here."""
    place, *names = path.split("::")
    test: Any = module(place)
    for name in names:
        test = getattr(test() if isinstance(test, type) else test, name)
    stage, watched = COURSE.find(place.split("/")[1].partition("_")[0]), Watched()
    fixtures = {
        "learner": stands_for(watched),
        "rng": np.random.default_rng(seed),
        "data": lambda name: named(data_files(stage), name, stage.id),
    }
    arguments = test.__code__.co_varnames[: test.__code__.co_argcount]
    with contextlib.suppress(AssertionError):
        test(**{name: fixtures[name] for name in arguments if name in fixtures})
    return watched


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("path", "stands_for"),
    [
        ("hidden/s12_*/test_hidden_training.py::TestTwoSpirals::test_new_points_are_told_apart", networks),
        ("hidden/s13_*/test_hidden_lenet.py::TestLenetLearns::test_new_bars_are_told_apart", images),
        ("hidden/s17_*/test_hidden_training.py::test_new_sequences_are_sorted", encoders),
        ("stages/s17_*/tests/test_blocks.py::TestTraining::test_new_sequences_are_sorted", encoders),
        ("hidden/s18_*/test_hidden_training.py::test_held_out_sentences", decoders),
        ("stages/s18_*/tests/test_decoder.py::TestTraining::test_held_out_sentences", decoders),
        ("hidden/s19_*/test_hidden_training.py::test_new_sequences_are_reversed", translators),
        ("hidden/s20_*/test_hidden_digits.py::test_digits_that_were_held_out_are_recognised", viewers),
        ("stages/s20_*/tests/test_vit.py::TestTraining::test_most_digits_are_recognised", viewers),
    ],
)  # fmt: skip
def test_nothing_that_is_measured_was_trained_on(path: str, stands_for: Callable[[Watched], Any], seed: int) -> None:
    watched = watch(path, stands_for, seed)
    assert watched.trained and watched.others
    for measured in watched.others:
        assert set(measured).isdisjoint(watched.trained)
    for one, other in combinations(watched.others, 2):  # what is chosen by, and what is held out
        assert set(one).isdisjoint(other) or one == other


@pytest.mark.parametrize("seed", SEEDS)
def test_copying_measures_new_sequences_beside_those_that_were_trained_on(seed: int) -> None:
    path = "hidden/s14_*/test_hidden_copying.py::TestCopying::test_new_sequences_are_copied_too"
    watched = watch(path, recurrent, seed)
    old, new = watched.others
    assert set(old) == set(watched.trained) and set(new).isdisjoint(old)


@pytest.mark.parametrize("seed", SEEDS)
def test_experts_are_measured_by_tokens_that_they_have_not_read_yet(seed: int) -> None:
    watched = watch("hidden/s21_*/test_hidden_training.py::test_a_function_in_pieces_is_learnt", experts, seed)
    assert len(watched.trained) > 1000 and set(Counter(watched.trained).values()) == {1}


def test_the_stories_of_the_capstone_are_all_different() -> None:
    lines = stories.TARGET.read_text(encoding="utf-8").splitlines()
    assert len(set(lines)) == len(lines)
