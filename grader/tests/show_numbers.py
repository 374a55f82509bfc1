"""The numbers of a page beside those of the graded result of the same case."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np

from grader.labs.course import Course
from grader.labs.lab import FULL_POINTS, Case, Lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.pipeline import carry_out
from grader.pipeline.grade import grade
from grader.show import bundle, page
from grader.trace import make

OPTIONS = Options("sim")
_MOST_BLOCKS = 256
_MOST_EVENTS = 60_000
# Of every launch: what the page has added up at its last step, and what its arrays hold there.
NUMBERS = """(film, fold, tally) => {
  const last = film.steps.length - 1;
  const state = fold.at(last);
  const arrays = film.arrays.filter(one => one.isNamed).map(one =>
    [one.role, [...state[one.id].values].map(value => Number.isNaN(value) ? null : value)]);
  return {tally: tally.upTo(last), arrays: Object.fromEntries(arrays)};
}"""
OF_PAGE = f"""(() => {{
  const launches = tilewise.runs[0].trace.launches;
  return launches.map((_, i) => {{
    tilewise.show(0, i);
    const {{film, fold, tally}} = tilewise.viewer;
    return ({NUMBERS})(film, fold, tally);
  }});
}})()"""


@dataclass(frozen=True)
class Graded:
    """What grading one case came to."""

    kernels: Sequence[
        tuple[str, Mapping[str, float]]
    ]  # of result.json: name and counters, in order
    outputs: Mapping[str, np.ndarray]


def case_of(lab: Lab, most: int = 4096) -> Case:
    """The largest case of at most so much work that is not hidden; all of its blocks are traced."""
    known = [case for case in lab.cases if not case.hidden]
    small = [case for case in known if case.work <= most]
    return max(small, key=lambda case: case.work) if small else min(known, key=lambda c: c.work)


def may_stay(lab: Lab) -> set[str]:
    """Outputs that a wrong file may not copy back to the host."""
    return {array.name for array in lab.problem.outputs} if lab.problem.memory == "host" else set()


def graded(course: Course, lab: Lab, submission: Submission, case: Case) -> Graded:
    """Grades a lab that has no other case."""
    check = next(check for check in lab.checks if check.kind == "outputs")
    check = replace(check, cases=(case.id,), points=FULL_POINTS, needs=(), hidden=False)
    only = replace(lab, cases=(case,), checks=(check,))
    outputs: dict[str, np.ndarray] = {}
    left_by = carry_out.left_by

    def kept(*given):
        left = left_by(*given)
        if not outputs:  # later ones are of plans that were changed to find a cause
            outputs.update(left)
        return left

    with mock.patch.object(carry_out, "left_by", kept):
        result = grade(course, only, submission, OPTIONS)
    assert all(kernel.case == case.id for kernel in result.kernels)
    return Graded([(kernel.name, kernel.counters) for kernel in result.kernels], outputs)


def traced(course: Course, lab: Lab, submission: Submission, case: Case) -> dict:
    """Of all blocks. Raises GraderError where there is nothing to be seen."""
    wanted = make.Wanted(case, blocks=tuple(range(_MOST_BLOCKS)), events=_MOST_EVENTS)
    return make.make(course, lab, submission.text, wanted, OPTIONS)


def by_node(traces: Sequence[dict]) -> list[list[dict]]:
    """What the page's modules make of traces, without a page."""
    program = f"""{bundle.script(page._FOLDER, "beside")}
for (const line of require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean)) {{
  const trace = JSON.parse(line);
  console.log(JSON.stringify(trace.launches.map(launch => {{
    const film = new module_film.Film(trace, launch);
    return ({NUMBERS})(film, new module_fold.Fold(film), new module_tally.Tally(film));
  }})));
}}"""
    text = "\n".join(json.dumps(trace) for trace in traces)
    done = subprocess.run(
        ["node", "-e", program], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(
    trace: dict, shown: Sequence[Mapping], result: Graded, not_held: Collection[str] = ()
) -> list[str]:
    """What the page shows otherwise than the result has it, of launches that are traced whole."""
    found = []
    # Launches of one kernel are one in a result. One that was refused has counted nothing, and is no
    # step of a trace.
    graded: dict[str, Counter] = {}
    for name, counters in result.kernels:
        if counters.get("instructions"):
            graded.setdefault(name, Counter()).update(counters)
    seen: dict[str, Counter] = {}
    partly = set()
    for launch, one in zip(trace["launches"], shown, strict=True):
        if launch["counters"]["instructions"]:
            seen.setdefault(launch["kernel"], Counter()).update(one["tally"])
            partly |= set() if launch["is_whole"] else {launch["kernel"]}
    if list(seen) != list(graded):
        return [f"{list(seen)} are shown, {list(graded)} were graded"]
    for kernel in seen.keys() - partly:
        for name, count in seen[kernel].items():
            if count != graded[kernel][name]:
                found.append(f"{kernel}: {name} {count}, not {graded[kernel][name]}")
    if not trace["launches"] or not all(launch["is_whole"] for launch in trace["launches"]):
        return found
    for name, right in result.outputs.items():
        values = shown[-1]["arrays"].get(name)
        if values is None or name in not_held:
            continue  # nothing of the device becomes this output
        held = np.array([np.nan if value is None else value for value in values])
        if held.size != right.size or not np.array_equal(held, right.ravel(), equal_nan=True):
            found.append(f"{name} differs")
    return found
