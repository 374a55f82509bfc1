"""What nvcc has warned of, and what it says nothing of though it can be seen in the text alone.

A statement that computes something and keeps nothing, = for ==, an unsigned counter that is to come
below 0, a helper without a return, a semicolon that ends a loop. Each is a fact about its line; it
is told as the cause only where something is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging import barriers
from grader.judging.host import Said
from grader.judging.wording import calls
from grader.labs.statements import Listing, Statement, find, function_name, shown
from grader.results.result import Diagnostic
from grader.running import compiler_words

# What a line that does nothing, or something else, may lead to.
_WRONG = frozenset(
    {
        "wrong-result", "unwritten-output", "low-precision", "uninitialised-global",
        "uninitialised-shared", "out-of-bounds-global", "out-of-bounds-shared", "race-shared",
        "race-global", "timeout", "misaligned-access", "api-error", "host-crash", "launch-config",
    }
)  # fmt: skip
_NO_BARRIER = frozenset({"race-shared", "uninitialised-shared", "wrong-result"})
_SIGNS = ("+", "-", "*", "/", "%", "==", "[", "<", ">")
_GIVES = (("=",), ("+=",), ("-=",), ("*=",), ("/=",))


def warned(text: Listing, warnings: Sequence[Diagnostic], code: str) -> Said | None:
    """The cause, as nvcc has seen it."""
    if code not in _WRONG:
        return None
    for warning in warnings:
        statement = next(iter(text.at(warning.line)), None)
        if statement is not None:
            said = _of_one(text, warning, statement, code)
            if said is not None:
                return said
    return (
        _empty_body(text)
        or _turned_sign(text)
        or _own_copy(text)
        or _lost_field(text)
        or _never_set(text)
    )


def _of_one(text: Listing, warning: Diagnostic, statement: Statement, code: str) -> Said | None:
    message, line = warning.message, warning.line
    if compiler_words.has_no_effect(message):
        barrier = barriers.not_called(text, statement)
        if barrier:
            return _no_barrier(barrier) if code in _NO_BARRIER else None
        return _no_effect(text, line)
    if compiler_words.assigns_where_compared(message):
        return Said(
            "= gives the variable a value here; whether two values are equal asks ==.", line
        )
    if compiler_words.compares_unsigned_with_0(message):
        return Said(
            "This compares an unsigned variable with 0: it is never below 0, and after 0 it goes "
            "on with the largest number.",
            line,
            "Count with an int where a loop is to come down to 0.",
        )
    if helper := compiler_words.function_without_return(message):
        return Said(
            f"{helper}() is to return a value, and can end without a return: what its caller "
            "gets is anything.",
            line,
            "Return the value at its end, on every way.",
        )
    if compiler_words.is_beyond_an_int(message):
        return Said(
            "The numbers of this line give more than an int holds (about 2.1 billion).",
            line,
            "Compute with size_t: size_t(a) * b.",
        )
    return None


def _no_barrier(line: int) -> Said:
    return Said(
        "__syncthreads without parentheses does nothing: it is not called.",
        line,
        "Write __syncthreads();",
    )


def _no_effect(text: Listing, line: int) -> Said | None:
    for item in text.at(line):
        if item.kind == "for" and len(item.parts) == 3:
            step = item.parts[2]
            if step and not any(word[-1:] == "=" or word in ("++", "--") for word in step):
                return Said(
                    f"The loop's last part, {shown(step)}, changes nothing: every turn is the "
                    "first one.",
                    line,
                    "Write ++i, or i += 2.",
                )
        if item.kind == "simple" and any(word in _SIGNS for word in item.words):
            what = shown(item.words).rstrip(";")
            if item.has("=="):
                return Said(
                    f"{what} compares and stores nothing: == asks whether two values are equal.",
                    line,
                    "A value is given with one =.",
                )
            if "," in item.words or "(" in item.words[:2]:
                continue
            return Said(
                f"{what} computes a value that nothing keeps.",
                line,
                "Is it to be added or stored? That takes += or =.",
            )
    return None


def _empty_body(text: Listing) -> Said | None:
    """for (...); { ... }: what looks like the body comes once, after it."""
    for item in text.statements:
        if item.words != (";",) or item.parent < 0:
            continue
        head = text.statements[item.parent]
        after = next(
            (one for one in text.statements[item.number + 1 :] if one.parent != item.parent), None
        )
        if head.kind not in ("for", "if") or after is None or head.line != item.line:
            continue
        if head.kind == "for" and any("," in part for part in head.parts[2:]):
            continue  # its last part may do the work
        siblings = [one for one in text.statements if one.parent == item.parent]
        if len(siblings) > 1:
            continue
        what = "loop" if head.kind == "for" else "if"
        return Said(
            f"The semicolon behind {head.kind} (...) is all that the {what} does: what follows is "
            "not part of it.",
            item.line,
            "Take the semicolon away.",
        )
    return None


def _own_copy(text: Listing) -> Said | None:
    """void add(float sum) { sum += 1; }: nobody sees it."""
    for function in text.functions():
        if "void" not in function.words or "__global__" in function.words:
            continue
        inside = text.inside(function)
        for name in text.parameters(function):
            uses = [item for item in inside if name in item.words]
            if not uses or not _is_by_value(function, name):
                continue
            if all(
                item.words[:1] == (name,) and item.words[1:2] in _GIVES for item in uses
            ) and all(item.words.count(name) == 1 or item.words[1] != "=" for item in uses):
                return Said(
                    f"{function_name(function)}() changes {name}, which is its own copy: the "
                    "caller's stays as it was.",
                    function.line,
                    f"Take it by reference: & before {name}.",
                )
    return None


def _lost_field(text: Listing) -> Said | None:
    """void make(Matrix m) { cudaMalloc(&m.elements, ...); }: the caller's struct gets no address."""
    for function in text.functions():
        inside = text.inside(function)
        for name in text.parameters(function):
            if not _is_by_value(function, name):
                continue
            made = [
                item
                for item in inside
                for given in calls(item, "cudaMalloc")
                if given and find(given[0], ("&", name, ".")) >= 0
            ]
            words = [item.words for item in inside if name in item.words]
            is_used = any(
                "<<<" in one or "return" in one[:1] and one[1:2] == (name,) or "cudaFree" in one
                for one in words
            )
            if made and not is_used:
                return Said(
                    f"cudaMalloc puts the address into {function_name(function)}()'s own copy of "
                    f"{name}; the caller's stays as it was.",
                    made[0].line,
                    f"Take it by reference: & before {name}.",
                )
    return None


def _never_set(text: Listing) -> Said | None:
    """__constant__ int width; of which a kernel reads, and to which nothing is copied."""
    for item in text.statements:
        if item.parent >= 0 or item.words[:1] != ("__constant__",) or "=" in item.words:
            continue
        names = [word for word in item.words[2:] if word.isidentifier()]
        name = names[0] if len(names) == 1 else ""
        if not name or "{" in item.words or "(" in item.words:
            continue
        uses = [one for one in text.statements if one is not item and name in one.words]
        is_given = any(
            "Symbol" in word or word == "&" for one in uses for word in one.words
        ) or f"({name}" in text.bare.replace(" ", "")
        if uses and not is_given:
            return Said(
                f"{name} lies in constant memory, and nothing ever gives it a value: it is 0.",
                item.line,
                f"Copy one there before the launch: cudaMemcpyToSymbol({name}, ...).",
            )
    return None


def _is_by_value(function: Statement, name: str) -> bool:
    at = max((place for place, word in enumerate(function.words) if word == name), default=0)
    start = at
    while start > 0 and function.words[start - 1] not in ("(", ","):
        start -= 1
    kind = function.words[start:at]
    after = function.words[at + 1 : at + 2]
    return bool(kind) and not {"*", "&", "&&"} & set(kind) and after in (((",",), (")",)))


def _turned_sign(text: Listing) -> Said | None:
    """sum =+ a: the sum is a."""
    for number, row in enumerate(text.bare.split("\n"), 1):
        if re.search(r"\w\]?\s*=[+-]\s+\w", row) and not re.search(r"operator\s*=", row):
            sign = "+" if "=+" in row else "-"
            return Said(
                f"={sign} gives the variable a new value; {sign}= is what adds to it or takes "
                "from it.",
                number,
                f"Write {sign}=.",
            )
    return None
