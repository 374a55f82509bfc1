"""for (int i : Steps(0, n)): over what a file's own iterators go through, each lane as far as it has to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.judging.repair.nodes import Node
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Struct
from grader.judging.repair.world import Frame

_ON = 1 << 30  # more turns than any loop has
_NOW, _END = "the iterator", "the end"


class Iteration:
    """What a loop goes over, as `extent` and `index` ask for it."""

    __slots__ = ("frame", "get", "is_begun", "more", "next")

    def __init__(self, parts: tuple[Callable, ...], now: Struct, end: Struct, f: Frame) -> None:
        self.more, self.next, self.get = parts
        self.frame = Frame(f.world, {_NOW: now.copy(), _END: end})
        self.is_begun = False

    def extent(self, m):
        """Above any number of turns where there is another one."""
        if self.is_begun:
            self.next(self.frame, m)
        self.is_begun = True
        more = self.more(self.frame, m)
        return np.where(more, _ON, 0) if more.__class__ is np.ndarray else _ON if more else 0

    def value(self, m):
        return self.get(self.frame, m)


class Iterations:
    """A part of Machine."""

    def iterating(self) -> tuple[Callable, ...] | None:
        """Another one? The next one. What it stands for. None where the file has no iterators."""
        now, end = (Node("name", text=text, key=-1) for text in (_NOW, _END))
        of = [self.code(node) for node in (now, end)]
        more = self.of_operator("!=", [now, end], of)
        step = self.of_counting(Node("before", [now], "++", key=-1), of[0], True)
        get = self.unary_of_iterator(now)
        return None if None in (more, step, get) else (more, step, get)

    def unary_of_iterator(self, now: Node) -> Callable | None:
        if "operator*" not in self.file.of_structs:
            return None
        return self.code(Node("deref", [now], "*", key=-1))

    def iteration(self, parts: tuple | None, first, last, f: Frame) -> Iteration:
        if parts is None or first.__class__ is not Struct or last.__class__ is not Struct:
            raise GivenUp("range")
        return Iteration(parts, first, last, f)
