"""What installs a package that a command needs and that is not always there: the extra of ours that brings it.

How depends on where the grader came from: beside its own project file uv syncs that, a package is installed again with
the extra behind its name. Nothing of this is looked up before an error is told.
"""

from __future__ import annotations

import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
RECEIPT = "uv-receipt.toml"  # uv tool leaves it in an environment of its own making


def installs(extra: str, *packages: str) -> str:
    """Return a hint: how to install an extra; packages are what it brings, for whoever has no uv.

    With a grader that was installed as `courses`: "`pip install 'courses[web]'` installs it; …".
    """
    name = _installed_as()
    if name is None:
        alone = f"; without uv: pip install {' '.join(packages)}" if packages else ""
        return f"`uv sync --extra {extra}` installs it{alone}."
    wanted = f"'{name}[{extra}]'"
    if (Path(sys.prefix) / RECEIPT).is_file():
        return f"`uv tool install {wanted}` installs it."
    return (
        f"`pip install {wanted}` installs it, or `uv sync --extra {extra}` in this folder. With uvx: --from {wanted}."
    )


def _installed_as() -> str | None:
    """Return the name of the package that the grader was installed from; None where it runs from its sources."""
    from importlib.metadata import distributions

    own = "grader/__init__.py"
    of_home = distributions(path=[str(HOME)])
    found = next((each for each in of_home if any(file.as_posix() == own for file in each.files or ())), None)
    return None if found is None else found.metadata["Name"]
