"""What a wrong backward pass gave, gradient by gradient, beside the right ones, and what each error looks like.

Trusted; `judging` asks it about tests that failed. Begin with `report.py`; `names.py` says which gradient is which,
`patterns.py` what an error looks like.
"""
