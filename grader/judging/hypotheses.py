"""What all wrong operands of a matrix may have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.judging.sums import Product


@dataclass(frozen=True)
class Deviation:
    got_row: int
    got_column: int
    row: int  # needed
    column: int
    place: tuple[int, int]
    product: Product
    tile: int

    @property
    def phase(self) -> int:
        return self.product.phase

    @property
    def along_k(self) -> int:
        return self.product.needed or 0


def hypotheses(
    operand: str, tile: int, width: int, is_old: bool = False
) -> list[tuple[str, Callable[[Deviation], bool]]]:
    """What a wrong operand may have in common, the most telling first.

    `is_old`: the tiles of later phases were loaded, but what is read is one of before.
    """
    k_is, other_is = ("column", "row") if operand == "M" else ("row", "column")

    def along(f: Deviation) -> int:
        return f.got_column if operand == "M" else f.got_row

    def across(f: Deviation) -> int:
        return f.got_row if operand == "M" else f.got_column

    def right_across(f: Deviation) -> bool:
        return across(f) == (f.row if operand == "M" else f.column)

    def right_along(f: Deviation) -> bool:
        return along(f) == f.along_k

    def own(f: Deviation) -> int:
        return f.place[0] if operand == "M" else f.place[1]

    def opposite(f: Deviation) -> int:
        return f.place[1] if operand == "M" else f.place[0]

    found: list[tuple[str, Callable[[Deviation], bool]]] = []
    found.append(
        (
            f"{operand} is used transposed: row and column are exchanged.",
            lambda f: (f.got_row, f.got_column) == (f.column, f.row),
        )
    )
    if tile:
        again = (
            f"In every phase the first tile of {operand} is read again: the next ones are loaded, "
            "but into other memory."
            if is_old
            else f"In every phase after the first, the {k_is} of {operand} lacks the part of the "
            f"phase (ph * {tile}): the first tile is loaded again."
        )
        found.append(
            (
                again,
                lambda f: right_across(f) and along(f) == f.along_k - f.phase * tile,
            )
        )
    for step in (1, -1, 2, -2):
        way = "too large" if step > 0 else "too small"
        found.append(
            (
                f"The {k_is} of {operand} is always {abs(step)} {way}.",
                lambda f, step=step: right_across(f) and along(f) - f.along_k == step,
            )
        )
        found.append(
            (
                f"The {other_is} of {operand} is always {abs(step)} {way}.",
                lambda f, step=step: right_along(f) and across(f) - own(f) == step,
            )
        )
    found.append(
        (
            f"The {other_is} of {operand} is always that of P's "
            f"{'column' if operand == 'M' else 'row'}.",
            lambda f: right_along(f) and across(f) == opposite(f),
        )
    )
    if tile:
        for size in (tile, 32, 16, 8, 4, 64, 128):
            found.append(
                (
                    f"The {other_is} of {operand} lacks the part of the block: it stays below "
                    f"{size} in every block.",
                    lambda f, size=size: right_along(f) and across(f) == own(f) % size,
                )
            )
        for step in (1, tile - 1, tile + 1, 2 * tile, tile // 2):
            found.append(
                (
                    f"From phase to phase the {k_is} of {operand} moves by {step}, not by {tile}.",
                    lambda f, step=step: right_across(f)
                    and along(f) == f.along_k % tile + f.phase * step,
                )
            )
        found.append(
            (
                f"The {k_is} of {operand} within the tile is that of P's "
                f"{'row' if operand == 'M' else 'column'}: it does not run with k.",
                lambda f: right_across(f) and along(f) % tile == own(f) % tile,
            )
        )
        found.append(
            (
                f"The {k_is} of {operand} within the tile is that of P's "
                f"{'column' if operand == 'M' else 'row'}: it does not run with k.",
                lambda f: right_across(f) and along(f) % tile == opposite(f) % tile,
            )
        )
    found.append(
        (
            f"The {k_is} of {operand} stays the same in all products.",
            lambda f: right_across(f) and along(f) == 0,
        )
    )
    return found


def stride_of(facts: Sequence[Deviation], width: int) -> int | None:
    """The length of a row that explains all places; None if there is none."""
    strides = set()
    for f in facts:
        flat = f.got_row * width + f.got_column
        if f.row == 0:
            if flat != f.column:
                return None
            continue
        stride, rest = divmod(flat - f.column, f.row)
        if rest:
            return None
        strides.add(stride)
    return strides.pop() if len(strides) == 1 and width not in strides else None
