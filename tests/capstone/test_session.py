"""Training over a real process: what is reached stays reached, to the last bit, and what goes wrong is told."""

from __future__ import annotations

import hashlib
import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from grader.capstone.checkpoint import Checkpoint
from grader.capstone.session import Moment, TrainingResult, fitting, kept, last, perplexities, train, write
from grader.capstone.trainee import TrainingFailed
from grader.errors import GraderError, ProgressError, UsageError
from grader.progress.store import Store
from tests.capstone.conftest import Small
from tests.support.command import NUMBERS


def test_numbers_computed_by_hand() -> None:
    """Trained on a b a b c, held out a b c, of four tokens a b c d.

    p1: a 3/9, b 3/9, c 2/9. b after a: (2 + 1/3) / 3 = 7/9. c after b: (1 + 2/9) / 3 = 11/27. c after a b: a b is
    followed by a and by c, so (1 + 11/27) / 3 = 38/81.
    """
    found = perplexities([0, 1, 0, 1, 2], [0, 1, 2], 4)
    assert found.unigram == pytest.approx(1 / math.sqrt(3 / 9 * 2 / 9))
    assert found.bigram == pytest.approx(1 / math.sqrt(7 / 9 * 11 / 27))
    assert found.trigram == pytest.approx(1 / math.sqrt(7 / 9 * 38 / 81))


def test_a_token_that_was_never_seen_has_a_share_too() -> None:
    found = perplexities([0, 0, 0], [0, 1], 2)
    assert found.unigram == pytest.approx(5)  # (0 + 1) / (3 + 2)
    assert found.bigram == pytest.approx(15)  # (0 + 1/5) / (2 + 1)
    assert found.trigram == found.bigram  # the second token has only one before it


@pytest.mark.parametrize("before", [(0, 1), (1, 2), (2, 2)])
def test_the_shares_of_all_tokens_after_two_others_add_up_to_one(before: tuple[int, int]) -> None:
    training, shares = [0, 1, 2, 2, 1, 0, 1, 1, 2, 0], []
    for token in range(3):
        whole = perplexities(training, [*before, token], 3).trigram ** -2
        first = perplexities(training, list(before), 3).trigram ** -1
        shares.append(whole / first)
    assert sum(shares) == pytest.approx(1)


def test_long_memory_tells_what_pairs_cannot() -> None:
    training = [0, 1, 2, 3, 1, 4] * 50  # 1 is followed by 2 after 0, by 4 after 3
    found = perplexities(training, training, 5)
    assert found.trigram < found.bigram < found.unigram
    assert found.trigram < 1.1 and found.bigram > 1.2


class Stopped(Exception):
    """Ends a training in the middle, as Ctrl-C would."""


def trained(small: Small, stop_at: int | None = None, fresh: bool = False) -> tuple[TrainingResult, list[str]]:
    """Train as the command does, up to a step or to the end; return what came of it and what was said."""
    setting = small.setting()
    said: list[str] = []

    def on_moment(moment: Moment) -> None:
        if moment.step == stop_at:
            raise Stopped

    with setting.checkpoints.locked():
        return train(setting, last(setting, said.append, fresh), on_moment), said


def bits(small: Small) -> Any:
    found = small.checkpoints.read()
    assert found is not None
    w = found.state["params"]["w"]
    return found.step, w.tobytes(), w.shape, found.losses, repr(found.state["optimizer"])


def test_what_stops_in_the_middle_ends_with_the_same_bits(small: Small) -> None:
    whole, _ = trained(small)
    straight = bits(small)
    assert (straight[0], straight[-1]) == (6, f"({np.float32(0.5) / 3 / 3 / 3!r}, [None, True, 6])")
    for stop_at in (2, 4):
        with pytest.raises(Stopped):
            trained(small, stop_at, fresh=stop_at == 2)
        assert bits(small)[0] == stop_at
    again, _ = trained(small)
    assert bits(small) == straight
    assert (again.text, again.perplexity, again.moment.losses) == (whole.text, whole.perplexity, whole.moment.losses)


def test_what_came_of_it(small: Small) -> None:
    found, said = trained(small)
    assert found.perplexity == pytest.approx(math.e) and found.tokens == 10 and found.vocabulary_size == 128
    assert found.text.startswith("ab") and len(found.text) == 5 and len(found.moment.losses) == 6
    assert said == []


def test_a_fresh_start_keeps_the_checkpoint_before(small: Small) -> None:
    with pytest.raises(Stopped):
        trained(small, 4)
    before = small.checkpoints.file.read_bytes()
    _, said = trained(small, fresh=True)
    (aside,) = small.checkpoints.folder.glob("checkpoint.before-*.npz")
    assert aside.read_bytes() == before and said == [f"The checkpoint so far is kept as .grader/capstone/{aside.name}."]


def test_a_damaged_checkpoint_is_kept_and_training_begins_anew(small: Small) -> None:
    trained(small)
    straight = bits(small)
    small.checkpoints.file.write_bytes(b"PK\x03\x04 no more")
    _, said = trained(small)
    (aside,) = small.checkpoints.folder.glob("checkpoint.damaged-*.npz")
    assert aside.read_bytes().startswith(b"PK") and "is damaged" in said[0] and aside.name in said[0]
    assert bits(small) == straight


def test_a_checkpoint_of_another_capstone_is_neither_used_nor_lost(small: Small) -> None:
    with pytest.raises(Stopped):
        trained(small, 2)
    before = small.checkpoints.file.read_bytes()
    small.change(small.manifest, "steps = 6", "steps = 8")
    with pytest.raises(UsageError, match=r"was made with another capstone\.toml, script or text") as caught:
        trained(small)
    assert "--fresh" in str(caught.value.hint) and small.checkpoints.file.read_bytes() == before


def test_a_module_that_changed_since_is_told(small: Small) -> None:
    with pytest.raises(Stopped):
        trained(small, 2)
    path = small.root / "hidden" / "s01_numbers" / "solution.py"
    path.write_text(NUMBERS + "\n# another reference\n", encoding="utf-8")
    _, said = trained(small)
    assert said == ["Since the checkpoint, s01 changed: training goes on with what stands there now."]


def test_what_is_left_is_told(small: Small) -> None:
    assert kept(small.setting()) == "Nothing was trained yet."
    with pytest.raises(Stopped):
        trained(small, 2)
    assert kept(small.setting()) == "Step 2 of 6 is kept: `grader capstone` goes on from there."
    small.checkpoints.file.write_bytes(b"")
    assert "is damaged" in kept(small.setting())


def test_a_text_is_continued_from_any_step(small: Small) -> None:
    with pytest.raises(Stopped):
        trained(small, 2)
    found, text = write(small.setting(), "ba", 7, 0.5, 1)
    assert found.step == 2 and text.startswith("ba") and len(text) == 9
    assert write(small.setting(), "ba", 7, 0.5, 1)[1] == text


def test_nothing_is_continued_without_a_model(small: Small) -> None:
    with pytest.raises(UsageError, match="there is no trained model yet") as caught:
        write(small.setting(), "ba", 7, 0.5, 1)
    assert "`grader capstone` trains one" in str(caught.value.hint)


def test_a_damaged_model_writes_nothing_and_stays_where_it_is(small: Small) -> None:
    small.checkpoints.folder.mkdir(parents=True)
    small.checkpoints.file.write_bytes(b"nonsense")
    with pytest.raises(ProgressError, match=r"checkpoint\.npz is damaged"):
        write(small.setting(), "ba", 7, 0.5, 1)
    assert small.checkpoints.file.read_bytes() == b"nonsense"


def test_a_checkpoint_of_other_files_does_not_fit(small: Small) -> None:
    with pytest.raises(UsageError):
        fitting(small.setting(), Checkpoint("other", 0, 0.0, (), None, None, ()))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("losses.append(float(abs(w).sum()))", "losses.append(float('nan'))", "the loss of step 3 is nan"),
        ("losses.append(float(abs(w).sum()))", "losses.append('much')", "advance returned no state and 2 losses"),
        ('{"params": {"w": w}, "optim', '{"params": {"w": {1}}, "optim', "cannot hold state['params']['w']: it is an"),
        ('"vocabulary_size": 128', '"vocabulary_size": 12', "prepare returned no texts as tokens"),
        ("return 1.0", "return -1.0", "measure returned -1.0, which is no mean"),
        ("return prompt + ", "return 0 * len(prompt) # ", "write returned no text"),
        ("return 1.0", "raise KeyError('x')", "measure of stages/capstone/train.py: KeyError: 'x'"),
        ("return 1.0", "import os; os._exit(3)", "ended without an answer"),
        ("def measure", "def measured", "does not define measure"),
        (
            "import numpy as np",
            "import numpy as np\n__import__('importlib').import_module('torch')",
            "fails while it is loaded",
        ),
    ],
)
def test_what_goes_wrong_is_told_and_what_was_trained_is_kept(small: Small, old: str, new: str, told: str) -> None:
    late = "if first >= 2: w" if "losses.append" in old else None
    small.change(small.script, old, new if late is None else f"losses.append(1.0) if first < 2 else {new}")
    small.change(small.manifest, "steps = 6", "steps = 4")
    with pytest.raises(TrainingFailed) as caught:
        trained(small)
    assert told in str(caught.value) and caught.value.exit_code == 1
    found = small.checkpoints.read()
    expected = 2 if late else 4 if "measure" in str(caught.value) or "write" in told or "answer" in told else 0
    assert (found.step if found else 0) == expected


def test_a_module_of_the_learners_that_has_passed_is_used_and_named(small: Small) -> None:
    small.manifest.write_text(f'loop = "s01"\n{small.manifest.read_text("utf-8")}', "utf-8")
    own = small.root / "stages" / "s01_numbers" / "numbers_.py"
    own.write_text(NUMBERS.replace("return 2 * x", 'raise NotImplementedError("double")'), encoding="utf-8")
    assert [each.use.source for each in small.setting().snapshot.uses] == ["reference"]
    assert small.setting().settings == {"pause": 0.0, "own_loop": False}
    digest = hashlib.sha256(own.read_bytes()).hexdigest()
    Store(small.root).record_pass("s01", digest, 1, "0.1.0", datetime.now(UTC))
    assert [each.use.source for each in small.setting().snapshot.uses] == ["own"]
    assert small.setting().settings == {"pause": 0.0, "own_loop": True}
    with pytest.raises(GraderError, match="double is not written yet") as caught:
        trained(small)
    assert "`grader check s01`" in str(caught.value.hint)
