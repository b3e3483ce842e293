"""Return a str subclass that is equal to every text."""

ATTACK = "a str subclass"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Text(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


def double(x):
    return Text("x")
