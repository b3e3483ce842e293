"""Show the hidden tests' inputs in an exception, a print, a warning and a function's name."""

import warnings

ATTACK = 'hidden inputs shown where feedback is "verdict"'
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
ROW = "tell"
FEEDBACK = "verdict"


def tell(label):
    print(label)
    warnings.warn(label, stacklevel=2)
    raise type(label.replace("-", "_"), (ValueError,), {})(label)
