"""The study's plots, drawn again of the printed numbers (grader/study/published.py), n = 16384."""

from __future__ import annotations

import math

from drawing import BLUE, YELLOW, Drawing

from grader.study import published

N = 16384
BANDWIDTH, PEAK = 102e9, 622.0  # bytes a second and GFLOP/s of the C1060, as the study prints them
ROWS = {
    "GPU1": "GPU1 x>=16",
    "GPU2": "GPU2 (8,8)",
    "GPU3": "GPU3 (4,16)",
    "GPU4": "GPU4, GPU5 (16,16)",
    "GPU5": "GPU4, GPU5 (16,16)",
    "GPU6": "GPU6, GPU7, GPU8 (16,8)",
    "GPU7": "GPU6, GPU7, GPU8 (16,8)",
    "GPU8": "GPU6, GPU7, GPU8 (16,8)",
    "sgemm": "sgemm (16,4)",
}


def seconds(kernel: str) -> float:
    return published.KERNELS[kernel].seconds[N]


def transfers(kernel: str) -> float:
    return float(published.TRAFFIC[ROWS[kernel]].total(N))


def volume(kernel: str) -> float:
    return float(published.TRAFFIC[ROWS[kernel]].volume(N))


def speed(kernel: str) -> float:
    return published.operations(N) / seconds(kernel) / 1e9


def _bars(d: Drawing, x: float, y: float, title: str, values: dict[str, float], show: str,
          least: dict[str, float] | None = None) -> None:  # fmt: skip
    d.text(x, y, title, bold=True)
    most = max(values.values())
    for i, (kernel, value) in enumerate(values.items()):
        top = y + 10 + 19 * i
        d.text(x, top + 12, kernel, size=11)
        d.box(x + 46, top, 190 * value / most, 15, BLUE)
        if least:
            d.box(x + 46, top, 190 * least[kernel] / most, 15, YELLOW)
        d.text(x + 52 + 190 * value / most, top + 12, show.format(value), size=11)


def published_bars() -> Drawing:
    d = Drawing(
        680, 430, "Printed figures of nine kernels on a C1060: transfers, seconds with the least that"
        " the bytes need, GFLOP/s with the share of the peak, and speedup over GPU1",
    )  # fmt: skip
    count = {kernel: transfers(kernel) / N**3 for kernel in ROWS}
    _bars(d, 14, 20, "transfers for each multiply-add", count, "{:.4f}")
    time = {kernel: seconds(kernel) for kernel in ROWS}
    least = {kernel: volume(kernel) / BANDWIDTH for kernel in ROWS}
    _bars(d, 350, 20, "seconds (yellow: what the bytes need)", time, "{:.1f}", least)
    _bars(d, 14, 230, "GFLOP/s of 622", {kernel: speed(kernel) for kernel in ROWS}, "{:.0f}")
    share = {kernel: 100 * speed(kernel) / PEAK for kernel in ROWS}
    for i, value in enumerate(share.values()):
        d.text(330, 252 + 19 * i, f"{value:.0f}%", size=11, anchor="end")
    gain = {kernel: seconds("GPU1") / seconds(kernel) for kernel in ROWS}
    _bars(d, 350, 230, "speedup over GPU1", gain, "{:.1f}")
    d.text(14, 422, "n = 16384, printed by Li, Ranka and Sahni; percent: of the peak", size=11)
    return d


def published_scatter() -> Drawing:
    d = Drawing(
        680, 330, "Seconds of nine kernels against their transfers and against their bytes, both axes"
        " in powers of two: fewer transfers and fewer bytes go with less time",
    )  # fmt: skip
    for left, title, count in ((50, "transfers", transfers), (390, "bytes", volume)):
        low = math.floor(math.log2(min(count(kernel) for kernel in ROWS)))
        high = math.ceil(math.log2(max(count(kernel) for kernel in ROWS)))

        def x(value: float, left: float = left, low: int = low, high: int = high) -> float:
            return left + (math.log2(value) - low) / (high - low) * 260

        def y(value: float) -> float:
            return 280 - (math.log2(value) - 4) / 5 * 250

        for power in range(4, 10):
            d.line(left, y(2**power), left + 260, y(2**power), stroke="#dddddd")
            d.text(left - 6, y(2**power) + 4, str(2**power), size=11, anchor="end")
        for power in range(low, high + 1):
            d.line(x(2.0**power), 30, x(2.0**power), 280, stroke="#dddddd")
            d.text(x(2.0**power), 296, f"2^{power}", size=10, anchor="middle")
        d.text(left, 20, f"seconds against {title}", bold=True)
        for kernel in ROWS:
            at = x(count(kernel)), y(seconds(kernel))
            d.dot(*at)
            if kernel in ("GPU1", "GPU2", "GPU3", "GPU4"):
                d.text(at[0] - 8, at[1] - 6, kernel, size=11, anchor="end")
        d.text(x(count("GPU8")) + 22, y(seconds("GPU8")) + 5, "GPU6 to GPU8, sgemm", size=11)
    d.text(14, 322, "n = 16384; GPU5 lies just below GPU4", size=11)
    return d
