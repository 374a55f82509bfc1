"""What is to be done for each grade, and doing it.

The platform's column is read first. A grade goes out if the column shows nothing, or what was sent
before; it stays if it is there already; what somebody has entered on the platform is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.errors import GraderError, UsageError
from grader.labs.term import Term
from grader.publish.grades import Grade, Members, same_most
from grader.publish.journal import Journal, Past, Score, same
from grader.publish.platform import InDoubt, Platform, Shown
from grader.text import lab_number

_TRIES = 4
NEW = "new column"


@dataclass(frozen=True)
class Step:
    """One grade."""

    grade: Grade
    user: str
    item: str  # NEW if the column does not exist yet
    what: str  # send | again | there | left
    arrived: Score | None = None  # in doubt until now, and on the platform
    again: Score | None = None  # in doubt, and not on the platform: sent with the same timestamp
    shown: float | None = None  # by the platform, where it is left


@dataclass
class Plan:
    """Of everybody."""

    items: dict[str, str] = field(default_factory=dict)  # lab -> address, or NEW
    most: dict[str, float] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # whose member was not found, and why

    def those(self, what: str) -> list[Step]:
        return [step for step in self.steps if step.what == what]


def plan(
    platform: Platform,
    journal: Journal,
    grades: Sequence[Grade],
    term: Term,
    overwrite: bool = False,
) -> Plan:
    """Reads the platform and changes nothing there."""
    made = Plan(most=same_most(grades))
    made.items = _items(platform, term, made.most)
    members = Members(platform.members())
    shown = {lab: platform.results(item) if item != NEW else {} for lab, item in made.items.items()}
    taken: dict[tuple[str, str], str] = {}
    for grade in grades:
        user, why = members.find(grade.person)
        if user:
            other = taken.setdefault((grade.lab, user), grade.name)
            if other != grade.name:
                why = f"is the same member of the course as {other}: mend students.csv"
        if why:
            made.unknown.append(f"{grade.name}, lab {lab_number(grade.lab)}: {why}")
            continue
        item = made.items[grade.lab]
        there = shown[grade.lab].get(user)
        made.steps.append(_step(grade, user, item, there, journal.of(item, user), overwrite))
    return made


def resource(lab: str) -> str:
    """Our name for a lab's column, by which it is found again."""
    return f"tilewise-{lab}"


def _items(platform: Platform, term: Term, most: Mapping[str, float]) -> dict[str, str]:
    """The columns of the labs. Raises UsageError where one is not what it should be."""
    listed = platform.line_items()
    found = {}
    for lab, points in most.items():
        given = term.plan(lab).line_item
        own = [item for item in listed if item.get("resourceId") == resource(lab)]
        if given:
            own = [platform.line_item(given)]
        if len(own) > 1:
            raise UsageError(
                f"The platform has {len(own)} columns for lab {lab_number(lab)}: name one as line_item in"
                f" course.toml, for example {own[0]['id']}."
            )
        if not own:
            found[lab] = NEW
            continue
        there = own[0].get("scoreMaximum")
        if not isinstance(there, int | float) or not same(there, points):
            raise UsageError(
                f"The platform's column for lab {lab_number(lab)} has {_number(there)} points, and the"
                f" grades have {points:g}: change the column there, or `points` in course.toml"
                " and grade again."
            )
        found[lab] = own[0]["id"]
    return found


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "no"


def shows(shown: Shown | None, points: float, most: float) -> bool:
    """Whether the platform shows these points, in its column's measure or in the result's own."""
    if shown is None:
        return False
    by_share = None if shown.share is None else shown.share * most
    return same(shown.points, points) or same(by_share, points)


def _step(
    grade: Grade, user: str, item: str, shown: Shown | None, past: Past, overwrite: bool
) -> Step:
    sent, doubtful, arrived = past.sent, past.doubtful, None
    if doubtful and shows(shown, doubtful.points, doubtful.most):
        sent, doubtful, arrived = doubtful, None, doubtful
    nothing = shown is None or shown.points is None

    def step(what: str, again: Score | None = None) -> Step:
        seen = shown.points if shown and what == "left" else None
        return Step(grade, user, item, what, arrived, again, seen)

    if shows(shown, grade.points, grade.most):
        return step("there")
    ours = nothing or (sent is not None and shows(shown, sent.points, sent.most))
    if doubtful and ours:
        if same(doubtful.points, grade.points) and doubtful.most == grade.most:
            return step("again", doubtful)
        return step("send")
    if nothing and sent and same(sent.points, grade.points) and sent.most == grade.most:
        return step("there")  # platforms that do not show a zero, or not yet
    return step("send" if ours or overwrite else "left")


@dataclass
class Done:
    """What came of a plan."""

    sent: int = 0
    refused: list[str] = field(default_factory=list)  # whose, and what the platform said


def carry_out(
    platform: Platform, journal: Journal, made: Plan, advance: Callable[[str], None]
) -> Done:
    """Sends what is to be sent. Raises GraderError where the platform is gone; it can go on later."""
    done = Done()
    items = dict(made.items)
    for step in made.steps:
        lab = step.grade.lab
        if step.arrived:
            journal.sent(step.arrived, "read back")
        if step.what not in ("send", "again"):
            continue
        if items[lab] == NEW:
            items[lab] = platform.add_line_item(
                f"Lab {lab_number(lab)}", made.most[lab], resource(lab)
            )
        score = step.again or _score(step, items[lab], journal)
        why = _deliver(platform, journal, score, step)
        if why:
            done.refused.append(f"{step.grade.name}, lab {lab_number(lab)}: {why}")
        else:
            done.sent += 1
        advance(step.grade.name)
    return done


def _score(step: Step, item: str, journal: Journal) -> Score:
    grade = step.grade
    when = journal.timestamp(item, step.user)
    return Score(item, step.user, grade.name, grade.points, grade.most, when)


def _deliver(platform: Platform, journal: Journal, score: Score, step: Step) -> str:
    """Sends one score; "" or why the platform does not take it."""
    is_again = step.again is not None
    if not is_again:
        journal.send(score)
    for attempt in range(_TRIES):
        try:
            answer = platform.put(score, step.grade.comment)
        except InDoubt as doubt:
            if _has(platform, score):
                journal.sent(score, "read back")
                return ""
            if attempt == _TRIES - 1:
                raise GraderError(str(doubt)) from None
            platform.pause(attempt)
            is_again = True
            continue
        if answer.taken:
            journal.sent(score)
            return ""
        # It has one that is as new: this one, if it was sent before.
        if is_again and answer.stale and _has(platform, score, zero=True):
            journal.sent(score, "read back")
            return ""
        journal.refused(score, answer.said)
        return answer.said
    raise AssertionError("the last attempt returns or raises")


def _has(platform: Platform, score: Score, zero: bool = False) -> bool:
    """Whether the platform shows this score. `zero`: one that it does not show counts, too."""
    shown = platform.results(score.item, score.user).get(score.user)
    if zero and score.points == 0 and shown is not None and shown.points is None:
        return True
    return shows(shown, score.points, score.most)
