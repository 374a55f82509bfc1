"""Inputs of a case: seeded, so that the same seed gives the same matrices on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import CourseError

if TYPE_CHECKING:  # numpy is imported where it is used: `grader --help` needs none of it
    import numpy as np

    from grader.labs.problem import Problem

# What a case may ask for in lab.toml, and what it is good for.
KINDS = {
    "uniform": "uniform in [-1, 1]: the usual data, also for timing",
    "integers": "whole numbers -4..4: every sum is exact, so P is compared exactly",
    "ill-conditioned": "columns of very different size that cancel: bad summation shows",
    "special": "zeros of both signs, powers of two, subnormal and large values",
    "wide": "both signs, exponents from -30 to 30",
    "between": "half-way between two bf16, or just below one: what rounding drops adds up",
    "first-large": "positive, the first term 4096 times as large: what cutting drops adds up",
    "tiny": "M of up to 2^-120, subnormal numbers among them; N of 2^100 and more",
}
EXACT_KINDS = frozenset({"integers"})
# Whose elements differ so much that adding them before multiplying loses the small ones.
MIXED_KINDS = frozenset({"ill-conditioned", "special", "wide"})
# Columns of M against rows of N; made for what happens to a product's terms.
OF_PRODUCTS = frozenset({"ill-conditioned", "wide", "between", "first-large", "tiny"})
COMMITTED = "file:"  # "file:toy-4x4": M.npy and N.npy in datasets/toy-4x4
LARGEST_INTEGER = 4


def is_kind(text: str) -> bool:
    """Whether lab.toml may ask for this data."""
    return text in KINDS or committed_name(text) is not None


def committed_name(text: str) -> str | None:
    """ "toy-4x4" of "file:toy-4x4"; None for generated data."""
    name = text.removeprefix(COMMITTED)
    return name if text.startswith(COMMITTED) and name.replace("-", "").isalnum() else None


def load_committed(folder: Path, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """M and N of a committed data set. Raises CourseError if they are not float32 of that shape."""
    import numpy as np

    j, k, l = shape  # noqa: E741
    matrices = []
    for name, wanted in (("M", (j, k)), ("N", (k, l))):
        path = folder / f"{name}.npy"
        try:
            matrix = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise CourseError(f"{path} cannot be read: {error}.") from None
        if matrix.dtype != np.float32 or matrix.shape != wanted:
            raise CourseError(
                f"{path} is {matrix.dtype}{list(matrix.shape)}, not float32{list(wanted)}."
            )
        matrices.append(np.ascontiguousarray(matrix))
    return matrices[0], matrices[1]


def make_inputs(
    kind: str, shape: tuple[int, int, int], seed: int, *names: str
) -> tuple[np.ndarray, np.ndarray]:
    """M[j][k] and N[k][l] as float32 in C order, for shape = (j, k, l).

    `names` (lab, case) keep the data of different cases apart under one seed.
    """
    import numpy as np

    entropy = [seed, *(zlib.crc32(name.encode()) for name in names)]
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
    j, k, l = shape  # noqa: E741
    m, n = _MAKERS[kind](random, j, k, l)
    return np.ascontiguousarray(m, np.float32), np.ascontiguousarray(n, np.float32)


def multiplied(problem: Problem, m: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrices whose product P has to be, of what solve is given."""
    return (rounded_to_bf16(m), rounded_to_bf16(n)) if problem.factors == "bf16" else (m, n)


def rounded_to_bf16(matrix: np.ndarray) -> np.ndarray:
    """The nearest bf16 of each float32, as float32; of two equally near ones the even one.

    bf16 is the upper half of a float: to add half a unit of its last bit, less one where that bit
    is 0, carries into it where it has to be rounded up.
    """
    import numpy as np

    bits = np.ascontiguousarray(matrix, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.where(np.isnan(matrix), matrix, rounded.astype(np.uint32).view(np.float32))


def cut_to_bf16(matrix: np.ndarray) -> np.ndarray:
    """The upper half of each float32, as float32: what rounding towards zero gives."""
    import numpy as np

    bits = np.ascontiguousarray(matrix, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def load_arrays(
    folder: Path, problem: Problem, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """A committed data set of a lab of any kernel: NAME.npy for each array that solve is given."""
    import numpy as np

    found = {}
    for array in problem.given:
        path, shape = folder / f"{array.name}.npy", shapes[array.name]
        try:
            value = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise CourseError(f"{path} cannot be read: {error}.") from None
        wanted = np.dtype(_TYPES[array.element])
        if value.dtype != wanted or value.shape != shape:
            have = f"{value.dtype}{list(value.shape)}"
            raise CourseError(f"{path} is {have}, not {wanted}{list(shape)}.")
        found[array.name] = np.ascontiguousarray(value)
    return found


def make_arrays(
    kind: str, problem: Problem, shapes: Mapping[str, tuple[int, ...]], seed: int, *names: str
) -> dict[str, np.ndarray]:
    """The arrays that solve is given, of a lab of any kernel: float32 or int32, in C order."""
    import numpy as np

    found = {}
    for array in problem.given:
        entropy = [seed, *(zlib.crc32(name.encode()) for name in (*names, array.name))]
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
        shape = shapes[array.name]
        low, high = array.values or (-LARGEST_INTEGER, LARGEST_INTEGER)
        if array.element == "int" or kind == "integers":
            values = random.integers(low, high + 1, shape)
        elif kind == "special":
            values = _special_values(random, shape)
        else:
            values = random.uniform(-1, 1, shape)
        found[array.name] = np.ascontiguousarray(values, _TYPES[array.element])
    return found


_TYPES = {"float": "float32", "int": "int32"}


def _uniform(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    return random.uniform(-1, 1, (j, k)), random.uniform(-1, 1, (k, l))


def _integers(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    low, high = -LARGEST_INTEGER, LARGEST_INTEGER + 1
    return random.integers(low, high, (j, k)), random.integers(low, high, (k, l))


def _ill_conditioned(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    """Pairs of neighbouring terms nearly cancel, and the pairs span six decades."""
    scale = 10.0 ** random.uniform(-3, 3, k)
    m = random.uniform(-1, 1, (j, k)) * scale
    n = random.uniform(-1, 1, (k, l))
    pairs = k // 2
    m[:, 1 : 2 * pairs : 2] = m[:, 0 : 2 * pairs : 2]
    n[1 : 2 * pairs : 2] = -n[0 : 2 * pairs : 2] * (1 + random.uniform(-1e-3, 1e-3, (pairs, l)))
    return m, n


def _special(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    return _special_values(random, (j, k)), _special_values(random, (k, l))


def _special_values(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Finite throughout: zeros of a padded tile may meet any value and must stay zeros."""
    values = random.uniform(-1, 1, shape)
    choice = random.integers(0, 8, shape)
    values[choice == 0] = 0.0
    values[choice == 1] = -0.0
    exponents = random.integers(-20, 20, shape)
    powers = 2.0**exponents
    values[choice == 2] = powers[choice == 2]
    values[choice == 3] *= 1e-41  # subnormal in float32
    values[choice == 4] *= 1e15
    return values


def _wide(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    return _of_exponents(random, (j, k), -30, 30), _of_exponents(random, (k, l), -30, 30)


def _tiny(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    return _of_exponents(random, (j, k), -140, -121), _of_exponents(random, (k, l), 100, 110)


def _of_exponents(
    random: np.random.Generator, shape: tuple[int, ...], low: int, high: int
) -> np.ndarray:
    """Of both signs, 2^low to 2^(high + 1)."""
    signs = random.choice([-1.0, 1.0], shape)
    exponents = 2.0 ** random.integers(low, high + 1, shape)
    return signs * random.uniform(1, 2, shape) * exponents


def _between(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    return _between_values(random, (j, k)), _between_values(random, (k, l))


def _between_values(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A power of two from 1/8 to 8, and up to 3% more.

    A bf16 has the upper 16 of 32 bits; of the lower ones all but 7 are fixed.
    """
    import numpy as np

    upper = 0x3F80 + random.integers(0, 4, shape) + (random.integers(-3, 4, shape) << 7)
    half_way = random.choice([0x78F8, 0xF8F8], shape)
    lower = half_way | random.integers(0, 8, shape) << 8 | random.integers(0, 8, shape)
    return (upper << 16 | lower).astype(np.uint32).view(np.float32)


def _first_large(random: np.random.Generator, j: int, k: int, l: int) -> tuple:  # noqa: E741
    m, n = random.uniform(0.5, 1, (j, k)), random.uniform(0.5, 1, (k, l))
    # Between two powers of two all along, for up to 2048 terms: the same rounding everywhere.
    m[:, 0], n[0] = random.uniform(1.2, 1.3, j), 4096 * random.uniform(1.2, 1.3, l)
    return m, n


_MAKERS: dict[str, Callable] = {
    "uniform": _uniform,
    "integers": _integers,
    "ill-conditioned": _ill_conditioned,
    "special": _special,
    "wide": _wide,
    "between": _between,
    "first-large": _first_large,
    "tiny": _tiny,
}
