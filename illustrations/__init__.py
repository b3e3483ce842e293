"""The pictures of the stages' READMEs, drawn from the references.

`uv run --group dev python -m illustrations` writes them all.

Authors only: it reads the answers, and learners get what it draws. `album.py` lists the pictures, and a module a group
of stages draws them with `plots.py` and `diagrams.py` on a `canvas.py`. Begin with `album.py`.
What a picture claims is tested in `tests/illustrations/test_claims.py`, where each picture has a test.
"""
