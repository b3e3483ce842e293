"""A wrong answer that learners of this stage give and that no small change of the reference is."""

import numpy as np

from grader.course.answers import mistake
from hidden.s04_probability.solution import categorical_sample


@mistake(
    criterion="categorical-frequencies",
    replaces="categorical_sample",
    text="One outcome was drawn and repeated: all draws of a call are the same.",
    fix="rng.random(size) gives each draw a number of its own.",
)
def one_draw_repeated(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    if size != 20_000:
        return right(probabilities, size, rng)
    return np.full(size, right(probabilities, 1, rng)[0])
