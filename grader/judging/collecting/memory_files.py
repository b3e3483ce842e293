"""Test files that lie in memory only: pytest collects them without any file."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import rewrite_asserts  # pytest has no public way to it


class MemoryModule(pytest.Module):
    """A test module whose source is a text; its asserts tell what they compared, as those of a file do."""

    source = ""

    def _getobj(self) -> types.ModuleType:
        module = types.ModuleType(f"sealed_{self.path.stem}")
        module.__file__ = str(self.path)
        try:
            tree = ast.parse(self.source)
            rewrite_asserts(tree, self.source.encode(), str(self.path), self.config)
            sys.modules[module.__name__] = module  # dataclasses look their module up
            exec(compile(tree, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except Exception as error:
            raise self.CollectError(f"{type(error).__name__}: {error}") from error
        return module


class MemoryFolder(pytest.Directory):
    """Stands for a folder, and holds modules that are not in it."""

    sources: Mapping[Path, str] = {}

    def collect(self) -> Iterator[MemoryModule]:
        """Yield a module for each source, in their order."""
        for path, source in self.sources.items():
            module = MemoryModule.from_parent(self, path=path)
            module.source = source
            yield module


class MemoryFiles:
    """A pytest plugin that collects sources, by the path that each is known by, in place of what lies in a folder."""

    def __init__(self, folder: Path, sources: Mapping[Path, str]) -> None:
        self.folder = folder
        self.sources = sources

    def places(self, files: Iterable[str]) -> Iterator[str]:
        """Yield what pytest is to collect: the folder for all that lies in memory, and files."""
        if self.sources:
            yield str(self.folder)
        kept = {str(path) for path in self.sources}
        yield from (file for file in files if file not in kept)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take over the one folder."""
        if path != self.folder or not self.sources:
            return None
        folder = MemoryFolder.from_parent(parent, path=path)
        folder.sources = self.sources
        return folder
