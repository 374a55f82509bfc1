#!/usr/bin/env python3
"""Mistakes that a machine makes in right programs, and whether a report opens on the line that has one.

    common/measure/causes/planted.py --seed 21 --count 200 --output PLANTED.jsonl [--labs 05 06] [--jobs 2]
    common/measure/causes/planted.py --again PLANTED.jsonl --output AGAIN.jsonl

Of the solutions and of the programs in fresh/, one token or one line is changed: a name for another, a number, an
operator, a term that is dropped, two arguments, parentheses, a type, a line that is deleted, exchanged with the next
or moved behind a brace. What does not compile, or passes, is no mistake and is not counted, nor what
is made of a program that is not right as it is. `--again` grades those
of a run that were missed, with the grader as it is now. Run it in the repository's root.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]

from grader.labs.course import Course, find_course  # noqa: E402
from grader.labs.lab import load_lab  # noqa: E402
from grader.labs.options import Options  # noqa: E402
from grader.labs.submission import Submission  # noqa: E402
from grader.pipeline.grade import grade  # noqa: E402
from grader.tests import corpus_files  # noqa: E402

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|<<=|>>=|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|\+\+|--|"
    r"->|::|<<|>>|[^\s]",
    re.DOTALL,
)
_WORDS = frozenset(
    "int float void const if for while return else unsigned auto bool size_t static inline template typename struct "
    "class using namespace std double char do switch case break continue true false nullptr sizeof constexpr extern "
    "volatile operator public private dim3".split()
)
# Names that students mix up.
_PAIRS = (
    ("x", "y"), ("row", "col"), ("tx", "ty"), ("bx", "by"), ("M", "N"), ("J", "L"), ("J", "K"), ("K", "L"), ("j", "l"),
    ("j", "k"), ("k", "l"), ("BM", "BN"), ("TM", "TN"), ("BK", "BN"), ("BM", "BK"), ("width", "height"),
    ("rows", "cols"), ("r", "c"), ("i", "j"),
)  # fmt: skip
_OTHER = {
    "+": "-*", "-": "+", "*": "+", "/": "%", "%": "/", "<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",),
    "&&": ("||",), "||": ("&&",), "==": ("!=",), "+=": ("=",), "<<": (">>",), ">>": ("<<",), "^": "+", "&": "|",
}  # fmt: skip
_NOT_CHANGED = re.compile(
    r"#include|#define|__global__|void solve|\btemplate|^\s*(static |inline |__device__|__host__)"
)
_NO_STATEMENT = re.compile(
    r"(return|using|static_assert|int |const |float |auto |unsigned |dim3|extern|__shared__|constexpr|typedef|#|})"
)
_NEAR = 7  # lines in which another name is looked for
_KINDS = {  # how often each is made
    "name": 3, "number": 2, "operator": 2, "drop": 2, "arguments": 2, "parentheses": 1, "type": 1, "delete": 1,
    "exchange": 1.5, "moved": 1.5,
}  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """A program with a mistake; `guilty`: the lines that a report may open on."""

    base: str
    lab: str
    kind: str
    text: str
    guilty: tuple[int, ...]


class _Program:
    """The tokens of a right program, and what may be changed in them."""

    def __init__(self, text: str, chance: random.Random) -> None:
        self.text, self.chance = text, chance
        tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
        self.code = [one for one in tokens if not one[0].startswith(("//", "/*", '"'))]

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def around(self, at: int) -> str:
        """The line that a place stands in."""
        end = self.text.find("\n", at)
        return self.text[self.text.rfind("\n", 0, at) + 1 : end if end >= 0 else None]

    def word(self, at: int) -> str:
        return self.code[at][0] if 0 <= at < len(self.code) else ""

    def changed(self, first: int, end: int, by: str) -> tuple[str, tuple[int, ...]]:
        return self.text[:first] + by + self.text[end:], (self.line(first),)

    def mistakes(self) -> Iterator[tuple[str, str, tuple[int, ...]]]:
        """(kind, the text with it, its lines)."""
        for at, (word, first, end) in enumerate(self.code):
            if _NOT_CHANGED.search(self.around(first)):
                continue
            for by in self._names(at):
                yield ("name", *self.changed(first, end, by))
            if re.fullmatch(r"\d+", word):
                value = int(word)
                for other in sorted(
                    {value + 1, max(value - 1, 0), value * 2, value // 2} - {value}
                ):
                    yield ("number", *self.changed(first, end, str(other)))
            for other in _OTHER.get(word, ()) if self._is_binary(at) else ():
                yield ("operator", *self.changed(first, end, other))
            if (
                word in ("+", "*")
                and self._is_binary(at)
                and re.fullmatch(r"\w+", self.word(at + 1))
            ):
                if self.word(at + 2) not in (".", "::", "(", "["):
                    yield ("drop", *self.changed(first, self.code[at + 1][2], ""))
            if word == "(":
                yield from self._of_parentheses(at)
            if word == "float" and self.word(at - 1) in (";", "{", "}", ")"):
                if re.match(r"[a-z]", self.word(at + 1)):
                    yield ("type", *self.changed(first, end, "int"))
            if word == "size_t":
                yield ("type", *self.changed(first, end, "int"))
        yield from self._of_lines()

    def _is_binary(self, at: int) -> bool:
        before, word = self.word(at - 1), self.word(at)
        if not re.fullmatch(r"[\w.]+|[\])]", before) or before in _WORDS:
            return False
        is_template = word in "<>" and (
            before in ("template", "static_cast", "reinterpret_cast") or self.word(at + 1) in "("
        )
        return not is_template and self.word(at + 1) not in (",", ")")

    def _names(self, at: int) -> Iterator[str]:
        word, before = self.word(at), self.word(at - 1)
        if (
            not re.fullmatch(r"[A-Za-z_]\w*", word)
            or word in _WORDS
            or self.word(at + 1) in ("(", "::", "<")
        ):
            return
        if before in _WORDS - {"return", "else", "case"} or word.startswith(("cuda", "__")):
            return  # it is declared there
        if before in "*&" and self.word(at - 2) in _WORDS:
            return
        known = {one for one, _, _ in self.code}
        other = [b if word == a else a for a, b in _PAIRS if word in (a, b)]
        other = [one for one in other if one in known]
        if before in (".", "->"):
            yield from [one for one in other if one in "xyzw"][:1]
            return
        yield from other[:1]
        here = self.line(self.code[at][1])
        near = sorted(
            {
                one
                for one, first, _ in self.code
                if abs(self.line(first) - here) <= _NEAR and re.fullmatch(r"[A-Za-z_]\w*", one)
                if one not in _WORDS and one != word and not one.startswith(("cuda", "__", "std"))
            }
        )
        if near:
            yield self.chance.choice(near)

    def _of_parentheses(self, at: int) -> Iterator[tuple[str, str, tuple[int, ...]]]:
        """Two arguments in each other's place; a sum without its parentheses."""
        before, depth, parts, first = self.word(at - 1), 0, [], self.code[at][2]
        for word, begin, end in self.code[at : at + 60]:
            depth += (word in "([{") - (word in ")]}")
            if depth == 0:
                parts.append((first, begin))
                break
            if word == "," and depth == 1:
                parts.append((first, begin))
                first = end
        else:
            return
        said = [self.text[a:b].strip() for a, b in parts]
        is_call = re.match(r"[A-Za-z_]", before) and before not in (
            "if",
            "for",
            "while",
            "switch",
            "return",
            "sizeof",
        )
        if is_call and 2 <= len(parts) <= 7:
            for one in range(len(parts) - 1):
                a, b = said[one], said[one + 1]
                if a != b and a and b and not re.search(r"\b(int|float|const)\b", a + b):
                    yield (
                        "arguments",
                        *self.changed(parts[one][0], parts[one + 1][1], f"{b}, {a}"),
                    )
        elif (
            len(parts) == 1 and not re.match(r"[\w>]", before) and re.search(r"[+\-*/%?]", said[0])
        ):
            yield ("parentheses", *self.changed(self.code[at][1], parts[0][1] + 1, said[0]))

    def _of_lines(self) -> Iterator[tuple[str, str, tuple[int, ...]]]:
        lines = self.text.split("\n")
        start = next(
            (n for n, row in enumerate(lines) if "__global__" in row or "__device__" in row), 0
        )
        for at in range(start, len(lines) - 1):
            row, following = lines[at].strip(), lines[at + 1].strip()
            if not row.endswith(";") or _NO_STATEMENT.match(row) or "for (" in row:
                continue
            yield "delete", "\n".join(lines[:at] + lines[at + 1 :]), (max(1, at), at + 1)
            turned = "\n".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]])
            if following.endswith(";") and not re.match(r"return|}", following):
                yield "exchange", turned, (at + 1, at + 2)
            if following == "}" and "sync" in row:
                yield "moved", turned, (at, at + 1, at + 2)


def programs() -> dict[str, str]:
    """The lab of each program; solutions count threefold."""
    found = {}
    for listed in sorted(HERE.glob("*.toml")):
        for entry in tomllib.loads(listed.read_text()).get("mistake", ()):
            if entry["base"].startswith("fresh/"):
                found[entry["base"]] = entry["lab"]
    for lab in corpus_files.ladder():
        found |= {f"solution {lab} {number}": lab for number in range(3)}
    return found


def text_of(base: str) -> str:
    return (
        corpus_files.bare_solution(base.split()[1])
        if " " in base
        else (HERE / f"{base}.cu").read_text()
    )


def planted(seed: int, count: int, labs: list[str]) -> list[Planted]:
    chance, found = random.Random(seed), []
    known = {
        base: folder
        for base, lab in programs().items()
        if (folder := next((one for one in corpus_files.labs() if one.startswith(lab)), None))
        if not labs or folder[:2] in labs
    }
    bases = sorted(known)
    chance.shuffle(bases)
    for number in range(count):
        base = bases[number % len(bases)]
        made = list(_Program(text_of(base), chance).mistakes())
        kinds = sorted({kind for kind, _, _ in made})
        kind = chance.choices(kinds, [_KINDS[one] for one in kinds])[0]
        found.append(
            Planted(base, known[base], *chance.choice([one for one in made if one[0] == kind]))
        )
    return found


def graded(course: Course, one: Planted) -> dict:
    submission = Submission(Path("matmul.cu"), "matmul.cu", one.text, one.text.encode())
    result = grade(course, load_lab(course.folder(one.lab)), submission, Options("sim"))
    first = result.diagnostics[0] if result.diagnostics else None
    return {
        "base": one.base, "lab": one.lab, "kind": one.kind, "guilty": one.guilty, "text": one.text,
        "status": result.status, "code": first.code if first else "", "line": first.line if first else 0,
        "message": first.message if first else "",
    }  # fmt: skip


def of_right_programs(
    course: Course, chosen: list[Planted], pool: ThreadPoolExecutor
) -> list[Planted]:
    """Without those of programs that have a finding, or lose points, as they are."""
    bases = {one.base: Planted(one.base, one.lab, "", text_of(one.base), ()) for one in chosen}
    found = pool.map(lambda one: graded(course, one), bases.values())
    right = {one["base"] for one in found if one["status"] == "passed" and not one["code"]}
    return [one for one in chosen if one.base in right]


def is_counted(found: dict) -> bool:
    return found["code"] != "does-not-compile" and (found["status"] != "passed" or found["code"])


def is_named(found: dict) -> bool:
    return found["line"] in found["guilty"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--labs", nargs="*", default=[])
    parser.add_argument("--again", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    a = parser.parse_args()
    if a.again:
        known = [json.loads(row) for row in a.again.read_text().splitlines()]
        missed = [one for one in known if is_counted(one) and not is_named(one)]
        fields = ("base", "lab", "kind", "text")
        chosen = [Planted(*(one[name] for name in fields), tuple(one["guilty"])) for one in missed]
    else:
        chosen = planted(a.seed, a.count, a.labs)
    course, counts = find_course(HERE), Counter()
    with a.output.open("w") as out, ThreadPoolExecutor(a.jobs) as pool:
        chosen = of_right_programs(course, chosen, pool)
        for found in pool.map(lambda one: graded(course, one), chosen):
            out.write(json.dumps(found) + "\n")
            out.flush()
            if is_counted(found):
                counts[found["kind"], is_named(found)] += 1
                if not is_named(found):
                    row = found["text"].split("\n")[found["guilty"][-1] - 1].strip()
                    print(found["base"], found["kind"], found["guilty"], row)
                    print(f"    {found['line']} {found['code']}: {found['message']}", flush=True)
    for kind in _KINDS:
        print(f"{kind:12} {counts[kind, True]:4} of {counts[kind, True] + counts[kind, False]}")
    named = sum(counts[kind, True] for kind in _KINDS)
    print(f"{named} of {sum(counts.values())} open on the line that was changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
