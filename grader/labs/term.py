"""course.toml: a whole term in one file, read strictly. Flags of a command override it.

    [course]
    name = "GPU programming, spring 2027"
    timezone = "Europe/Berlin"     # of all dates here; without it UTC
    start = 2027-02-01             # the first day of week 1
    platform = "canvas"            # canvas | moodle | gradescope | github | plain
    seed = 470916                  # keep it from students: class repositories get a copy without it
    device = "h200"
    sandbox = true                 # false: `grader batch` grades without one
    hints = 2                      # tiers of hints that students get in graded labs; without it all
    students = "students.csv"      # joins what one student handed in on several platforms
    wheel = "tilewise-1.0.0-py3-none-manylinux_2_28_x86_64.whl"
                                   # a file or https:// address; packages install it instead of building

    [late]                         # without it nothing is taken for being late
    grace = "15min"                # min, h or d
    per_day = 10                   # percent of the lab's points for every day that has begun
    cap = 50                       # percent, at most
    last_day = 7                   # later than this there are no points

    [lti]                          # for `grader publish`; what the platform says of the tool there
    client_id = "10000000000042"
    token_url = "https://canvas.example.edu/login/oauth2/token"
    lineitems = "https://canvas.example.edu/api/lti/courses/7/line_items"
    members = "https://canvas.example.edu/api/lti/courses/7/names_and_roles"
    key = "lti-key.pem"            # the tool's private key, made by `grader course key`
    audience = "https://..."       # whom a request for a token is for; without it token_url

    [[labs]]
    lab = "01"                     # number or folder name
    points = 10                    # without it 100
    release = 2027-02-01           # without it from the start
    due = 2027-02-08T23:59:00      # a date alone ends with its day; without it never late
    line_item = "https://..."      # the platform's column for it; without it `publish` makes one

A mistake raises UsageError with one sentence; `grader course check` shows all of them.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.errors import GraderError, UsageError
from grader.labs.course import Course
from grader.labs.lab import FULL_POINTS
from grader.text import lab_number

FILE_NAME = "course.toml"
PLATFORMS = ("canvas", "moodle", "gradescope", "github", "plain")
_DURATION = re.compile(r"^(\d+)\s*(min|h|d)$")
_UNIT = {"min": "minutes", "h": "hours", "d": "days"}
_COURSE = {
    "name": str, "timezone": str, "start": date, "platform": str, "seed": int, "device": str,
    "sandbox": bool, "hints": int, "students": str, "wheel": str,
}  # fmt: skip
_LATE = {"grace": str, "per_day": (int, float), "cap": (int, float), "last_day": int}
_LTI = ("client_id", "token_url", "lineitems", "members", "key")  # `audience` may be left out
_LAB = {
    "lab": str, "points": (int, float), "release": date, "due": date, "line_item": str,
}  # fmt: skip
_HERE = ("127.0.0.1", "localhost", "::1")
_KIND = {str: "a text", int: "a whole number", bool: "true or false", date: "a date"}


@dataclass(frozen=True)
class LatePolicy:
    """What being late costs."""

    grace: timedelta = timedelta(0)
    per_day: float = 0.0  # percent of the lab's points
    cap: float = 100.0  # percent
    last_day: int | None = None

    def days(self, due: datetime, submitted: datetime) -> int:
        """Days that have begun since the due date; 0 within the grace.

        Days are those of the clock on the wall: one in which it is changed has 23 or 25 hours.
        """
        if submitted.astimezone(UTC) - due.astimezone(UTC) <= self.grace:
            return 0
        wall = submitted.astimezone(due.tzinfo).replace(tzinfo=None) - due.replace(tzinfo=None)
        return max(1, math.ceil(wall / timedelta(days=1)))

    def percent(self, days: int) -> float:
        """How much of the lab's points that costs."""
        if self.last_day is not None and days > self.last_day:
            return 100.0
        return min(days * self.per_day, self.cap)


@dataclass(frozen=True)
class LabPlan:
    """One lab of the term."""

    lab: str  # folder name
    points: float = FULL_POINTS
    release: datetime | None = None
    due: datetime | None = None
    line_item: str = ""  # the platform's address of its column


@dataclass(frozen=True)
class Lti:
    """Where grades are sent, and as whom: a tool that the platform knows (LTI 1.3)."""

    client_id: str
    token_url: str
    lineitems: str
    members: str
    key: Path  # the private key, PEM
    audience: str


@dataclass(frozen=True)
class Term:
    """All of course.toml."""

    path: Path | None = None  # None: there is none
    name: str = ""
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    start: date | None = None
    platform: str = ""
    seed: int | None = None
    device: str | None = None
    sandbox: bool = True
    hints: int | None = None
    students: Path | None = None
    wheel: str = ""  # a path or an address
    late: LatePolicy | None = None
    lti: Lti | None = None
    labs: tuple[LabPlan, ...] = ()

    @property
    def weights(self) -> dict[str, float]:
        return {plan.lab: plan.points for plan in self.labs if plan.points != FULL_POINTS}

    @property
    def names(self) -> list[str]:
        """Folder names of the labs, in the course's order."""
        return sorted(plan.lab for plan in self.labs)

    def plan(self, lab: str) -> LabPlan:
        return next((plan for plan in self.labs if plan.lab == lab), LabPlan(lab))

    def released(self, week: int) -> list[str]:
        """Labs that are out in this week, the first being 1. Raises UsageError without `start`."""
        if self.start is None:
            raise UsageError(
                f"--week needs [course] start, the first day of week 1, in {FILE_NAME}."
            )
        end = datetime.combine(self.start, time(), self.zone) + timedelta(weeks=week)
        return sorted(plan.lab for plan in self.labs if plan.release is None or plan.release < end)


def find(course: Course, given: Path | None = None) -> Term:
    """The term of `given`, else of the checkout's course.toml; an empty one if there is none."""
    path = given or course.work / FILE_NAME
    if given is None and not path.is_file():
        return Term()
    term, problems = read(course, path)
    if problems:
        more = f" (and {len(problems) - 1} more: grader course check)" if problems[1:] else ""
        raise UsageError(f"{path}: {problems[0]}{more}")
    return term


def read(course: Course, path: Path) -> tuple[Term, list[str]]:
    """The term, and what is wrong with the file, one sentence each."""
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        return Term(), [f"it cannot be read: {(error.strerror or 'failure').lower()}."]
    except UnicodeDecodeError:
        return Term(), ["it is not UTF-8 text."]
    except tomllib.TOMLDecodeError as error:
        return Term(), [f"it is not TOML: {error}."]
    reader = _Reader(course, path)
    return reader.term(fields), reader.problems


class _Reader:
    """Collects what is wrong on the way."""

    def __init__(self, course: Course, path: Path) -> None:
        self.course = course
        self.path = path
        self.problems: list[str] = []

    def term(self, fields: dict[str, Any]) -> Term:
        for name in fields.keys() - {"course", "late", "lti", "labs"}:
            self.problems.append(
                f"[{name}] is unknown: there are [course], [late], [lti] and [[labs]]."
            )
        head = self._table(fields.get("course", {}), "[course]", _COURSE)
        term = Term(self.path, head.get("name", ""))
        term = replace(term, zone=self._zone(head.get("timezone", "UTC")))
        if head.get("platform", "plain") not in PLATFORMS:
            self.problems.append(f"[course] platform is one of {', '.join(PLATFORMS)}.")
        if "hints" in head and head["hints"] < 0:
            self.problems.append("[course] hints cannot be less than 0.")
        if head.get("seed", 0) < 0:
            self.problems.append("[course] seed cannot be less than 0.")
        students = self.path.parent / head["students"] if "students" in head else None
        if students is not None and not students.is_file():
            self.problems.append(f"[course] students: there is no {students}.")
        self._device(head.get("device"))
        wheel = head.get("wheel", "")
        if wheel and "://" not in wheel:
            wheel = str(self.path.parent / wheel)
        return replace(
            term,
            start=_day(head["start"]) if "start" in head else None,
            platform=head.get("platform", ""),
            seed=head.get("seed"),
            device=head.get("device"),
            sandbox=head.get("sandbox", True),
            hints=head.get("hints"),
            students=students,
            wheel=wheel,
            late=self._late(fields["late"]) if "late" in fields else None,
            lti=self._lti(fields["lti"]) if "lti" in fields else None,
            labs=self._labs(fields.get("labs", []), term.zone),
        )

    def _lti(self, given: Any) -> Lti | None:
        found = self._table(given, "[lti]", dict.fromkeys([*_LTI, "audience"], str))
        missing = [name for name in _LTI if not found.get(name)]
        if missing:
            self.problems.append(f"[lti] lacks {', '.join(missing)}: see docs/publish.md.")
            return None
        for name in ("token_url", "lineitems", "members"):
            self._address(f"[lti] {name}", found[name])
        key = self.path.parent / Path(found.pop("key")).expanduser()
        return Lti(**{"audience": found["token_url"], **found}, key=key)

    def _address(self, where: str, text: str) -> None:
        """Grades and tokens travel encrypted, but to this very machine."""
        try:
            parts = urlsplit(text)
            right = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
            right = right and bool(parts.hostname) and not parts.username
        except ValueError:
            right = False
        if not right:
            self.problems.append(f"{where} must be an address that begins with https://.")

    def _table(self, given: Any, where: str, known: dict[str, Any]) -> dict[str, Any]:
        """The fields of the right type; a wrong one is told and left out."""
        if not isinstance(given, dict):
            self.problems.append(f"{where} is no table.")
            return {}
        kept = {}
        for name, value in given.items():
            if name not in known:
                self.problems.append(f"{where} {name} is unknown: there are {', '.join(known)}.")
            elif isinstance(value, bool) != (known[name] is bool) or not isinstance(
                value, known[name]
            ):
                kind = _KIND.get(known[name], "a number")
                self.problems.append(f"{where} {name} must be {kind}.")
            else:
                kept[name] = value
        return kept

    def _zone(self, name: str) -> ZoneInfo:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.problems.append(f"[course] timezone '{name}' is unknown: write Europe/Berlin.")
            return ZoneInfo("UTC")

    def _device(self, name: str | None) -> None:
        folder = self.course.root / "common" / "devices"
        if name is not None and not (folder / f"{name}.json").is_file():
            there = ", ".join(sorted(path.stem for path in folder.glob("*.json")))
            self.problems.append(f"[course] device '{name}' is unknown: there are {there}.")

    def _late(self, given: Any) -> LatePolicy:
        found = self._table(given, "[late]", _LATE)
        grace = _DURATION.match(found.get("grace", "0min"))
        if grace is None:
            self.problems.append('[late] grace is written as "15min", "2h" or "1d".')
        for name in ("per_day", "cap"):
            if not 0 <= found.get(name, 0) <= 100:
                self.problems.append(f"[late] {name} is a percentage, 0 to 100.")
        if found.get("last_day", 0) < 0:
            self.problems.append("[late] last_day cannot be less than 0.")
        return LatePolicy(
            timedelta(**{_UNIT[grace[2]]: int(grace[1])}) if grace else timedelta(0),
            found.get("per_day", 0.0),
            found.get("cap", 100.0),
            found.get("last_day"),
        )

    def _labs(self, given: Any, zone: ZoneInfo) -> tuple[LabPlan, ...]:
        if not isinstance(given, list) or not given:
            self.problems.append("it has no [[labs]].")
            return ()
        plans: list[LabPlan] = []
        for index, item in enumerate(given, 1):
            where = f"[[labs]] {index}:"
            found = self._table(item, where, _LAB)
            if "lab" not in found:
                self.problems.append(f"{where} lab is missing.")
                continue
            try:
                name = self.course.lab_folder(found["lab"]).name
            except GraderError as error:
                self.problems.append(f"{where} {error}")
                continue
            where = f"lab {lab_number(name)}:"
            if any(plan.lab == name for plan in plans):
                self.problems.append(f"{where} it stands here twice.")
            if not (math.isfinite(found.get("points", 1)) and found.get("points", 1) > 0):
                self.problems.append(f"{where} points must be more than 0.")
            release = _moment(found.get("release"), zone, time())
            due = _moment(found.get("due"), zone, time(23, 59, 59))
            if release and due and due <= release:
                self.problems.append(f"{where} it is due before it is released.")
            if "line_item" in found:
                self._address(f"{where} line_item", found["line_item"])
            points = float(found.get("points", FULL_POINTS))
            plans.append(LabPlan(name, points, release, due, found.get("line_item", "")))
        return tuple(plans)


def _moment(value: date | None, zone: ZoneInfo, default: time) -> datetime | None:
    """A date of TOML with its time of day, in the course's time zone."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        return datetime.combine(value, default, zone)
    return value if value.tzinfo else value.replace(tzinfo=zone)


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def for_students(term: Term, labs: Sequence[str]) -> str:
    """The course.toml of a class repository: these labs, and nothing that is kept from students."""
    lines = [
        "# Written by `grader package class`; the seed of graded work is not here.",
        "[course]",
    ]
    head = {
        "name": term.name, "timezone": term.zone.key, "device": term.device, "hints": term.hints,
    }  # fmt: skip
    lines += [f"{name} = {_toml(value)}" for name, value in head.items() if value not in (None, "")]
    if term.late:
        minutes = int(term.late.grace.total_seconds() // 60)
        lines += ["", "[late]", f'grace = "{minutes}min"', f"per_day = {term.late.per_day:g}"]
        lines.append(f"cap = {term.late.cap:g}")
        if term.late.last_day is not None:
            lines.append(f"last_day = {term.late.last_day}")
    for plan in sorted(term.labs, key=lambda plan: plan.lab):
        if plan.lab in labs:
            lines += ["", "[[labs]]", f'lab = "{plan.lab}"', f"points = {plan.points:g}"]
            if plan.due:
                lines.append(f"due = {plan.due.isoformat()}")
    return "\n".join(lines) + "\n"


def _toml(value: str | int) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)  # a basic string of TOML is one of JSON
