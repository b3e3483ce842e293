"""A server that answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.web.http_server import PageServer
from tests.support.command import Place
from tests.web.asking import answering


@pytest.fixture
def server(place: Place) -> Iterator[PageServer]:
    with answering(place) as found:
        yield found
