"""Variables that begin with no value: what they are given under a condition only, or added to."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.host import Said
from grader.judging.wording import changes
from grader.labs.statements import Listing, Statement, is_declaration, shown, split

_FLOATS = frozenset({"float", "float2", "float3", "float4", "double"})
_COMPOUND = frozenset({"+=", "-=", "*="})


def never_set(text: Listing, functions: list[Statement]) -> Said | None:
    """The only such variable of these functions: None if there is none, or several may be meant."""
    found = [said for function in functions for said in _of(text, function)]
    return found[0] if len({one.line for one in found}) == 1 else None


def by_constructor(text: Listing) -> Said | None:
    """Objects of a struct whose constructor does nothing, and whose floats have no first value."""
    for constructor in text.functions():
        kind = text.statements[constructor.parent] if constructor.parent >= 0 else None
        if kind is None or kind.kind != "type" or text.inside(constructor):
            continue
        name = kind.words[-1]
        if constructor.words[-3:] != (name, "(", ")"):
            continue
        members = [
            one
            for one in text.statements
            if one.parent == kind.number and one.kind == "simple" and _FLOATS & {*one.words}
        ]
        unset = [one for one in members if not {"=", "{", "static"} & {*one.words}]
        users = [
            one
            for one in text.statements
            if one.kind == "simple" and one.words[:1] == (name,) and len(one.words) > 2
            and not {"=", "{", "("} & {*one.words}
        ]  # fmt: skip
        if unset and users:
            return Said(
                f"{name}() gives its members no values, so what line {users[0].line} declares begins "
                "with what happens to be there.",
                constructor.line,
                "Let the constructor set each member to 0, or give the members first values.",
            )
    return None


def _of(text: Listing, function: Statement) -> Iterator[Said]:
    inside = text.inside(function)
    for item in inside:
        if item.kind != "simple" or "__shared__" in item.words or "extern" in item.words:
            continue
        kind = next((word for word in item.words if word not in ("alignas", "(", "16", ")")), "")
        if kind not in _FLOATS or not is_declaration(item.words):
            continue
        for name, is_array in _without_value(item):
            later = [one for one in inside if one.number > item.number and name in one.words]
            given = [one for one in later if _gives(one, name)]
            if is_array:
                yield from _added_to(item, name, later, given)
            elif given and all(_is_asked(text, one, item) for one in given):
                branch = next(one for one in text.above(given[0]) if one.kind in ("if", "else"))
                what = shown(branch.words) if branch.kind == "if" else "the condition above"
                yield Said(
                    f"{name} begins with no value, and where {what} is not so it keeps what happens "
                    "to be there.",
                    item.line,
                    f"Give {name} a 0 where it is declared.",
                )


def _without_value(item: Statement) -> Iterator[tuple[str, bool]]:
    """Names that a declaration gives no value, and whether they are arrays."""
    words = item.words[:-1] if item.words[-1:] == (";",) else item.words
    for part in split(words, ","):
        if "=" in part or "{" in part or "(" in part[1:] and "alignas" not in part:
            continue
        names = [word for word in part if word.isidentifier() and word not in (*_FLOATS, "alignas")]
        if names and "*" not in part and "&" not in part:
            yield names[0], "[" in part


def _gives(item: Statement, name: str) -> bool:
    return item.kind == "simple" and (
        changes(item.words, name) or item.words[:2] in ((name, "="), (name, "."), (name, "["))
    )


def _is_asked(text: Listing, item: Statement, declared: Statement) -> bool:
    """Whether it is carried out under a condition that the declaration is not under, with no other way."""
    around = {one.number for one in text.above(declared)}
    branches = [one for one in text.above(item) if one.kind in ("if", "else")]
    branches = [one for one in branches if one.number not in around]
    if not branches or branches[-1].kind == "else":
        return False
    first = branches[-1]
    siblings = [one for one in text.statements[first.number + 1 :] if one.parent == first.parent]
    return not (siblings and siblings[0].kind == "else")


def _added_to(
    item: Statement, name: str, later: list[Statement], given: list[Statement]
) -> Iterator[Said]:
    """An array that is only added to, or given to a call that does so, and then used."""
    sets = [one for one in given if not _COMPOUND & {*one.words}]
    if sets or not later:
        return
    first = later[0]
    is_added = any(_COMPOUND & {*one.words} for one in given)
    is_handed = "(" in first.words and not first.has(name, "[")
    if is_added or (is_handed and _accumulates(first, name)):
        yield Said(
            f"{name} begins with no value, and line {(given or later)[0].line} adds to it.",
            item.line,
            f"Write {name}[...] = {{}} where it is declared.",
        )


def _accumulates(call: Statement, name: str) -> bool:
    """multiply_add(sum, a, b), mma(sum, ...): the name says so."""
    at = call.words.index(name)
    called = next((word for word in reversed(call.words[:at]) if word.isidentifier()), "")
    return any(part in called.lower() for part in ("add", "mma", "fma", "accumulate"))
