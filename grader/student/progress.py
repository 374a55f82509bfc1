"""What the student has reached so far, remembered in .tilewise/progress.json.

Only grading the working copies under labs/ is remembered. A damaged file is started anew: it
holds nothing that grading again does not bring back.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass, field, replace

from grader.labs.course import Course
from grader.labs.lab import FULL_POINTS, load_lab
from grader.machine.toolchain import write_atomically
from grader.pipeline import gains
from grader.results.result import Result
from grader.text import lab_words
from grader.writers import Style

SCHEMA = "tilewise.progress/1"


@dataclass(frozen=True)
class GivenHint:
    """How many tiers of its hint were given for one finding."""

    subject: str  # the code of a diagnostic, or the id of a check
    kernel: str = ""
    line: int = 0
    text: str = ""  # of that line, without blanks
    kind: str = ""  # of a wrong P: its patterns
    tiers: int = 0


@dataclass(frozen=True)
class LabProgress:
    """One lab."""

    status: str = "not_started"  # of the last run
    score: float = 0.0  # of the last run
    best: float = 0.0
    content: str = ""  # hash of the file that was graded last
    given: tuple[GivenHint, ...] = ()
    # Of the last pass: grader.pipeline.gains.
    per_step: dict[str, float] = field(default_factory=dict)


Progress = dict[str, LabProgress]  # by lab folder name


def load(course: Course) -> Progress:
    """What is remembered; empty if there is nothing or the file is damaged."""
    try:
        fields = json.loads((course.progress / "progress.json").read_text(encoding="utf-8"))
        if fields["schema"] != SCHEMA:
            return {}
        return {name: _lab(lab) for name, lab in fields["labs"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _lab(fields: dict) -> LabProgress:
    given = tuple(GivenHint(**item) for item in fields.pop("given", ()))
    fields.pop("hints", None)  # files of an older version have it
    return LabProgress(**fields, given=given)


def save(course: Course, progress: Progress) -> None:
    fields = {"schema": SCHEMA, "labs": {name: asdict(lab) for name, lab in progress.items()}}
    write_atomically(course.progress / "progress.json", json.dumps(fields, indent=1) + "\n")


def remember(course: Course, result: Result, content: bytes) -> None:
    """Notes a result. A read-only checkout is no reason to fail: then nothing is remembered."""
    if result.status == "error":
        return
    progress = load(course)
    known = progress.get(result.lab, LabProgress())
    score = result.score or 0.0
    progress[result.lab] = replace(
        known,
        status=result.status,
        score=score,
        best=max(known.best, score),
        content=hashlib.sha256(content).hexdigest()[:16],
        given=() if result.status == "passed" else known.given,
        per_step=result.per_step if result.status == "passed" else known.per_step,
    )
    with contextlib.suppress(OSError):
        save(course, progress)


def follow_up(course: Course, result: Result) -> Result:
    """After a pass: what changed since the lab before, and which lab is next."""
    if result.status != "passed":
        return result
    names = course.lab_names()
    if (
        result.lab not in names
    ):  # an exercise: no lab before it, and after it only where it has a number
        after = [name for name in names if result.lab[:2].isdigit() and name > result.lab]
        step = f"lab {after[0][:2]}: read labs/{after[0]}/README.md" if after else result.next_step
        return replace(result, next_step=step)
    index = names.index(result.lab)
    if index > 0:
        before = load(course).get(names[index - 1], LabProgress())
        result = gains.with_changes(result, names[index - 1], before.per_step)
    if index + 1 < len(names):
        step = f"lab {names[index + 1][:2]}: read labs/{names[index + 1]}/README.md"
        return replace(result, next_step=step)
    known = load(course)
    left = [name for name in names[:-1] if known.get(name, LabProgress()).status != "passed"]
    if left:
        step = f"this was the last lab; lab {left[0][:2]} does not have full marks yet."
    else:
        step = f"all labs have full marks. {_ending(course)}"
    return replace(result, next_step=step)


def _ending(course: Course) -> str:
    """What is there after the last lab."""
    summit = course.solutions / "summit" / "README.md"
    further = (
        " The same ladder goes on, past cuBLAS: solutions/summit/README.md."
        if summit.is_file()
        else ""
    )
    return f"A summary to keep: make status OUTPUT=summary.md.{further}"


def overview(course: Course, style: Style) -> str:
    """The labs with what was reached, and the next one to work on."""
    known = load(course)
    marks = (
        {"passed": "✓", "not_started": "·"}
        if style.unicode
        else {"passed": "+", "not_started": "."}
    )
    other = "✗" if style.unicode else "x"
    lines = ["Your way through the labs", ""]
    upcoming = None
    labs = sorted(
        (load_lab(course.folder(name)) for name in course.handed_out()), key=lambda x: x.order
    )
    for lab in labs:
        state = known.get(lab.name, LabProgress())
        points = "" if state.status == "not_started" else f"{state.score:g} of {FULL_POINTS}"
        number = lab.id if lab.id.isdigit() else ""
        if state.best > state.score:
            points += f" (best {state.best:g})"
        lines.append(
            f"  {marks.get(state.status, other)} {number:<2}  {lab.title:<24} {points}".rstrip()
        )
        if upcoming is None and state.status != "passed":
            upcoming = lab
    lines.append("")
    if upcoming is None:
        lines.append("All labs have full marks.")
        lines.append(_ending(course))
    else:
        lines.append(
            f"Next: {lab_words(upcoming.name)}, {upcoming.summary[0].lower()}{upcoming.summary[1:]}"
        )
        handout = course.folder(upcoming.name).relative_to(course.root) / "README.md"
        lines.append(f"      read {handout}, then: make grade LAB={upcoming.id}")
    return "\n".join(lines) + "\n"
