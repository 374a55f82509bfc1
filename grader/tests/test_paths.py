"""Which calls of a function may both be carried out."""

import pytest

from grader.judging.paths import may_follow
from grader.labs.statements import listing

_SOLVE = """void solve(float* a, int e) {{
{body}
}}
"""


def _frees(body: str) -> list[bool]:
    """Of each two calls that stand one behind the other."""
    text = listing(_SOLVE.format(body=body))
    numbers = [one.number for one in text.statements if "cudaFree" in one.words]
    return [may_follow(text, one, two) for one, two in zip(numbers, numbers[1:], strict=False)]


@pytest.mark.parametrize(
    "body, follows",
    [
        ("cudaFree(a); cudaFree(a);", True),
        ("cudaFree(a); if (e) cudaFree(a);", True),
        ("if (e) { cudaFree(a); } cudaFree(a);", True),
        ("if (e) { cudaFree(a); return; } cudaFree(a);", False),
        ("if (e) { if (e > 1) { cudaFree(a); } exit(1); } cudaFree(a);", False),
        ("if (e) cudaFree(a); else cudaFree(a);", False),
        ("if (e) { cudaFree(a); } else if (e > 1) { cudaFree(a); }", False),
        ("cudaFree(a); return; fail: cudaFree(a);", False),
        ("cudaFree(a); if (e) goto fail; return; fail: cudaFree(a);", True),
        ("if (e) goto fail; cudaFree(a); return; fail: cudaFree(a);", False),
        ("if (e) { cudaFree(a); goto fail; } return; fail: cudaFree(a);", True),
    ],
)
def test_what_leaves_before_is_on_no_way_to_the_other(body, follows):
    assert _frees(body) == [follows]
