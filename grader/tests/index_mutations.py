"""Wrong indices, made mechanically: one index expression of a solution's kernel changed.

Indices are what stands in [ ], the whole numbers that a kernel declares, and the arguments of the
helpers that move four elements. Each is changed in the ways that people do it: two exchanged, a
part dropped, one too many, a row counted with another length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ARRAYS = ("M", "N", "P", "Mds", "Nds", "out", "from", "to")
_HELPERS = ("load4", "store4", "copy4")
_DECLARED = re.compile(r"(?:\bint |, )(\w+) = (?=[^;=]*(?:threadIdx|blockIdx|\b(?:tx|ty|ph|e|lane|warp|"
                       r"row|col|first_row|first_col|warp_row|warp_col|thread)\b))")  # fmt: skip
_OTHERS = {
    "tx": "ty", "ty": "tx", "row": "col", "col": "row", "m_col": "n_row", "n_row": "m_col",
    "first_row": "first_col", "first_col": "first_row", "threadIdx.x": "threadIdx.y",
    "threadIdx.y": "threadIdx.x", "blockIdx.x": "blockIdx.y", "blockIdx.y": "blockIdx.x",
    "warp_row": "warp_col", "warp_col": "warp_row",
}  # fmt: skip
_LENGTHS = {
    "width": ("16",), "TILE_WIDTH": ("width",), "j": ("k",), "k": ("l",), "l": ("k",),
    "cols": ("rows",), "BK": ("BM",), "BM": ("BK",), "BN": ("BK",), "TM": ("TN + 1",),
    "LM": ("LN",), "LN": ("LM",), "WM": ("WN",), "WN": ("WM",),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A kernel with one index changed."""

    lab: str
    kind: str  # "swap", "drop", "off by one", "stride"
    line: int
    old: str
    new: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.lab[:2]}-{self.line}-{self.kind}-{self.new}".replace(" ", "")


def mutants(lab: str, text: str) -> list[Mutant]:
    """All of one solution, each text once, in the order of lines."""
    found, seen = [], {text}
    begin, end = _kernel(text)
    for start, stop in _places(text):
        if not begin <= start < end:
            continue
        old = text[start:stop]
        for kind, new in _changed(old):
            whole = text[:start] + new + text[stop:]
            if whole not in seen:
                seen.add(whole)
                line = text.count("\n", 0, start) + 1
                found.append(Mutant(lab, kind, line, old, new, whole))
    return found


def _kernel(text: str) -> tuple[int, int]:
    """Device code: from the first function that computes indices to solve."""
    starts = [
        text.find(word) for word in ("__device__ float4 load4", "__device__ void", "__global__")
    ]
    return min(at for at in starts if at >= 0), text.index("void solve(")


def _places(text: str) -> list[tuple[int, int]]:
    found = set()
    for match in re.finditer(r"\b(" + "|".join(_ARRAYS) + r")\[", text):
        if _is_comment(text, match.start()) or "__shared__" in _line(text, match.start()):
            continue
        first, at = None, match.end() - 1
        while at < len(text) and text[at] == "[":
            end = _closing(text, at)
            found.add((at + 1, end))
            first, at = first if first is not None else at, end + 1
        if text[first + 1 : at - 1].count("][") >= 1:
            found.add((first, at))  # all its indices together
    for match in re.finditer(r"\b(" + "|".join(_HELPERS) + r")\(", text):
        if _is_comment(text, match.start()) or "__device__" in _line(text, match.start()):
            continue
        end = _closing(text, match.end() - 1)
        parts = _split(text, match.end(), end, ",")
        found |= set(parts[-2:] if match[1] != "store4" else parts[-3:-1])
    for match in _DECLARED.finditer(text):
        if _is_comment(text, match.start()) or "for (" in _line(text, match.start()):
            continue
        depth, at = 0, match.end()
        while depth or text[at] not in ",;":
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        found.add((match.end(), at))
    for match in re.finditer(r"= (A \+ [^;]*);", text):
        found.add((match.start(1), match.end(1)))
    return sorted(found)


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]


def _is_comment(text: str, at: int) -> bool:
    return "//" in text[text.rfind("\n", 0, at) + 1 : at]


def _closing(text: str, at: int) -> int:
    depth = 0
    while True:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if not depth:
            return at
        at += 1


def _split(text: str, start: int, end: int, sign: str) -> list[tuple[int, int]]:
    parts, depth, begin = [], 0, start
    for at in range(start, end):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if text[at] == sign and not depth:
            parts.append((begin, at))
            begin = at + 1
    parts.append((begin, end))
    strip = lambda a, b: (a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip()))  # noqa: E731
    return [strip(a, b) for a, b in parts]


def _changed(old: str) -> list[tuple[str, str]]:
    """(kind, the changed expression)."""
    found = []
    if old.startswith("["):
        parts = re.findall(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]", old)
        found.append(("swap", "".join(f"[{p}]" for p in (*parts[:-2], parts[-1], parts[-2]))))
        return found
    for match in re.finditer(r"(?:threadIdx|blockIdx)\.[xy]|\b[a-z_]+\b", old):
        if match[0] in _OTHERS:
            new = old[: match.start()] + _OTHERS[match[0]] + old[match.end() :]
            found.append(("swap", new))
    summands = _split(old, 0, len(old), "+")
    if len(summands) > 1:
        for start, stop in summands:
            if old[start:stop] == "A":
                continue
            kept = [old[a:b] for a, b in summands if (a, b) != (start, stop)]
            found.append(("drop", " + ".join(kept)))
    elif "*" not in old and "/" not in old and "%" not in old and "." not in old:
        found.append(("off by one", f"{old} + 1"))
    for match in re.finditer(r"(?<=\* )\w+\b(?! [/(]|\.|\()", old):
        for other in _LENGTHS.get(match[0], ()):
            found.append(("stride", old[: match.start()] + other + old[match.end() :]))
        if match[0] not in ("width", "k", "l", "cols"):
            found.append(("drop", old[: match.start() - 3] + old[match.end() :]))
    return found
