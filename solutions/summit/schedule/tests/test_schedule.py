"""The scheduler on the real kernel, and its checks on planted faults.

python3 -m pytest solutions/summit/schedule/tests      (needs nvcc and nvdisasm, no GPU)
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import bank_model  # noqa: E402
import sass  # noqa: E402
from dataflow import Unsuitable, analyse  # noqa: E402
from liveness import uses_and_ends  # noqa: E402
from order import Order  # noqa: E402
from verify import check_hazards, verify  # noqa: E402


def nvcc():
    """The one that set-up has chosen, else the toolkit's."""
    chosen = HERE.parents[3] / "build" / "toolchain.json"
    if chosen.is_file():
        return json.loads(chosen.read_text())["nvcc"]
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


NVCC = nvcc()


def has_disassembler():
    try:
        return bool(sass.nvdisasm())
    except SystemExit:
        return False


pytestmark = pytest.mark.skipif(
    not (NVCC and has_disassembler()), reason="needs nvcc and nvdisasm of the CUDA toolkit"
)


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory):
    """(order, old code, new code) of rung 06's block."""
    cubin = tmp_path_factory.mktemp("schedule") / "kernel.cubin"
    source = HERE.parent.parent / "06_straight_block.cu"
    subprocess.run(
        [
            NVCC,
            "-std=c++20",
            "-O3",
            "-gencode",
            "arch=compute_90a,code=sm_90a",
            "-DSUMMIT_DEVICE_ONLY",
            "-cubin",
            "-o",
            cubin,
            source,
        ],
        check=True,
    )
    (kernel,) = sass.load(str(cubin)).values()
    first, end = kernel.largest_block()
    old = kernel.code[first:end]
    order = Order(kernel, analyse(old), first, end)
    return order, old, order.build()


def copies(code):
    return [x.copy() for x in code]


def prove(scheduled, code):
    order, old, _ = scheduled
    verify(old, code, order.lasting, order.live_out)


def ffmas(code):
    return [x for x in code if x.opcode == "FFMA"]


def test_same_instructions_and_same_values(scheduled):
    _, old, new = scheduled
    prove(scheduled, new)
    check_hazards(new)
    assert collections.Counter(x.opcode for x in old) == collections.Counter(x.opcode for x in new)


def test_fewer_register_reads(scheduled):
    _, old, new = scheduled
    (before, _), (after, reads) = bank_model.cycles(old), bank_model.cycles(new)
    assert after < 0.85 * before
    assert sum(reads) / len(ffmas(new)) < 1.65


def test_wrong_factor_is_found(scheduled):
    code = copies(scheduled[2])
    x = ffmas(code)[500]
    d, a, b, c = sass.parse_ffma(x)
    x.text = f"FFMA R{d}, R{a}, R{b ^ 1}, R{c}"
    with pytest.raises(AssertionError, match="differs"):
        prove(scheduled, code)


def test_exchanged_steps_of_one_sum_are_found(scheduled):
    code = copies(scheduled[2])
    of_sum = collections.defaultdict(list)
    for i, x in enumerate(code):
        if x.opcode == "FFMA":
            of_sum[sass.parse_ffma(x)[0]].append(i)
    first, second = next(iter(of_sum.values()))[:2]
    code[first], code[second] = code[second], code[first]
    with pytest.raises(AssertionError, match="differs"):
        prove(scheduled, code)


def test_load_from_another_offset_is_found(scheduled):
    code = copies(scheduled[2])
    x = next(x for x in code if sass.parse_lds128(x) and "+0x" in x.text)
    x.text = x.text.replace("+0x", "+0x1")
    with pytest.raises(AssertionError, match="differs"):
        prove(scheduled, code)


def test_missing_wait_is_found(scheduled):
    code = copies(scheduled[2])
    for x in ffmas(code)[200:400]:
        x.set_control(wait=0)
    with pytest.raises(AssertionError, match="before its load is waited for"):
        check_hazards(code)


def test_address_overwritten_early_is_found(scheduled):
    code = copies(scheduled[2])
    for x in code:
        if x.opcode == "SEL":
            x.set_control(wait=0)
    moved = next(
        i
        for i, x in enumerate(code)
        if x.opcode == "SEL"
        and any(f"[{x.arguments[0]}" in y.text for y in code[:i] if sass.parse_lds128(y))
    )
    load = max(
        i
        for i in range(moved)
        if sass.parse_lds128(code[i]) and f"[{code[moved].arguments[0]}" in code[i].text
    )
    code.insert(load + 1, code.pop(moved))
    with pytest.raises(AssertionError, match="address still in use"):
        check_hazards(code)


def test_dependent_ffmas_side_by_side_are_found(scheduled):
    code = copies(scheduled[2])
    x = ffmas(code)[300]
    code.insert(code.index(x) + 1, x.copy())
    with pytest.raises(AssertionError, match="too early"):
        check_hazards(code)


def test_a_block_of_another_shape_is_refused(scheduled):
    _, old, _ = scheduled
    with pytest.raises(Unsuitable):
        analyse([x for x in old if x is not ffmas(old)[7]])


@pytest.mark.parametrize(
    "text, expected",
    [
        ("LDS.128 R8, [R6]", {6}),
        ("STS.128 [R9+0x10], R148", {9, 148, 149, 150, 151}),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ+0x19800], R7", {2, 7}),
        ("LDG.E.128 R8, desc[UR4][R2.64]", {2, 3, 4, 5}),
        ("STG.E desc[UR4][R2.64], R9", {2, 3, 9, 10}),
    ],
)
def test_registers_that_an_instruction_reads(text, expected):
    """All of a wide operand, and of what may be one; of an address in shared memory the one that it is."""
    assert uses_and_ends(sass.Instruction(text, 0))[0] == expected
