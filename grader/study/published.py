"""What the study printed: J. Li, S. Ranka, S. Sahni, "GPU Matrix Multiplication", Tesla C1060,
n x n matrices in row-major order, single precision. A block shape is (x, y)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

DEVICE = "c1060"
# Launch parameters that compute capability 1.x keeps in shared memory, before the arguments.
LAUNCH_BYTES = 16

_TERM = re.compile(r"(?P<factor>\d+(?:\.\d+)?)?n\^(?P<power>[23])(?:/(?P<divisor>\d+))?")


@dataclass(frozen=True)
class Formula:
    """A printed count such as "17n^3/16 + n^2"."""

    text: str

    def __call__(self, n: int) -> Fraction:
        """Its value; fractional where the formula does not apply to n."""
        if self.text == "0":
            return Fraction(0)
        total = Fraction(0)
        for term in self.text.split(" + "):
            match = _TERM.fullmatch(term)
            if match is None:
                raise ValueError(f"not a formula: {self.text!r}")
            value = Fraction(match["factor"] or 1) * n ** int(match["power"])
            total += value / int(match["divisor"] or 1)
        return total


@dataclass(frozen=True)
class Traffic:
    """A row of the table of transactions; None: not printed."""

    label: str  # "GPU1 (1,*)"
    total: Formula
    of_32: Formula | None
    of_64: Formula | None
    of_128: Formula | None
    volume: Formula
    abu: str  # "56.25%"

    def abu_agrees(self, abu: float) -> bool:
        """True if `abu` (0..1) rounds to what was printed, digit for digit."""
        digits = len(self.abu.rstrip("%").partition(".")[2])
        return f"{100 * abu + 1e-9:.{digits}f}%" == self.abu


def _traffic(label: str, *cells: str) -> Traffic:
    total, small, middle, large, volume, abu = cells
    as_formula = {"all": Formula(total), "-": None}
    sizes = [as_formula.get(text, Formula(text)) for text in (small, middle, large)]
    return Traffic(label, Formula(total), *sizes, Formula(volume), abu)


TRAFFIC = {
    row.label: row
    for row in (
        _traffic("GPU1 (1,*)", "17n^3/16 + n^2", "17n^3/16 + n^2", "0", "0",
                 "34n^3 + 32n^2", "12.5%"),
        _traffic("GPU1 (8,8)", "3n^3/16 + n^2/8", "3n^3/16 + n^2/8", "0", "0",
                 "6n^3 + 4n^2", "41.7%"),
        _traffic("GPU1 x>=16", "n^3/8 + n^2/16", "n^3/16", "n^3/16 + n^2/16", "0",
                 "6n^3 + 4n^2", "56.25%"),
        _traffic("GPU2 (1,*)", "5n^3/32 + n^2/2", "5n^3/32 + n^2/2", "0", "0",
                 "5n^3 + 16n^2", "45.0%"),
        _traffic("GPU2 (8,8)", "3n^3/64 + n^2/16", "n^3/64", "n^3/32 + n^2/16", "0",
                 "2.5n^3 + 4n^2", "83.3%"),
        _traffic("GPU2 x>=16", "5n^3/128 + n^2/32", "n^3/128", "0", "n^3/32 + n^2/32",
                 "4.25n^3 + 4n^2", "90.0%"),
        _traffic("GPU3 (4,16)", "n^3/32 + n^2/16", "n^3/64", "n^3/64 + n^2/16", "0",
                 "1.5n^3 + 4n^2", "75.0%"),
        _traffic("GPU3 (8,8)", "3n^3/128 + n^2/32", "n^3/128", "0", "n^3/64 + n^2/32",
                 "2.25n^3 + 4n^2", "83.3%"),
        _traffic("GPU3 (2,32)", "3n^3/64 + n^2/8", "3n^3/64 + n^2/8", "0", "0",
                 "1.5n^3 + 4n^2", "66.7%"),
        _traffic("GPU4, GPU5 (16,16)", "n^3/128 + n^2/16", "0", "all", "0",
                 "0.5n^3 + 4n^2", "100%"),
        _traffic("GPU6, GPU7, GPU8 (16,8)", "17n^3/4096 + n^2/16", "0", "n^3/256 + n^2/16",
                 "n^3/4096", "9n^3/32 + 4n^2", "100%"),
        _traffic("sgemm (16,4)", "5n^3/1024 + n^2/16", "-", "-", "-",
                 "5n^3/16 + 4n^2", "100%"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """What was printed about one kernel on the C1060."""

    name: str
    computes: str  # what one thread computes
    block: tuple[int, int]  # the best shape
    registers: int
    shared_bytes: (
        int  # as the compiler for 1.3 reports it, launch parameters and arguments included
    )
    occupancy: str
    seconds: dict[int, float]  # kernel time by n


SIZES = (2048, 4096, 8192, 16384)  # n of the printed times


def _kernel(
    name: str, computes: str, block: tuple[int, int], registers: int, shared: int, occupancy: str,
    *seconds: float,
) -> Kernel:  # fmt: skip
    times = dict(zip(SIZES, seconds, strict=True))
    return Kernel(name, computes, block, registers, shared, occupancy, times)


KERNELS = {
    kernel.name: kernel
    for kernel in (
        _kernel("GPU1", "1x1", (256, 1), 10, 44, "1.00", 0.71, 5.24, 40.85, 327.77),
        _kernel("GPU2", "1x2", (8, 8), 16, 44, "0.50", 0.27, 2.06, 17.65, 193.02),
        _kernel("GPU3", "1x4", (4, 16), 21, 44, "0.50", 0.27, 2.05, 16.28, 130.25),
        _kernel("GPU4", "1x1", (16, 16), 11, 2092, "1.00", 0.09, 0.69, 5.54, 46.18),
        _kernel("GPU5", "1x1", (16, 16), 11, 2156, "1.00", 0.08, 0.60, 4.84, 44.12),
        _kernel("GPU6", "16x1", (16, 8), 38, 2220, "0.38", 0.05, 0.37, 2.91, 23.28),
        _kernel("GPU7", "16x1", (16, 8), 38, 2220, "0.38", 0.05, 0.37, 2.91, 23.26),
        _kernel("GPU8", "16x1", (16, 8), 38, 4204, "0.38", 0.05, 0.36, 2.88, 22.97),
        _kernel("sgemm", "16x1", (16, 4), 35, 1160, "0.38", 0.05, 0.37, 2.97, 23.70),
    )
}

# NVIDIA's library of the time, CUBLAS 3.0, which the study compares with.
CUBLAS_SECONDS = dict(zip(SIZES, (0.05, 0.37, 2.95, 23.53), strict=True))

# Occupancies of GPU1 by block shape; every shape of 128 threads and more has 1.00.
GPU1_OCCUPANCY = {(1, 32): "0.25", (1, 64): "0.50", (8, 8): "0.50"}

# Seconds of GPU1 at n = 16384.
GPU1_SECONDS = {
    (1, 32): 4396.39,
    (1, 512): 9373.16,
    (8, 8): 540.03,
    (16, 16): 420.82,
    (32, 1): 356.42,
    (64, 1): 360.11,
    (128, 1): 336.87,
    (256, 1): 327.64,
    (512, 1): 327.68,
}

# Seconds on one core (or four) of a 2.8 GHz Xeon, by n.
BASELINE_SECONDS = {
    "ijk": {256: 0.11, 512: 0.93, 1024: 10.41, 2048: 449.90, 4096: 4026.17},
    "ikj": {256: 0.14, 512: 1.12, 1024: 8.98, 2048: 72.69, 4096: 581.28},
    "ikj-openmp": {256: 0.04, 512: 0.28, 1024: 2.26, 2048: 18.21, 4096: 146.37},
}


def occupancy_of(kernel: str, block: tuple[int, int]) -> str | None:
    """The printed occupancy of a kernel in a block shape; None where none was printed."""
    if kernel == "GPU1":
        if block in GPU1_OCCUPANCY:
            return GPU1_OCCUPANCY[block]
        return "1.00" if block[0] * block[1] >= 128 else None
    found = KERNELS[kernel]
    return found.occupancy if block == found.block else None


def operations(n: int) -> int:
    """Floating-point operations of a product, as the study counts them."""
    return 2 * n**3 - n
