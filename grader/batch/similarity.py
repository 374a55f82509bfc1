"""Which files resemble each other: a table of pairs, and a page that shows them side by side.

What is compared, and how what everybody has is left out, stands in likeness.py. A short kernel has
few ways to be written: a pair is a reason to look at two files, not more.
"""

from __future__ import annotations

import csv
import difflib
import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.batch import likeness
from grader.batch.gradebook import as_text
from grader.batch.intake import Handed, Submission
from grader.batch.likeness import Likeness, Profile
from grader.batch.names import Student
from grader.batch.store import write
from grader.errors import StepError, UsageError
from grader.labs.course import Course
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME
from grader.machine.toolchain import Toolchain, architecture_for, architectures
from grader.results import stored
from grader.running.compile import Compiled, compile_submission
from grader.text import clean, lines_of

REPORT = "similarity.csv"
PAGE = "similarity.html"
# A likeness that few independent pairs reach: docs/measurements/similarity.md.
_LEAST = 0.6
_SHOWN = 20  # pairs of a lab on the page
_LONGEST = 400  # lines of a file on the page
_MOST_BYTES = 128 << 10  # of a file that is compared; a skeleton has 3 KB
_SECONDS = 600.0  # for the pairs of a lab


@dataclass(frozen=True)
class Pair:
    """Two different files, and who handed them in; or one file of several students."""

    lab: str
    first: tuple[str, ...]  # keys of students
    second: tuple[str, ...]
    alike: Likeness
    texts: tuple[str, str]


def report(
    course: Course,
    output: Path,
    toolchain: Toolchain,
    options: Options,
    submissions: Sequence[Submission],
    labs: Sequence[str],
) -> list[Pair]:
    """Writes table and page into the folder `output`; the pairs, the most alike of a lab first."""
    compiler = _Compiler(course, toolchain, options)
    found: list[Pair] = []
    told: list[tuple[str, str, str]] = []
    for lab in labs:
        pairs, left_out = _of_lab(compiler, lab, submissions)
        found += pairs
        told += [(lab, *words) for words in left_out]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(["lab", "likeness", "instructions", "source", "first", "second"])
    for pair in found:
        numbers = (pair.alike.both, pair.alike.instructions, pair.alike.source)
        cells = [pair.lab, *("" if x is None else f"{x:.2f}" for x in numbers)]
        cells += [" ".join(pair.first), " ".join(pair.second)]
        table.writerow([as_text(cell) for cell in cells])
    for lab_name, student, why in told:
        table.writerow([as_text(cell) for cell in (lab_name, "", "", "", student, why)])
    write(output / REPORT, text.getvalue().encode())
    write(output / PAGE, _page(course, found).encode("utf-8", errors="replace"))
    return found


def handed_in(folders: Sequence[Path]) -> list[Submission]:
    """What was graded in folders of `grader batch`; of several, whose it is begins with the folder.

    Raises UsageError if a folder has no results.
    """
    found = []
    for folder in folders:
        paths = sorted((folder / "results").glob("*.json"))
        if not paths:
            raise UsageError(f"{folder} is no folder that `grader batch` wrote.")
        for path in paths:
            key = f"{folder.name}/{path.stem}" if len(folders) > 1 else path.stem
            files = {
                result.lab: Handed(FILE_NAME, result.source.encode())
                for result in stored.load(path).results
                if result.source
            }
            found.append(Submission(key, Student("plain", key), key, files=files))
    return found


class _Compiler:
    """Files as profiles; what the batch has compiled is not compiled again."""

    def __init__(self, course: Course, toolchain: Toolchain, options: Options) -> None:
        self.course = course
        self._toolchain = toolchain
        supported = architectures(toolchain, course)
        self._architecture = architecture_for(options.capability, supported)

    def profile(self, content: bytes) -> Profile:
        source = likeness.of_source(content.decode("utf-8", errors="replace"))
        try:
            made = compile_submission(self.course, self._toolchain, content, self._architecture)
            ptx = ""
            if isinstance(made, Compiled):
                ptx = likeness.ptx_in(made.shared_object.read_bytes())
        except (StepError, OSError):
            ptx = ""
        return Profile(source, likeness.of_instructions(ptx))


def _relatives(course: Course, lab: str) -> list[bytes]:
    """What is known of honest ways to write a lab: its solution, and the corpus where it is there."""
    corpus = course.root / "grader" / "tests" / "corpus" / lab / "right"
    paths = [course.solutions / lab / FILE_NAME, *sorted(corpus.glob("*.cu"))]
    return [path.read_bytes() for path in paths if path.is_file()]


def _of_lab(
    compiler: _Compiler, lab: str, submissions: Sequence[Submission]
) -> tuple[list[Pair], list[tuple[str, str]]]:
    """The pairs, and who was not compared and why. Students with the same file stand together."""
    students: dict[bytes, list[str]] = {}
    for one in submissions:
        if lab in one.files and not one.files[lab].problem:
            students.setdefault(one.files[lab].content, []).append(one.key)
    skeleton = (compiler.course.folder(lab) / FILE_NAME).read_bytes()
    students.pop(skeleton, None)
    texts = {content: content.decode("utf-8", errors="replace") for content in students}
    found = [
        Pair(lab, (names[0],), tuple(names[1:]), Likeness(1.0, 1.0, 1.0), (texts[one], texts[one]))
        for one, names in students.items()
        if len(names) > 1
    ]
    left_out = [
        (" ".join(names), f"not compared: longer than {_MOST_BYTES >> 10} KiB")
        for content, names in students.items()
        if len(content) > _MOST_BYTES
    ]
    compared = [content for content in students if len(content) <= _MOST_BYTES]
    if len(compared) > 1:
        relatives = [compiler.profile(content) for content in _relatives(compiler.course, lab)]
        known = likeness.Lab(skeleton.decode("utf-8", errors="replace"), relatives)
        weighed = {content: known.vectors(compiler.profile(content)) for content in compared}
        end = time.monotonic() + _SECONDS
        for first, second in combinations(compared, 2):
            alike = likeness.likeness(weighed[first], weighed[second])
            if alike.both >= _LEAST:
                two = (texts[first], texts[second])
                found.append(Pair(lab, tuple(students[first]), tuple(students[second]), alike, two))
            if time.monotonic() > end:
                left_out.append(("", "not all pairs were compared: it took too long"))
                break
    return sorted(found, key=lambda pair: (-pair.alike.both, pair.first, pair.second)), left_out


@dataclass(frozen=True)
class Row:
    """Two lines beside each other."""

    kind: str  # same | names (all but names) | given (stands in the skeleton) | only
    left: tuple[int, str]  # number from 1, 0: none; text
    right: tuple[int, str]


def side_by_side(first: str, second: str, skeleton: str) -> list[Row]:
    """The lines of both, those that say the same in one row, whatever their names are."""
    left, right = (
        [clean(line, 400) for line in lines_of(text.rstrip())[:_LONGEST]]
        for text in (first, second)
    )
    given = {line.strip() for line in lines_of(skeleton) if line.strip()}
    shapes = [[" ".join(likeness.tokens(line)) for line in lines] for lines in (left, right)]
    matcher = difflib.SequenceMatcher(None, *shapes, autojunk=False)
    rows: list[Row] = []
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            pairs = zip(range(a, b), range(c, d), strict=True)
            rows += [_row(left, right, i, j, given) for i, j in pairs]
            continue
        for step in range(max(b - a, d - c)):
            i, j = a + step, c + step
            rows.append(
                Row(
                    "only",
                    (i + 1, left[i]) if i < b else (0, ""),
                    (j + 1, right[j]) if j < d else (0, ""),
                )
            )
    return rows


def _row(left: list[str], right: list[str], i: int, j: int, given: set[str]) -> Row:
    one, other = left[i].strip(), right[j].strip()
    kind = "names"
    if not likeness.tokens(one) or (one in given and other in given):
        kind = "given"
    elif one == other:
        kind = "same"
    return Row(kind, (i + 1, left[i]), (j + 1, right[j]))


def _page(course: Course, pairs: Sequence[Pair]) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = []
    for lab in dict.fromkeys(pair.lab for pair in pairs):
        skeleton = (course.folder(lab) / FILE_NAME).read_text(encoding="utf-8", errors="replace")
        own = [pair for pair in pairs if pair.lab == lab]
        listed = [
            (pair, side_by_side(*pair.texts, skeleton) if pair.texts[0] != pair.texts[1] else [])
            for pair in own[:_SHOWN]
        ]
        shown.append((lab, listed, len(own) - len(listed)))
    return environment.get_template("similarity.jinja").render(labs=shown)
