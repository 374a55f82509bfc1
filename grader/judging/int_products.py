"""data[a * stride + b] in a helper, where a and stride are ints: an index that overflows in a large matrix.

The finding names the line of the kernel that calls the helper, which is not where it is to be mended.
"""

from __future__ import annotations

import re
from itertools import pairwise

from grader.judging.host import Said
from grader.judging.wording import factors, names_in, terms
from grader.labs.statements import Listing, Statement, closing, function_name, shown

_WIDE = r"\b(?:size_t|ptrdiff_t|u?int64_t|long|double)\b"
_DECLARES_WIDE = (
    _WIDE + r"[\s&*]{{1,9}}(?:\w{{1,99}}\s{{0,9}}(?:=[^;,]{{0,99}})?,\s{{0,9}}){{0,9}}{}\b"
)


def narrow(text: Listing, line: int) -> Said | None:
    """The only product of ints by which a helper finds an element, where the line itself has none."""
    here = text.at(line)
    if not here or any(_indices(text, item) for item in here):
        return None
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
    lines = {item.line for item, _ in found}
    if len(lines) != 1:
        return None
    item, product = found[0]
    parts = [shown(part) for part in factors(product)]
    return Said(
        f"{shown(product)} is a product of ints, and it overflows: {' and '.join(parts)} are of 32 bits, "
        "and so is what they give.",
        item.line,
        f"Make one of them 64 bits wide: size_t({parts[0]}) * {' * '.join(parts[1:])}, or a size_t where "
        f"{parts[-1]} is declared.",
    )


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
    return any(
        re.search(_DECLARES_WIDE.format(re.escape(name)), text.bare) for name in names_in(product)
    )


def _holder(text: Listing, item: Statement) -> str:
    """The helper that a statement stands in, "operator" for any of these; "" in a kernel or on the host."""
    function = text.function_of(item)
    if function is None or {"__global__", "__device__"} & set(function.words) != {"__device__"}:
        return ""
    return "operator" if "operator" in function.words else function_name(function)
