"""The launch plans of a few cases side by side, and what their numbers are in terms of the sizes.

A number that solve hands over in several cases tells what it was made of: 17, 70 and 12 are j where
the cases have these rows. Nothing of solve's text is needed for that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.labs.lab import Case

_WORD = 4
_MOST_LAUNCHES = 64
_MOST_BLOCKS = 4096


@dataclass(frozen=True)
class Seen:
    """One case with its plan. `sizes`: solve's numbers, by the names that it has for them."""

    case: Case
    fields: Mapping
    sizes: Mapping[str, int]

    @property
    def ops(self) -> list[dict]:
        return self.fields["ops"]

    def launches(self) -> list[dict]:
        return [op for op in self.ops if op["op"] == "launch"]

    def buffer(self, number: int) -> dict | None:
        return next((one for one in self.fields["buffers"] if one["id"] == number), None)


@dataclass(frozen=True)
class Symbol:
    """A number made of solve's own: "k", "k * l"."""

    text: str
    names: tuple[str, ...]
    unit: int = 1  # it is rounded up to a multiple of this

    def of(self, seen: Seen) -> int:
        found = 1
        for name in self.names:
            found *= seen.sizes[name]
        return -(-found // self.unit) * self.unit


@dataclass(frozen=True)
class Plans:
    """All that were looked at, the one in which changes are tried first in front."""

    seen: tuple[Seen, ...]
    lines: Mapping[
        int, tuple[int, ...]
    ]  # of a call: its line, then those of the calls that led to it
    are_right: Callable[[Sequence[tuple[Case, Mapping]]], list[bool]]

    @property
    def symbols(self) -> list[Symbol]:
        """Those that the cases tell apart, the plain ones first."""
        names = list(self.seen[0].sizes)
        groups = [(name,) for name in names]
        groups += [pair for pair in itertools.combinations_with_replacement(names, 2)]
        found: list[Symbol] = []
        for group in groups:
            if len(names) > 1 and len(set(group)) < len(group):
                continue
            one = Symbol(" * ".join(group), group)
            if not any(self.values(one) == self.values(other) for other in found):
                found.append(one)
        return found

    def values(self, symbol: Symbol) -> list[int]:
        return [symbol.of(one) for one in self.seen]

    def launch_calls(self) -> list[int]:
        """The places in the code that launch, each once."""
        return list(dict.fromkeys(op.get("call", 0) for op in self.seen[0].launches()))

    def at(self, call: int, kind: str = "launch") -> list[tuple[Seen, dict]]:
        """What was asked for at a place, in every case."""
        asked = (kind, call)
        return [
            (one, op)
            for one in self.seen
            for op in one.ops
            if (op["op"], op.get("call", 0)) == asked
        ]

    def by_line(self) -> Plans | None:
        """All calls of one line as one, whoever has called the helper; None where it is the same."""
        own = {op["call"] for one in self.seen for op in one.ops if op.get("call") in self.lines}
        at = {call: self.lines[call][0] for call in own if self.lines[call]}
        if len(set(at.values())) == len(own):
            return None
        seen = tuple(
            replace(one, fields={**one.fields, "ops": [_placed(op, at) for op in one.ops]})
            for one in self.seen
        )
        of: dict[int, list[int]] = {}
        for call, line in at.items():
            of.setdefault(line, []).append(call)
        # Of the only call of a line it is known who led to it.
        lines = {
            line: self.lines[calls[0]] if len(calls) == 1 else (line,) for line, calls in of.items()
        }
        return Plans(seen, lines, self.are_right)

    def are_few(self) -> bool:
        return bool(self.seen) and all(is_small(one.fields) for one in self.seen)


def _placed(op: dict, at: Mapping[int, int]) -> dict:
    return {**op, "call": at[op["call"]]} if op.get("call") in at else op


def is_small(fields: Mapping) -> bool:
    """Whether a plan can be carried out many times."""
    launches = [op for op in fields["ops"] if op["op"] == "launch"]
    return len(launches) <= _MOST_LAUNCHES and all(
        math.prod(op["grid"]) <= _MOST_BLOCKS for op in launches
    )


def word(op: Mapping, offset: int) -> int:
    block = bytes.fromhex(op["params"])
    return int.from_bytes(block[offset : offset + _WORD], "little")


def with_word(op: Mapping, offset: int, number: int) -> dict:
    """With another number there; of one that is no int what C would keep of it."""
    block = bytearray.fromhex(op["params"])
    block[offset : offset + _WORD] = (number % 2 ** (8 * _WORD)).to_bytes(_WORD, "little")
    return {**op, "params": block.hex()}


def integers_of(op: Mapping) -> list[int]:
    """The offsets of a launch's words that are no part of a pointer."""
    taken = {r["offset"] + part for r in op["relocations"] for part in (0, _WORD)}
    return [at for at in range(0, len(op["params"]) // 2 - 3, _WORD) if at not in taken]
