"""The lanes of one edit of a batch, which lie side by side, as if there were no others.

An edited expression is computed for them alone, so that a batch of many edits is not much slower
than one of few.
"""

from __future__ import annotations

import numpy as np

from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.values import Buffer, Fields, Local, Place, Pointer, Ref, Struct
from grader.judging.repair.world import Frame

_SIMPLE = frozenset(
    ("name", "number", "member", "binary", "unary", "choose", "cast", "index", "deref", "call")
)


def is_simple(node: Node, file: File, known) -> bool:
    """Whether nothing but its value comes of an expression."""
    return all(
        one.kind in _SIMPLE
        and (
            one.kind != "call"
            or (one.kids[0].text in known and one.kids[0].text not in file.functions)
        )
        for one in walk(node)
    )


class Drop:
    """A batch's edit, where only that is asked for."""

    def __init__(self, batch, number: int) -> None:
        self.batch, self.number = batch, number

    def drop(self, mask) -> None:
        self.batch.dead[self.number] = True


class Own:
    """The variables, as `number`'s lanes see them. Stands for a frame's `env`."""

    __slots__ = ("at", "batch", "count", "env", "number", "shared")

    def __init__(self, f: Frame, batch, number: int) -> None:
        each = len(batch.lanes) // batch.count
        self.env, self.shared = f.env, f.world.globals
        self.at, self.count = slice(number * each, (number + 1) * each), len(batch.lanes)
        self.batch, self.number = batch, number

    def __contains__(self, name: str) -> bool:
        return name in self.env or name in self.shared

    def __getitem__(self, name: str):
        return self.of(self.env[name] if name in self.env else self.shared[name])

    def get(self, name: str, default=None):
        return self[name] if name in self else default

    def of(self, value):
        kind = value.__class__
        if kind is np.ndarray:
            return value[self.at] if len(value) == self.count else value
        if kind is Pointer:
            memory, off = self.memory(value.memory), self.of(value.off)
            return Pointer(memory, off, value.dims, value.unit, value.names)
        if kind is Struct:
            return Struct({n: self.of(one) for n, one in value.fields.items()}, value.kind)
        if kind is Ref:
            return (
                self.of(value.get(True))
                if value.target.__class__ is Place
                else Ref(self.of(value.target))
            )
        return value

    def memory(self, memory):
        found = memory.__class__.__new__(memory.__class__)
        found.__dict__.update(memory.__dict__)
        found.batch = Drop(self.batch, self.number)
        if memory.__class__ is Fields:
            found.fields = {name: self.of(one) for name, one in memory.fields.items()}
        if memory.__class__ is Buffer:
            found.base = self.of(memory.base)
        elif memory.__class__ is Local:
            if memory.lanes is None:
                found.items = _Items(memory.items, self)
            else:
                found.items = memory.items[:, self.at]
                found.lanes = np.arange(self.at.stop - self.at.start)
        return found


class _Items(list):
    """An array's elements, cut when they are asked for."""

    def __init__(self, items: list, own: Own) -> None:
        super().__init__(items)
        self.own = own

    def __getitem__(self, at):
        return self.own.of(super().__getitem__(at))

    def __iter__(self):
        return (self.own.of(item) for item in super().__iter__())


def put_in(value, new, at: slice, count: int, is_ours: bool):
    """`value` with `new` in the lanes `at`; None if they are of different kinds."""
    if not isinstance(new, (int, float, np.ndarray, np.number, np.bool_)):
        return None
    if value.__class__ is not np.ndarray:
        if not isinstance(value, (int, float, np.number, np.bool_)):
            return None
        value, is_ours = np.full(count, value), True
    kind = new.dtype if isinstance(new, (np.ndarray, np.generic)) else np.result_type(type(new))
    if kind != value.dtype:
        if (kind.kind == "f") != (value.dtype.kind == "f"):
            return None
        value, is_ours = value.astype(np.result_type(kind, value.dtype)), True
    if not is_ours:
        value = value.copy()
    value[at] = new
    return value
