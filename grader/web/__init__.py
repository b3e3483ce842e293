"""What a browser shows a learner: `grader report`, one file that needs nothing else, and `grader serve`, the same live.

Only commands import it. Begin with `road.py`, which gathers what is known, and `page.py`, which fills the templates;
`certificate.py` says what was verified, `reading/` makes a README HTML, `serving/` answers a browser.
"""
