"""The sum in float64, and how far float32 may be from it.

Each addition rounds what was added up so far, which is at most the sum of all sizes. The roundings
go up and down, so that together they grow like a random walk: in any sensible order of adding the
error stays far below this bound.
"""

import math

import numpy as np


def reference(x):
    return np.array([math.fsum(x)])


def bound(x, n):
    return math.sqrt(n) * 2.0**-23 * np.abs(x).sum()
