"""What follows from the printed times: tables of speed, speedups and ratios, with CUBLAS in each.

Counts come from the study itself where it has them, times from the print (published.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.study import published
from grader.study.result import Counted, Study
from grader.study.table import Table

BANDWIDTH = 102e9  # bytes a second of the C1060, as the study prints it
PEAK = 622e9  # operations a second, likewise: multiply-adds alone
_LARGEST = published.SIZES[-1]

# From, to: the steps that the study compares, each kernel in its best shape but where one is named.
_STEPS = (
    ("GPU1 (1,32)", "GPU2 (1,64)"), ("GPU1 (8,8)", "GPU2 (8,8)"), ("GPU1 (32,1)", "GPU2 (16,4)"),
    ("GPU2 (8,8)", "GPU3 (4,16)"), ("GPU3 (4,16)", "GPU4 (16,16)"), ("GPU3 (8,8)", "GPU4 (16,16)"),
    ("GPU4 (16,16)", "GPU5 (16,16)"), ("GPU4 (16,16)", "GPU6 (16,8)"), ("sgemm (16,4)", "GPU8 (16,8)"),
)  # fmt: skip


def seconds() -> dict[str, Mapping[int, float]]:
    """The printed seconds by n, of our kernels' originals and of CUBLAS."""
    found = {name: kernel.seconds for name, kernel in published.KERNELS.items()}
    return {**found, "CUBLAS": published.CUBLAS_SECONDS}


def best(study: Study) -> dict[str, Counted]:
    """The counts at the study's n of each kernel in its printed best shape."""
    return {
        entry.variant.kernel: entry
        for entry in study.counted
        if entry.n == study.n and entry.status == "ok" and entry.variant.is_published_best
    }


def transactions(entry: Counted) -> float:
    """For each multiply-add."""
    return sum(entry.counters[f"transactions_{size}"] for size in (32, 64, 128)) / entry.n**3


def volume(entry: Counted) -> float:
    """Bytes for each multiply-add."""
    return entry.counters["volume_bytes"] / entry.n**3


def tables(study: Study) -> list[Table]:
    if study.device != published.DEVICE:
        return []
    return [_times(study), _speeds(), _speedups(), _ratios(study)]


def _times(study: Study) -> Table:
    counted = best(study)
    rows = []
    for name, times in seconds().items():
        needs = f"{volume(counted[name]) * _LARGEST**3 / BANDWIDTH:.1f}" if name in counted else "-"
        rows.append((name, *(f"{times[n]:.2f}" for n in published.SIZES), needs))
    return Table(
        "Printed seconds, Tesla C1060",
        f"Kernels in their best shapes. Last: what the bytes counted here need at 102 GB/s, n = {_LARGEST};"
        " nobody knows what CUBLAS moved.",
        ("kernel", *(str(n) for n in published.SIZES), "bytes need"),
        tuple(rows),
        left=1,
    )


def _speeds() -> Table:
    rows = []
    for name, times in seconds().items():
        rates = [published.operations(n) / times[n] for n in published.SIZES]
        rows.append((name, *(f"{rate / 1e9:.0f} ({rate / PEAK:.0%})" for rate in rates)))
    return Table(
        "GFLOP/s and efficiency, Tesla C1060",
        "Of the printed seconds: 2n^3 - n operations; percent of 622 GFLOP/s, multiply-adds alone. (The"
        " data sheet's 933 count a multiplication of the special units beside each, which a product has"
        " no use for.)",
        ("kernel", *(str(n) for n in published.SIZES)),
        tuple(rows),
        left=1,
    )


def _speedups() -> Table:
    sizes = (2048, 4096)  # of which the CPU's seconds are printed, too
    methods = ("ijk", "ikj", "ikj-openmp")
    first = published.KERNELS["GPU1"].seconds
    rows = []
    for name, times in seconds().items():
        over = [
            f"{published.BASELINE_SECONDS[method][n] / times[n]:,.0f}"
            for n in sizes
            for method in methods
        ]
        rows.append((name, f"{first[_LARGEST] / times[_LARGEST]:.1f}", *over))
    return Table(
        "Speedups, of the printed seconds",
        f"Over GPU1 at n = {_LARGEST}; over the processor's loops at 2048 and 4096. The 8,998 and 11,183"
        " of the study (cut, not rounded) are over ijk, whose inner loop walks down a column.",
        (
            "kernel",
            "GPU1",
            *(f"{method} {n}" for n in sizes for method in ("ijk", "ikj", "4 thr.")),
        ),
        tuple(rows),
        left=1,
    )


def _ratios(study: Study) -> Table:
    counted = {
        str(entry.variant): entry
        for entry in study.counted
        if entry.n == study.n and entry.status == "ok"
    }
    rows = []
    for before, after in _STEPS:
        if before not in counted or after not in counted:
            continue
        one, other = counted[before], counted[after]
        both = one.variant.is_published_best and other.variant.is_published_best
        then = [published.KERNELS[entry.variant.kernel].seconds for entry in (one, other)]
        rows.append(
            (
                before,
                after,
                _change(transactions(one), transactions(other)),
                _change(volume(one), volume(other)),
                *(_change(then[0][n], then[1][n]) if both else "-" for n in (4096, _LARGEST)),
            )
        )
    if rows:
        rows.append(
            ("CUBLAS", "GPU8 (16,8)", "-", "-",
             *(_change(published.CUBLAS_SECONDS[n], published.KERNELS["GPU8"].seconds[n])
               for n in (4096, _LARGEST)))
        )  # fmt: skip
    return Table(
        f"Counts against times, n = {study.n} against 4096 and {_LARGEST}",
        "How much less the second moves, counted here, and how much less time it took, printed. Where"
        " time does not follow the bytes, something else binds.",
        ("from", "to", "transactions", "bytes", "s (4096)", f"s ({_LARGEST})"),
        tuple(rows),
    )


def _change(before: float, after: float) -> str:
    """ "2.4x less" from a halving on, below it "33% less"."""
    if round(100 * abs(1 - after / before)) == 0:
        return "the same"
    if before >= 2 * after:
        return f"{before / after:.1f}x less"
    return f"{abs(1 - after / before):.0%} {'less' if after <= before else 'more'}"
