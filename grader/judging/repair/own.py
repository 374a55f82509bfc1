"""The lanes of one edit of a batch, a row of each value, as if there were no others.

An edited expression is computed for them alone, so that a batch of many edits is not much slower
than one of few.
"""

from __future__ import annotations

import numpy as np

from grader.judging.repair.memory import Buffer, Forked, Local
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.values import Place, Pointer, Ref, Struct, count_nonzero, has_rows
from grader.judging.repair.views import Fields, Seen
from grader.judging.repair.world import Frame

NUMBERS = (int, float, np.number, np.bool_)
_TYPES = {int: np.dtype(np.int64), float: np.dtype(np.float64), bool: np.dtype(np.bool_)}
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


class Own:
    """The variables, as `number`'s lanes see them. Stands for a frame's `env`."""

    __slots__ = ("env", "number", "shared")

    def __init__(self, f: Frame, number: int) -> None:
        self.env, self.shared, self.number = f.env, f.world.globals, number

    def __contains__(self, name: str) -> bool:
        return name in self.env or name in self.shared

    def __getitem__(self, name: str):
        return self.of(self.env[name] if name in self.env else self.shared[name])

    def get(self, name: str, default=None):
        return self[name] if name in self else default

    def of(self, value):
        kind = value.__class__
        if kind is np.ndarray:
            return value[self.number] if value.ndim > 1 else value
        if kind is Pointer:
            memory, off = self.memory(value.memory), self.of(value.off)
            return Pointer(memory, off, value.dims, value.unit, value.names, value.is_packed)
        if kind is Struct:
            return value.like({n: self.of(one) for n, one in value.fields.items()})
        if kind is Ref:
            return (
                self.of(value.get(True))
                if value.target.__class__ is Place
                else Ref(self.of(value.target))
            )
        return value

    def part(self, holder, name) -> tuple:
        if holder.__class__ is not dict:
            return self.memory(holder), name
        return {name: self.of(holder[name])}, name

    def memory(self, memory):
        found = memory.__class__.__new__(memory.__class__)
        found.__dict__.update(memory.__dict__)
        if isinstance(memory, Fields):
            found.parts = [self.part(*one) for one in memory.parts]
        if isinstance(memory, Seen):
            found.memory = self.memory(memory.memory)
        if memory.__class__ is Forked:
            found.parts = [(self.of(lanes), self.memory(one)) for lanes, one in memory.parts]
        if memory.__class__ is Buffer:
            if memory.rows > 1:
                found.start = int(memory.start[self.number, 0])
        elif memory.__class__ is Local:
            if memory.lanes is None:
                found.items = _Items(memory.items, self)
            else:
                found.items = (
                    memory.items[:, self.number] if memory.items.ndim > 2 else memory.items
                )
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


def type_of(value) -> np.dtype:
    """Of an array or a number."""
    if value.__class__ is np.ndarray:
        return value.dtype
    return _TYPES.get(value.__class__) or np.result_type(value)


class Rows:
    """A value into which edits put rows of their own, if they differ from what it is without them."""

    def __init__(self, value, batch, mask) -> None:
        self.value, self.batch, self.mask = value, batch, mask
        self.is_ours = False

    def put(self, number: int, new) -> bool:
        """Whether it could be: a float cannot take the place of an integer for some lanes alone."""
        value = self.value
        if not isinstance(new, (np.ndarray, *NUMBERS)):
            return False
        if value.__class__ is not np.ndarray and not isinstance(value, NUMBERS):
            return False
        kind, known = type_of(new), type_of(value)
        if kind != known and (kind.kind == "f") != (known.kind == "f"):
            return False
        if not self.is_ours and self._is_same(number, new):
            return True
        joint = np.result_type(kind, known) if kind != known else known
        if not self.is_ours:
            self.value = np.empty((self.batch.count, self.batch.each), joint)
            self.value[...] = value
            self.is_ours = True
        elif joint != known:
            self.value = value.astype(joint)
        self.value[number] = new
        return True

    def _is_same(self, number: int, new) -> bool:
        """In all lanes that are active."""
        same = new == (self.value[number] if has_rows(self.value) else self.value)
        if same.__class__ is not np.ndarray:
            return bool(same)
        if self.mask is not True:
            same |= ~(self.mask[number] if has_rows(self.mask) else self.mask)
        return count_nonzero(same) == same.size
