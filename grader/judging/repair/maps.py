"""std::map and its like on the host's side."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.values import Fault, Place, Struct

MAPS = frozenset(("map", "unordered_map"))
_PAIR = ("first", "second")


class Map:
    """One for all threads; as Place wants its holder. `kind`: of what its keys stand for."""

    __slots__ = ("items", "kind")

    def __init__(self, items: dict, kind: object = None) -> None:
        self.items, self.kind = items, kind

    def get(self, key):
        return self[key]

    def __getitem__(self, key):
        try:
            return self.items[key]
        except KeyError:
            raise Fault("key") from None
        except TypeError:
            raise GivenUp("key") from None

    def __setitem__(self, key, value) -> None:
        try:
            self.items[key] = value
        except TypeError:
            raise GivenUp("key") from None

    def copy(self) -> Map:
        return Map(dict(self.items), self.kind)

    def pairs(self) -> List:
        return List([_pair(*one) for one in self.items.items()])


def _pair(key, value) -> Struct:
    return Struct(dict(zip(_PAIR, (key, value), strict=True)), "tuple")


_END = "end of a map"


def map_of(pairs: list, kind: object) -> Map:
    """{{"a", 1}, {"b", 2}}"""
    found = Map({}, kind)
    for one in pairs:
        _insert(found, one)
    return found


def _insert(known: Map, key, *rest):
    if key.__class__ is Struct and not rest:
        key, *rest = key.fields.values()
    if len(rest) != 1:
        raise GivenUp("map")
    if key not in known.items:
        known[key] = rest[0]
    return 0


def _put(known: Map, key, value):
    known[key] = value
    return 0


def _find(known: Map, key):
    return _pair(key, known.items[key]) if key in known.items else _END


def _erase(known: Map, key):
    key = key.fields.get("first") if key.__class__ is Struct else key
    return int(known.items.pop(key, None) is not None)


def _clear(known: Map):
    known.items.clear()
    return 0


OF_MAP: dict[str, Callable] = {
    "at": lambda known, key: known[key], "count": lambda known, key: int(key in known.items),
    "contains": lambda known, key: key in known.items, "find": _find,
    "end": lambda known: _END, "cend": lambda known: _END, "size": lambda known: len(known.items),
    "empty": lambda known: not known.items, "insert": _insert, "emplace": _insert,
    "try_emplace": _insert, "insert_or_assign": _put, "erase": _erase, "clear": _clear,
}  # fmt: skip


def element_of_map(known: Map, name: str, given: list) -> Place:
    if name != "at":
        raise GivenUp("reference")
    known[given[0]]  # is there
    return Place(known, given[0])


def default_of(kind) -> object:
    """What a key stands for that nobody has put there: of numbers and pointers."""
    return 0 if kind is not None and (kind.stars or kind.name in ("int", "float", "bool")) else None
