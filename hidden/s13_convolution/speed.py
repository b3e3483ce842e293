"""How long a learner's convolution may take: no longer than a share of the loops that it replaces."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hidden.s13_convolution.oracles import Array


def seconds_of_forward_loop(x: Array, W: Array) -> float:
    """Return how long a loop over a quarter of the lines takes that does nothing but one matrix product a pixel."""
    size, (lines, across) = W.shape[-1], fewer_lines(x, W)
    kernels, out = W.reshape(len(W), -1).T, np.zeros((len(x), len(W), lines, across))
    start = time.perf_counter()
    for i in range(lines):
        for j in range(across):
            out[:, :, i, j] = x[:, :, i : i + size, j : j + size].reshape(len(x), -1) @ kernels
    return time.perf_counter() - start


def seconds_of_backward_loop(x: Array, W: Array) -> float:
    """Return how long a loop over a quarter of the lines takes that adds to two gradients, for one channel."""
    size, (lines, across) = W.shape[-1], fewer_lines(x, W)
    grad_x, grad_W = np.zeros_like(x[0, 0]), np.zeros_like(W[0, 0])
    start = time.perf_counter()
    for i in range(lines):
        for j in range(across):
            grad_W += 0.5 * x[0, 0, i : i + size, j : j + size]
            grad_x[i : i + size, j : j + size] += 0.5 * W[0, 0]
    return time.perf_counter() - start


def fewer_lines(x: Array, W: Array) -> tuple[int, int]:
    """Return a quarter of the lines of places that a square kernel has, and its places in a line."""
    down, across = (side - W.shape[-1] + 1 for side in x.shape[2:])
    return down // 4, across


def assert_fast(call: Callable[[], Any], seconds_of_loop: Callable[[], float], name: str) -> None:
    """Assert that a call takes no longer than a loop needs for a quarter of the lines, the best of up to 7 of each.

    Both are measured in turn, in stretches of like length, so that a busy machine slows both down alike: it neither
    fails who needs a tenth of what is allowed nor excuses a loop. Whoever needs half of what is allowed at once has no
    loop; what is nearer is measured three times at least.
    """
    took = allowed = np.inf
    for attempt in range(1, 8):
        start = time.perf_counter()
        call()
        took = min(took, time.perf_counter() - start)
        allowed = min(allowed, seconds_of_loop())
        if took <= (allowed if attempt >= 3 else allowed / 2):
            return
    message = f"{name} took {took:.3f} s for an image of 400 by 400 pixels, at most {allowed:.3f} s is allowed"
    raise AssertionError(f"{message}: a quarter of what a loop over its pixels takes. Leave the loops to NumPy.")
