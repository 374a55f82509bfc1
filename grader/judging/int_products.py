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
    parts = [shown(part) for part in factors(product)]
    return Said(
        f"{shown(product)} is a product of ints, and it overflows: {' and '.join(parts)} are of 32 bits, "
        "and so is what they give.",
        item.line,
        f"Make one of them 64 bits wide: size_t({parts[0]}) * {' * '.join(parts[1:])}, or a size_t where "
        f"{parts[-1]} is declared.",
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
