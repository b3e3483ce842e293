"""What a course is, read from its files: stages, rows of the checklist, limits, references, mistakes, sealed content.

Every room may import it; it imports none but `errors`. Begin with `manifest.py`: the only reader of stage.toml.
"""
