"""Check the spelling: no known misspelling anywhere, and British words in all pages, as most of the course has them.

Names of the field in code (`normalize`, `center`) and titles of papers keep their American spelling: code, quotations,
emphasis and links to other sites are not prose.
`uv run --group dev python .ci/spelling.py --write-changes` mends misspellings.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import codespell_lib

ROOT = Path(__file__).resolve().parent.parent
TO_AMERICAN = Path(codespell_lib.__file__).parent / "data" / "dictionary_en-GB_to_en-US.txt"
# American forms that are British too in another sense, and names: HTTP's header, GitHub's artifacts, minimize of s05.
KEPT = {
    "artifact", "artifacts", "authorization", "biased", "check", "checks", "draft", "drafts", "license", "math",
    "meter", "minimize", "practice", "program", "programs", "story", "stories", "tire", "writable",
}  # fmt: skip
NO_PROSE = re.compile(
    r"```.*?```|^(?: {4}|\t)[^\n]*|`[^`\n]*`"  # code
    r"|\[[^]]*\]\(http[^)]*\)|\]\([^)]*\)|\"[^\"]{1,200}\"|\*[^*\n]+\*",  # titles
    re.DOTALL | re.MULTILINE,
)


def british() -> dict[str, str]:
    """Return the British form of each American one."""
    pairs = (line.partition("->") for line in TO_AMERICAN.read_text(encoding="utf-8").splitlines())
    known = {there.split(",")[0].strip(): here.strip() for here, arrow, there in pairs if arrow}
    return {there: here for there, here in known.items() if there not in KEPT}


def american(page: str, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the word of each American form in the prose of a page."""
    prose = NO_PROSE.sub(lambda code: "\n" * code[0].count("\n"), page)
    for number, line in enumerate(prose.splitlines(), 1):
        yield from ((number, word) for word in re.findall(r"(?<![\w.])[^\W\d_]+(?!\w)", line) if word.lower() in known)


def tracked() -> list[str]:
    """Return the files that git knows, or would take."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in sorted(set(found)) if (ROOT / name).is_file()]


def main(arguments: list[str]) -> int:
    """Return 0 where nothing was found, after listing what was."""
    files, known, count = tracked(), british(), 0
    for name in files:
        if name.endswith(".md"):
            for line, word in american((ROOT / name).read_text(encoding="utf-8"), known):
                print(f"{name}:{line}: {word} ==> {known[word.lower()]} (British spelling)")
                count += 1
    return int(bool(codespell_lib.main(*arguments, *files) or count))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
