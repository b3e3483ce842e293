"""Hidden tests of graphs, with fresh ones each time."""

import pytest

from grader.testing import assert_equal
from hidden.s03_graphs.oracles import draw_graph, first_order, steps


@pytest.mark.criterion("steps")
@pytest.mark.values
def test_steps_in_drawn_graphs(learner, rng):
    for _ in range(8):
        graph = draw_graph(rng, circles=True)
        assert_equal(learner.steps_from(graph, "ant"), steps(graph, "ant"))


@pytest.mark.criterion("steps")
@pytest.mark.values
def test_a_way_around_is_longer(learner):
    graph = {"a": ["b", "d"], "b": ["c"], "c": ["d"], "d": ["e"], "e": []}
    assert_equal(learner.steps_from(graph, "a"), {"a": 0, "b": 1, "d": 1, "c": 2, "e": 2})


@pytest.mark.criterion("order")
@pytest.mark.values
def test_order_of_drawn_graphs(learner, rng):
    for _ in range(8):
        graph = draw_graph(rng, circles=False)
        assert_equal(learner.topological_order(graph), first_order(graph))


@pytest.mark.criterion("order")
@pytest.mark.refusals
def test_a_drawn_circle_is_refused(learner, rng):
    graph = draw_graph(rng, circles=False)
    first, *others = rng.permutation(list(graph)).tolist()
    graph |= {first: [others[0]], others[0]: [first]}
    with pytest.raises(ValueError):
        learner.topological_order(graph)
