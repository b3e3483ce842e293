"""Who listens, and what they hear: always the latest frame, never a queue of those that came before.

A listener that is slow or gone holds one frame at most, and nobody waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 32  # listeners at a time


class Listener:
    """One listener's place for the latest frame."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._frame: str | None = None
        self._closed = False

    def put(self, frame: str) -> None:
        """Replace what has not been taken yet."""
        with self._condition:
            self._frame = frame
            self._condition.notify()

    def close(self) -> None:
        """Let whoever waits know that nothing follows."""
        with self._condition:
            self._closed = True
            self._condition.notify()

    def take(self, seconds: float) -> str | None:
        """Return the latest frame, None where none came in time; EOFError once nothing follows."""
        with self._condition:
            if self._frame is None and not self._closed:
                self._condition.wait(seconds)
            frame, self._frame = self._frame, None
            if frame is None and self._closed:
                raise EOFError
            return frame


class Hub:
    """Hands each frame to all listeners; a new one hears the latest at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._latest: str | None = None
        self._closed = False

    def publish(self, frame: str) -> None:
        """Hand on a frame; the same as before is no news."""
        with self._lock:
            if frame == self._latest or self._closed:
                return
            self._latest = frame
            listeners = tuple(self._listeners)
        for each in listeners:
            each.put(frame)

    @contextmanager
    def listener(self) -> Iterator[Listener | None]:
        """Give a place to listen, and forget it afterwards; None where too many listen already."""
        place = Listener()
        with self._lock:
            fits = len(self._listeners) < MOST and not self._closed
            if fits:
                self._listeners.append(place)
                if self._latest is not None:
                    place.put(self._latest)
        try:
            yield place if fits else None
        finally:
            with self._lock:
                if fits and place in self._listeners:
                    self._listeners.remove(place)

    def close(self) -> None:
        """Say goodbye to everybody."""
        with self._lock:
            self._closed = True
            listeners = tuple(self._listeners)
        for each in listeners:
            each.close()

    def __len__(self) -> int:
        """Return how many listen."""
        with self._lock:
            return len(self._listeners)
