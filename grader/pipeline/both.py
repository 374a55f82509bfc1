"""What a GPU adds where the simulator judges (`--backend both`): a second opinion on P, and the clock.

For correctness, safety and counts the simulator's word holds, as on every machine. The cases that it
calls right are carried out on the GPU as well, and so is the timed one. Where the simulator has no
fault to show and the GPU's P is wrong, or its kernel faults or hangs, one of the two is mistaken.
That is nothing a student can mend: the result is an error of the grader, with no score, for whoever
runs the course to look into. The timed case is too large to be simulated each time; if it is wrong
on the GPU, the simulator looks at it then, and what it finds is the submission's. One that is right
and takes so long that it cannot be timed loses the points of the clock, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from grader.errors import GraderError, StepError
from grader.judging.judge import Outcome
from grader.labs.lab import Case
from grader.machine import gpu
from grader.machine.toolchain import architecture_for, architectures
from grader.pipeline import carry_out
from grader.pipeline.session import Place, Session
from grader.results.result import GpuRun
from grader.running.compile import CompileError, compile_submission
from grader.running.record import Recorded, record
from grader.running.timing import SLOW_SECONDS, Timing

TOO_SLOW = "too-slow"  # the status of a Timing where one run took as long as many should


@dataclass(frozen=True)
class Beside:
    """What the GPU said."""

    run: GpuRun
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)  # of the timed case
    timings: Mapping[str, Timing] = field(default_factory=dict)
    not_timed: str = ""  # why our side could not time it; one sentence

    @property
    def is_ours(self) -> bool:
        """Whether somebody has to look into this, and no score is given meanwhile."""
        return self.run.status in ("differs", "failed") and not self.not_timed


def place_of(session: Session, found: gpu.Gpu) -> Place:
    """Where plans are carried out on this machine's GPU."""
    device = gpu.device_file_for(session.course, found, session.options.device)
    supported = architectures(session.toolchain, session.course)
    same = found.capability >= session.options.capability
    wanted = session.options.capability if same else found.capability
    return Place("gpu", device, architecture_for(wanted, supported), found.name)


def look(
    session: Session,
    content: bytes,
    text: str,
    recorded: Mapping[str, Recorded],
    seen: Mapping[str, Outcome],
    *,
    timed: list[Case],
) -> Beside:
    """What the simulator `seen` right, and the timed cases, on the GPU. Never raises for its sake."""
    faults = any(item.severity == "error" for case in seen.values() for item in case.diagnostics)
    faults = faults or not all(outcome.is_right for outcome in seen.values())
    found = gpu.find_gpu()
    name = found.name if found else ""
    try:
        if found is None:
            raise StepError("there is none on the machine that graded this")
        opinion = _Opinion(session, content, text, place_of(session, found))
        return opinion.of(recorded, seen, timed, has_faults=faults)
    except GraderError as error:
        message = _sentence(f"The GPU{f' ({name})' if name else ''} could not be used", error)
        return Beside(GpuRun(name, "failed", message=message), not_timed=message if faults else "")


@dataclass
class _Opinion:
    session: Session
    content: bytes
    text: str
    place: Place

    def of(
        self,
        recorded: Mapping[str, Recorded],
        seen: Mapping[str, Outcome],
        timed: list[Case],
        *,
        has_faults: bool,
    ) -> Beside:
        right = [outcome.case for outcome in seen.values() if outcome.is_right]
        unseen = [case for case in timed if case.id not in seen]
        cases = [*right, *unseen]
        plans = self._plans(recorded, cases)
        outcomes = carry_out.outcomes_on(self.session, self.place, self.text, cases, plans, None)
        ids = tuple(case.id for case in right)
        identical = sum(self._has_same_bits(case) for case in right)
        wrong = [case for case in right if not outcomes[case.id].is_right]
        clock = {case.id: outcomes[case.id] for case in unseen}
        if wrong:
            message = self._differs(wrong[0], outcomes[wrong[0].id], has_faults=has_faults)
            differing = tuple(case.id for case in wrong)
            run = GpuRun(self.place.gpu, "differs", ids, differing, identical, message)
            return Beside(run, clock, not_timed=message if has_faults else "")
        for case in unseen:
            if not outcomes[case.id].is_right and plans[case.id].plan is not None:
                again = None if has_faults else self._simulated(case, recorded)
                if not has_faults and again is None:
                    message = self._differs(case, outcomes[case.id], has_faults=False)
                    run = GpuRun(self.place.gpu, "differs", ids, (case.id,), identical, message)
                    return Beside(run)
                if again is not None:  # what the simulator saw, which has lines and threads
                    clock[case.id] = replace(clock[case.id], diagnostics=again.diagnostics)
        run = GpuRun(self.place.gpu, "same", ids, (), identical)
        timed = [case for case in timed if case.id in outcomes]
        if not timed or not all(clock.get(c.id, outcomes[c.id]).is_right for c in timed):
            return Beside(run, clock)
        timings = {
            case_id: _too_slow(timing, clock.get(case_id, outcomes[case_id]))
            for case_id, timing in carry_out.times(self.session, self.place, plans, timed).items()
        }
        for case in timed:
            said = self._while_timed(case, timings.get(case.id))
            if said and not has_faults:
                message = f"On the {self.place.gpu}, {_named(case)}: {said}"
                run = GpuRun(self.place.gpu, "differs", ids, (case.id,), identical, message)
                return Beside(run)
        return Beside(run, clock, timings)

    def _plans(self, recorded: Mapping[str, Recorded], cases: list[Case]) -> dict[str, Recorded]:
        """Those of the simulator, or where it stands for another GPU than this one, new ones."""
        session, place = self.session, self.place
        if (place.device, place.architecture) == (session.options.device, session.architecture):
            return {case.id: recorded[case.id] for case in cases}
        compiled = compile_submission(
            session.course, session.toolchain, self.content, place.architecture,
            session.options.limits,
        )  # fmt: skip
        if isinstance(compiled, CompileError):
            raise StepError(f"for this GPU the file does not compile: {compiled.message}")
        return record(
            session.course, session.lab.signature, cases, compiled, place.device,
            carry_out.subfolder(session, "plans-gpu"), session.options.limits,
        )  # fmt: skip

    def _simulated(self, case: Case, recorded: Mapping[str, Recorded]) -> Outcome | None:
        """The timed case on the simulator; None if it shows no fault there, or takes too long."""
        session = self.session
        place = Place("sim", session.options.device, session.architecture)
        session.say("wrong on the GPU: the simulator looks at the timed case")
        try:
            found = carry_out.outcomes_on(session, place, self.text, [case], recorded, None)
        except GraderError:
            return None
        outcome = found[case.id]
        errors = [item for item in outcome.diagnostics if item.severity == "error"]
        return outcome if any(item.code != "timeout" for item in errors) else None

    def _differs(self, case: Case, outcome: Outcome, *, has_faults: bool) -> str:
        where = f"On the {self.place.gpu}, {_named(case)}:"
        if has_faults:
            return f"{where} P is wrong. The findings say why it may be."
        what = "P is wrong." if case.hidden else outcome.result.message or "P is wrong."
        return f"{where} {what}"

    def _has_same_bits(self, case: Case) -> bool:
        folders = [
            carry_out.output_of(self.session, backend, case).parent for backend in ("sim", "gpu")
        ]
        try:
            mine, theirs = (
                [
                    np.load(folder / f"{a.name}.npy", allow_pickle=False)
                    for a in case.problem.outputs
                ]
                for folder in folders
            )
        except (OSError, ValueError):
            return False
        return all(a.tobytes() == b.tobytes() for a, b in zip(mine, theirs, strict=True))

    def _while_timed(self, case: Case, timing: Timing | None) -> str:
        """What happened when it was run again and again, "" if nothing did."""
        if timing is None or timing.status == TOO_SLOW:
            return ""
        if timing.status == "ok" and not timing.wrong_rounds:
            return ""
        said = "P was right at first, and wrong while it was timed"
        more = timing.first_wrong
        if timing.status != "ok":
            said, more = "it ran once, and then did not", timing.message
        return f"{said}." if case.hidden or not more else f"{said}: {more.rstrip('.')}."


def _too_slow(timing: Timing, once: Outcome) -> Timing:
    """The timing, and where one run already takes so long that it cannot be repeated, that."""
    seconds = once.execution.seconds if once.execution else 0.0
    if timing.status != "timeout" or seconds < SLOW_SECONDS:
        return timing
    return replace(timing, status=TOO_SLOW, message=f"one run of it took {seconds:.0f} s.")


def _named(case: Case) -> str:
    return "in a hidden case" if case.hidden else f"in {case.title}"


def _sentence(start: str, error: Exception) -> str:
    said = str(error).rstrip(".")
    return f"{start}: {said}."
