"""A learner's pages in a browser: `grader report`, one self-contained file, and `grader serve`, the same live.

Only commands import it. Begin with `road.py`, which gathers what is known, and `report.py`, which fills the templates;
`certificate.py` says what was verified, `markdown.py` makes a README HTML; `server.py` speaks HTTP, `app.py` says what
each address gets, and `live.py` watches.
"""
