"""The line where a small change would make the result right: which lines the search is asked about."""

from __future__ import annotations

import re

from grader.judging import barriers, searched
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.repair.child import find_apart
from grader.judging.repair.found import Repair
from grader.judging.repair.scope import ALWAYS
from grader.labs.problem import Problem
from grader.results.finding import Facts
from grader.results.result import Diagnostic

# What a small change may mend.
TRIED = frozenset(
    {
        "wrong-result", "unwritten-output", "out-of-bounds-global", "out-of-bounds-shared",
        "uninitialised-global", "uninitialised-shared", "race-global", "race-shared",
        "launch-config", "api-error", "host-crash", "misaligned-access", "input-modified",
        "barrier-divergence",
    }
)  # fmt: skip
# What a call returned is no cause, wherever it stands.
_SAYS_LITTLE = frozenset({"api-error", "host-crash"})
# Who touched what, where a change on that line says what is to be done.
SAYS_WHERE = frozenset(
    {
        "race-shared", "race-global", "uninitialised-shared", "unwritten-output", "out-of-bounds-global",
        "out-of-bounds-shared", "barrier-divergence",
    }
)  # fmt: skip
# Where whole rows go one way if they can be moved in pieces, and another way if they cannot.
_OTHER_WAYS = frozenset({"out-of-bounds-global", "uninitialised-shared", "unwritten-output"})
# Where a thread comes too early, and where a copy that nobody has waited for is read.
_OF_RACES = frozenset({"race-shared", "uninitialised-shared"})
_MULTIPLE = re.compile(r"% \w+ (?:[=!]= \w+)?")
_ELEMENTS, _MOST_LINES = 4, 5  # of those that were followed


def _change(found: Repair, result: str) -> str:
    if found.says:
        return found.says
    if found.is_race:
        return (
            f"{found.before}: with {found.after} in its place no thread would touch shared memory "
            "before another one is done with it."
        )
    if found.is_added:
        return f"{found.after} is missing: with it {result} would be right."
    if ALWAYS in found.after:
        return f"Without {found.before} {result} would be right."
    return f"{found.before}: with {found.after} in its place {result} would be right."


def _instead(found: Repair) -> str:
    """The other line, where nobody can tell which of the two was meant otherwise."""
    if found.other:
        return f" Or exchange the two in line {found.other} instead."
    other = found.instead
    if other is None or other.before == other.after:
        return ""
    if other.is_added:
        return f" Or leave that, and add {other.after} in line {other.line}."
    if ALWAYS in other.after:
        return f" Or leave that, and take {other.before} away in line {other.line}."
    return f" Or leave that, and write {other.after} for {other.before} in line {other.line}."


def is_tried(item: Diagnostic, problem: Problem) -> bool:
    """Of a product in pieces the search sees also what P lacks of a float's accuracy."""
    return item.code in TRIED or (item.code == "low-precision" and problem.factors == "split")


class ByTrying(Base):
    """The search, held against what the rules have guessed."""

    has_found = False  # whether there was a change, even if nothing new is to be said of it

    def by_trying(self, guess: Said | None) -> Said | None:
        """The line where a small change would make P right, if it is not the one already named.

        A change on the line that a rule has guessed is tried first.
        """
        if not self.material.outcomes or not is_tried(self.item, self.problem):
            return None
        if self.item.code in ("launch-config", "barrier-divergence") and guess is not None:
            return None  # what was refused, or who stays away, is known; another way says less
        if self.item.code == "api-error" and "CUtensorMap" in self.text.bare:
            return (
                None  # which maps a size allows is not to be seen in the few sizes that are tried
            )
        lines = [guess.line if guess is not None else 0, self.item.line, self.item.other_line]
        lines += self._followed_lines()
        # What decides who stores where is in the kernel, whatever the launch is.
        is_unreached = self.item.code in ("unwritten-output", "race-global")
        if (is_unreached or not any(lines)) and self.kernel is not None:
            lines += self._naming_result()
        in_tiles = all(o.case.j % 32 == 0 for o in self.material.outcomes)
        case = self.outcome.case if self.outcome is not None else None
        others, of = [], self.material.reference
        if of is not None:
            others = searched.cases(of, self.material.lab, case)
            case = None
        found = find_apart(
            self.material.text,
            self.material.signature,
            in_tiles,
            [line for line in lines if line],
            (case.j, case.k, case.l) if case is not None else None,
            others,
            self.problem.factors == "split",
            self.item.code == "uninitialised-shared",
            self.item.code in _OF_RACES,
            # Where a rule knows which barrier is missing, it says so in better words.
            self.item.code in _OF_RACES and guess is None,
        )
        result = self.result
        named = guess.line if guess is not None else self.item.line
        if found is None or found.before == found.after:
            return None
        self.has_found = True
        if self.item.code == "misaligned-access" and found.before.startswith("if"):
            if "%" not in found.after and "&" not in found.after.replace("&&", ""):
                return None  # it only keeps threads from what is moved as one
            if re.search(r"[%&] ?\w+\)? ?== ?[1-9]", found.after):
                return None  # a multiple is what is needed
        if self.item.code in _OTHER_WAYS and found.before.startswith("if"):
            if _MULTIPLE.findall(found.before) != _MULTIPLE.findall(found.after):
                return None  # it only sends all threads another way
        is_said = guess is not None or (self.problem.is_product and self._says_why())
        if found.line == named and is_said:
            return None
        if found.counted:
            return Said(
                f"{found.counted} is given a number that is not right. Count it once more.",
                found.line,
                "",
            )
        return Said(_change(found, result) + _instead(found), found.line, "")

    def _naming_result(self) -> list[int]:
        """Lines of the kernel that store P, or take its address."""
        kernel, name = self.kernel, self.kernel.roles.get("P", "")
        found = [one.line for one in kernel.accesses(name)]
        return found or [one.line for one in kernel.body if name in one.words]

    def _says_why(self) -> bool:
        """Whether what was seen on a line says what is wrong there."""
        if self.item.code in ("wrong-result", "low-precision"):
            found = self.material.explanation
            return found is None or found.kind not in ("zeroed", "beyond")
        return self.item.code not in (*_SAYS_LITTLE, *SAYS_WHERE)

    def _followed_lines(self) -> list[int]:
        """Where the wrong elements are stored, and what they are made of was put into a tile."""
        found: list[int] = []
        facts, followed = self.item.facts or Facts(), self.material.provenance
        if self.item.code == "uninitialised-shared" and self.kernel is not None:
            for one in barriers.fills(self.kernel, facts.array.split("[")[0]):
                # What a loop does not reach is not filled.
                found += [one.line, *(loop.line for loop in self.kernel.text.loops(one)[:1])]
        if self.item.code in ("wrong-result", "unwritten-output") and followed is not None:
            for element in followed.elements[:_ELEMENTS]:
                found += [who.line for who in element.stores[:1]]
            for element in followed.elements[:_ELEMENTS]:
                for term in element.terms[:1]:
                    for factor in term.factors:
                        found += [factor.shared.who.line] if factor.shared is not None else []
        if self.item.code == "low-precision" and followed is not None:
            for element in followed.elements[:_ELEMENTS]:  # where pieces are made
                for factor in (f for term in element.terms for f in term.factors):
                    found += [line for _, line in (*factor.converted, *factor.converted_before)]
        return list(dict.fromkeys(line for line in found if line))[:_MOST_LINES]
