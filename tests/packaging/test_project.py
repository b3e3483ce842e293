"""The repository itself: its workflow is valid, its lock is everyone's, and its check is a script."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.support.places import HOUSE, ROOT


def test_workflows_are_valid_against_the_published_schema() -> None:
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    assert workflows
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everyone_gets_the_same_lock_without_committing_it() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", settings["exclude-newer"])
    assert "uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_whoever_runs_the_grader_installs_nothing_of_its_development() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["uv"]["default-groups"] == []
    needed = {re.split(r"[<>=]", each)[0] for each in project["project"]["dependencies"]}
    assert "pytest" in needed and not needed & {"pytest-xdist", "hypothesis", "ruff", "mypy"}
    pages = {path: text for path, text in shown_texts().items() if path.name != "CHANGELOG.md"}
    wrong = re.compile(r"uv run pytest(?! tests/)")  # in a stage's folder it is a learner's command
    assert [str(path.relative_to(ROOT)) for path, text in pages.items() if wrong.search(text)] == []


def shown_texts() -> dict[Path, str]:
    """Return all that users read: pages, templates of copies, and the modules that messages stand in."""
    places = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*"), *(ROOT / "stages").rglob("*.md"), *HOUSE.rglob("*")]
    kinds = (".md", ".py", ".toml", ".template", ".yml", ".sh", ".html")
    own = [path for path in places if path.suffix in kinds and path.is_file()]
    return {path: path.read_text(encoding="utf-8") for path in own}


def test_nobody_is_told_to_install_the_grader_by_its_name() -> None:
    """The name belongs to nobody in an index: whoever takes it would run code on every learner."""
    asks = r"(?:--from|--with|\b(?:install|upgrade|inject|add))(?:\s+-[-\w]+)*"
    named = re.compile(rf"{asks}\s+['\"]?(?:\$package|attention[-_]grader)(?![-_\w]*\.whl|[-_]\d)")
    assert named.search("pip install -U 'attention-grader[web]'") and named.search("uvx --from attention-grader grader")
    assert not named.search("uvx --from ./attention_grader-0.1.0-py3-none-any.whl grader init x")
    found = [str(path.relative_to(ROOT)) for path, text in shown_texts().items() if named.search(text)]
    assert len(shown_texts()) > 250 and not found


def test_the_page_of_the_package_is_for_who_installs_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / project["readme"]).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert all(link.startswith("https://") for link in links)  # an index shows no file that lies beside the page
    commands = re.findall(r"^    (?:uv run )?(?:--extra \w+ )?(grader(?: \w+)?|bash|uv \w+)", page, re.MULTILINE)
    assert "grader init" in commands
    assert not set(commands) & {"bash", "grader course", "grader release", "grader demo", "grader class", "grader keys"}


def test_the_check_script_parses() -> None:
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=False).returncode == 0
