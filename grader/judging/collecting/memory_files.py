"""Test modules of a stage, from texts in memory and from files: no file around them is imported."""

from __future__ import annotations

import ast
import importlib.util
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


class FileModule(pytest.Module):
    """A test module from its file alone: pytest itself would import the `__init__.py` of every folder around it."""

    def _getobj(self) -> types.ModuleType:
        root, path = self.config.rootpath, self.path.with_suffix("")
        name = ".".join(path.relative_to(root).parts if path.is_relative_to(root) else path.parts[-3:])
        rewriting = self.config.pluginmanager.rewrite_hook
        spec = importlib.util.spec_from_file_location(name, self.path, loader=rewriting)  # type: ignore[arg-type]
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
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
    """A pytest plugin that collects sources, by the path that each is known by, in place of what lies in a folder.

    Other folders hold test files, and are never packages.
    """

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
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector:
        """Take over the one folder, and keep the others from being packages."""
        if path != self.folder or not self.sources:
            return pytest.Dir.from_parent(parent, path=path)
        folder = MemoryFolder.from_parent(parent, path=path)
        folder.sources = self.sources
        return folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        """Collect a test file by itself."""
        return FileModule.from_parent(parent, path=module_path)
