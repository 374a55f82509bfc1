"""A launch with fewer threads than the kernel's own limits ask for, along an axis or in all.

What is held against each other has been seen: grid and block, and the integers that the kernel was
given. A limit counts only if it is one of the result's sides.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace

from grader.judging import bounds, spread
from grader.judging.cause_base import Base
from grader.judging.host import Launch, Said, plain_name
from grader.judging.host_launch import is_rounded_up
from grader.judging.kernel_text import Kernel, axes_of
from grader.judging.sums import several
from grader.judging.wording import index_of, names_in, value
from grader.labs.source import ELEMENT_BYTES
from grader.labs.statements import (
    Statement,
    arguments,
    closing,
    find,
    function_name,
    shown,
    split,
)
from grader.running.host_calls import HostCall

_CODES = ("unwritten-output", "wrong-result", "uninitialised-global")
_INTEGERS = ("int", "unsigned", "long", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t")
_OF_GRID = (*_CODES, "out-of-bounds-global", "race-global")
_VECTORS = ("float2", "float4", "double2", "int4", "int2")


@dataclass(frozen=True)
class _Short:
    """An axis along which the threads do not reach what a guard lets pass."""

    axis: str
    name: str  # the index
    reached: int  # one more than its largest value
    limit: int
    words: str  # of the limit


class OfReach(Base):
    """The rules about how far the threads of a launch reach."""

    def too_few(self) -> Said | None:
        calls = self.material.calls
        if calls is None or self.item.code not in _CODES or self.outcome is None:
            return None
        launches = calls.of("launch")
        for call in launches:
            kernel = self._kernel_of(call)
            if kernel is None or any("gridDim" in item.words for item in kernel.body):
                continue
            short = self._short(kernel, len(launches) > 1)
            if short:
                return self._along_axis(call, kernel, short)
        if len(launches) == 1 and self.problem.outputs:
            return self._in_all(launches[0])
        return None

    def axis_left_out(self) -> Said | None:
        """A kernel that counts blocks along an axis that the grid does not have."""
        execution = self.outcome.execution if self.outcome is not None else None
        if self.item.code not in _CODES or execution is None or self.host is None:
            return None
        for launch in self.host.all_launches:
            kernel = self.text.named(launch.kernel)
            runs = [one for one in execution.kernels if launch.kernel in one.name]
            if kernel is None or len(runs) != 1 or not launch.settings:
                continue
            inside = [word for item in self.text.inside(kernel) for word in item.words]
            line, sides = self._sides_of_grid(launch)
            for axis, count in zip("yz", runs[0].grid[1:], strict=True):
                at = "xyz".index(axis)
                if count > 1 or not 0 < len(sides) <= at or "gridDim" in inside:
                    continue
                if axis in axes_of(inside, "blockIdx"):
                    return Said(
                        f"The kernel counts its blocks by blockIdx.{axis}, and the grid "
                        f"({', '.join(shown(one) for one in sides)}) has only one along {axis}.",
                        line,
                        f"Give the grid its side {axis}.",
                    )
        return None

    def exchanged_grid(self) -> Said | None:
        """Each side of the grid fits the other side of a matrix, and not its own."""
        calls = self.material.calls
        if calls is None or self.outcome is None or self.item.code not in _OF_GRID:
            return None
        for call in calls.of("launch"):
            kernel = self._kernel_of(call)
            if kernel is None or not self._takes_columns_by_x(kernel):
                continue
            if any("gridDim" in item.words for item in kernel.body):
                continue
            launch = self._launch_of(call, kernel)
            shapes = [self.outcome.case.shapes[one.name] for one in self.problem.outputs]
            for rows, columns in [one for one in shapes if len(one) == 2]:
                if _fits(kernel, columns, rows) or not _fits(kernel, rows, columns):
                    continue
                if launch is None or len(calls.of("launch")) < len(shapes):
                    continue
                line, _ = self._grid(launch, "x")
                x, y = kernel.grid[0] * kernel.block[0], kernel.grid[1] * kernel.block[1]
                return Said(
                    f"The sides of the grid are exchanged: along x there are {several(x, 'thread')}, "
                    f"enough for {several(rows, 'row')}, and along y {y}, for "
                    f"{several(columns, 'column')}; the kernel takes its columns from x.",
                    line or launch.line,
                    "x covers the columns, y the rows.",
                )
        return None

    def _takes_columns_by_x(self, kernel: Kernel) -> bool:
        """Whether what it stores lies in row blockIdx.y and column blockIdx.x."""
        found = False
        for item in kernel.body:
            name = item.words[0] if item.kind == "simple" and item.words else ""
            if name not in kernel.parameters or item.words[1:2] != ("[",):
                continue
            target = item.words[: closing(item.words, 1) + 1]
            index = index_of(target, name)
            if index is None:
                return False
            row, column = (self._axes(kernel, one, item) for one in (index.row, index.column))
            if (row, column) != (["y"], ["x"]):
                return False
            found = True
        return found

    def _sides_of_grid(self, launch: Launch) -> tuple[int, list[tuple[str, ...]]]:
        """(line, the sides that the text gives); [] where they are not to be seen."""
        near = self.text.statements[launch.number]
        line, words = launch.line, tuple(launch.settings[0])
        name = plain_name(words)
        known = self.text.declaration(name, near) if name else None
        if known is not None:
            line, words = known[0], tuple(known[1])
            if any(item.words[:2] == (name, ".") for item in self.text.statements):
                return line, []
        called = self.text.named(words[0]) if words[1:2] == ("(",) else None
        if called is not None:
            inside = [one for one in self.text.inside(called) if one.words[:1] == ("return",)]
            if len(inside) != 1:
                return line, []
            line, words = inside[0].line, tuple(inside[0].words[1:-1])
            if len(words) == 1:
                return line, []  # a variable that was filled before
        if words[:1] == ("dim3",) and words[1:2] in (("(",), ("{",)):
            return line, [tuple(one) for one in split(words[2:-1], ",")]
        if words[:1] == ("{",) and closing(words, 0) == len(words) - 1:  # <<<{x, y}, ...>>>
            return line, [tuple(one) for one in split(words[1:-1], ",")]
        if any(word in ("::", ".", "->") for word in words) and ("(" in words or _is_field(words)):
            return line, []  # what a method gives, or a field, may have any sides
        parts = [tuple(one) for one in split(words, ",")]
        is_dim = known is not None and len(parts) > 1
        return line, parts if is_dim or not name else []

    def _kernel_of(self, call: HostCall) -> Kernel | None:
        """The kernel of a launch, with the integers that it was given."""
        kernels = [
            item
            for item in self.text.functions()
            if "__global__" in item.words
            and f"{len(function_name(item))}{function_name(item)}" in call.kernel
        ]
        if len(kernels) != 1:
            return None
        (function,) = kernels
        names = self.text.parameters(function)
        sizes = integers(function, names, call.parameters)
        return Kernel(self.text, function, names, sizes, {}, call.grid, call.block)

    def _short(self, kernel: Kernel, in_parts: bool) -> list[_Short]:
        found: dict[str, _Short] = {}
        last = (kernel.grid[0] - 1, kernel.grid[1] - 1)
        for item in kernel.body:
            at = find(item.words, ("=",)) if item.kind == "simple" else -1
            if at < 1 or item.words[at - 1] != "]" or self.text.loops(item):
                continue
            for guard in bounds.guards(kernel, item):
                if guard.joined != "&&":
                    continue
                for one in guard.comparisons:
                    axes = self._axes(kernel, one.left, item)
                    limit = value(one.right, kernel.known)
                    reached = spread.values_of(kernel, one.left, item, last)
                    if len(axes) != 1 or limit is None or one.sign != "<" or reached is None:
                        continue
                    if not self._is_side(axes[0], limit, in_parts) or reached[-1] + 1 >= limit:
                        continue
                    short = _Short(
                        axes[0], shown(one.left), int(reached[-1]) + 1, limit, shown(one.right)
                    )
                    found.setdefault(axes[0], short)
        return list(found.values())

    def _axes(self, kernel: Kernel, words: tuple[str, ...], near: Statement) -> list[str]:
        used = spread.needed(kernel, words, near)
        return [axis for axis in "xy" if f"blockIdx.{axis}" in used]

    def _is_side(self, axis: str, limit: int, in_parts: bool) -> bool:
        """Whether a limit is a side of a result, or all of its elements, or a part of its rows."""
        shapes = [self.outcome.case.shapes[one.name] for one in self.problem.outputs]
        if axis == "x":
            return any(limit in (shape[-1], math.prod(shape)) for shape in shapes)
        return any(limit == shape[0] or (in_parts and 1 < limit < shape[0]) for shape in shapes)

    def _along_axis(self, call: HostCall, kernel: Kernel, short: list[_Short]) -> Said | None:
        launch = self._launch_of(call, kernel)
        if launch is None:
            return None
        one = short[0]
        at = "xyz".index(one.axis)
        grid, block = kernel.grid[at], kernel.block[at]
        line, words = self._grid(launch, one.axis)
        inner = self._called(words)
        if inner is not None and not is_rounded_up(inner[1]):
            line = inner[0]
        line = self._of_whole(launch, words) or line
        limit = one.words if one.words == str(one.limit) else f"{one.words} = {one.limit}"
        advice = f"Along {one.axis} the blocks have to cover {one.words}, rounded up."
        if kernel.block[0] != kernel.block[1] or kernel.grid[0] != kernel.grid[1]:
            if min(kernel.grid[:2]) > 1 and self._fits_exchanged(kernel, one):
                advice = "Are the sides of the grid exchanged? x counts columns, y rows."
        return Said(
            f"Along {one.axis} the grid has {several(grid, 'block')} of {several(block, 'thread')}: "
            f"{one.name} ends at {one.reached - 1}, and the kernel lets pass what is below {limit}.",
            line or launch.line,
            advice,
        )

    def _of_whole(self, launch: Launch, words: tuple[str, ...]) -> int:
        """Of (all + 191) / 192, which is rounded up, the line that says how many all are."""
        if "/" not in words or "," in words or not is_rounded_up(words):
            return 0
        near = self.text.statements[launch.number]
        known = [
            self.text.declaration(name, near)
            for name in names_in(words)
            if name not in self.text.constants
        ]
        lines = [
            one[0]
            for one in known
            if one is not None and len(one[1]) > 1 and "/" not in one[1] and "*" in one[1]
        ]
        return lines[0] if len(lines) == 1 else 0

    def _fits_exchanged(self, kernel: Kernel, short: _Short) -> bool:
        x, y, z = kernel.grid
        turned = replace(kernel, grid=(y, x, z))
        at = "xyz".index(short.axis)
        return turned.grid[at] * kernel.block[at] >= short.limit

    def _launch_of(self, call: HostCall, kernel: Kernel) -> Launch | None:
        if self.host is None:
            return None
        of_line = [one for one in self.host.all_launches if one.line in call.lines]
        named = [
            one for one in self.host.all_launches if one.kernel == function_name(kernel.function)
        ]
        found = of_line if len(of_line) == 1 else named
        return found[0] if len(found) == 1 else None

    def _in_all(self, call: HostCall) -> Said | None:
        """Each thread stores one element at most, and there are fewer threads than elements."""
        kernel = self._kernel_of(call)
        if kernel is None or self.item.code != "unwritten-output":
            return None
        threads = math.prod(call.grid) * math.prod(call.block)
        shapes = [self.outcome.case.shapes[one.name] for one in self.problem.outputs]
        if len(shapes) != 1 or threads >= math.prod(shapes[0]):
            return None
        if not _stores_once(kernel):
            return None
        launch = self._launch_of(call, kernel)
        if launch is None:
            return None
        line, words = self._grid(launch)
        line = self._of_whole(launch, words) or line
        name = self.problem.outputs[0].name
        return Said(
            f"The launch has {several(math.prod(call.grid), 'block')} of "
            f"{several(math.prod(call.block), 'thread')}, {threads} in all; each thread stores one element, and {name} has "
            f"{math.prod(shapes[0])}.",
            line or launch.line,
            "The blocks have to cover all elements, rounded up.",
        )


def _is_field(words: tuple[str, ...]) -> bool:
    """shape.grid, which may be a dim3; not grid.x."""
    is_path = all(word.isidentifier() or word in (".", "->", "::") for word in words)
    return is_path and len(words) > 1 and words[-1] not in ("x", "y", "z")


def _fits(kernel: Kernel, across: int, down: int) -> bool:
    """Whether the grid covers so many columns and rows, and no whole block lies beyond them."""
    return all(
        grid * block >= side > (grid - 1) * block
        for grid, block, side in zip(kernel.grid, kernel.block, (across, down), strict=False)
    )


def _stores_once(kernel: Kernel) -> bool:
    """Whether a thread stores one element at most: one store, outside of loops, of no vector."""
    if any(word in _VECTORS for item in kernel.body for word in item.words):
        return False
    stores = []
    for item in kernel.body:
        if item.kind != "simple":
            continue
        at = next((i for i, w in enumerate(item.words) if w in ("=", "+=")), -1)
        if at > 0 and item.words[at - 1] == "]" and item.words[0] in kernel.parameters:
            stores.append(item)
        elif any(name in item.words and "(" in item.words for name in _results(kernel)):
            return False  # a helper may store, too
    return len(stores) == 1 and not kernel.text.loops(stores[0])


def _results(kernel: Kernel) -> list[str]:
    return [
        name
        for name in kernel.parameters
        if find(kernel.function.words, ("*", name)) >= 0
        and "const" not in kernel.function.words[: find(kernel.function.words, ("*", name))][-3:]
    ]


def integers(function: Statement, names: list[str], block: bytes) -> dict[str, str]:
    """The integers of a parameter block, as far as its layout is known."""
    start = function.words.index(function_name(function)) + 1
    found: dict[str, str] = {}
    place = 0
    for name, part in zip(names, arguments(function.words, start), strict=False):
        words = [word for word in part if word not in ("const", name)]
        pointer = "*" in words
        size = 8 if pointer else ELEMENT_BYTES.get(" ".join(words), 0)
        if not size or size & (size - 1):
            break
        place = -(-place // size) * size
        if place + size > len(block):
            break
        if not pointer and words[-1] in _INTEGERS:
            signed = words[0][0] != "u" and words[0] != "size_t"
            form = {4: "i" if signed else "I", 8: "q" if signed else "Q"}[size]
            found[name] = str(struct.unpack_from(f"<{form}", block, place)[0])
        place += size
    return found
