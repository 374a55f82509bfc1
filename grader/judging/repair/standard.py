"""Values of the standard library on the host's side: texts, and containers that grow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import TEXT, Fault, Place, Pointer, Text, merged

TEXTS = frozenset(("string", "ostringstream", "stringstream", "string_view", "ostream"))
STREAMS = frozenset(("cerr", "cout", "clog", "endl", "flush", "fixed", "stderr", "stdout"))
CONTAINERS = frozenset(("vector", "deque", "list", "initializer_list"))
OF_TEXT = frozenset(("c_str", "str", "append", "length", "what", "assign", "reserve", "precision"))
_MOST = 4096


class List:
    """A std::vector or another container, one for all threads; its elements may be anything."""

    __slots__ = ("items", "kind")

    def __init__(self, items: list, kind: object = None) -> None:
        self.items, self.kind = items, kind

    def inside(self, at) -> int:
        if not isinstance(at, int) and not hasattr(at, "__index__"):
            raise GivenUp("an element for each thread")
        at = int(at)
        if not 0 <= at < len(self.items):
            raise Fault("container")
        return at

    def chosen(self, at, m):
        """Of each lane its own, where they ask for different ones."""
        if at.__class__ is not np.ndarray:
            return self[at]
        if m is not True:
            shape = np.broadcast_shapes(at.shape, m.shape)
            active = np.broadcast_to(at, shape)[np.broadcast_to(m, shape)]
        asked_for = np.unique(at if m is True else active).tolist()
        found = None
        for one in asked_for:
            found = merged(at == one, self[one], found)
        return found

    # As Place wants its holder.
    def get(self, at):
        return self.items[self.inside(at)]

    def __getitem__(self, at):
        return self.items[self.inside(at)]

    def __setitem__(self, at, value) -> None:
        self.items[self.inside(at)] = value

    def copy(self) -> List:
        return List(list(self.items), self.kind)


def _push(known: List, value=None):
    if len(known.items) >= _MOST:
        raise GivenUp("container")
    known.items.append(value)
    return 0


def _pop(known: List):
    if not known.items:
        raise Fault("container")
    known.items.pop()
    return 0


def _insert(known: List, at, first, last=None):
    """Behind all others."""
    if last is None:
        return _push(known, first)
    if first.__class__ is not Pointer or last.__class__ is not Pointer:
        raise GivenUp("container")
    items = first.memory.data[first.off : last.off].tolist()
    if len(known.items) + len(items) > _MOST:
        raise GivenUp("container")
    known.items += items
    return 0


def _resize(known: List, count, value=0):
    if not 0 <= count <= _MOST:
        raise GivenUp("container")
    del known.items[int(count) :]
    known.items += [value] * (int(count) - len(known.items))
    return 0


def _clear(known: List):
    known.items.clear()
    return 0


OF_LIST: dict[str, Callable] = {
    "push_back": _push, "emplace_back": _push, "push": _push, "pop_back": _pop,
    "size": lambda known: len(known.items), "empty": lambda known: not known.items,
    "insert": _insert, "end": lambda known: len(known.items), "clear": _clear, "resize": _resize, "reserve": lambda known, count: 0,
    "front": lambda known: known[0], "back": lambda known: known[len(known.items) - 1],
    "at": lambda known, at: known[at], "data": lambda known: known,
}  # fmt: skip
# What memory of the host is asked for, where a std::vector of numbers is one.
OF_MEMORY: dict[str, Callable] = {
    "data": lambda memory: Pointer(memory.memory, 0),
    "begin": lambda memory: Pointer(memory.memory, 0),
    "end": lambda memory: Pointer(memory.memory, memory.memory.size),
    "size": lambda memory: memory.memory.size,
    "empty": lambda memory: memory.memory.size == 0,
}


def _element(owner: Pointer, at):
    place = owner.at(at)
    return place if place.dims else place.load(True)


# What a std::array is asked for; the rest of it is as a C array.
OF_ARRAY: dict[str, Callable] = {
    "at": _element, "front": lambda owner: _element(owner, 0), "size": lambda owner: owner.dims[0],
    "back": lambda owner: _element(owner, owner.dims[0] - 1), "empty": lambda owner: False,
    "data": lambda owner: owner,
}  # fmt: skip
OF_VALUES = OF_TEXT | frozenset(OF_LIST) | frozenset(OF_MEMORY)


def asked(name: str, owner, given: list):
    """What a text, a container or memory of the host says if its method is called."""
    if owner.__class__ is Text:
        if name == "empty":
            return False
        return len(TEXT) if name in ("size", "length") else TEXT
    if owner.__class__ is List and name in OF_LIST:
        return OF_LIST[name](owner, *given)
    if owner.__class__ is Pointer and owner.memory.kind == "host" and name in OF_MEMORY:
        return OF_MEMORY[name](owner)
    if owner.__class__ is Pointer and name in OF_ARRAY and owner.dims:
        return OF_ARRAY[name](owner, *given)
    raise GivenUp("method")


def element_of(owner: List | Pointer, name: str, given: list) -> Place | Pointer:
    """Where an element of a container lies: vector.back(), vector.at(i)."""
    if owner.__class__ is Pointer:
        places = {"front": 0, "back": owner.dims[0] - 1 if owner.dims else 0}
        if name != "at" and name not in places:
            raise GivenUp("reference")
        return owner.at(given[0] if name == "at" else places[name])
    if name == "at":
        return Place(owner, given[0])
    if name in ("front", "back"):
        return Place(owner, 0 if name == "front" else len(owner.items) - 1)
    raise GivenUp("reference")
