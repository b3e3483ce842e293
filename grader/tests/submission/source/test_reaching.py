"""Which functions of a stage lead to which, as a module's text tells."""

from __future__ import annotations

from pathlib import Path

from grader.course.stage import Criterion, Stage
from grader.submission.source.reaching import helpers, reaches

HINTS = ("a", "b", "c")
NAMES = ("scores", "weights", "Attention", "Attention.forward")
ROWS = tuple(Criterion(name.lower().replace(".", "-"), "", (name,), (), HINTS) for name in NAMES)
STAGE = Stage("s90", Path("stages/s90_small"), "Small", "small.py", (), ROWS)
MODULE = """
def helper(x):
    return scores(x)

def scores(x):
    return x

def weights(x):
    return helper(x)

class Attention:
    def forward(self, x):
        return weights(x)

if __name__ == "__main__":
    print(scores(weights(1)))
"""


def test_functions_lead_to_what_they_mention_however_far_away() -> None:
    found = reaches(STAGE, MODULE)
    assert found["scores"] == set()
    assert found["weights"] == {"scores"}
    assert found["Attention.forward"] >= {"scores", "weights"}
    assert found["Attention"] >= {"scores", "weights"}


def test_functions_that_do_not_mention_each_other_lead_nowhere() -> None:
    found = reaches(STAGE, "def scores(x): return x\ndef weights(x): return x\n")
    assert set(found["scores"] | found["weights"]) == set()


def test_functions_that_are_not_there_lead_nowhere() -> None:
    assert not any(reaches(STAGE, "x = 1\n").values())


def test_a_text_that_cannot_be_read_tells_nothing() -> None:
    assert reaches(STAGE, None) == reaches(STAGE, "def (") == {}


def test_helpers_are_what_the_module_has_beside_its_stage() -> None:
    found = helpers(STAGE, MODULE)
    assert found["weights"] == found["Attention"] == found["Attention.forward"] == {"helper"}
    assert found["scores"] == set()
    assert helpers(STAGE, None) == {} == helpers(STAGE, "def helper(:")
