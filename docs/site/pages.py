"""A hook of MkDocs: the pages of the repository at their own paths, so that each link leads where it leads there.

The order is that of docs/README.md, with a chapter for each stage. Nothing of the hidden folder is published.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the site is built without the grader installed
from grader.course.formulas import formula  # noqa: E402

INDEX = "docs/README.md"
CHAPTERS = "stages/README.md"
BESIDE = ("stages/", "docs/")  # what lies here and is linked to is published as a file; of all else, pages are
SCHEMA = ".schema.json"
LINK = re.compile(r"(?P<text>!?\[(?:[^\]\[]|\[[^\]]*\])*\])\((?P<target>[^)\s]+)\)")
FORMULA = r"(?<![\\$])(\${1,2})(?![\s$])([^$]*[^\s$\\])\1(?![\w$])"
FENCE = re.compile(r"^ *(```|~~~)")
LIST = re.compile(r"^( *)([-*]|\d+\.) ")


def on_config(config: Any) -> Any:
    """Order the pages, name headings as GitHub does, and set formulas."""
    from pymdownx.slugs import slugify

    config.markdown_extensions.append(formulas())
    config.nav = ["README.md", INDEX, *({title: pages} for title, pages in sections(ROOT).items())]
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add every page, and each file that a page links to."""
    from mkdocs.structure.files import File

    for page in pages(ROOT):
        files.append(File.generated(config, page, abs_src_path=str(ROOT / page)))
    for path in linked(ROOT):
        if path.endswith(SCHEMA):
            files.append(File.generated(config, described(path), content=schema_page(ROOT / path)))
        elif path not in pages(ROOT) and is_published(ROOT, path):
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Send links to what is not on the site to the repository, where its address is known, or drop them."""
    return fitted(page.file.src_uri, markdown, config.repo_url or "")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Make the empty corner of a table a plain cell: a heading has a text."""
    return html.replace("<th></th>", "<td></td>")


def formulas() -> Any:
    """Return an extension of Python-Markdown that makes MathML of what stands between dollars, as `serve` does."""
    from markdown import Extension, Markdown
    from markdown.inlinepatterns import InlineProcessor

    class Formula(InlineProcessor):
        def handleMatch(self, m: re.Match[str], data: str) -> tuple[str | None, int | None, int | None]:
            made = formula(m[2], is_apart=m[1] == "$$")
            return (None, None, None) if made is None else (self.md.htmlStash.store(made), m.start(), m.end())

    class Formulas(Extension):
        def extendMarkdown(self, md: Markdown) -> None:
            md.inlinePatterns.register(Formula(FORMULA, md), "formula", 185)  # after code, before the backslash

    return Formulas()


def sections(root: Path) -> dict[str, list[Any]]:
    """Return the headings of the index, each with its pages; behind the list of stages follow the stages."""
    found: dict[str, list[Any]] = {}
    title = ""
    for line in (root / INDEX).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif match := re.match(r"\| \[[^\]]*\]\(([^)]+)\)", line):
            page = normpath(f"docs/{match[1]}")
            found.setdefault(title, []).append(page)
            text = (root / page).read_text(encoding="utf-8")
            found[title] += [described(each) for each in targets(page, text) if each.endswith(SCHEMA)]
    stages = [f"stages/{folder}/README.md" for folder in chapters(root)]
    beside = sorted(f"stages/{page.name}" for page in root.glob("stages/*.md") if page.name != "README.md")
    road = [CHAPTERS, *stages, *beside]
    rest = {title: [page for page in dict.fromkeys(each) if page not in road] for title, each in found.items()}
    return {"The stages": road, **rest}


def chapters(root: Path) -> list[str]:
    """Return the folders of the stages in their order, then what else lies beside them, such as a capstone."""
    found = [page.parent.name for page in root.glob("stages/*/README.md")]
    return sorted(found, key=lambda name: (re.match(r"s\d", name) is None, name))


@cache
def pages(root: Path) -> list[str]:
    """Return the pages that are published: those of the index, and the chapters."""
    listed = [page for each in sections(root).values() for page in each if not page.endswith(described(SCHEMA))]
    return ["README.md", INDEX, *listed]


@cache
def linked(root: Path) -> list[str]:
    """Return the paths that pages link to, whatever lies there."""
    found = {target for page in pages(root) for target in targets(page, (root / page).read_text(encoding="utf-8"))}
    return sorted(found)


def described(schema: str) -> str:
    """Return the path of the page that is made of a JSON schema."""
    return schema.removesuffix(".json") + ".md"


def is_published(root: Path, path: str) -> bool:
    """Say whether what a page links to is a file that goes along."""
    return path.startswith(BESIDE) and not path.endswith(".toml") and (root / path).is_file()


def targets(page: str, text: str) -> Iterator[str]:
    """Yield the paths in the repository that a page links to, outside blocks of code."""
    for line in _prose(text):
        for match in LINK.finditer(line):
            name = match["target"].partition("#")[0]
            if name and ":" not in name:
                yield normpath(PurePosixPath(page).parent / name)


def fitted(page: str, text: str, repository: str) -> str:
    """Return a page as the site shows it: links that lead somewhere, and lists that begin after an empty line."""
    known = set(pages(ROOT))
    lines: list[str] = []
    prose = iter(_prose(text))
    for line in text.splitlines():
        shown = next(prose)
        if shown and _begins_list(lines, line):
            lines.append("")
        lines.append(LINK.sub(lambda match: _link(page, match, known, repository), line) if shown else line)
    return "\n".join(lines) + "\n"


def _link(page: str, match: re.Match[str], known: set[str], repository: str) -> str:
    name, _, anchor = match["target"].partition("#")
    if not name or ":" in name:
        return match[0]
    path = normpath(PurePosixPath(page).parent / name)
    if path in known or is_published(ROOT, path):
        return match[0]
    if path.endswith(SCHEMA):
        return f"{match['text']}({relpath(described(path), PurePosixPath(page).parent)})"
    if repository:
        return f"{match['text']}({repository.rstrip('/')}/blob/main/{path}{'#' if anchor else ''}{anchor})"
    return match["text"].strip("![]")


def _begins_list(before: list[str], line: str) -> bool:
    """Say whether a list begins right below a paragraph, which GitHub reads as a list and Python-Markdown does not."""
    if not LIST.match(line) or not before or not before[-1].strip():
        return False
    return not LIST.match(before[-1]) and not before[-1].startswith((" ", "|", "#", ">"))


def _prose(text: str) -> Iterator[str]:
    """Yield each line of a page; those of blocks of code as an empty string."""
    inside = False
    for line in text.splitlines():
        edge = FENCE.match(line) is not None
        inside ^= edge
        yield "" if inside or edge else line


def schema_page(path: Path) -> str:
    """Return a JSON schema as a page: a table for each kind of object."""
    schema = _resolved(json.loads(path.read_text(encoding="utf-8")))
    lines = [f"# {schema['title']}", "", schema.get("description", ""), ""]
    kinds = {"": schema, **schema.get("$defs", {})}
    for name, kind in kinds.items():
        if "properties" not in kind:
            continue
        needed = set(kind.get("required", ()))
        lines += [f"## {name}", ""] if name else []
        lines += [kind.get("description", "") if name else "", "", "| key | kind | what it says |", "|---|---|---|"]
        for key, value in kind["properties"].items():
            often = "" if key in needed else " (may be absent)"
            lines.append(f"| `{key}` | {_kind(value)} | {value.get('description', '')}{often} |")
        lines.append("")
    return "\n".join(lines)


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in which what is no object of its own stands where it is used."""
    plain = {f"#/$defs/{name}": kind for name, kind in schema.get("$defs", {}).items() if "properties" not in kind}

    def within(value: Any) -> Any:
        if isinstance(value, dict):
            if value.get("$ref") in plain:
                return {**plain[value["$ref"]], **{key: each for key, each in value.items() if key != "$ref"}}
            return {key: within(each) for key, each in value.items()}
        return [within(each) for each in value] if isinstance(value, list) else value

    return dict(within(schema))


def _kind(value: dict[str, Any]) -> str:
    """Return the kind of a value, in a few words."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if isinstance(value.get("items"), dict):
        return f"list of {_kind(value['items'])}"
    if "const" in value or "enum" in value:
        return ", ".join(f"`{json.dumps(each)}`" for each in value.get("enum", [value.get("const")]))
    for word in ("anyOf", "oneOf"):
        if word in value:
            return " or ".join(_kind(each) for each in value[word])
    kind = value.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
