"""Where the members of a struct lie: "ring.full[1]" for byte 98312 of the memory that a Ring is put into.

Shared memory is often one piece of bytes with a struct laid over it, or a variable of a struct type.
Sizes and places follow from the declarations by C's rules of alignment. They are believed only if the
struct is as large as the memory is; what cannot be read, a union or a bit field, has no places.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.labs.arithmetic import integer
from grader.labs.source import ELEMENT_BYTES, facts, shared_array

_LONGEST = 100_000  # characters of a text
_MOST_STRUCTS = 50
_DEEPEST = 20
_STRUCT = re.compile(
    r"\b(?:struct|class)\s{1,9}((?:(?:alignas|__align__)\s{0,9}\([^()]{1,40}\)\s{0,9})?)(\w{1,99})\s{0,9}\{"
)
_ALIGNED = re.compile(r"\b(?:alignas|__align__)\s{0,9}\(([^()]{1,40})\)")
_USING = re.compile(r"\busing\s{1,9}(\w{1,99})\s{0,9}=\s{0,9}([\w: ]{1,99});")
_TYPEDEF = re.compile(r"\btypedef\s{1,9}([\w: ]{1,99}?)\s{1,9}(\w{1,99});")
_DECLARATOR = re.compile(r"(\w{1,99})\s{0,9}((?:\[[^\[\]]{1,99}\]\s{0,9}){0,6})")
_DIMENSION = re.compile(r"\[([^\[\]]*)\]")
_UNREADABLE = re.compile(
    r"\b(?:union|struct|class|template|virtual|static|using|typedef|enum)\b|[*&<>?]"
)


@dataclass(frozen=True)
class _Type:
    size: int
    align: int
    members: tuple[_Member, ...] = ()


@dataclass(frozen=True)
class _Member:
    name: str
    offset: int
    type: _Type
    dimensions: tuple[int, ...]

    @property
    def size(self) -> int:
        size = self.type.size
        for dimension in self.dimensions:
            size *= dimension
        return size


def member(text: str, array: str, size_bytes: int, offset: int) -> str:
    """How the text can name what begins at a byte of a piece of shared memory; "" if that is not
    certain."""
    if not 0 <= offset < size_bytes:
        return ""
    found = _laid_over(text, array, size_bytes)
    if found is None:
        return ""
    name, whole = found
    rest = _path(whole, offset, 0)
    if rest is None:
        return ""
    return name + (rest if name.endswith("->") else f".{rest}" if rest[0] not in "[" else rest)


def parts_at(text: str, array: str, size_bytes: int, offset: int) -> tuple[int, ...]:
    """Bytes of what begins at a byte of a piece of shared memory: an element, a row of it, the whole."""
    if not 0 <= offset < size_bytes:
        return ()
    found = _laid_over(text, array, size_bytes)
    if found is not None:
        return tuple(_beginning(found[1], offset, 0))
    shape = shared_array(text, array, size_bytes)
    if shape is None:
        return ()
    whole = _Type(shape.element_bytes, shape.element_bytes)
    return tuple(
        _beginning(
            _Type(size_bytes, 1, (_Member(array, 0, whole, tuple(shape.dimensions)),)), offset, 0
        )
    )


def _beginning(whole: _Type, offset: int, depth: int) -> Iterator[int]:
    for one in whole.members:
        rest = offset - one.offset
        if not 0 <= rest < one.size or depth > _DEEPEST:
            continue
        size = one.size
        for dimension in (1, *one.dimensions):
            size //= dimension
            rest %= size
            if rest == 0:
                yield size
        yield from _beginning(one.type, rest, depth + 1)


def bytes_over(text: str, array: str) -> int:
    """How large the struct is that the text lays over an array; 0 if that is not certain."""
    found = _struct_over(text, array)
    return found[1].size if found is not None else 0


def _laid_over(text: str, array: str, size_bytes: int) -> tuple[str, _Type] | None:
    """The name of a struct that fills the array, as the text uses it, and its type."""
    found = _struct_over(text, array)
    return found if found is not None and found[1].size == size_bytes else None


@functools.lru_cache(maxsize=64)
def _struct_over(text: str, array: str) -> tuple[str, _Type] | None:
    """The name of a struct that lies in an array, as the text uses it, and its type."""
    known = facts(text)
    bare = known.bare
    if not re.fullmatch(r"\w{1,99}", array) or not bare or len(bare) > _LONGEST:
        return None
    types = _types(bare, known.constants)
    declared = re.findall(rf"__shared__\b([^;{{}}=,\[\]]{{0,200}}?)\b{array}\s{{0,9}};", bare)
    if len(declared) == 1:
        words = _ALIGNED.sub(" ", declared[0]).split()
        found = types.get(words[-1]) if words else None
        return (array, found) if found is not None and found.members else None
    cast = rf"(?:reinterpret_cast\s{{0,9}}<\s{{0,9}}(\w{{1,99}})\s{{0,9}}\*\s{{0,9}}>\s{{0,9}}\(\s{{0,9}}{array}\s{{0,9}}\)|\(\s{{0,9}}(\w{{1,99}})\s{{0,9}}\*\s{{0,9}}\)\s{{0,9}}{array}\b)\s{{0,9}};"
    over = re.findall(rf"([&*])\s{{0,9}}(\w{{1,99}})\s{{0,9}}=\s{{0,9}}(\*?)\s{{0,9}}{cast}", bare)
    if len(over) != 1:
        return None
    mark, name, followed, one, other = over[0]
    found = types.get(one or other)
    if found is None or not found.members or (mark == "&") != bool(followed):
        return None
    return (name if mark == "&" else f"{name}->"), found


def _types(bare: str, constants: Mapping[str, str]) -> dict[str, _Type]:
    types = {name: _Type(size, size) for name, size in ELEMENT_BYTES.items()}
    for one in ("float3", "int3", "uint3"):
        types[one] = _Type(12, 4)
    aliases = {name: to.strip() for name, to in _USING.findall(bare)[:_MOST_STRUCTS]}
    aliases |= {name: to.strip() for to, name in _TYPEDEF.findall(bare)[:_MOST_STRUCTS]}
    for name, to in aliases.items():
        if to in types:
            types[name] = types[to]
    for found in list(_STRUCT.finditer(bare))[:_MOST_STRUCTS]:
        body = _body(bare, found.end())
        made = _struct(body, types, constants) if body is not None else None
        if made is not None and found[1]:
            least = integer(_ALIGNED.search(found[1])[1], constants)
            made = _aligned(made, least) if least else None
        if made is None:
            types.pop(found[2], None)  # a struct of the same name that cannot be read
        else:
            types[found[2]] = made
    return types


def _aligned(made: _Type, least: int) -> _Type:
    align = max(made.align, least)
    return _Type(_up(made.size, align), align, made.members)


def _body(bare: str, start: int) -> str | None:
    """What stands in a struct's braces, without the bodies of its functions."""
    depth, kept, since = 1, [], start
    for place in range(start, len(bare)):
        sign = bare[place]
        if sign == "{":
            if depth == 1:
                kept.append(bare[since:place])
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return "".join(kept) + bare[since:place]
            if depth == 1:
                kept.append("{};")  # whatever stands before it, it declares no member
                since = place + 1
    return None


def _struct(body: str, types: Mapping[str, _Type], constants: Mapping[str, str]) -> _Type | None:
    members: list[_Member] = []
    size, align = 0, 1
    for declaration in (piece.strip() for piece in body.split(";")):
        if not declaration or "(" in _ALIGNED.sub(" ", declaration):
            continue  # a function
        if _UNREADABLE.search(declaration) or ":" in declaration or "{" in declaration:
            return None
        least = [integer(text, constants) or 0 for text in _ALIGNED.findall(declaration)]
        words = _ALIGNED.sub(" ", declaration.split("=")[0]).replace("const ", " ")
        first = re.match(r"\s*([\w ]+?)\s+(?=\w+\s*(?:\[|,|$))", words)
        of = types.get(" ".join(first[1].split())) if first else None
        if of is None or 0 in least:
            return None
        for text in words[first.end() :].split(","):
            found = _DECLARATOR.fullmatch(text.strip())
            dimensions = (
                [integer(one, constants) for one in _DIMENSION.findall(found[2])]
                if found
                else [None]
            )
            if any(not one or one < 0 for one in dimensions):
                return None
            here = max([of.align, *least])
            size, align = _up(size, here), max(align, here)
            members.append(_Member(found[1], size, of, tuple(dimensions)))
            size += members[-1].size
    return _Type(_up(size, align), align, tuple(members)) if members else None


def _up(size: int, align: int) -> int:
    return (size + align - 1) // align * align


def _path(whole: _Type, offset: int, depth: int) -> str | None:
    """The member that begins at a byte of a struct."""
    for one in whole.members:
        if not one.offset <= offset < one.offset + one.size or depth > _DEEPEST:
            continue
        index, rest = divmod(offset - one.offset, one.type.size)
        places = []
        for dimension in reversed(one.dimensions):
            index, place = divmod(index, dimension)
            places.append(place)
        name = one.name + "".join(f"[{place}]" for place in reversed(places))
        if not one.type.members:
            return name if rest == 0 else None
        inner = _path(one.type, rest, depth + 1)
        return None if inner is None else f"{name}.{inner}"
    return None
