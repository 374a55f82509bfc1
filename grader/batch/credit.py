"""From a lab's points to what counts: late days, and what the instructor decided.

The grade itself is never changed: what is taken or given stands beside it, with its reason.
Decisions stand in a file of their own, adjustments.toml:

    [[adjust]]
    student = "doejane-11"        # the gradebook's `student`, or any id of the platform
    lab = "02"                    # without it all labs
    reason = "ill, note of 2 March"
    extend = 3                    # days; or one of
    excuse = true
    bonus = 5                     # points, may be negative
    score = 80                    # points instead of the grade
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from grader.batch.names import Student
from grader.errors import UsageError
from grader.labs.course import Course
from grader.labs.term import Term
from grader.results.result import Result

_KINDS = ("extend", "excuse", "bonus", "score")


@dataclass(frozen=True)
class Adjustment:
    """One decision."""

    student: str
    lab: str  # folder name; "" for all
    kind: str  # of _KINDS
    value: float
    reason: str

    def is_about(self, key: str, student: Student, lab: str) -> bool:
        names = {key, student.name, student.identity, *student.ids.values()}
        return self.student.casefold() in {x.casefold() for x in names} and self.lab in ("", lab)


@dataclass(frozen=True)
class Credit:
    """What one lab counts for one student."""

    lab: str
    graded: float | None  # points of the grader; None: it failed, or nothing was handed in
    most: float
    days_late: int = 0
    late_unknown: bool = False  # late by the platform's word, and nobody knows how much
    deducted: float = 0.0  # points, for being late
    bonus: float = 0.0
    override: float | None = None
    excused: bool = False
    extended: float = 0.0  # days
    reasons: tuple[str, ...] = ()

    @property
    def points(self) -> float | None:
        """What counts; None if there is no score, or the lab is excused."""
        if self.excused:
            return None
        if self.override is not None:
            return self.override
        if self.graded is None:
            return None
        return max(0.0, round(self.graded - self.deducted + self.bonus, 2))

    @property
    def remark(self) -> str:
        """Why points differ from the grade; "" if they do not."""
        said = []
        if self.late_unknown:
            said.append("late, by how much is not known: nothing was taken")
        if self.days_late:
            days = "1 day" if self.days_late == 1 else f"{self.days_late} days"
            said.append(f"{days} late: -{self.deducted:g}")
        if self.extended:
            said.append(f"{self.extended:g} days more")
        if self.bonus:
            said.append(f"{self.bonus:+g}")
        if self.override is not None:
            said.append(f"set to {self.override:g}")
        if self.excused:
            said.append("excused")
        text = ", ".join(said)
        return f"{text} ({'; '.join(self.reasons)})" if self.reasons else text


def read_adjustments(path: Path, course: Course) -> list[Adjustment]:
    """Reads adjustments.toml. Raises UsageError, one sentence, for anything that is none."""
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {(error.strerror or 'failure').lower()}."
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}.") from None
    if fields.keys() - {"adjust"} or not isinstance(fields.get("adjust", []), list):
        raise UsageError(f"{path} may hold [[adjust]] and nothing else.")
    return [
        _adjustment(item, f"{path}: [[adjust]] {index}", course)
        for index, item in enumerate(fields.get("adjust", []), 1)
    ]


def _adjustment(item: Any, where: str, course: Course) -> Adjustment:
    if not isinstance(item, dict) or item.keys() - {"student", "lab", "reason", *_KINDS}:
        raise UsageError(f"{where} has a field that is unknown: see docs/term.md.")
    for name in ("student", "reason"):
        if not isinstance(item.get(name), str) or not item[name].strip():
            raise UsageError(f"{where} needs a {name}.")
    kinds = [kind for kind in _KINDS if kind in item]
    if len(kinds) != 1:
        raise UsageError(f"{where} needs one of {', '.join(_KINDS)}.")
    kind = kinds[0]
    value = item[kind]
    if kind == "excuse" and value is not True:
        raise UsageError(f"{where}: excuse is true, or not there.")
    if kind != "excuse" and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise UsageError(f"{where}: {kind} is a number.")
    if not math.isfinite(value) or (kind in ("extend", "score") and value < 0):
        raise UsageError(f"{where}: {kind} cannot be {value:g}.")
    lab = course.lab_folder(item["lab"]).name if "lab" in item else ""
    if kind == "score" and not lab:
        raise UsageError(f"{where}: score needs a lab.")
    return Adjustment(item["student"].strip(), lab, kind, float(value), item["reason"].strip())


def unused(
    adjustments: Sequence[Adjustment], everyone: Sequence[tuple[str, Student]], labs: Sequence[str]
) -> list[str]:
    """Decisions about nobody in the class: a name that is spelled wrong loses somebody's points."""
    return [
        item.student
        for item in adjustments
        if item.lab in ("", *labs)
        and not any(item.is_about(key, student, item.lab) for key, student in everyone)
    ]


@dataclass(frozen=True)
class Rules:
    """What credits are made by."""

    term: Term
    adjustments: tuple[Adjustment, ...] = ()

    @property
    def change_anything(self) -> bool:
        return bool(self.term.late or self.adjustments)

    def credit(
        self, key: str, student: Student, result: Result, submitted: datetime | None, late: bool
    ) -> Credit:
        """Of one student's lab. A lab that was not handed in is not late."""
        own = [item for item in self.adjustments if item.is_about(key, student, result.lab)]
        by_kind = {kind: [item for item in own if item.kind == kind] for kind in _KINDS}
        days, unknown = 0, False
        extension = sum(item.value for item in by_kind["extend"])
        if result.status != "not_started":
            days, unknown = self._late(result.lab, extension, submitted, late)
        percent = self.term.late.percent(days) if self.term.late and days else 0.0
        graded = result.score
        return Credit(
            result.lab,
            graded,
            result.max_score,
            days,
            unknown,
            0.0 if graded is None else min(graded, round(result.max_score * percent / 100, 2)),
            sum(item.value for item in by_kind["bonus"]),
            by_kind["score"][-1].value if by_kind["score"] else None,
            bool(by_kind["excuse"]),
            extension,
            tuple(item.reason for item in own),
        )

    def _late(
        self, lab: str, extension: float, submitted: datetime | None, late: bool
    ) -> tuple[int, bool]:
        """Days late, and whether they are late by an unknown time."""
        policy, due = self.term.late, self.term.plan(lab).due
        if policy is None:
            return 0, False
        if due is None or submitted is None:
            return 0, late and not extension
        return policy.days(due + timedelta(days=extension), submitted), False
