"""What a student has reached in all labs, as a page to keep."""

from __future__ import annotations

from grader.labs.course import Course
from grader.labs.lab import FULL_POINTS, load_lab
from grader.student.progress import LabProgress, load

# Counters per 32 multiply-adds that tell the labs apart, and what the page calls them.
_MEASURES = (
    ("global_load_sectors", "sectors loaded"),
    ("shared_load_wavefronts", "shared wavefronts"),
    ("bank_conflicts", "bank conflicts"),
    ("instructions", "instructions"),
)


def page(course: Course) -> str:
    """Markdown: points of each lab, and what its kernel needs per 32 multiply-adds."""
    known = load(course)
    labs = sorted((load_lab(course.labs / name) for name in course.lab_names()), key=_order)
    states = {lab.name: known.get(lab.name, LabProgress()) for lab in labs}
    done = sum(state.status == "passed" for state in states.values())
    lines = [
        "# My way through GPU matrix multiplication",
        "",
        f"{done} of {len(labs)} labs have full marks. Counts are per 32 multiply-adds, in the case that"
        " performance was judged by, on the simulator.",
        "",
        "| lab | points | " + " | ".join(title for _, title in _MEASURES) + " |",
        "|---|---:|" + "---:|" * len(_MEASURES),
    ]
    for lab in labs:
        state = states[lab.name]
        points = "" if state.status == "not_started" else f"{state.score:g} of {FULL_POINTS}"
        counts = [_number(state.per_step.get(name)) for name, _ in _MEASURES]
        lines.append(f"| {lab.id} {lab.title} | {points} | {' | '.join(counts)} |")
    lines += ["", "What each lab was about:", ""]
    lines += [f"- {lab.id} {lab.title}: {lab.summary}" for lab in labs]
    return "\n".join(lines) + "\n"


def _order(lab) -> int:
    return lab.order


def _number(count: float | None) -> str:
    return "" if count is None else f"{count:.2f}"
