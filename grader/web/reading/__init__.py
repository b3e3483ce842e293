"""A stage's README as HTML: Markdown without raw HTML, formulas as TeX, links and pictures that stay within the course.

`markdown.py` is where to begin; `formulas.py` reads the formulas that stand in blocks of plain text.
"""
