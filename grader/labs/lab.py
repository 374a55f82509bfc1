"""lab.toml: the cases, checks, points and hints of one lab, read strictly.

    id = "02"                            # number, as in the folder's name
    title = "Tiled kernel"
    order = 2                            # place in the course
    summary = "Load tiles together, use each element TILE_WIDTH times."
    signature = "square-device"          # square-host | square-device | rect-device; a lab that
                                         # is no product has [problem] instead, see problem.py
    factors = "bf16"                     # P is the product of M and N rounded to bf16, to the
                                         # nearest; without it of M and N themselves; "split":
                                         # of M and N, in pieces for tensor cores
    capability = 80                      # the least compute capability; without it any will do

    [[cases]]                            # one problem size and data set
    id = "w64"
    title = "64 x 64"
    width = 64                           # or j, k, l: M is j x k, N is k x l, P is j x l;
                                         # with [problem] each of solve's numbers
    data = "uniform"                     # grader.labs.data.KINDS, or file:NAME in datasets/
    role = "edge"                        # toy | edge | performance
    hidden = false                       # reports do not show a hidden case's numbers

    [[checks]]                           # one graded statement; all of its points or none
    id = "sizes"
    title = "P is right for every size"
    group = "correctness"                # correctness | safety | performance
    points = 30
    kind = "outputs"                     # outputs: P is right in `cases`, or with [problem]
    cases = ["w64"]                      # all outputs, or those in `arrays`
    needs = ["toy"]                      # if one of these failed, this one is skipped
    backend = "sim"                      # only on sim or gpu; without it on either

      kind = "clean"     codes = [...], cases = [...]   none of these diagnostics
                         probes = [...]                 nor at these sizes, see [[probes]]
      kind = "counter"   case = "w64", value = "global_load_sectors / global_load_requests",
                         at_most = 4.0 and/or at_least = 1.0, message = "what a failure means";
                         counted on the simulator, also where the backend is gpu; besides
                         counters there are registers, shared_bytes, spilled_bytes (of the
                         kernel that has most; bytes of a thread that its registers do not hold, 0
                         if not known), occupancy (that has least), launches, blocks and threads, of
                         all launches together, tile_share (of the factors that are multiplied, what
                         comes through shared memory from another thread; 1 if not known). With none_at = 8.0
                         points fall in a straight line, from all at the limit to none there
                         also = [{value = ..., at_most = 2, message = ...}]   further limits, also
                         of another `case`: all of them have to hold
      kind = "time"      case = "w1024", full = 1.15, none = 4.0   time over the reference's
                         both = 12: its points on the backend both, see below

    [[probes]]                           # a size at which an int is too small for an index:
    id = "tall"                          # few blocks are executed, without data, if the file is
    title = "65,521 rows of 65,521"      # right in all cases; accesses outside are found
    j = 65521                            # and k, l
    block_threads = 512                  # on a device of which a block may have no more threads,
                                         # which solve has to ask; without it as it is

    [[show]]                             # a case that fits the eye, to be traced and shown
    id = "4x4"
    title = "4x4 with tiles of 2x2"
    width = 4                            # or j, k, l
    data = "integers"
    constants = { TILE_WIDTH = 2 }       # values that the file's constants are given for it

    [[hints]]                            # chosen by what failed
    for = ["race-shared", "sizes"]       # diagnostic codes or check ids
    tiers = ["the concept", "the place", "the line"]

The points of all checks that apply to a backend add up to 100. On the backend both those of sim
apply, judged by the simulator, and the clock, whose points are taken from the other checks of
performance in proportion. There the clock gives no larger share of its points than those checks
give of theirs: so nobody gets more than on sim. A mistake in the file raises CourseError with one
sentence.
"""

from __future__ import annotations

import functools
import math
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.errors import CourseError
from grader.labs import codes as diagnostic_codes
from grader.labs import counters, data
from grader.labs.expression import ExpressionError, names_in
from grader.labs.fields import Fields
from grader.labs.problem import (
    FACTORS,
    MOST_ELEMENTS,
    PRODUCT,
    PRODUCTS,
    Problem,
    read_problem,
)  # fmt: skip
from grader.labs.reference import Reference, load_reference
from grader.labs.sums import SUMS

BACKENDS = ("sim", "gpu")  # that a check may be bound to
GROUPS = ("correctness", "safety", "performance")
ROLES = ("toy", "edge", "performance")
SIGNATURES = tuple(PRODUCTS)
# Of a case's kernels, beside their counters.
FACTS = (
    "registers", "spilled_bytes", "occupancy", "shared_bytes", "launches", "blocks", "threads",
    "tile_share",
)  # fmt: skip
COUNTERS = counters.USABLE
FULL_POINTS = 100


@dataclass(frozen=True)
class Case:
    """One problem size and data set; of the product M[j][k], N[k][l], P[j][l]."""

    id: str
    title: str
    j: int = 0
    k: int = 0
    l: int = 0  # noqa: E741 - the course's name for the columns of N and P
    data: str = "uniform"
    role: str = "edge"
    hidden: bool = False
    problem: Problem = PRODUCT
    given: tuple[tuple[str, float], ...] = ()  # solve's numbers, of other problems
    # Of a probe: threads that a block may have, on a device that is otherwise the one graded for; 0: the same.
    block_threads: int = 0

    @property
    def numbers(self) -> dict[str, float]:
        """What checks and shapes may name."""
        if self.problem.is_product:
            return {"j": self.j, "k": self.k, "l": self.l}
        return dict(self.given)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of solve's arrays."""
        return self.problem.shapes(self.numbers)

    @property
    def shape(self) -> str:
        """ "64x32x48": j, k and l; of other problems "n=1000"."""
        if self.problem.is_product:
            return f"{self.j}x{self.k}x{self.l}"
        return " ".join(f"{name}={value:g}" for name, value in self.given)

    @property
    def recorded_as(self) -> str:
        """For the recorder: "w64:64x64x64", "n1000:x=1000,sum=1,n=1000"."""
        sizes = self.shape if self.problem.is_product else self.problem.sizes(self.numbers)
        return f"{self.id}:{sizes}"

    @property
    def work(self) -> int:
        """Multiply-adds of the product, operations of another problem."""
        return self.problem.operations(self.numbers)


@dataclass(frozen=True)
class Check:
    """One graded statement. Which of the lower fields are set depends on `kind`."""

    id: str
    title: str
    group: str
    points: float
    kind: str  # outputs | clean | counter | time
    needs: tuple[str, ...] = ()
    backend: str | None = None  # sim | gpu; None: either
    hidden: bool = False
    cases: tuple[str, ...] = ()  # outputs, clean; of counter and time the one `case`
    arrays: tuple[str, ...] = ()  # outputs: the ones that must be right; none: all
    codes: tuple[str, ...] = ()  # clean
    probes: tuple[str, ...] = ()  # clean: sizes beyond an int that it looks at, too
    value: str = ""  # counter: an expression over COUNTERS and the case's numbers
    at_most: float | None = None  # counter
    at_least: float | None = None  # counter
    none_at: float | None = None  # counter: where no points are left; None: all of them or none
    message: str = ""  # counter, time: what a failure means
    also: tuple[Check, ...] = ()  # counter: further limits, as checks of the same name
    full: float = 1.15  # time: full credit up to this multiple of the reference's time
    none: float = 4.0  # time: no credit from this multiple on
    both: float = 0.0  # time: points on the backend both; 0: it is not looked at there

    @property
    def every_case(self) -> tuple[str, ...]:
        """All cases that it looks at, each once."""
        further = (name for one in self.also for name in one.cases)
        return tuple(dict.fromkeys((*self.cases, *further)))


@dataclass(frozen=True)
class Show:
    """A case that fits the eye, and the constants that the file is compiled with for it."""

    case: Case
    constants: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Hint:
    """Advice in tiers, from the concept to the line."""

    subjects: tuple[str, ...]  # diagnostic codes or check ids
    tiers: tuple[str, ...]


@dataclass(frozen=True)
class Lab:
    """One lab, as its lab.toml describes it."""

    name: str  # folder: "02-tiled-kernel"
    id: str  # "02"
    title: str
    order: int
    summary: str
    problem: Problem
    capability: int  # the least that a device must have, 80 for 8.0; 0: any will do
    cases: tuple[Case, ...]
    checks: tuple[Check, ...]
    hints: tuple[Hint, ...]
    folder: Path = field(compare=False)
    shows: tuple[Show, ...] = ()
    probes: tuple[Case, ...] = ()  # none of the cases: P is neither computed nor looked at

    def show(self, case_id: str) -> Show | None:
        return next((show for show in self.shows if show.case.id == case_id), None)

    @property
    def signature(self) -> str:
        """Of solve, as the recorder reads it."""
        return self.problem.signature

    @functools.cached_property
    def reference(self) -> Reference:
        """Of a lab that is no product. Raises CourseError."""
        return load_reference(self.folder, self.problem)

    def case(self, case_id: str) -> Case:
        return next(case for case in self.cases if case.id == case_id)

    def checks_for(self, backend: str) -> list[Check]:
        """The checks that apply to sim, gpu or both; their points add up to FULL_POINTS."""
        if backend != "both":
            return [check for check in self.checks if check.backend in (None, backend)]
        counts = sum(c.points for c in self.checks_for("sim") if c.group == "performance")
        clock = sum(check.both for check in self.checks)
        left = 1 - clock / counts if clock else 1.0
        found = []
        for check in self.checks:
            if check.both:
                found.append(replace(check, points=check.both))
            elif check.kind != "time" and check.backend != "gpu":
                share = left if check.group == "performance" else 1.0
                found.append(replace(check, points=round(check.points * share, 6)))
        return found

    def cases_for(self, backend: str) -> list[Case]:
        """Those that a check of this backend looks at."""
        used = {name for check in self.checks_for(backend) for name in check.every_case}
        return [case for case in self.cases if case.id in used]


def load_lab(folder: Path) -> Lab:
    """Reads FOLDER/lab.toml. Raises CourseError with one sentence if anything is wrong."""
    path = folder / "lab.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path} is missing.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: {error}.") from None
    return _Reader(path).lab(table)


class _Reader:
    """Turns tables into dataclasses; every error names the file and the table."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, where: str, what: str) -> CourseError:
        return CourseError(f"{self.path}: {where}: {what}.")

    def lab(self, table: dict[str, Any]) -> Lab:
        get = Fields(self.fail, "the top level", table)
        self.problem = self.problem_of(get)
        lab = Lab(
            name=self.path.parent.name,
            id=get.text("id"),
            title=get.text("title"),
            order=get.whole("order", low=1),
            summary=get.text("summary"),
            problem=self.problem,
            capability=get.whole("capability", low=10) if "capability" in table else 0,
            cases=tuple(self.case(t, i) for i, t in enumerate(get.tables("cases"), 1)),
            checks=tuple(self.check(t, i) for i, t in enumerate(get.tables("checks"), 1)),
            hints=tuple(self.hint(t, i) for i, t in enumerate(get.tables("hints", []), 1)),
            folder=self.path.parent,
            shows=tuple(self.show(t, i) for i, t in enumerate(get.tables("show", []), 1)),
            probes=tuple(
                self.case(t, i, "probe") for i, t in enumerate(get.tables("probes", []), 1)
            ),
        )
        get.finish()
        self.hold_together(lab)
        return lab

    def problem_of(self, get: Fields) -> Problem:
        if "problem" not in get.rest:
            factors = get.choice("factors", FACTORS, FACTORS[0])
            return replace(PRODUCTS[get.choice("signature", SIGNATURES)], factors=factors)
        if "signature" in get.rest:
            raise self.fail(get.where, "there is 'signature' and [problem]: one of them is enough")
        return read_problem(self.fail, get.take("problem", None, dict, "a table"))

    def show(self, table: dict[str, Any], number: int) -> Show:
        values = table.pop("constants", {})
        where = _where("show", table, number)
        whole = isinstance(values, dict) and all(
            isinstance(value, int) and not isinstance(value, bool) and value > 0
            for value in values.values()
        )
        if not whole:
            raise self.fail(where, "'constants' is no table of positive whole numbers")
        return Show(self.case(table, number, "show"), tuple(values.items()))

    def case(self, table: dict[str, Any], number: int, kind: str = "case") -> Case:
        get = Fields(self.fail, _where(kind, table, number), table)
        case_id = get.text("id")
        j = k = l = 0  # noqa: E741
        given: tuple[tuple[str, float], ...] = ()
        if not self.problem.is_product:
            given = tuple((name, self.number_of(get, name)) for name in self.problem.numbers)
        elif "width" in table:
            j = k = l = get.whole("width", low=1)  # noqa: E741
        else:
            j, k, l = (get.whole(name, low=1) for name in "jkl")  # noqa: E741
        case = Case(
            id=case_id,
            title=get.text("title", f"{j} x {k} x {l}" if self.problem.is_product else case_id),
            j=j,
            k=k,
            l=l,
            data=get.text("data", "uniform"),
            role=get.choice("role", ROLES, "edge"),
            hidden=get.flag("hidden"),
            problem=self.problem,
            given=given,
            block_threads=get.whole("block_threads", low=1)
            if "block_threads" in table and kind == "probe"
            else 0,
        )
        get.finish()
        if not self.problem.is_product:
            self.case_is_sound(get.where, case)
        if not data.is_kind(case.data):
            listed = ", ".join([*data.KINDS, "file:NAME"])
            raise self.fail(get.where, f"'data' is '{case.data}', not one of {listed}")
        if not case_id.replace("-", "").replace("_", "").isalnum():
            raise self.fail(get.where, "an id may hold letters, digits, '-' and '_'")
        return case

    def number_of(self, get: Fields, name: str) -> float:
        if name in self.problem.floats:
            return float(get.take(name, get.required, (int, float), "a number"))
        value = get.take(name, get.required, int, "a whole number")
        if abs(value) >= 1 << 31:
            raise self.fail(get.where, f"'{name}' does not fit an int")
        return value

    def case_is_sound(self, where: str, case: Case) -> None:
        if case.data in data.OF_PRODUCTS:
            raise self.fail(where, f"'data': {case.data} is for products only")
        try:
            elements = sum(math.prod(shape) for shape in case.shapes.values())
            if case.work < 1 or elements > MOST_ELEMENTS:
                raise self.fail(where, f"its arrays have {elements} elements: too many")
        except ExpressionError as error:
            raise self.fail(where, str(error)) from None

    def check(self, table: dict[str, Any], number: int) -> Check:
        get = Fields(self.fail, _where("check", table, number), table)
        kind = get.choice("kind", ("outputs", "clean", "counter", "time"))
        common = {
            "id": get.text("id"),
            "title": get.text("title"),
            "group": get.choice("group", GROUPS),
            "points": get.number("points"),
            "kind": kind,
            "needs": get.texts("needs", ()),
            "backend": get.choice("backend", BACKENDS, None),
            "hidden": get.flag("hidden"),
        }
        if kind in ("outputs", "clean"):
            common["cases"] = get.texts("cases")
        else:
            common["cases"] = (get.text("case"),)
            common["message"] = get.text("message", "")
        if kind == "outputs":
            common["arrays"] = get.texts("arrays", ())
        if kind == "clean":
            common["codes"] = get.texts("codes")
            common["probes"] = get.texts("probes", ())
        elif kind == "counter":
            common |= {
                "value": get.text("value"),
                "at_most": get.number("at_most", None),
                "at_least": get.number("at_least", None),
                "none_at": get.number("none_at", None),
            }
            further = get.tables("also", [])
        elif kind == "time":
            common |= {"full": get.number("full", 1.15), "none": get.number("none", 4.0)}
            common["both"] = get.number("both", 0.0)
        get.finish()
        check = Check(**common)
        self.check_is_sound(get.where, check)
        if kind == "counter" and further:
            return replace(check, also=tuple(self.limit(get.where, one, check) for one in further))
        return check

    def limit(self, where: str, table: dict[str, Any], check: Check) -> Check:
        get = Fields(self.fail, f"{where}: also", table)
        limit = replace(
            check,
            value=get.text("value"),
            at_most=get.number("at_most", None),
            at_least=get.number("at_least", None),
            none_at=get.number("none_at", None),
            message=get.text("message", ""),
            cases=(get.text("case", check.cases[0]),),
        )
        get.finish()
        self.check_is_sound(get.where, limit)
        return limit

    def check_is_sound(self, where: str, check: Check) -> None:
        if not check.cases:
            raise self.fail(where, "it names no case")
        if check.kind == "counter":
            if check.at_most is None and check.at_least is None:
                raise self.fail(where, "a counter needs at_most or at_least")
            try:
                unknown = (
                    names_in(check.value)
                    - set((*COUNTERS, *SUMS, *FACTS))
                    - set(self.problem.numbers)
                )
            except ExpressionError as error:
                raise self.fail(where, f"value: {error}") from None
            if unknown:
                raise self.fail(where, f"value: '{min(unknown)}' is not a counter")
            if check.none_at is not None:
                self.fall_is_sound(where, check)
        unfit = set(check.arrays) - {array.name for array in self.problem.outputs}
        if unfit:
            raise self.fail(where, f"arrays: '{min(unfit)}' is no output of solve")
        if check.kind == "time":
            if not self.problem.is_product:
                raise self.fail(where, "time is compared for products only; grade counters instead")
            if check.backend != "gpu":
                raise self.fail(where, 'time is measured on a GPU only: backend = "gpu"')
            if not 1 <= check.full < check.none:
                raise self.fail(where, "1 <= full < none must hold")
        unknown_codes = sorted(set(check.codes) - diagnostic_codes.KNOWN)
        if unknown_codes:
            raise self.fail(where, f"'{unknown_codes[0]}' is not a diagnostic code")

    def fall_is_sound(self, where: str, check: Check) -> None:
        if (check.at_most is None) == (check.at_least is None):
            raise self.fail(where, "with none_at there is one limit: at_most or at_least")
        rises = check.at_most is not None and check.none_at > check.at_most
        falls = check.at_least is not None and check.none_at < check.at_least
        if not rises and not falls:
            raise self.fail(where, "none_at must lie beyond the limit")

    def hint(self, table: dict[str, Any], number: int) -> Hint:
        get = Fields(self.fail, f"hint {number}", table)
        hint = Hint(subjects=get.texts("for"), tiers=get.texts("tiers"))
        get.finish()
        if not hint.subjects or not hint.tiers:
            raise self.fail(get.where, "it needs a subject and a tier")
        return hint

    def hold_together(self, lab: Lab) -> None:
        """What concerns several tables: unique ids, references, points, shapes."""
        case_ids = self.unique("case", [case.id for case in lab.cases])
        check_ids = self.unique("check", [check.id for check in lab.checks])
        probe_ids = [probe.id for probe in lab.probes]
        self.unique("case", [*case_ids, *(show.case.id for show in lab.shows), *probe_ids])
        if lab.probes and lab.signature not in SIGNATURES:
            raise self.fail("probes", "only labs whose solve takes M, N and P have some")
        for case in lab.cases:
            if lab.signature.startswith("square-") and not case.j == case.k == case.l:
                raise self.fail(f"case {case.id}", f"{lab.signature} needs a square: give width")
        earlier: set[str] = set()
        for check in lab.checks:
            for name in check.every_case:
                if name not in case_ids:
                    raise self.fail(f"check {check.id}", f"there is no case '{name}'")
                if check.kind == "counter" and lab.case(name).hidden:
                    raise self.fail(
                        f"check {check.id}",
                        f"the counts of '{name}' would give away what is hidden",
                    )
            for name in check.probes:
                if name not in probe_ids:
                    raise self.fail(f"check {check.id}", f"there is no probe '{name}'")
            for name in check.needs:
                if name not in earlier:
                    raise self.fail(f"check {check.id}", f"needs: no earlier check '{name}'")
            earlier.add(check.id)
        for number, hint in enumerate(lab.hints, 1):
            for name in hint.subjects:
                if name not in check_ids and name not in diagnostic_codes.KNOWN:
                    what = f"'{name}' is neither a check nor a diagnostic code"
                    raise self.fail(f"hint {number}", what)
        counts = sum(c.points for c in lab.checks_for("sim") if c.group == "performance")
        clocks = [check for check in lab.checks if check.both]
        if len(clocks) > 1:
            raise self.fail(f"check {clocks[1].id}", "another check has points on both already")
        if clocks and clocks[0].both >= counts:
            what = f"'both' must be less than the {counts:g} points of performance on sim"
            raise self.fail(f"check {clocks[0].id}", what)
        for backend in BACKENDS:
            total = sum(check.points for check in lab.checks_for(backend))
            if abs(total - FULL_POINTS) > 1e-9:
                what = f"on {backend} the points add up to {total:g}, not {FULL_POINTS}"
                raise self.fail("checks", what)

    def unique(self, kind: str, ids: list[str]) -> set[str]:
        for name in ids:
            if ids.count(name) > 1:
                raise self.fail(f"{kind}s", f"two are called '{name}'")
        return set(ids)


def _where(kind: str, table: dict[str, Any], number: int) -> str:
    name = table.get("id")
    return f"{kind} {name}" if isinstance(name, str) and name else f"{kind} {number}"
