"""Who reaches what is forbidden: along the names that a module's functions mention, whatever they do with them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from grader.submission.source.forbidden.places import MODULE, Layout


def reached(layout: Layout, owners: Iterable[str]) -> Mapping[str, str]:
    """For each name of the module that reaches one of the owners, the first of them that it reaches."""
    mentioned_by = mentions(layout)
    found: dict[str, str] = {}
    for owner in owners:
        queue = [owner]
        while queue:
            name = queue.pop()
            if name not in found:
                found[name] = owner
                queue += mentioned_by.get(name, ())
    return found


def key_of(layout: Layout, function: str) -> str:
    """The name under which a function, class or `Class.method` of a stage stands in the module, if it does at all."""
    within = function.partition(".")[0]
    for name in (function, within):
        if name in layout.owners:
            return name
    return "__getattr__"  # Python asks it for what a module lacks


@lru_cache(4)
def mentions(layout: Layout) -> Mapping[str, set[str]]:
    """Who mentions each name; an attribute begins with a dot, and may be a method of any class of the module."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for owner, other in layout.edges:
        found[other].add(owner)
    for owner, decorator in layout.decorated:
        if decorator in layout.owners:  # who gets a function may keep it anywhere
            found[owner].add(MODULE)
    for node, place in layout:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                found[name].add(place.owner)
            case ast.Attribute(attr=name):
                found[f".{name}"].add(place.owner)
            case ast.Global(names=names):
                for name in names:
                    found[place.owner].add(name)
    return found
