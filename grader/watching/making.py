"""A session with all that it needs: the process that grades, the watch on the module, and the pictures."""

from __future__ import annotations

from collections.abc import Callable

from grader.progress.actions import Workspace
from grader.watching.events import Event
from grader.watching.exploring import Exploring
from grader.watching.kept import Kept
from grader.watching.saves import Saves
from grader.watching.session import Session

Post = Callable[[Event], None]
Width = Callable[[], int]


def made(workspace: Workspace, post: Post, width: Width, colour: bool) -> Session:
    """Return a session whose threads post their events; width is in columns, asked for when a picture is drawn."""
    root = workspace.course.root
    explore = Exploring(workspace.course, post, width, colour)
    return Session(workspace, Kept(root, post), Saves(post), explore)
