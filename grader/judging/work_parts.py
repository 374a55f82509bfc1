"""Work that is cut into parts: what is left of another side, a part that is taken twice, one that has the
first part's rows, and parts that are rounded down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.host import Host, Launch, Said, launches_of
from grader.judging.wording import names_in, value, without_casts
from grader.labs.statements import Listing, Statement, arguments, declared

CODES = frozenset(
    {
        "wrong-result", "out-of-bounds-global", "unwritten-output", "host-computed",
        "uninitialised-global", "low-precision",
    }
)  # fmt: skip
_BETWEEN = 2  # statements that ask for errors


def wrong_part(text: Listing, host: Host) -> Said | None:
    return _left_of_another(text) or _taken_twice(text) or _first_rows(host) or _rounded_down(text)


def _left_of_another(text: Listing) -> Said | None:
    """for (top = 0; top < j; ...) for (left = 0; left < l; ...) columns = min(SIDE, l - top);"""
    for item in text.statements:
        ends = {name: end for name, end in map(_counted_to, text.loops(item)) if name}
        for at, word in enumerate(item.words[1:-1], 1):
            size, start = item.words[at - 1], item.words[at + 1]
            if (
                word != "-"
                or ends.get(start, size) == size
                or item.words[at + 2 : at + 3] == ("*",)
            ):
                continue
            others = [name for name, end in ends.items() if end == size and name != start]
            if len(others) == 1 and item.words[at - 2] in ("(", ",", "=", "<", "?", ":"):
                return Said(
                    f"{size} - {start}: {start} counts to {ends[start]}, and {others[0]} to {size}, so what "
                    f"is left of {size} is {size} - {others[0]}.",
                    item.lines[at],
                    f"Take {others[0]} away.",
                )
    return None


def _counted_to(loop: Statement) -> tuple[str, str]:
    """(i, n) of for (int i = 0; i < n; ...)."""
    if loop.kind != "for" or len(loop.parts) != 3:
        return "", ""
    condition = loop.parts[1]
    is_plain = len(condition) == 3 and condition[1] == "<" and condition[2].isidentifier()
    return (condition[0], condition[2]) if is_plain else ("", "")


def _taken_twice(text: Listing) -> Said | None:
    """Two launches side by side that are given the same, of a kernel that adds to what is there."""
    before: dict[int, tuple[Launch, Statement]] = {}
    for item in text.statements:
        for launch in launches_of(text, item):
            kernel = text.named(launch.kernel)
            known = before.get(item.parent)
            before[item.parent] = launch, item
            if kernel is None or known is None or not _adds(text, kernel):
                continue
            first, where = known
            same = (first.kernel, first.settings, first.given, first.template) == (
                launch.kernel, launch.settings, launch.given, launch.template,
            )  # fmt: skip
            if same and item.number - where.number <= 1 + _BETWEEN and len(launch.given) > 1:
                if _is_undisturbed(text, where, item, launch):
                    return Said(
                        f"{launch.kernel} is launched with the same arguments as in line {first.line}: it "
                        "takes the same part once more, and another one is left out.",
                        launch.line,
                        "Where does the next part begin, and where does it end?",
                    )
    return None


def _is_undisturbed(text: Listing, first: Statement, last: Statement, launch: Launch) -> bool:
    names = {name for one in launch.given for name in names_in(one)}
    between = text.statements[first.number + 1 : last.number]
    return not any(names & set(one.words) for one in between)


def _adds(text: Listing, kernel: Statement) -> bool:
    """Whether a kernel both reads and writes an array that it is given."""
    names = text.parameters(kernel)
    inside = text.inside(kernel)
    for name in names:
        stores = [one for one in inside if one.words[:2] == (name, "[") and "=" in one.words]
        adds = [one for one in inside if one.words[:2] == (name, "[") and "+=" in one.words]
        reads = [one for one in inside if one.has(name, "[") and one not in stores]
        if adds or (stores and reads):
            return True
    return False


def _first_rows(host: Host) -> Said | None:
    """kernel(M, N, P + upper * l, ...): P goes on by some rows, and M does not."""
    if len(host.parameters) != 6:
        return None
    m, _, p, *_, length = host.parameters
    for item in host.body:
        for given in _calls(item):
            if (m,) not in given:
                continue
            for one in given:
                rows = _rows_further(one, p, length)
                others = {word for other in given if other is not one for word in other}
                if rows and rows not in others:
                    return Said(
                        f"{p} goes on by {rows} rows here, and {m} does not: these rows of {p} are made of the "
                        f"first rows of {m}.",
                        item.line,
                        f"{m} goes on by as many rows, each as long as a row of {m}.",
                    )
    return None


def _calls(item: Statement) -> Iterator[list[tuple[str, ...]]]:
    for at, word in enumerate(item.words[1:], 1):
        before = item.words[at - 1]
        if word == "(" and (before == ">>>" or before.isidentifier()):
            yield [tuple(without_casts(one)) for one in arguments(item.words, at)]


def _rows_further(words: Sequence[str], name: str, length: str) -> str:
    """X of P + X * l."""
    if len(words) != 5 or words[0] != name or words[1] != "+" or words[3] != "*":
        return ""
    one, two = words[2], words[4]
    if length not in (one, two):
        return ""
    rows = one if two == length else two
    return rows if rows.isidentifier() and rows != length else ""


def _rounded_down(text: Listing) -> Said | None:
    """rows = width / BANDS; for (i = 0; i < BANDS; i++) first = i * rows;"""
    for loop in text.statements:
        counter, parts = _counted_to(loop)
        function = text.function_of(loop)
        if not counter or function is None or {"__global__", "__device__"} & set(function.words):
            continue
        inside = [one for one in text.inside(function) if one.number > function.number]
        turned = text.inside(loop)
        for item in inside:
            name, whole = _quotient(item, parts)
            if not name or item.number > loop.number or value((whole,), text.constants) is not None:
                continue
            products = ((counter, "*", name), (name, "*", counter))
            if not any(one.has(*words) for one in turned for words in products):
                continue
            if any(_minds_rest(one, counter, parts, whole, name) for one in inside):
                continue
            return Said(
                f"{whole} / {parts} is rounded down: {parts} parts of so many leave out what is left over.",
                item.line,
                f"Round up: ({whole} + {parts} - 1) / {parts}; the last part has fewer.",
            )
    return None


def _quotient(item: Statement, parts: str) -> tuple[str, str]:
    """(rows, width) of int rows = width / BANDS;"""
    words = item.words
    at = words.index("=") if "=" in words else 0
    if (
        item.kind != "simple"
        or at < 1
        or len(words) != at + 5
        or words[at + 2 : at + 4] != ("/", parts)
    ):
        return "", ""
    name = words[at - 1]
    return (name, words[at + 1]) if declared(item, name) is not None else ("", "")


def _minds_rest(item: Statement, counter: str, parts: str, whole: str, name: str) -> bool:
    """Whether a statement asks for the last part, for a rest, or gives the length another value."""
    if item.has("%", parts) or item.has(parts, "-", "1") or item.has(counter, "+", "1"):
        return True
    return any(item.has(name, sign) for sign in ("+=", "++")) or item.has("++", name)
