"""What elements of P are made of, as the executor followed it: facts, no sentences.

The executor writes them as `provenance` of "tilewise.execution/1" when it is asked to explain
elements of P.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Who:
    """A thread at a line."""

    line: int = 0  # 0: unknown
    block: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class SharedWord:
    """A word of shared memory, and who put its value there."""

    array: str
    array_bytes: int
    offset_bytes: int
    interval: int  # barriers that the block had passed by then
    who: Who


@dataclass(frozen=True)
class Fragment:
    """Where a tensor core took an operand from: a lane's register of A or B."""

    operand: str  # "a", "b"
    register: int  # of the instruction's list
    part: int  # of the register: 0 the lower half, 1 the upper one
    lane: int
    who: Who

    @property
    def name(self) -> str:
        return f"{self.operand}[{self.register}]"


@dataclass(frozen=True)
class Factor:
    """One operand of a multiplication."""

    kind: str  # "element", "piece" (of one), "number", "unset", "plain", "sum", ...
    matrix: str = ""  # of an element or a piece: "M", "N", "P"
    row: int = 0
    column: int = 0
    load: Who | None = None  # from global memory
    shared: SharedWord | None = None  # the way it took
    read: Who | None = None  # from there
    fragment: Fragment | None = None  # of a product of matrices
    converted: tuple[tuple[str, int], ...] = ()  # to "int", "half", ...; at which line
    value: float = 0.0  # of a number
    piece: int = 0  # how many others had been taken away from the element
    scale: float = 1.0  # and what it was multiplied by
    converted_before: tuple[tuple[str, int], ...] = ()  # what the others were taken away from

    @property
    def is_element(self) -> bool:
        return self.kind == "element"

    @property
    def name(self) -> str:
        """ "M[0][16]"."""
        return f"{self.matrix}[{self.row}][{self.column}]" if self.is_element else self.kind


@dataclass(frozen=True)
class Term:
    """What was added to a sum: a product, or (one factor) a bare value."""

    factors: tuple[Factor, ...]
    line: int
    interval: int  # barriers that the block had passed by then
    negative: bool = False
    scale: float = 1.0  # the sum that it is in was multiplied by that


@dataclass(frozen=True)
class ElementHistory:
    """One element of P: who stored it and what was added up for it, in order."""

    row: int
    column: int
    stored: int  # how often
    stores: tuple[Who, ...]  # the newest first
    terms: tuple[Term, ...]
    conversions: tuple[tuple[str, int, int], ...]  # of the sum: to what, line, how often
    is_whole: bool  # False: it has more terms than are listed


@dataclass(frozen=True)
class TileWord:
    """A matrix element in shared memory."""

    block: int
    array: str
    offset_bytes: int
    interval: int
    matrix: str
    row: int
    column: int
    line: int
    piece: int = 0


@dataclass(frozen=True)
class Provenance:
    """Some elements of P of one case."""

    is_complete: bool  # False: more was computed than could be followed
    all_blocks: bool  # False: only some blocks were followed, so "never stored" is not certain
    grid: tuple[int, int, int]  # of the last launch
    block: tuple[int, int, int]
    elements: tuple[ElementHistory, ...]
    tiles: tuple[TileWord, ...]


def provenance_from(fields: Mapping[str, Any]) -> Provenance:
    """The facts in the executor's JSON. Raises ValueError, KeyError or TypeError if it is none."""
    return Provenance(
        is_complete=bool(fields["is_complete"]),
        all_blocks=bool(fields["all_blocks"]),
        grid=tuple(fields["grid"]),
        block=tuple(fields["block"]),
        elements=tuple(_element(item) for item in fields["elements"]),
        tiles=tuple(TileWord(*item) for item in fields["tiles"]),
    )


def _element(item: Mapping[str, Any]) -> ElementHistory:
    return ElementHistory(
        row=int(item["row"]),
        column=int(item["column"]),
        stored=int(item["stored"]),
        stores=tuple(_who(store) for store in item["stores"]),
        terms=tuple(_term(term) for term in item["terms"]),
        conversions=tuple(
            (found["to"], int(found["line"]), int(found["times"])) for found in item["conversions"]
        ),
        is_whole=bool(item["is_whole"]),
    )


def _term(item: Mapping[str, Any]) -> Term:
    return Term(
        factors=tuple(_factor(factor) for factor in item["factors"]),
        line=int(item["line"]),
        interval=int(item["interval"]),
        negative=bool(item["negative"]),
        scale=float(item.get("scale", 1.0)),
    )


def _fragment(item: Mapping[str, Any]) -> Fragment:
    return Fragment(
        operand=str(item["operand"]),
        register=int(item["register"]),
        part=int(item["part"]),
        lane=int(item["lane"]),
        who=_who(item),
    )


def _factor(item: Mapping[str, Any]) -> Factor:
    shared = item.get("shared")
    return Factor(
        kind=str(item["kind"]),
        matrix=str(item.get("matrix", "")),
        row=int(item.get("row", 0)),
        column=int(item.get("column", 0)),
        load=_who(item["load"]) if "load" in item else None,
        shared=SharedWord(
            array=str(shared["array"]),
            array_bytes=int(shared["array_bytes"]),
            offset_bytes=int(shared["offset_bytes"]),
            interval=int(shared["interval"]),
            who=_who(shared),
        )
        if shared
        else None,
        read=_who(item["read"]) if "read" in item else None,
        fragment=_fragment(item["fragment"]) if "fragment" in item else None,
        converted=_converted(item, before=False),
        value=float(item["value"]) if item.get("value") is not None else float("nan"),
        piece=int(item.get("piece", 0)),
        scale=float(item.get("scale", 1.0)),
        converted_before=_converted(item, before=True),
    )


def _converted(item: Mapping[str, Any], *, before: bool) -> tuple[tuple[str, int], ...]:
    return tuple(
        (found["to"], int(found["line"]))
        for found in item.get("converted", ())
        if bool(found.get("taken", 0)) == before
    )


def _who(item: Mapping[str, Any]) -> Who:
    return Who(int(item["line"]), tuple(item["block"]), tuple(item["thread"]))
