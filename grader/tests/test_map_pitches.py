"""Rows that lie otherwise in memory than their tensor map says: which of the two lines is told."""

import pytest

from grader.judging import host, map_pitches, tensor_maps
from grader.labs.statements import listing

SOURCE = """
static int up8(int n) { return (n + 7) & ~7; }
static int up4(int n) { return (n + 3) / 4 * 4; }
template <int of> int up(int n) { return (n + of - 1) / of * of; }
bf16* packed(const float* A, int rows, int cols, int pitch) { return nullptr; }
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int wide = up8(l);
  bf16* m = rounded(M, j, k, up8(k));
  bf16* n = ROUNDED;
  CUtensorMap of_m = make_map(m, k, j, up8(k), 64, 128);
  CUtensorMap of_n = MAP;
  kernel<<<1, 32>>>(of_m, of_n, P, j, k, l);
}
"""


def _said(rounded: str, made: str):
    text = SOURCE.replace("ROUNDED", rounded).replace("MAP", made)
    found = map_pitches.told_apart(listing(text))
    return found and text.splitlines()[found.line - 1].strip()


@pytest.mark.parametrize(
    ("rounded", "made", "stands"),
    [
        ("rounded(N, k, l, l)", "make_map(n, l, k, up8(l), 64, 64)", "bf16* n"),
        ("rounded(N, k, l, l)", "make_map(n, l, k, wide, 64, 64)", "bf16* n"),
        ("rounded(N, k, l, wide)", "make_map(n, l, k, l, 64, 64)", "CUtensorMap of_n"),
        ("rounded(N, k, l, up8(k))", "make_map(n, l, k, wide, 64, 64)", "bf16* n"),
        ("rounded(N, k, l, wide)", "make_map(n, l, k, up8(k), 64, 64)", "CUtensorMap of_n"),
        ("rounded(N, k, l, wide)", "make_map(n, l, k, up<16>(l), 64, 64)", "CUtensorMap of_n"),
        ("packed(N, k, l, l)", "make_map(n, l, k, up8(l), 64, 64)", "bf16* n"),
    ],
)
def test_the_side_that_is_wrong_is_told(rounded: str, made: str, stands: str):
    assert stands in _said(rounded, made)


@pytest.mark.parametrize(
    ("rounded", "made"),
    [
        ("rounded(N, k, l, wide)", "make_map(n, l, k, up8(l), 64, 64)"),
        ("rounded(N, k, l, wide)", "make_map(n, l, k, wide, 64, 64)"),
        ("packed(N, k, l, wide)", "make_map(n, l, k, wide, 64, 64)"),
        ("filled(N, k, l, l)", "make_map(n, l, k, wide, 64, 64)"),
    ],
)
def test_what_agrees_or_is_not_known_is_not_told(rounded: str, made: str):
    assert _said(rounded, made) is None


@pytest.mark.parametrize(
    ("pitch", "stands"),
    [
        ("up4(l)", "int up4"),  # what it returns is wrong for whoever calls it
        ("up<4>(l)", "CUtensorMap of_n"),
    ],
)
def test_a_helper_that_rounds_by_too_little_is_told(pitch: str, stands: str):
    text = SOURCE.replace("ROUNDED", "rounded(N, k, l, l)")
    text = text.replace("MAP", f"make_map(n, l, k, {pitch}, 64, 64)")
    rows = text.splitlines()
    line = next(n for n, row in enumerate(rows, 1) if "of_n =" in row)
    message = "cuTensorMapEncodeTiled returned X: globalStrides[0] is 8 bytes: a multiple of 16"
    found = tensor_maps.refused_pitch(listing(text), host.read(listing(text)), message, line, ())
    assert stands in rows[found.line - 1]
