"""Where a learner works: an editor, a notebook. Only `grader/cli.py` imports it. Begin with `editor.py`."""
