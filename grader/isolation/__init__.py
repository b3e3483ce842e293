"""Start, confine, bound and end a worker: the tiers bubblewrap, landlock and process.

Trusted; it starts what is not. Rooms from `sandbox` on may import it. Begin with `tiers.py`. A tier is one class in one
file, and its place stands in `BUILT_IN` of `tier.py`.
"""
