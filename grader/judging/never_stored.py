"""A P that no thread stores: a kernel without a store, or the last of those that it has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing, Statement, declared, find, function_name, is_declaration

_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--"})
_NO_CALLS = frozenset(
    {"if", "for", "while", "switch", "return", "sizeof", "alignas", "size_t", "int", "float", "unsigned"}
)  # fmt: skip
_NO_STORES = frozenset({"__syncthreads", "__syncwarp", "__launch_bounds__"})
_MOST_NAMES = 20
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w{1,99})(.{0,999})$", re.MULTILINE)


class NeverStored(Base):
    """The rules about elements of P that no thread stores."""

    def without_store(self) -> Said | None:
        """The only kernel that ran has nothing that would store into P."""
        if not self._is_of_one_kernel() or not self.kernel.body:
            return None
        name = self.kernel.roles.get("P", "")
        if _stores(self.kernel, name) if name else _may_store(self.kernel):
            return None
        others = [one for one in self.kernel.roles.values() if one != name]
        if any(_stores_into(self.kernel, one) for one in others):
            return None  # which may be P
        own = function_name(self.kernel.function)
        return Said(
            f"{own} never stores into P: each thread ends without having written what it computed.",
            next(item.line for item in reversed(self.kernel.body) if item.line),
            "At its end let each thread store its sum into its element of P.",
        )

    def last_store(self) -> Said | None:
        """Where nothing else is known: the last of the kernel's stores into P."""
        name = self.kernel.roles.get("P", "") if self._is_of_one_kernel() else ""
        stores = _stores(self.kernel, name) if name else []
        if not stores:
            return None
        own = function_name(self.kernel.function)
        here = f"Here is the last of {own}'s stores" if len(stores) > 1 else f"Here {own} stores"
        return Said(f"{here} into P, and not all of P is reached.", stores[-1].line)

    def _is_of_one_kernel(self) -> bool:
        """Whether it is about elements that nothing stores, and only one kernel could have."""
        explained = self.material.explanation
        if self.item.code != "unwritten-output" and (
            self.item.code != "wrong-result" or explained is None or explained.kind != "not-stored"
        ):
            return False
        execution = self.outcome.execution if self.outcome is not None else None
        runs = {one.name for one in execution.kernels} if execution is not None else set()
        return self.kernel is not None and len(runs) == 1 and not self.item.line


def _stores(kernel: Kernel, name: str) -> list[Statement]:
    """What stores through a parameter, or through what is made of it; or hands it to a function."""
    names = _aliases(kernel, name)
    return [item for item in _body(kernel) if _writes(item, names) or _gives(item, names)]


def _body(kernel: Kernel) -> list[Statement]:
    """All up to the next function: also what the reader, at an unusual loop, takes for no part of it."""
    after = kernel.text.statements[kernel.function.number + 1 :]
    ends = [at for at, item in enumerate(after) if _is_head(item)]
    return after[: ends[0]] if ends else after


def _is_head(item: Statement) -> bool:
    """Not what is left of for (int k{n}; k > 0; --k) { ... }"""
    return item.kind == "function" and item.words.count("(") == item.words.count(")")


def _stores_into(kernel: Kernel, name: str) -> bool:
    """Whether an element of it, or of what is made of it, is given a value."""
    names = _aliases(kernel, name)
    return any(
        _writes(item, names) and ("[" in item.words[:3] or item.words[0] == "*")
        for item in kernel.body
    )


def _aliases(kernel: Kernel, name: str) -> set[str]:
    """float* to = P + at; to = P + at; and what is made of that."""
    names = {name, *_macros(kernel.text, name)}
    for item in _body(kernel):
        if len(names) > _MOST_NAMES or not names & set(item.words):
            continue
        if item.words[1:2] == ("=",) and names & set(item.words[2:]):
            names.add(item.words[0])
        for at, word in enumerate(item.words):
            known = declared(item, word) if word.isidentifier() and at else None
            is_pointer = {"*", "&", "auto"} & set(item.words[:at])
            if known is not None and is_pointer and names & set(known[1]):
                names.add(word)
    return names


def _macros(text: Listing, name: str) -> list[str]:
    """#define C(i, j) c[(i) * n + (j)]"""
    found = _MACRO.finditer(text.bare)
    return [one[1] for one in found if re.search(rf"\b{re.escape(name)}\b", one[2])]


def _writes(item: Statement, names: set[str]) -> bool:
    """Whether it begins with one of them and gives it, or what it points to, a value."""
    at = next((i for i, word in enumerate(item.words) if word in _ASSIGNS), -1)
    if at < 1 or item.kind != "simple":
        return False
    target = item.words[:at]
    is_place = target[0] == "*" or "[" in target
    if not is_place and any(declared(item, one) is not None for one in names & set(target)):
        return False
    return bool(names & set(target))


def _gives(item: Statement, names: set[str]) -> bool:
    """Whether one of them stands in what a function is given."""
    opened: list[str] = []
    for at, word in enumerate(item.words):
        if word in ("(", "{"):
            opened.append(word if word == "{" else item.words[at - 1] if at else "")
        elif word in (")", "}") and opened:
            opened.pop()
        elif word in names and any(_is_call(one) for one in opened):
            return True
    return False


def _is_call(before: str) -> bool:
    return before in ("{", ">") or (before.isidentifier() and before not in _NO_CALLS)


def _may_store(kernel: Kernel) -> bool:
    """Whether anything could store outside of the block's own arrays, where no parameter is known as P."""
    own = set(_arrays(kernel))
    for item in _body(kernel):
        words = item.words
        if words[:1] in (("asm",), ("__asm__",)) or "&" in words[: find(words, ("=",)) + 1]:
            return True
        at = next((i for i, word in enumerate(words) if word in _ASSIGNS), -1)
        if item.kind == "simple" and at > 0 and not _is_own(words[:at], own):
            return True
        if item.kind in ("simple", "macro") and _calls_more(words):
            return True
    return False


def _arrays(kernel: Kernel) -> list[str]:
    """Those that the kernel declares."""
    return [
        word
        for item in kernel.body
        if is_declaration(item.words)
        for word, after in zip(item.words, item.words[1:], strict=False)
        if after == "[" and word.isidentifier()
    ]


def _is_own(target: Sequence[str], own: set[str]) -> bool:
    """A variable, or an element of an array of the kernel's own."""
    if is_declaration(target) and "[" not in target:
        return "*" not in target and "&" not in target
    if "*" in target or "->" in target:
        return False
    return "[" not in target or target[0] in own or is_declaration(target)


def _calls_more(words: Sequence[str]) -> bool:
    """Whether a statement is a call: of what could store."""
    return (
        len(words) > 1
        and words[0].isidentifier()
        and words[0] not in _NO_STORES | _NO_CALLS
        and words[1] in ("(", "::", ".", "->", "<", ";")
    )
