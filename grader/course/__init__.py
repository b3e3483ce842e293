"""Reads what a course consists of: stages, their criteria, limits, references, mistakes, sealed content.

Every room but `protocol` and `worker` may import it; it imports none but `errors`. Begin with `stage.py`, what a stage
is, and `manifest.py`, the only reader of stage.toml; `provided.py` is what a stage may import of earlier ones,
`import_guard.py` what any process of the grader may.
"""
