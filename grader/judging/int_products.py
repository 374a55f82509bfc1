"""data[a * stride + b] in a helper, where a and stride are ints: an index that overflows in a large matrix.

The finding names the line of the kernel that calls the helper, which is not where it is to be mended.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from grader.judging.host import Said
from grader.judging.wording import bare, factors, names_in, terms
from grader.labs.statements import Listing, Statement, closing, find, function_name, shown

_MOST_STEPS = 6  # from a name to what it is counted from
_KINDS = frozenset({"float", "float2", "float4", "double", "half", "const", "auto", ",", ">"})
_WIDE = r"\b(?:size_t|ptrdiff_t|u?int64_t|long|double)\b"
_DECLARES = r"[\s&*]{{1,9}}(?:\w{{1,99}}\s{{0,9}}(?:=[^;,]{{0,99}})?,\s{{0,9}}){{0,9}}{}\b"


_ALIAS = re.compile(
    r"\b(?:using[ ]{1,9}(\w{1,99})[ ]{0,9}=[ ]{0,9}(?:std::)?(u?int(?:32_t)?|unsigned(?: int)?)[ ]{0,9};|"
    r"typedef[ ]{1,9}(?:std::)?(u?int(?:32_t)?|unsigned(?: int)?)[ ]{1,9}(\w{1,99})[ ]{0,9};)|"
    r"#[ ]{0,9}define[ ]{1,9}(\w{1,99})[ ]{1,9}(int|unsigned)[ ]{0,9}$",
    re.MULTILINE,
)


def aliased(text: Listing, line: int) -> Said | None:
    """The other name of int with which the file declares the numbers that an index is made of."""
    own = [product for item in text.at(line) for product in _indices(text, item)]
    for product in own or [one for _, one in _of_helpers(text, line)]:
        for alias in _ALIAS.finditer(text.bare):
            name = alias[1] or alias[4] or alias[5]
            kind = alias[2] or alias[3] or alias[6]
            is_declared = any(_declares(text, rf"\b{name}\b", one) for one in names_in(product))
            if name in product or (is_declared and not _is_wide(text, product)):
                return Said(
                    f"{name} is another name of {kind} here, which has 32 bits: of a large matrix "
                    f"{shown(product)} overflows.",
                    text.bare.count("\n", 0, alias.start()) + 1,
                    f"Let {name} be a type of 64 bits: size_t.",
                )
    return None


def narrow(text: Listing, line: int) -> Said | None:
    """The only product of ints by which a helper finds an element, where the line itself has none."""
    found = _of_helpers(text, line)
    lines = {item.line for item, _ in found}
    if len(lines) != 1:
        return None
    item, product = found[0]
    return _said(product, item.line)


def of_pointer(text: Listing, line: int) -> Said | None:
    """The product of ints by which a pointer was moved that the line uses, if its own indices are small."""
    for here in text.at(line):
        function = text.function_of(here)
        own = _indices(text, here)
        if function is None or any(_may_be_large(text, one, here) for one in own):
            continue
        found, narrow_index = [], ""
        for name in dict.fromkeys(word for word in here.words if word.isidentifier()):
            is_index = not own and here.has("[", name, "]")
            if is_index or _is_pointer(text, name, function):
                found += _moves(text, name, here, function)
                narrow_index = narrow_index or (name if is_index and found else "")
        cast = [one for one in found if any(map(_uncast, factors(one[1])))]
        if cast or found:
            where, product = (cast or found)[0]
            said = _said(product, where)
            if narrow_index:
                also = f" And let {narrow_index} be a size_t: it holds the whole index."
                said = replace(said, advice=said.advice + also)
            return said
    return None


def _moves(
    text: Listing, name: str, near: Statement, function: Statement
) -> list[tuple[int, tuple[str, ...]]]:
    """(line, product) of what a pointer, or an index, is counted from: those of ints that may be large."""
    known = text.declaration(name, near)
    given = [known] if known is not None else []
    for item in text.assignments(name, function):
        if item.words[1] in ("=", "+="):
            given.append((item.line, item.words[2:-1]))
    found = []
    for line, words in given:
        item = next((one for one in text.at(line) if name in one.words), near)
        for product in terms(words):
            is_product = "*" in product[1:] and len(factors(product)) > 1
            if is_product and _is_of_ints(text, product):
                found += [(line, product)] if _may_be_large(text, product, item) else []
    return found


def _uncast(factor: tuple[str, ...]) -> tuple[str, ...] | None:
    """int(row) or (int)row without the cast; None of a factor that has none."""
    if factor[:3] in (("(", "int", ")"), ("(", "unsigned", ")")):
        return bare(factor[3:])
    if factor[:2] in (("int", "("), ("unsigned", "(")) and closing(factor, 1) == len(factor) - 1:
        return factor[2:-1]
    return None


def _is_of_ints(text: Listing, product: tuple[str, ...]) -> bool:
    """Whether all factors are of 32 bits, by what they are made of or by a cast."""
    for factor in factors(product):
        is_called = any(after == "(" and word.isidentifier() for word, after in pairwise(factor))
        if _uncast(factor) is None and (
            is_called or _is_wide(text, tuple(one for one in factor if one not in ("(", ")")))
        ):
            return False
    return True


def _may_be_large(text: Listing, product: tuple[str, ...], near: Statement) -> bool:
    """Whether the block counts in it, a loop over a side, or what a helper was given."""
    function = text.function_of(near)
    names = text.parameters(function) if function is not None else []
    is_kernel = function is not None and "__global__" in function.words
    waiting, seen = list(names_in(product)), set[str]()
    for _ in range(_MOST_STEPS):
        following: list[str] = []
        for name in waiting:
            if name.startswith("blockIdx") or (name in names and not is_kernel):
                return True
            if name in seen:
                continue
            seen.add(name)
            for loop in text.loops(near):
                head, condition = (*loop.parts, (), ())[:2]
                if find(head, (name, "=")) >= 0 and set(condition) & set(names):
                    return True
            known = text.declaration(name, near)
            following += names_in(known[1]) if known is not None else []
        waiting = following
    return False


def _is_pointer(text: Listing, name: str, function: Statement) -> bool:
    """Whether a function has a pointer of that name, its own or one that it is given."""
    for item in (function, *text.inside(function)):
        for at, word in enumerate(item.words):
            before = at - 1
            while before > 0 and item.words[before] in ("const", "__restrict__", "__restrict"):
                before -= 1
            if word == name and before > 0 and item.words[before] == "*":
                if item.words[before - 1] in _KINDS:
                    return True
    return False


def _said(product: tuple[str, ...], line: int) -> Said:
    parts = [shown(part) for part in factors(product)]
    wide = [shown(_uncast(part) or part) for part in factors(product)]
    return Said(
        f"{shown(product)} is a product of ints, and it overflows: {' and '.join(parts)} are of 32 bits, "
        "and so is what they give.",
        line,
        f"Make one of them 64 bits wide: size_t({wide[0]}) * {' * '.join(wide[1:])}, or a size_t where "
        f"{wide[-1]} is declared.",
    )


def _of_helpers(text: Listing, line: int) -> list[tuple[Statement, tuple[str, ...]]]:
    """The products of ints in helpers that a line calls, where it has none itself."""
    here = text.at(line)
    if not here or any(_indices(text, item) for item in here):
        return []
    used = {word for item in here for word, after in pairwise(item.words) if after == "("}
    found: list[tuple[Statement, tuple[str, ...]]] = []
    objects = {"operator"} if any(text.named(word) is None for word in used) else set()
    for names in (used, objects):
        found = found or [
            (item, product)
            for item in text.statements
            if _holder(text, item) in names
            for product in _indices(text, item)
            if not _is_wide(text, product)
        ]
    return found


def _indices(text: Listing, item: Statement) -> list[tuple[str, ...]]:
    """The products in the indices of a statement, and those that are added to a pointer."""
    found = []
    for at, word in enumerate(item.words):
        if word == "[":
            found += [
                one for one in terms(item.words[at + 1 : closing(item.words, at)]) if "*" in one
            ]
    if item.words[:1] == ("return",) and not found:
        rest = item.words[1:-1]
        parts = terms(rest)
        found += [one for one in parts if "*" in one[1:] and len(parts) > 1 and "[" not in rest]
    return [one for one in found if len(factors(one)) > 1]


def _is_wide(text: Listing, product: tuple[str, ...]) -> bool:
    if re.search(_WIDE, " ".join(product)) or "(" in product:
        return True
    return any(_declares(text, _WIDE, name) for name in names_in(product))


def _declares(text: Listing, kind: str, name: str) -> bool:
    """Whether a name is declared with such a type anywhere."""
    return re.search(kind + _DECLARES.format(re.escape(name)), text.bare) is not None


def _holder(text: Listing, item: Statement) -> str:
    """The helper that a statement stands in, "operator" for any of these; "" in a kernel or on the host."""
    function = text.function_of(item)
    if function is None or {"__global__", "__device__"} & set(function.words) != {"__device__"}:
        return ""
    return "operator" if "operator" in function.words else function_name(function)
