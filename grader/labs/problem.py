"""What a lab asks for: the arrays that `solve` is given, and which of them it fills.

    [problem]
    memory = "device"                            # where the pointers point: device | host
    solve = "const float* x, float* sum, int n"  # solve's parameters, as in C
    work = "n"                                   # about how many operations a case takes

    [problem.arrays.x]
    shape = ["n"]                                # one or two sizes: numbers, or arithmetic over
    [problem.arrays.sum]                         # solve's numbers: "(n + 255) / 256"
    shape = [1]
    [problem.arrays.counts]
    shape = ["bins"]
    both = true                                  # read and changed; without it an output
    values = [0, 255]                            # of whole-number data: least and most

Arrays hold float or int, numbers are int or float. An array of const elements is an input. What the
arrays must hold in the end says reference.py beside lab.toml (reference.py in this folder reads it).

The product P = M N is one such problem, under three names: square-host, square-device and
rect-device. Its reference and its bound stand in grader/judging/numerics.py. A lab may ask for the
product of M and N rounded to bf16, with `factors = "bf16"` beside its signature; with "split" P is
the product of M and N themselves, of which tensor cores multiply pieces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grader.labs.expression import ExpressionError, evaluate, names_in
from grader.labs.fields import Fields

MEMORIES = ("device", "host")
FACTORS = ("float", "bf16", "split")
MOST_WORDS, MOST_FLOATS = 6, 4  # parameters: arrays and ints, floats; common/plan/signature.h
MOST_ELEMENTS = 1 << 26  # of an array: more would not be simulated in a lab's time
_PARAMETER = re.compile(r"\s*(const\s+)?(float|int)\s*(\*?)\s*([A-Za-z_]\w*)\s*", re.ASCII)


@dataclass(frozen=True)
class Array:
    """One of solve's arrays."""

    name: str
    element: str  # float | int
    use: str  # in | out | inout
    shape: tuple[str, ...]  # one or two expressions over the problem's numbers
    values: tuple[int, int] | None = None  # of whole-number data

    @property
    def is_given(self) -> bool:
        return self.use != "out"

    @property
    def is_output(self) -> bool:
        return self.use != "in"


@dataclass(frozen=True)
class Problem:
    """solve's parameters, in order, and its arrays."""

    signature: str  # as the recorder reads it
    memory: str
    parameters: tuple[str, ...]
    arrays: tuple[Array, ...]
    numbers: tuple[str, ...]  # parameters that are no arrays
    floats: frozenset[str] = frozenset()  # those of them that are float
    work: str = ""  # operations of a case; "": as many as there are elements
    is_product: bool = False
    factors: str = "float"  # of FACTORS: what of M and N is multiplied

    @property
    def given(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.is_given)

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.is_output)

    def shapes(self, numbers: Mapping[str, float]) -> dict[str, tuple[int, ...]]:
        """Of the arrays in one case. Raises ExpressionError if one is none."""
        return {a.name: tuple(_side(a, text, numbers) for text in a.shape) for a in self.arrays}

    def operations(self, numbers: Mapping[str, float]) -> int:
        if self.work:
            return max(1, math.ceil(evaluate(self.work, numbers)))
        return sum(math.prod(shape) for shape in self.shapes(numbers).values())

    def sizes(self, numbers: Mapping[str, float]) -> str:
        """A case as the recorder reads it: "x=1000,sum=1,n=1000"."""
        shapes = self.shapes(numbers)
        parts = []
        for name in self.parameters:
            value = "x".join(map(str, shapes[name])) if name in shapes else f"{numbers[name]:.9g}"
            if name in numbers and name not in self.floats:
                value = str(int(numbers[name]))
            parts.append(f"{name}={value}")
        return ",".join(parts)


def _side(array: Array, text: str, numbers: Mapping[str, float]) -> int:
    side = math.floor(evaluate(text, numbers))
    if not 1 <= side <= MOST_ELEMENTS:
        raise ExpressionError(f"'{text}', a side of {array.name}, is {side}")
    return side


def _product(signature: str) -> Problem:
    sides = (("M", "in", "jk"), ("N", "in", "kl"), ("P", "out", "jl"))
    arrays = tuple(Array(name, "float", use, tuple(shape)) for name, use, shape in sides)
    memory = "host" if signature.endswith("host") else "device"
    return Problem(
        signature, memory, ("M", "N", "P"), arrays, ("j", "k", "l"), work="j * k * l",
        is_product=True,
    )  # fmt: skip


PRODUCTS = {name: _product(name) for name in ("square-host", "square-device", "rect-device")}
PRODUCT = PRODUCTS["rect-device"]


def read_problem(fail: Callable[[str, str], Exception], table: Any) -> Problem:
    """[problem] of a lab.toml. Raises what `fail` makes."""
    get = Fields(fail, "problem", table)
    memory = get.choice("memory", MEMORIES)
    solve = get.text("solve")
    work = get.text("work", "")
    tables = get.take("arrays", {}, dict, "tables [problem.arrays.NAME]")
    get.finish()
    found = [_PARAMETER.fullmatch(part) for part in solve.split(",")]
    for part, match in zip(solve.split(","), found, strict=True):
        if match is None:
            raise fail(
                "problem", f"solve: '{part.strip()}' is not like 'const float* x' or 'int n'"
            )
    names = [match[4] for match in found]
    if len(set(names)) < len(names):
        raise fail("problem", "solve: two parameters have one name")
    is_array = {match[4]: bool(match[3]) for match in found}
    floats = frozenset(m[4] for m in found if m[2] == "float" and not m[3])
    if len(names) - len(floats) > MOST_WORDS or len(floats) > MOST_FLOATS:
        most = f"{MOST_WORDS} arrays and ints together and {MOST_FLOATS} floats"
        raise fail("problem", f"solve may have {most}")
    numbers = tuple(name for name in names if not is_array[name])
    for name in sorted(set(tables) - {name for name in names if is_array[name]}):
        raise fail("problem", f"arrays: solve has no array '{name}'")
    arrays = []
    for match in found:
        if match[3]:
            if match[4] not in tables:
                raise fail(
                    "problem", f"the shape of '{match[4]}' is missing: [problem.arrays.{match[4]}]"
                )
            arrays.append(_array(fail, match, tables[match[4]], numbers))
    if not any(array.is_output for array in arrays):
        raise fail("problem", "solve: no array is an output: one must not be const")
    _require_arithmetic(fail, "work", work, numbers)
    spelled = (
        f"{'inout ' if array_of(arrays, m[4]) == 'inout' else m[1] and 'const ' or ''}{m[2]}{m[3]} {m[4]}"
        for m in found
    )
    signature = f"{memory}: {', '.join(spelled)}"
    return Problem(signature, memory, tuple(names), tuple(arrays), numbers, floats, work)


def array_of(arrays: list[Array], name: str) -> str:
    """How the array of that name is used; "" if there is none."""
    return next((array.use for array in arrays if array.name == name), "")


def _array(
    fail: Callable[[str, str], Exception], match: re.Match, table: Any, numbers: tuple[str, ...]
) -> Array:
    name = match[4]
    get = Fields(fail, f"array {name}", table)
    shape = get.take("shape", [], list, "a list of one or two sizes")
    both = get.flag("both")
    values = get.take("values", None, list, "two whole numbers: the least and the most")
    get.finish()
    if not 1 <= len(shape) <= 2:
        raise fail(get.where, "'shape' must be a list of one or two sizes")
    sides = []
    for side in shape:
        if isinstance(side, bool) or not isinstance(side, (int, str)):
            raise fail(get.where, "'shape' must hold numbers, or texts such as \"n\"")
        _require_arithmetic(fail, f"the shape of {name}", str(side), numbers)
        sides.append(str(side))
    if both and match[1]:
        raise fail(get.where, "it is const, and so cannot be both")
    if values is not None:
        good = len(values) == 2 and all(type(v) is int and abs(v) < 1 << 31 for v in values)
        if not good or values[0] > values[1]:
            raise fail(get.where, "'values' must be two whole numbers: the least and the most")
        values = (values[0], values[1])
    use = "in" if match[1] else "inout" if both else "out"
    return Array(name, match[2], use, tuple(sides), values)


def _require_arithmetic(
    fail: Callable[[str, str], Exception], what: str, text: str, numbers: tuple[str, ...]
) -> None:
    if not text:
        return
    try:
        unknown = names_in(text) - set(numbers)
    except ExpressionError as error:
        raise fail("problem", f"{what}: {error}") from None
    if unknown:
        raise fail("problem", f"{what}: solve has no number '{min(unknown)}'")
