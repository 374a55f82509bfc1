"""j / B + (l % B != 0): quotient and rest of two different numbers, where one is to be rounded up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.host import Said
from grader.judging.wording import bare, terms
from grader.labs.statements import Listing, Statement, shown, split

_ASKS = ("!=", "==", ">", "<", "?", "!")
_ENDS = (",", ";", "=", "return", "{", "}", "<", "?", ":")
_Divided = tuple[tuple[str, ...], tuple[str, ...]]  # what, and by what


def of_another(text: Listing) -> Said | None:
    """The only place of a text where the rest that rounds up is that of another number."""
    found = [
        (item.line, quotient, rest)
        for item in text.statements
        for quotient, rest in (*_in_one(item), *_in_two(text, item))
        if quotient[1] == rest[1] and quotient[0] != rest[0]
    ]
    if len(found) != 1:
        return None
    line, (whole, by), (other, _) = found[0]
    return Said(
        f"{shown(whole)} / {shown(by)} is rounded up where {shown(other)} % {shown(by)} leaves a rest: "
        f"that is the rest of another number, {shown(other)}.",
        line,
        f"Ask whether {shown(whole)} leaves a rest.",
    )


def of_one(text: Listing) -> Said | None:
    """The only place of a text where X / D is raised for rests of X % D > 1, and not for a rest of 1."""
    found = []
    for item in text.statements:
        for at, word in enumerate(item.words[1:-3], 1):
            whole, by = item.words[at - 1], item.words[at + 1]
            if word != "%" or item.words[at + 2 : at + 4] not in ((">", "1"), (">=", "2")):
                continue
            function = text.function_of(item)
            if (
                function is None
                or "__host__" not in function.words
                and ({"__global__", "__device__"} & set(function.words))
            ):
                continue
            if any(one.has(whole, "/", by) for one in text.inside(function)):
                found.append((item.lines[at], item.words[at - 1 : at + 4]))
    if len(found) != 1:
        return None
    line, words = found[0]
    return Said(
        f"{shown(words)}: a rest of 1 is not rounded up, so {words[0]} = {words[2]} + 1 gets no more than "
        f"{words[2]}.",
        line,
        f"Any rest counts: {shown(words[:3])} > 0.",
    )


def _in_one(item: Statement) -> Iterator[tuple[_Divided, _Divided]]:
    """X / D + (Y % D != 0)"""
    for at, word in enumerate(item.words):
        if word != "/":
            continue
        parts = terms(_around(item.words, at))
        quotients = [one for part in parts if (one := _divided(bare(part), "/"))]
        rests = [one for part in parts if (one := _asked(part))]
        if len(parts) == 2 and len(quotients) == len(rests) == 1:
            yield quotients[0], rests[0]


def _in_two(text: Listing, item: Statement) -> Iterator[tuple[_Divided, _Divided]]:
    """n = X / D; if (Y % D != 0) ++n;"""
    rest = None
    if item.kind == "if":
        rest = _asked(item.words) or _divided(bare(item.words), "%")
    inside = [one for one in text.statements if one.parent == item.number] if rest else []
    if len(inside) != 1 or inside[0].kind != "simple":
        return
    words = [word for word in inside[0].words if word != ";"]
    is_raised = words[1:] in (["+", "+"], ["++"], ["+=", "1"]) or words[:-1] in (["+", "+"], ["++"])
    name = words[0] if words[:1] and words[0].isidentifier() else words[-1]
    known = text.declaration(name, item) if is_raised else None
    quotient = _divided(bare(known[1]), "/") if known is not None else None
    if rest is not None and quotient is not None:
        yield quotient, rest


def _around(words: Sequence[str], at: int) -> tuple[str, ...]:
    """The expression that a word stands in: up to what holds it, or ends it."""
    first, last = at, at + 1
    depth = 0
    while first > 0:
        word = words[first - 1]
        depth += (word in (")", "]")) - (word in ("(", "["))
        if depth < 0 or (depth == 0 and word in _ENDS):
            break
        first -= 1
    depth = 0
    while last < len(words):
        word = words[last]
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if depth < 0 or (depth == 0 and word in _ENDS):
            break
        last += 1
    return tuple(words[first:last])


def _asked(part: Sequence[str]) -> _Divided | None:
    """Of Y % D != 0, Y % D ? 1 : 0, !!(Y % D): what the rest is taken of, and by what."""
    words = bare(part)
    if not any(word in _ASKS for word in words):
        return None
    condition = split(words, "?")[0]
    while condition[:1] == ("!",):
        condition = condition[1:]
    condition = bare(condition)
    for at, word in enumerate(condition):
        if word in ("!=", ">") and tuple(condition[at + 1 :]) == ("0",):
            condition = bare(condition[:at])
            break
    return _divided(condition, "%")


def _divided(words: Sequence[str], sign: str) -> _Divided | None:
    at = next((n for n, word in enumerate(words) if word == sign), 0)
    of, by = tuple(words[:at]), tuple(words[at + 1 :])
    return (of, by) if _is_plain(of) and _is_plain(by) else None


def _is_plain(words: Sequence[str]) -> bool:
    """j, 16, block.y"""
    return (
        len(words) % 2 == 1
        and all(word.replace("_", "a").isalnum() for word in words[::2])
        and all(word in (".", "->") for word in words[1::2])
    )
