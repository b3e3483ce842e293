"""Return a list subclass that is of every length and equal to everything."""

ATTACK = "a list subclass"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Rows(list):
    def __len__(self):
        return 3

    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter([])


def double(x):
    return Rows([1])
