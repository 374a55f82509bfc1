"""The corpus: right and wrong submissions. The one place that reads corpus/*/corpus.toml.

    python -m grader.tests.corpus_files 02 no-first-barrier            print the file
    python -m grader.tests.corpus_files 02 --output build/corpus       write all files of a lab

corpus/README.md describes the format. Most submissions are stored as an edit of a solution, so that
the fault, or the style, is all one reads; here the file is made of it.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.labs.submission import Submission

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = REPOSITORY / "grader" / "tests" / "corpus"
KINDS = ("wrong", "right")
FILE_NAME = "matmul.cu"
# What `at` may be besides part of a line: the only launch, or that no line is named.
LAUNCH, NO_LINE = PLACES = ("launch", "none")
_TODO = re.compile(r"\s*// TODO\(\d+\): ")
_END_OF_TODO = re.compile(r"\(about \d+ lines?\)$")
_CLOSE = re.compile(r"\s*// END TODO\(\d+\)$")


class CorpusError(Exception):
    """An entry that cannot be read, or an edit that does not fit. One sentence."""


@dataclass(frozen=True)
class Entry:
    """One submission of the corpus, and what grading it must say."""

    lab: str
    kind: str  # one of KINDS
    name: str
    fault: str = ""  # wrong ones: what is wrong
    style: str = ""  # right ones: how it differs from the solution
    edit: str = ""  # the lines by which it differs from `base`
    base: str = ""  # "": its lab's solution, bare; or another lab's; "solution"; "right/NAME"
    code: str = ""  # of a wrong one: the code that the report opens with
    at: str = ""  # part of the line that it names; or one of PLACES
    check: str = ""  # this check must fail, where the fault is no diagnostic
    pattern: str = ""  # of a wrong result
    elements: str = ""  # of a wrong result without a pattern: how many, and the first
    says: str = ""  # words of that diagnostic or its advice
    omits: str = ""  # words that would mislead there
    also: str = ""  # a code that the report must show beside the first
    echo: str = ""  # this code is told as following from another one
    mistaken: str = ""  # the report is not yet what is pinned: what it says instead
    on_gpu: str = ""  # why it may lose points there
    takes_long: bool = False  # `make test` grades another one of its code and lab

    @property
    def id(self) -> str:
        return f"{self.lab[:2]}-{self.name}"

    @property
    def is_stored(self) -> bool:
        """As a file of its own: it is neither an edit nor another lab's solution."""
        return not (self.edit or self.base)

    @property
    def stored(self) -> Path:
        """Its own file, where it has one."""
        return CORPUS / self.lab / self.kind / f"{self.name}.cu"

    @functools.cached_property
    def text(self) -> str:
        """The submission. Raises CorpusError if the edit does not fit its base."""
        if self.is_stored:
            return self.stored.read_text(encoding="utf-8")
        try:
            base = _base(self)
            return apply(self.edit, base) if self.edit else base
        except CorpusError as error:
            raise CorpusError(f"{self.lab}, {self.kind} {self.name}: {error}") from None

    @property
    def content(self) -> bytes:
        return self.text.encode()

    @property
    def submission(self) -> Submission:
        """As read from a file; there need not be one."""
        # Here, since measurements run where its libraries are not.
        from grader.labs.submission import Submission

        return Submission(self.stored, FILE_NAME, self.text, self.content)

    def write(self, folder: Path) -> Path:
        """Writes NAME.cu into the folder, which is made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.cu"
        path.write_text(self.text, encoding="utf-8")
        return path

    @functools.cached_property
    def line(self) -> int:
        """The line that the report must name, from 1; 0: none. Raises CorpusError."""
        if self.at == NO_LINE:
            return 0
        part = "<<<" if self.at == LAUNCH else self.at
        found = [n for n, line in enumerate(self.text.splitlines(), 1) if part in line]
        if len(found) != 1:
            raise CorpusError(f"{self.id}: {part!r} stands in {len(found)} lines, and must in one.")
        return found[0]


def require_pins(entry: Entry) -> None:
    """Raises CorpusError for an entry that would pass whatever the report said."""

    def need(fits: bool, what: str) -> None:
        if not fits:
            raise CorpusError(f"{entry.lab}, {entry.kind} {entry.name}: {what}.")

    if entry.kind == "right":
        need(bool(entry.style), "style is missing")
        return
    need(bool(entry.fault), "fault is missing")
    need(bool(entry.code) != bool(entry.check), "one of code and check must be given")
    need(bool(entry.at), f"at is missing: part of the line the report names, or {PLACES}")
    if entry.code == "wrong-result":
        need(
            bool(entry.pattern) + bool(entry.elements) == 1
            or bool(entry.says and not entry.pattern and not entry.elements),
            "a wrong result pins its pattern, or its elements where no pattern fits, or what is said",
        )
    else:
        need(not (entry.pattern or entry.elements), "only a wrong result has a pattern or elements")
    need(
        bool(entry.code) or not (entry.says or entry.omits or entry.also),
        "says, omits and also go with a code",
    )


def apply(edit: str, base: str) -> str:
    """The base with the edit's hunks carried out. Raises CorpusError if one does not fit."""
    lines = base.splitlines()
    found = []
    for hunk in _hunks(edit):
        old = [line[1:] for line in hunk if not line.startswith("+")]
        new = [line[1:] for line in hunk if not line.startswith("-")]
        shown = f"{hunk[0]!r}, a hunk of {len(hunk)} lines,"
        if old == new:
            raise CorpusError(f"{shown} changes nothing.")
        if not old:
            raise CorpusError(f"{shown} does not say where its lines go.")
        places = [i for i in range(len(lines)) if lines[i : i + len(old)] == old]
        if len(places) != 1:
            raise CorpusError(f"{shown} stands {len(places)} times in its base, and must once.")
        found.append((places[0], old, new))
    found.sort(key=lambda one: one[0])
    for (before, old, _), (after, _, _) in zip(found, found[1:], strict=False):
        if after < before + len(old):
            raise CorpusError(f"two hunks change line {after + 1} of the base.")
    for place, old, new in reversed(found):
        lines[place : place + len(old)] = new
    return "\n".join(lines) + "\n"


def _hunks(edit: str) -> list[list[str]]:
    hunks: list[list[str]] = [[]]
    for line in edit.splitlines():
        if line == "@@":
            hunks.append([])
        elif line[:1] in ("", " ", "+", "-"):
            hunks[-1].append(line or " ")  # an empty line of the base
        else:
            raise CorpusError(f"{line!r} begins with none of ' ', '+' and '-'.")
    if not all(hunks):
        raise CorpusError("a hunk is empty.")
    return hunks


def _base(entry: Entry) -> str:
    """Bare solutions begin with a line that says what the entry is."""
    kind, _, name = entry.base.partition("/")
    if not entry.base or entry.base in labs():
        said = f"Fault: {entry.fault}" if entry.kind == "wrong" else f"Style: {entry.style}"
        return f"// {said}\n" + bare_solution(entry.base or entry.lab)
    if not entry.edit:
        raise CorpusError(f"base {entry.base!r} without an edit is that submission again.")
    if entry.base == "solution":
        return _solution(entry.lab)
    if kind not in KINDS or not name or name == entry.name:
        raise CorpusError(f"there is no base {entry.base!r}.")
    return find(entry.lab, name).text


def _solution(lab: str) -> str:
    return (REPOSITORY / "solutions" / lab / FILE_NAME).read_text(encoding="utf-8")


@functools.cache
def bare_solution(lab: str) -> str:
    """A lab's solution as somebody would write it who was given no skeleton: without the opening
    comment and without the TODO marks."""
    lines = _solution(lab).splitlines()
    while lines and lines[0].startswith("//"):
        del lines[0]
    kept, inside = [], False
    for line in lines:
        if inside or _TODO.match(line):
            inside = not _END_OF_TODO.search(line)
        elif not _CLOSE.match(line):
            kept.append(line)
    return "\n".join(kept) + "\n"


@functools.cache
def _lab(lab: str) -> tuple[Entry, ...]:
    known = {field.name for field in fields(Entry)} - {"lab", "kind"}
    path = CORPUS / lab / "corpus.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = []
    for kind in KINDS:
        for item in table.get(kind, ()):
            if unknown := set(item) - known:
                raise CorpusError(f"{lab}, {item.get('name')}: unknown {sorted(unknown)}")
            entry = Entry(lab, kind, **item)
            require_pins(entry)
            found.append(entry)
    return tuple(found)


def labs() -> list[str]:
    """Folder names of the labs that have a corpus."""
    return sorted(path.parent.name for path in CORPUS.glob("*/corpus.toml"))


def ladder() -> list[str]:
    """Those of them that stand in labs/."""
    return [name for name in labs() if (REPOSITORY / "labs" / name).is_dir()]


def entries(kind: str, lab: str = "") -> list[Entry]:
    """Of one lab or of all, in the order of corpus.toml; none if the lab has no corpus."""
    chosen = [lab] if lab else labs()
    return [entry for name in chosen for entry in _lab(name) if entry.kind == kind]


def find(lab: str, name: str) -> Entry:
    """An entry by the lab's number or folder name and its own name. Raises CorpusError."""
    for folder in labs():
        if lab in (folder, folder.partition("-")[0]):
            for entry in _lab(folder):
                if entry.name == name:
                    return entry
    raise CorpusError(f"the corpus of lab {lab} has no {name}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lab", help="number or folder name")
    parser.add_argument("name", nargs="?", help="default: all of the lab, with --output")
    parser.add_argument("--output", type=Path, help="a folder to write NAME.cu into")
    given = parser.parse_args()
    try:
        if given.name:
            chosen = [find(given.lab, given.name)]
        elif given.output:
            chosen = [e for lab in labs() if given.lab in (lab, lab[:2]) for e in _lab(lab)]
        else:
            parser.error("name an entry, or a folder with --output")
        for entry in chosen:
            if given.output:
                print(entry.write(given.output / entry.kind))
            else:
                sys.stdout.write(entry.text)
    except CorpusError as error:
        sys.exit(f"corpus_files: {error}")


if __name__ == "__main__":
    main()
