"""`grader serve`: the pages live, for one learner's browser on the same machine.

`guard.py` says which requests are answered at all, `app.py` what each gets, `live.py` watches and grades as
`grader watch` does, `server.py` speaks HTTP. Begin with `running.py`, which puts them together.
"""
