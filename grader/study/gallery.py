"""Our kernels of the study and the block shapes they are run with."""

from __future__ import annotations

from dataclasses import dataclass

from grader.errors import CourseError, UsageError
from grader.labs.course import Course
from grader.study import published


@dataclass(frozen=True)
class Variant:
    """One kernel in one block shape."""

    kernel: str  # "GPU1"
    x: int
    y: int

    @property
    def block(self) -> tuple[int, int]:
        return self.x, self.y

    @property
    def threads(self) -> int:
        return self.x * self.y

    @property
    def id(self) -> str:
        """A file name: gpu1-256x1."""
        return f"{self.kernel.lower()}-{self.x}x{self.y}"

    def __str__(self) -> str:
        return f"{self.kernel} ({self.x},{self.y})"

    @property
    def is_published_best(self) -> bool:
        return self.block == published.KERNELS[self.kernel].block

    def defines(self) -> dict[str, int]:
        """The macros that set the block shape."""
        if self.kernel in ("GPU1", "GPU2", "GPU3"):
            return {"BLOCK_X": self.x, "BLOCK_Y": self.y}
        if self.kernel in ("GPU4", "GPU5"):
            return {"TILE": self.x}
        return {"BLOCK_Y": self.y}

    def fits(self, n: int) -> bool:
        """True if the kernel takes n x n matrices in this block shape: none has boundary checks."""
        return all(n % divisor == 0 for divisor in self._divisors())

    def _divisors(self) -> tuple[int, ...]:
        match self.kernel:
            case "GPU1":
                return self.x, self.y
            case "GPU2":
                return 2 * self.x, self.y, 4
            case "GPU3":
                return 4 * self.x, self.y
            case "GPU4" | "GPU5":
                return (self.x,)
            case "GPU8":
                return 16 * self.y, 64
            case "sgemm":
                return 16 * self.y, 16
        return 16 * self.y, 32

    @property
    def traffic(self) -> published.Traffic | None:
        """The row of the published table of transactions that holds for it."""
        return published.TRAFFIC.get(self._label())

    def _label(self) -> str:
        match self.kernel:
            case "GPU1" | "GPU2" if self.x == 1 and self.y % 16 == 0:
                return f"{self.kernel} (1,*)"
            case "GPU1" | "GPU2" if self.x >= 16 and self.x & (self.x - 1) == 0:
                return f"{self.kernel} x>=16"
            case "GPU4" | "GPU5":
                return f"GPU4, GPU5 ({self.x},{self.y})"
            case "GPU6" | "GPU7" | "GPU8":
                return f"GPU6, GPU7, GPU8 ({self.x},{self.y})"
        return str(self)


def _variants(kernel: str, *blocks: tuple[int, int]) -> tuple[Variant, ...]:
    return tuple(Variant(kernel, *block) for block in blocks)


# The shapes of the study: for GPU1 those it printed times of.
VARIANTS = (
    *_variants("GPU1", *published.GPU1_SECONDS),
    *_variants("GPU2", (1, 64), (8, 8), (16, 4), (32, 8)),
    *_variants("GPU3", (2, 32), (4, 16), (8, 8), (16, 16)),
    *_variants("GPU4", (16, 16)),
    *_variants("GPU5", (16, 16)),
    *_variants("GPU6", (16, 8)),
    *_variants("GPU7", (16, 8)),
    *_variants("GPU8", (16, 8)),
    *_variants("sgemm", (16, 4)),
)

# Shapes that stand for the rows of the table of transactions, small enough for n = 64.
TABLE_VARIANTS = (
    *_variants("GPU1", (1, 32), (1, 64), (8, 8), (16, 16), (32, 1), (64, 1)),
    *_variants("GPU2", (1, 64), (8, 8), (16, 4), (32, 2)),
    *_variants("GPU3", (4, 16), (8, 8), (2, 32)),
    *(variant for variant in VARIANTS if variant.kernel >= "GPU4"),
)
# A block of GPU6, GPU7 and GPU8 computes 128 columns: at n = 64 they run with half as wide a one.
NARROW_VARIANTS = tuple(Variant(kernel, 16, 4) for kernel in ("GPU6", "GPU7", "GPU8"))
NARROW = 64
NARROW_REASON = (
    "a block of (16,8) computes 128 columns and does not fit 64; one of (16,4) computes 64, so that"
    " M is read by twice as many blocks: n^3/2048 transactions of 128 bytes in place of n^3/4096"
)


def source(course: Course, variant: Variant) -> bytes:
    """The kernel's file with its block shape set; line numbers stay those of the file."""
    path = course.solutions / "gallery" / f"{variant.kernel.lower()}.cu"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    defines = "".join(f"#define {name} {value}\n" for name, value in variant.defines().items())
    return f"{defines}#line 1\n{text}".encode()


def find(names: str) -> tuple[Variant, ...]:
    """The variants of "all" or of a comma-separated list of kernels. Raises UsageError."""
    if names == "all":
        return VARIANTS
    known = {kernel.lower(): kernel for kernel in published.KERNELS}
    wanted = [name.strip().lower() for name in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(
            f"There is no kernel '{unknown[0]}' in the gallery; there are: {', '.join(known)}."
        )
    return tuple(variant for variant in VARIANTS if variant.kernel.lower() in wanted)
