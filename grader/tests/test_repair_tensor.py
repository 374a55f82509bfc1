"""Labs 10 to 12 in the search for a change: fragments, products of warps, boxes, numbers of 2 bytes."""

from __future__ import annotations

import numpy as np
import pytest

from grader.judging.repair import halves, search
from grader.judging.repair.reading import GivenUp, tokens_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Size, try_out
from grader.labs import data
from grader.tests import corpus_files
from grader.tests.fresh_programs import FRESH
from grader.tests.ways_of_packing import PACKINGS

_FOLDERS = {lab[:2]: lab for lab in corpus_files.labs()}
_IN_PIECES = "12"
_PROGRAMS = [
    ("10", "solution"), ("10", "10-mma"), ("10", "10-byhand"), ("10", "10-quarter"),
    ("11", "solution"), ("11", "11-short"), ("12", "solution"), ("12", "12-parts"),
    ("08", "08-cursor"),
]  # fmt: skip


def _text(lab: str, name: str) -> str:
    if name == "solution":
        return corpus_files.bare_solution(_FOLDERS[lab])
    return (FRESH / f"{name}.cu").read_text()


@pytest.mark.parametrize(("lab", "name"), _PROGRAMS)
@pytest.mark.parametrize("sides", [(17, 18, 20), (5, 100, 7)])
def test_a_right_program_is_carried_out_rightly(
    lab: str, name: str, sides: tuple[int, int, int]
) -> None:
    size = Size(*sides, lab == _IN_PIECES)
    trial = try_out(parse(tokens_of(_text(lab, name))), {}, size, sides, False, 100_000)
    assert (trial.is_right, trial.why) == (True, "")


@pytest.mark.parametrize("way", sorted(PACKINGS))
def test_floats_get_into_a_tile_in_each_way(way: str) -> None:
    text = _text("10", "solution")
    before, _, rest = text.partition("__device__ void put4(")
    head, _, after = rest.partition("  __nv_bfloat162 pairs[2] = {};\n")
    top, body = PACKINGS[way]
    behind = after[after.index("}\n") :]
    text = f"{before}{top}\n__device__ void put4({head}{body}\n{behind}"
    sides = (5, 18, 7)
    assert try_out(parse(tokens_of(text)), {}, Size(*sides), sides, False, 20_000).is_right
    wrong = text.replace("put4(&Mds[r][i]", "put4(&Mds[r][i ^ 4]")
    assert not try_out(parse(tokens_of(wrong)), {}, Size(*sides), sides, False, 20_000).is_right


_MDS, _NDS = (
    "__shared__ alignas(16) bf16 Mds[BM][BK + 8];",
    "__shared__ alignas(16) bf16 Nds[BK][BN + 8];",
)
_LAUNCH, _WITH = (
    "<<<grid, THREADS>>>",
    "<<<grid, THREADS, (BM * (BK + 8) + BK * (BN + 8)) * sizeof(bf16)>>>",
)
_ROUNDED = "bf16 *bf16_m = rounded(M, j, k, pitch_m), *bf16_n = rounded(N, k, l, pitch_n);"
_TILES = {
    "words that hold two elements each": ("10", {
        "bf16 Mds[BM][BK + 8]": "uint32_t Mds[BM][BK / 2 + 4]",
        "put4(&Mds[r][i], load4": "put4((bf16*)&Mds[r][i / 2], load4",
        "load_matrices(m[r], &Mds[warp_row + 16 * r + lane % 16][i + lane / 16 * 8])":
        "load_matrices(m[r], (bf16*)(Mds[warp_row + 16 * r + lane % 16] + (i / 2 + lane / 16 * 4)))",
    }),
    "numbers of 2 bytes": ("10", {
        _MDS: "__shared__ unsigned short Mh[BM][BK + 8]; auto Mds = reinterpret_cast<bf16 (*)[BK + 8]>(Mh);",
        _NDS: "__shared__ uint16_t Nh[BK][BN + 8]; auto Nds = reinterpret_cast<bf16 (*)[BN + 8]>(Nh);",
    }),
    "dynamic memory": ("10", {
        _MDS: "extern __shared__ bf16 sm[]; bf16 (*Mds)[BK + 8] = reinterpret_cast<bf16 (*)[BK + 8]>(sm);",
        _NDS: "bf16 (*Nds)[BN + 8] = (bf16 (*)[BN + 8])(sm + BM * (BK + 8));", _LAUNCH: _WITH,
    }),
    "dynamic memory in bytes": ("10", {
        _MDS: "extern __shared__ char sm[]; bf16 (&Mds)[BM][BK + 8] = *reinterpret_cast<bf16 (*)[BM][BK + 8]>(sm);",
        _NDS: "bf16 (&Nds)[BK][BN + 8] = *reinterpret_cast<bf16 (*)[BK][BN + 8]>(sm + sizeof(Mds));", _LAUNCH: _WITH,
    }),
    "a struct of both": ("10", {
        _MDS: "struct __align__(16) Tiles { bf16 m[BM][BK + 8], n[BK][BN + 8]; }; __shared__ Tiles t; bf16 (*Mds)[BK + 8] = t.m;",
        _NDS: "bf16 (*Nds)[BN + 8] = t.n;",
    }),
    "structs of registers": ("10", {
        "uint32_t m[RM][4], n[RN / 2][4];": "struct F { uint32_t v[4]; }; F mf[RM]; uint4 nf[RN / 2];"
        " auto m = reinterpret_cast<uint32_t (*)[4]>(mf); auto* n = reinterpret_cast<uint32_t (*)[4]>(nf);",
        "float sum[RM][RN][4] = {};": "float4 sums[RM][RN] = {}; auto sum = reinterpret_cast<float (*)[RN][4]>(sums);",
    }),
    "maps in an array": ("11", {
        "CUtensorMap map_m = {}, map_n = {};": "CUtensorMap maps[2]; CUtensorMap &map_m = maps[0], &map_n = maps[1];",
    }),
    "rounded by a kernel of the file's own": ("11", {
        _ROUNDED: "bf16 *bf16_m, *bf16_n; cudaMalloc(&bf16_m, sizeof(bf16) * j * pitch_m); cudaMalloc(&bf16_n, sizeof(bf16) * k * pitch_n);"
        " halve<<<j, 64>>>(M, bf16_m, k, pitch_m); halve<<<k, 64>>>(N, bf16_n, l, pitch_n);",
        "// P = M x N. M, N, P: device": "__global__ void halve(const float* a, bf16* to, int cols, int pitch) {"
        " for (int c = threadIdx.x; c < cols; c += blockDim.x) to[blockIdx.x * pitch + c] = __float2bfloat16(a[blockIdx.x * cols + c]); }"
        "\n// P = M x N. M, N, P: device",
    }),
}  # fmt: skip


@pytest.mark.parametrize("way", sorted(_TILES))
def test_tiles_and_registers_are_said_in_each_way(way: str) -> None:
    lab, parts = _TILES[way]
    text = _text(lab, "solution")
    for right, other in parts.items():
        assert text.count(right) == 1
        text = text.replace(right, other)
    sides = (5, 18, 7)
    assert try_out(parse(tokens_of(text)), {}, Size(*sides), sides, False, 20_000).is_right


_FAULTS = [
    ("10", "solution", "8 * c + lane % 4 * 2;", "8 * c + lane % 8 * 2;"),
    ("10", "solution", "(four.z, four.w)", "(four.y, four.w)"),
    ("10", "10-byhand", "[8 * i + g][2 * t + 8]);", "[8 * i + g][2 * t + 4]);"),
    ("10", "10-byhand", "at(n, k, l, z + e / TC,", "at(n, k, l, e / TC,"),
    ("11", "solution", "&map_m, ph * BK, first_row,", "&map_m, first_row, ph * BK,"),
    ("11", "solution", "piece = piece ^ row % 8;", "piece = piece ^ row % 4;"),
    ("12", "12-parts", "multiply_add(third, al, bb + 2 * h);", "multiply_add(third, al, bm + 2 * h);"),
    ("08", "08-cursor", "begun * T + r, c0 + x);", "c0 + x, begun * T + r);"),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "name", "right", "wrong"), _FAULTS)
def test_a_planted_fault_is_found_on_its_line(lab: str, name: str, right: str, wrong: str) -> None:
    text = _text(lab, name)
    assert text.count(right) == 1
    text = text.replace(right, wrong)
    line = next(at for at, one in enumerate(text.splitlines(), 1) if wrong in one)
    found = search.find(text, "rect-device", False, [line], is_fine=lab == _IN_PIECES)
    assert found is not None
    assert found.line == line


def test_whoever_asks_for_more_tiles_than_there_are_stages_is_not_followed() -> None:
    text = _text("11", "solution").replace("constexpr int BK = 64;", "constexpr int BK = 16;")
    with pytest.raises(GivenUp):
        try_out(parse(tokens_of(text)), {}, Size(5, 100, 7), (5, 100, 7), False, 100_000)


def test_numbers_of_2_bytes_are_rounded_as_the_graders_reference_rounds_them() -> None:
    rng = np.random.default_rng(3)
    given = np.concatenate([rng.normal(size=500), [0.0, 1.0 + 2**-8, 1.0 + 3 * 2**-8, -(2.0**-20)]])
    given = given.astype(np.float32)
    assert (halves.rounded(given) == data.rounded_to_bf16(given)).all()
    assert (halves.cut(given) == data.cut_to_bf16(given)).all()
    low, high = halves.unpacked(halves.packed(given, -given))
    assert (low == halves.rounded(given)).all()
    assert (high == halves.rounded(-given)).all()


def test_a_piece_that_is_left_out_is_seen_only_where_elements_need_all_bits() -> None:
    text = _text("12", "12-parts")
    lacking = "        multiply_add(third, al, bb + 2 * h);\n"
    file = parse(tokens_of(text.replace(lacking, "")))
    sides = (17, 18, 20)
    assert text.count(lacking) == 1
    assert try_out(file, {}, Size(*sides), sides, False, 100_000).is_right
    assert not try_out(file, {}, Size(*sides, True), sides, False, 100_000).is_right


def test_a_quotient_and_a_remainder_name_a_place() -> None:
    # Two warps store the one element then, and rows that no tile has are read: seen at the loads.
    text = _text("10", "solution")
    right, wrong = "warp_row = warp / (BN / WN) * WM", "warp_row = warp % (BN / WN) * WM"
    assert text.count(right) == 1
    text = text.replace(right, wrong)
    lines = text.splitlines()
    seen = next(at for at, one in enumerate(lines, 1) if "load_matrices(m[r]" in one)
    found = search.find(text, "rect-device", False, [seen], (1, 1, 1))
    assert found is not None and wrong in lines[found.line - 1]
    assert "warp / (BN / WN)" in found.after
