"""Sums that begin with no value: arrays of which a loop sets a part, objects that nothing sets to 0."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging import spread
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, array_shape, counted
from grader.labs.statements import Listing, Statement, closing, function_name, shown

_ZEROS = frozenset({"0", "0.0", "0.f", "0.0f", "0.F", "0.0F"})
_FLOATS = frozenset({"float", "double", "float2", "float4"})
_COMPOUND = frozenset({"+=", "-=", "*="})

Words = tuple[str, ...]


def begins_anyhow(kernel: Kernel) -> Said | None:
    """The only such array or object of a kernel."""
    found = [*_arrays(kernel), *_objects(kernel)]
    return found[0] if len({one.line for one in found}) == 1 else None


def _arrays(kernel: Kernel) -> Iterator[Said]:
    """float acc[R * C]; for (int a = 0; a < R; a++) acc[a] = 0;"""
    for item in kernel.body:
        if item.kind != "simple" or not _FLOATS & {*item.words} or "__shared__" in item.words:
            continue
        for at in range(1, len(item.words) - 1):
            name = item.words[at]
            if item.words[at + 1] != "[" or not name.isidentifier() or "=" in item.words[at:]:
                continue
            said = _half_set(kernel, name, item) if _is_of_floats(item.words[:at]) else None
            if said is not None:
                yield said


def _is_of_floats(words: Words) -> bool:
    return not {"=", "*", "&"} & set(words)


def _half_set(kernel: Kernel, name: str, item: Statement) -> Said | None:
    shape = array_shape(kernel, name)
    given = [one for one in kernel.text.assignments(name, kernel.function) if _sets(one.words)]
    given = [one for one in given if one.number > item.number]
    others = [one for one in kernel.body if one not in given and _is_handed(one, name)]
    if not shape or len(given) != 1 or others or given[0].words[-2] not in _ZEROS:
        return None
    (zero,) = given
    indices = _indices(zero.words)
    if zero.words[-3] != "=" or len(indices) != len(shape):
        return None
    loops = {counted(loop): loop for loop in kernel.text.loops(zero)}
    for index, side in zip(indices, shape, strict=True):
        found = spread.values_of(kernel, index, zero)
        used = spread.needed(kernel, index, zero)
        if found is None or any("." in one for one in used) or found[-1] >= side:
            return None
        if len(found) < side:
            loop = next((loops[one] for one in loops if one in used), None)
            line = loop.line if loop is not None else zero.line
            of = f"of the {side} {'elements' if len(shape) == 1 else f'[{shown(index)}]'} of {name}"
            return Said(
                f"{shown(zero.words).rstrip(';')} is done for {len(found)} {of}: the other sums begin with what "
                "happens to be there.",
                line,
                f"Set every element of {name} to 0.",
            )
    return None


def _sets(words: Words) -> bool:
    return not _COMPOUND & set(words)


def _is_handed(item: Statement, name: str) -> bool:
    """Whether a call is given the whole array, and may set it."""
    return item.kind == "simple" and any(
        word == name and item.words[at - 1] in ("(", ",", "&") and item.words[at + 1] in (",", ")")
        for at, word in enumerate(item.words[1:-1], 1)
    )


def _indices(words: Words) -> list[Words]:
    at, found = 1, []
    while words[at : at + 1] == ("[",):
        end = closing(words, at)
        found.append(words[at + 1 : end])
        at = end + 1
    return found


# --- objects of structs


def _objects(kernel: Kernel) -> Iterator[Said]:
    """Patch patch; of a struct whose sums are added to, and nothing has set them before."""
    text = kernel.text
    for kind in text.statements:
        name = _type_name(kind)
        if not name:
            continue
        members = [one for one in text.statements if one.parent == kind.number]
        methods = [one for one in members if one.kind == "function"]
        fields = {field for one in members for field in _fields(one)}
        if not fields or any(function_name(one) == name for one in methods):
            continue
        for item in kernel.body:
            made = _made(item, name)
            if made and _is_only_added_to(kernel, made, item, methods, fields):
                yield _said(text, made, name, item, methods, fields)


def _type_name(kind: Statement) -> str:
    if kind.kind != "type":
        return ""
    at = max((n for n, word in enumerate(kind.words) if word in ("struct", "class")), default=-1)
    return kind.words[at + 1] if 0 <= at < len(kind.words) - 1 else ""


def _fields(item: Statement) -> Iterator[str]:
    """Members of float, without a first value."""
    words = item.words
    if item.kind != "simple" or not _FLOATS & {*words} or {"=", "{", "*", "&", "static"} & {*words}:
        return
    for at, word in enumerate(words[:-1]):
        if word.isidentifier() and word not in _FLOATS and words[at + 1] in ("[", ";", ","):
            if words[at - 1] in (*_FLOATS, ",", ")"):
                yield word


def _made(item: Statement, name: str) -> str:
    """The variable of Patch patch; and of Patch<8, 4> patch;"""
    words = item.words
    if item.kind != "simple" or words[:1] != (name,) or words[-1:] != (";",):
        return ""
    if {"=", "{", "(", "*", "&"} & {*words} or not words[-2].isidentifier():
        return ""
    return words[-2] if words[1:2] == ("<",) or len(words) == 3 else ""


def _is_only_added_to(
    kernel: Kernel, made: str, item: Statement, methods: list[Statement], fields: set[str]
) -> bool:
    text, is_added = kernel.text, False
    for one in kernel.body:
        if one is item or one.number < item.number or made not in one.words:
            continue
        if one.words[0] == made and one.words[1:2] == ("=",):
            return False
        if _is_handed(one, made):
            return False  # who gets it may set it
        for at, word in enumerate(one.words[:-3]):
            if word != made or one.words[at + 1] != ".":
                continue
            called = [m for m in methods if function_name(m) == one.words[at + 2]]
            inside = [s for method in called for s in text.inside(method)]
            if one.words[at + 3] == "(" and (not called or any(_gives(s, fields) for s in inside)):
                return False
            is_added = is_added or any(_COMPOUND & {*s.words} for s in inside)
        if one.words[0] == made and one.words[1:2] == (".",) and one.words[2] in fields:
            if "=" in one.words:
                return False
            is_added = is_added or bool(_COMPOUND & {*one.words})
        if "&" in one.words[: one.words.index(made)] and "=" in one.words:
            return False  # another name for it
    return is_added


def _gives(item: Statement, fields: set[str]) -> bool:
    """Whether a statement of a method gives a member a value, or hands it on."""
    words = item.words
    at = words.index("=") if "=" in words else 0
    handed = any(_is_handed(item, field) for field in fields)
    return item.kind == "simple" and (handed or bool(fields & {*words[:at]}))


def _said(
    text: Listing, made: str, name: str, item: Statement, methods: list[Statement], fields: set[str]
) -> Said:
    clears = [
        function_name(one)
        for one in methods
        if any(_gives(s, fields) and s.words[-2] in _ZEROS for s in text.inside(one))
    ]
    call = f"{made}.{clears[0]}()" if len(clears) == 1 else ""
    why = f"{call} is never called" if call else "nothing sets what is in it"
    return Said(
        f"{made} begins with no value: {why}, and products are added to what happens to be there.",
        item.line,
        f"Call {call} before anything is added." if call else f"Write {name} {made} = {{}};",
    )
