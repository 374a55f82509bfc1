"""What solve does, read from its text: its calls and launches with their arguments and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.judging.wording import bare, calls, without_casts
from grader.labs.statements import (
    Listing,
    Statement,
    arguments,
    closing,
    find,
    function_name,
    split,
)


@dataclass(frozen=True)
class Said:
    """What a rule found: the cause, where, and what to do."""

    text: str
    line: int
    advice: str = ""


@dataclass(frozen=True)
class Call:
    """One call in solve."""

    name: str
    given: tuple[tuple[str, ...], ...]
    line: int
    number: int  # of its statement: their order

    def variable(self, at: int) -> str:
        """The name that an argument is, without & and casts; "" if it is more."""
        if at >= len(self.given):
            return ""
        return plain_name(self.given[at])


def plain_name(words: Sequence[str]) -> str:
    words = list(bare(without_casts(words)))
    while words:
        if words[0] == "(" and ")" in words:  # (void**), (float*), (const void*)
            end = closing(words, 0)
            inner = words[1:end]
            if not inner or not all(w.replace("_", "a").isalnum() or w == "*" for w in inner):
                break
            if end == len(words) - 1:
                words = inner
                break
            words = words[end + 1 :]
        elif words[0] == "&":
            words = words[1:]
        elif words[0] in ("const_cast", "reinterpret_cast", "static_cast") and "(" in words:
            at = words.index("(")
            words = words[at + 1 : closing(words, at)]
        else:
            break
    return words[0] if len(words) == 1 and words[0].isidentifier() else ""


_CALLS = ("cudaMalloc", "cudaMemcpy", "cudaFree", "cudaMemset", "cudaMemcpyAsync")


@dataclass
class Launch:
    kernel: str
    settings: list[tuple[str, ...]]
    given: list[tuple[str, ...]]
    line: int
    number: int
    template: list[tuple[str, ...]] = field(default_factory=list)  # its arguments
    given_line: int = 0  # of cudaLaunchKernel: where its arguments are put together


@dataclass
class Host:
    """solve, as far as it can be read."""

    solve: Statement
    parameters: list[str]
    calls: list[Call] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    # Those of solve, and of the helpers, methods and lambdas of the file.
    all_launches: list[Launch] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)

    def of(self, *names: str) -> list[Call]:
        return [call for call in self.calls if call.name in names]

    @property
    def pointers(self) -> list[str]:
        return self.parameters[:3]

    @property
    def allocated(self) -> list[str]:
        return [name for call in self.of("cudaMalloc") if (name := call.variable(0))]


def read(text: Listing) -> Host | None:
    """None where there is not exactly one solve."""
    solve = text.named("solve")
    if solve is None:
        return None
    host = Host(solve, text.parameters(solve))
    host.body = text.inside(solve)
    for item in host.body:
        for name in _CALLS:
            for given in calls(item, name):
                host.calls.append(Call(name, tuple(given), item.line, item.number))
        host.launches += launches_of(text, item)
    host.all_launches = [
        one
        for item in text.statements
        if not _is_of_kernel(text, item)
        for one in launches_of(text, item)
    ]
    host.calls.sort(key=lambda call: call.number)
    return host


def launches_of(text: Listing, item: Statement) -> list[Launch]:
    """The launches of a statement: <<<...>>>, or cudaLaunchKernel."""
    found = []
    at = find(item.words, ("<<<",))
    if at > 0:
        end = find(item.words, (">>>",), at)
        before = at - 1
        template: list[tuple[str, ...]] = []
        if item.words[before] == ">":
            opened = max(i for i in range(before) if item.words[i] == "<")
            template = split(item.words[opened + 1 : before], ",")
            before = opened - 1
        if end > 0 and end + 1 < len(item.words):
            found.append(
                Launch(
                    item.words[before],
                    split(item.words[at + 1 : end], ","),
                    arguments(item.words, end + 1),
                    item.lines[at],
                    item.number,
                    template,
                )
            )
    for given in calls(item, "cudaLaunchKernel"):
        if len(given) < 4:
            continue
        name = plain_name(given[3])
        known = text.declaration(name, item) if name else None
        words = known[1] if known is not None else ()
        parts = split(words[1 : closing(words, 0)], ",") if words[:1] == ("{",) else []
        parts = [tuple(part[1:]) if part[:1] == ("&",) else tuple(part) for part in parts]
        line = known[0] if known is not None else item.line
        settings = [tuple(one) for one in (*given[1:3], *given[4:6])]  # as in <<<...>>>
        found.append(
            Launch(plain_name(given[0]), settings, parts, item.line, item.number, [], line)
        )
    return found


def _is_of_kernel(text: Listing, item: Statement) -> bool:
    function = text.function_of(item)
    return function is not None and "__global__" in function.words


def roles_of(found: Host) -> dict[str, str]:
    """Device buffer -> the parameter of solve that is copied into it or out of it."""
    roles: dict[str, str] = {}
    for call in found.of("cudaMemcpy", "cudaMemcpyAsync"):
        to, source = call.variable(0), call.variable(1)
        if to in found.allocated and source in found.parameters:
            roles.setdefault(to, source)
        elif source in found.allocated and to in found.parameters:
            roles.setdefault(source, to)
    return roles


def definition(text: Listing, words: Sequence[str], near: Statement) -> tuple[int, tuple[str, ...]]:
    """(line, words) of what an expression means: of a name, its declaration."""
    name = plain_name(words)
    known = text.declaration(name, near) if name else None
    if known is not None and known[1]:
        return known
    return 0, tuple(words)


def statement_of(text: Listing, number: int) -> Statement:
    return text.statements[number]


__all__ = ["Host", "Said", "function_name", "read"]
