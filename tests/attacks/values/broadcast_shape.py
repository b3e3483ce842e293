"""Return shape (1, 1), or a view with strides of zero."""

ATTACK = "an array that would broadcast"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return 2 * x[:1, :1]
