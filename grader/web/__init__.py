"""What a browser shows a learner: `grader report`, one file that needs nothing else, and `grader serve`, the same live.

Only commands import it. Begin with `road.py`, which gathers what is known, and `report.py`, which fills the templates;
`certificate.py` says what was verified, `markdown.py` makes a README HTML; `server.py` speaks HTTP, `app.py` says what
each address gets, and `live.py` watches.
"""
