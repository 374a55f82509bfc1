"""From submissions to their page: each one's trace of a case, rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from grader.errors import GraderError, SubmissionError, UsageError
from grader.labs.course import Course
from grader.labs.lab import Case, Lab, Show
from grader.labs.options import DEFAULT_SEED, Options
from grader.labs.submission import Submission
from grader.pipeline.grade import grade
from grader.results.result import Result
from grader.show import page
from grader.trace import constants
from grader.trace import make as traces

_MOST_EVENTS = 40_000  # of all blocks; beyond, one block is shown
_OF_A_BLOCK = 15_000
# What any other fault may come to at another size.
_OF_OUTPUTS = {"wrong-result", "low-precision", "unwritten-output"}


@dataclass(frozen=True)
class Shown:
    """A submission, as one run of the page."""

    title: str
    submission: Submission
    with_source: bool = True


@dataclass(frozen=True)
class Traced:
    """What running a case came to."""

    trace: Mapping[str, Any]  # tilewise.trace/1
    note: str  # what a reader has to know of it
    values: Mapping[str, int] = field(default_factory=dict)  # of constants, in place of the file's


def chosen(lab: Lab, case_id: str | None = None) -> Show:
    """The case of that name, the first that fits the eye without one.

    Raises UsageError. Hidden cases are none of them: their data would be on the page.
    """
    graded = [Show(case) for case in lab.cases if not case.hidden]
    known = {show.case.id: show for show in [*lab.shows, *graded]}
    if case_id is None:
        toys = [show for show in graded if show.case.role == "toy"]
        return next(iter([*lab.shows, *toys, *graded]))
    if case_id not in known:
        names = ", ".join(known)
        raise UsageError(f"Lab {lab.id} has no case '{case_id}' to show: it has {names}.")
    return known[case_id]


def write(
    course: Course,
    lab: Lab,
    shown: Sequence[Shown],
    options: Options,
    show: Show,
    say: Callable[[str], None] = lambda text: None,
    or_another: bool = False,
) -> str:
    """The page of one case, or, where it has no finding, of another that has one.

    Raises GraderError.
    """
    eyebrow = f"Lab {lab.id} · {shown[0].submission.shown}"
    given = shown[0].submission
    if or_another:
        show, first, why = _telling(course, lab, given, options, show, say)
    else:
        first, why = trace(course, lab, given, options, show, say), ""
    for part in (1, 2, 4, 8, 16):  # of the instructions, until the page is no larger than it may be
        runs = []
        for one in shown:
            traced = first
            if one is not shown[0] or part > 1:
                traced = trace(course, lab, one.submission, options, show, say, part)
            found = traced.trace if one.with_source else without_source(traced.trace)
            runs.append(page.Run(one.title, found, " ".join(filter(None, [why, traced.note]))))
        text = page.render(runs, eyebrow=eyebrow, heading=f"{lab.title}, {show.case.title}")
        if len(text.encode()) <= page.MOST_BYTES:
            return text
    raise SubmissionError(
        f"The page would be larger than {page.MOST_BYTES // 1_000_000} MB: show a smaller case"
        " with --case."
    )


def for_student(course: Course, lab: Lab, submission: Submission, options: Options) -> str:
    """The page that goes with a student's report; "" where there is nothing to see.

    With the data that students have: those of a secret seed would be on it.
    """
    how = replace(options, backend="sim", seed=DEFAULT_SEED)
    try:
        return write(course, lab, [Shown("yours", submission)], how, chosen(lab), or_another=True)
    except SubmissionError:
        return ""


def others(lab: Lab) -> list[Show]:
    """Cases that fit the eye beside the first, for which the same file is compiled."""
    return [show for show in lab.shows[1:] if show.constants == lab.shows[0].constants]


def _telling(
    course: Course,
    lab: Lab,
    submission: Submission,
    options: Options,
    show: Show,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Show, Traced, str]:
    """The case to show, its trace, and why it is not the one that was asked for.

    A file need not bear other values of its constants: a finding with them counts where the report
    of the file as it is has it, too.
    """
    result = grade(course, lab, submission, replace(options, backend="sim"), say)
    known = {one.code for one in result.diagnostics}
    without: list[tuple[Show, Traced]] = []  # a finding
    nothing: SubmissionError | None = None
    small = [show, *others(lab)]
    as_they_are: list[Show] = []  # grows while the small ones are tried

    def if_nothing_runs() -> Iterator[Show]:
        if not without:
            yield Show(min((c for c in lab.cases if not c.hidden), key=lambda case: case.work))

    for wanted in chain(small, as_they_are, _of_report(lab, result), if_nothing_runs()):
        try:
            found = trace(course, lab, submission, options, wanted, say)
        except SubmissionError as error:
            nothing = nothing or error
            continue
        codes = _codes(found)
        if not codes:
            without.append((wanted, found))
            if not known:
                break
        elif not found.values or (known and codes <= known | _OF_OUTPUTS):
            why = "" if wanted is show else f"{show.case.title} has no finding; this case has one."
            return wanted, found, why
        else:
            as_they_are.append(Show(wanted.case))
    if not without:
        raise nothing or SubmissionError("There is nothing to see yet.")
    wanted, found = without[0]
    why = ""
    if wanted in as_they_are:
        why = "With smaller constants this file goes wrong: it runs as it is written."
    elif wanted not in small:
        why = f"Of {show.case.title} there is nothing to see: the file is made for other sizes."
    return wanted, found, why


def _of_report(lab: Lab, result: Result) -> list[Show]:
    """The least of the cases in which the first finding of the report was seen."""
    for diagnostic in result.diagnostics:
        failed = [case for case in lab.cases if case.id in diagnostic.cases and not case.hidden]
        if failed:
            return [Show(min(failed, key=lambda case: case.work))]
    return []


def _codes(traced: Traced) -> set[str]:
    return {one["code"] for launch in traced.trace["launches"] for one in launch["findings"]}


def trace(
    course: Course,
    lab: Lab,
    submission: Submission,
    options: Options,
    show: Show,
    say: Callable[[str], None] = lambda text: None,
    part: int = 1,
) -> Traced:
    """The trace of one case, or of its first instructions, a `part` of what there may be.

    Raises SubmissionError where there is nothing to be seen yet.
    """
    text, values, lacking = submission.text, {}, []
    for name, value in show.constants:
        try:
            constants.with_constants(text, {name: value})
            values[name] = value
        except GraderError:
            lacking.append(name)
    if lacking:  # a file that has only some of them need not bear other values of those
        values.clear()

    def made(blocks: tuple[int, ...] = (), events: int = _MOST_EVENTS) -> dict[str, Any]:
        wanted = traces.Wanted(show.case, values, blocks, events=events // part)
        try:
            return traces.make(course, lab, text, wanted, options, say)
        except GraderError as error:
            if isinstance(error, SubmissionError) or type(error) is not GraderError:
                raise
            raise SubmissionError(f"There is nothing to see yet. {error}") from None

    found = made()
    if not found["launches"]:
        raise SubmissionError("There is nothing to see yet: solve launches no kernel.")
    if found["is_cut"] or _is_first_only(found, show.case):
        found = made((_telling_block(found),), _OF_A_BLOCK)
    return Traced(found, _note(values, lacking), values)


def _is_first_only(found: Mapping[str, Any], case: Case) -> bool:
    """Of a large case one block is traced; it should be the one of the first finding."""
    return not found["is_cut"] and _telling_block(found) not in found["launches"][0]["blocks"]


def _telling_block(found: Mapping[str, Any]) -> int:
    """That of the first finding, else the first."""
    for launch in found["launches"]:
        grid = launch["grid"]
        for finding in launch["findings"]:
            x, y, z = finding.get("block") or (0, 0, 0)
            return x + grid[0] * (y + grid[1] * z)
    return 0


def _note(values: Mapping[str, int], lacking: Sequence[str]) -> str:
    note = []
    if values:
        words = ", ".join(f"{name} = {value}" for name, value in values.items())
        note.append(f"Made small to fit the eye: {words} here. What is graded has your own values.")
    if lacking:
        note.append(f"The file has no constant {', '.join(lacking)}: it runs as it is written.")
    return " ".join(note)


def without_source(trace: Mapping[str, Any]) -> dict[str, Any]:
    """The same without what the files say: of instructions the opcode is left."""
    launches = [
        {**launch, "instructions": [{**one, "text": one["op"]} for one in launch["instructions"]]}
        for launch in trace["launches"]
    ]
    files = [{**file, "text": None} for file in trace["files"]]
    return {**trace, "files": files, "launches": launches}
