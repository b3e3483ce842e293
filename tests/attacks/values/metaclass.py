"""Return a class whose metaclass answers every comparison with True."""

ATTACK = "a class with a lying metaclass"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Meta(type):
    def __eq__(cls, other):
        return True

    def __instancecheck__(cls, instance):
        return True

    __hash__ = type.__hash__


class Answer(metaclass=Meta):
    pass


def double(x):
    return Answer
