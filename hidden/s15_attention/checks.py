"""What tests of backward passes check alike."""

from contextlib import contextmanager

import pytest

OTHER_SHAPES = ((3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 2))  # than the (2, 3, 4) of an output


@contextmanager
def too_early():
    """Assert that a ValueError or a RuntimeError is raised, but not NotImplementedError, which is the stub's."""
    with pytest.raises((ValueError, RuntimeError)) as caught:
        yield
    if isinstance(caught.value, NotImplementedError):
        raise caught.value
