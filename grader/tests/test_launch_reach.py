"""The integers of a launch's parameters, as they lie in its block of bytes."""

import struct

import pytest

from grader.judging.launch_reach import integers
from grader.labs.statements import Listing


@pytest.mark.parametrize(
    ("parameters", "form", "values", "expected"),
    [
        ("const float* a, int n, int m", "<Qii", (1, -3, 5), {"n": "-3", "m": "5"}),
        ("float* a, int n, unsigned long long m", "<Qi4xQ", (1, 3, 7), {"n": "3", "m": "7"}),
        ("int n, unsigned long m, float f, unsigned k", "<i4xQfI", (2, 9, 1.0, 4), {"n": "2", "m": "9", "k": "4"}),
        ("int n, unsigned char c, short s, int m", "<iBxhi", (2, 1, 6, 8), {"n": "2", "m": "8"}),
        ("float4 v, size_t n, const unsigned int m", "<4fQI", (0, 0, 0, 0, 11, 12), {"n": "11", "m": "12"}),
        ("int n, Sizes s, int m", "<iii", (2, 3, 4), {"n": "2"}),  # what follows is not known
    ],
)  # fmt: skip
def test_integers_are_read_where_they_lie(parameters, form, values, expected):
    text = Listing(f"__global__ void k({parameters}) {{\n}}\n")
    function = next(iter(text.functions()))
    names = text.parameters(function)
    assert integers(function, names, struct.pack(form, *values)) == expected
