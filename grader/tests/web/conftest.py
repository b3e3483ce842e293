"""A server that answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.tests.support.command import Place
from grader.tests.web.asking import answering
from grader.web.server import Server


@pytest.fixture
def server(place: Place) -> Iterator[Server]:
    with answering(place) as found:
        yield found
