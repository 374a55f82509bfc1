"""The first finding with its cause: what the simulator saw, joined to the lines that made it so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from grader.judging import (
    cascades,
    half_set,
    idle,
    int_fractions,
    int_products,
    jobs,
    lane_bits,
    overlapping,
    permuted,
    pieces,
    row_pitches,
    sum_stores,
    tails,
    tensor_maps,
    too_narrow,
    walk_ends,
    warned,
)
from grader.judging.cause_base import Material
from grader.judging.cause_by_plan import ByPlan
from grader.judging.cause_by_trying import SAYS_WHERE, TRIED, ByTrying, is_tried
from grader.judging.cause_of_access import Accesses
from grader.judging.cause_of_host import OF_CALLS, OF_PARTS, OfHost
from grader.judging.cause_of_launch import OfLaunch
from grader.judging.cause_of_places import Places
from grader.judging.cause_of_waits import OfWaits
from grader.judging.cause_of_wrong import Wrong, sums_too_long
from grader.judging.host import Said
from grader.judging.launch_reach import OfReach
from grader.judging.never_stored import NeverStored
from grader.judging.quietly import quietly
from grader.judging.repair.search import SIGNATURES
from grader.labs.problem import Problem
from grader.labs.statements import Listing, listing
from grader.results.finding import Cause, Facts
from grader.results.result import Diagnostic
from grader.running import compiler_words

_BEYOND_INT = 4 * 2**31  # bytes of an array of which not every element has an int for an index


def with_cause(diagnostics: tuple[Diagnostic, ...], material: Material) -> tuple[Diagnostic, ...]:
    """The findings, the first with the line and the sentence that name what was done."""
    if not diagnostics or not material.text:
        return diagnostics
    first = diagnostics[0]
    if first.severity != "error" or first.code == "does-not-compile":
        if first.code not in ("memory-leak", "barrier-divergence"):
            return diagnostics
    is_looked_into = _is_split(material) or sums_too_long(first, material)
    if first.code == "low-precision" and _is_named(first, material) and not is_looked_into:
        return diagnostics
    text = listing(material.text)
    if not text.statements:
        return diagnostics
    finder = _Finder(text, material, first)
    said = finder.known()
    if said is not None and first.code == "uninitialised-global":
        first = replace(first, advice="")  # it asks for what is told
    if said is None:
        said = finder.cause()
        tried = finder.by_trying(said)
        if tried is not None and _is_of_dynamic_memory(first, text):
            planned = _first_said(finder.by_plan)  # it knows how many bytes were asked for
            tried = planned if planned is not None and planned.line == tried.line else tried
        if tried is not None and _is_general(first, tried):
            first = replace(first, advice="")  # the change itself is told
        elif tried is None and not finder.has_found and not _is_of_barriers(first, said):
            tried = _first_said(finder.by_plan)
            # A rule about the grid has looked at both axes; most changes mend one of them.
            is_known = said is not None and first.code == "unwritten-output"
            is_known = is_known and not finder.mends_both_axes
            if tried is not None and said is not None and (is_known or tried.line == said.line):
                tried = None  # the rule says why
        said = tried or said or _first_said(finder.last_store)
    rest = tuple(_with_result_missing(one, text, material) for one in diagnostics[1:])
    if said is None:
        return (diagnostics[0], *rest)
    if not finder.problem.is_product:
        said = _of_array(said, finder, text)
    return (_joined(first, said), *rest)


def _with_result_missing(item: Diagnostic, text: Listing, material: Material) -> Diagnostic:
    """A later finding that P is not written, where it is written on the device and stays there."""
    if item.code != "unwritten-output" or item.line:
        return item
    said = _Finder(text, material, item).by_host()
    return item if said is None else replace(_joined(item, said), message=said.text)


def _is_of_dynamic_memory(item: Diagnostic, text: Listing) -> bool:
    """Whether what an access leaves may be as long as a launch has asked for."""
    return item.code == "out-of-bounds-shared" and any(
        "extern" in one.words and "__shared__" in one.words for one in text.statements
    )


def _is_of_barriers(item: Diagnostic, said: Said | None) -> bool:
    """Whether a missing barrier is known: a block of fewer threads would only hide it."""
    return item.code == "race-shared" and said is not None


def _is_general(item: Diagnostic, tried: Said) -> bool:
    """Whether the advice is that of the code, and would lead away from a change that is known."""
    facts = item.facts or Facts()
    if facts.cause is Cause.ZERO_EXTENT:
        return "/" not in tried.text
    is_guard = "if (" in tried.text or re.search(r" [<>]=? ", tried.text) is not None
    return item.code in (*SAYS_WHERE, "uninitialised-global") and not is_guard


def _of_array(said: Said, finder: _Finder, text: Listing) -> Said:
    """The sentence of a lab whose result is not P."""
    if any("P" in item.words for item in text.statements):
        return said
    name = finder.result
    if finder.kernel is not None and "P" in finder.kernel.roles:
        of = [one for one, own in finder.kernel.roles.items() if own == finder.kernel.roles["P"]]
        name = of[0] if of[0] != "P" else name
    return replace(
        said, text=re.sub(r"\bP\b", name, said.text), advice=re.sub(r"\bP\b", name, said.advice)
    )


def _is_split(material: Material) -> bool:
    """Whether elements are multiplied in pieces: of these the search may say more than P does."""
    return material.provenance is not None and pieces.is_split(material.provenance)


def _is_named(item: Diagnostic, material: Material) -> bool:
    """Whether P itself told how it came short of float's accuracy."""
    return any(one.pattern is not None and one.case.id in item.cases for one in material.outcomes)


def asks_for_calls(diagnostics: tuple[Diagnostic, ...], problem: Problem, text: str) -> bool:
    """Whether it may help to see the calls with which solve moves data, sets it, or makes maps of it."""
    if diagnostics and tensor_maps.copies(diagnostics[0].facts):
        return True
    if diagnostics and (diagnostics[0].facts or Facts()).cause is Cause.ZERO_EXTENT:
        return True
    if not diagnostics or diagnostics[0].code not in OF_CALLS | OF_PARTS:
        return False
    return problem.memory == "host" or "cudaMemset" in text or "cudaMalloc" in text


def may_be_tried(diagnostics: tuple[Diagnostic, ...], problem: Problem) -> bool:
    """Whether a small change may be looked for: then its process can be started before."""
    is_read = not problem.is_product or problem.signature in SIGNATURES
    return is_read and bool(diagnostics) and is_tried(diagnostics[0], problem)


def _joined(item: Diagnostic, said: Said) -> Diagnostic:
    """The cause first, then what was seen."""
    seen = item.message
    if item.line and said.line and item.line != said.line and f"line {item.line}" not in said.text:
        seen = f"Seen at line {item.line}: {seen}"
    other = item.line if item.line != said.line else item.other_line
    return replace(
        item,
        message=f"{said.text} {seen}",
        cause=said.text,
        line=said.line or item.line,
        other_line=other,
        advice=said.advice or item.advice,
    )


def _first_said(*rules: Callable[[], Said | None]) -> Said | None:
    """What the first rule says that says anything.

    A rule that fails at a program of a shape that it does not expect says nothing, and is in no other
    rule's way, nor in that of the search for a change.
    """
    for rule in rules:
        with quietly():
            said = rule()
            if said is not None:
                return said
    return None


class _Finder(
    ByTrying, ByPlan, OfHost, OfLaunch, OfReach, OfWaits, Accesses, NeverStored, Places, Wrong
):
    """The rules, in their order."""

    def known(self) -> Said | None:
        """What needs no guess: nvcc or the calls themselves say so."""
        return _first_said(
            self.by_stream,
            self.by_idle,
            self.by_warning,
            self.by_int_product,
            self.by_fraction,
            self.by_map,
            self.by_host,
            self.by_calls,
            self.by_text,
            self.by_parts,
            self.by_permutation,
            self.by_switch,
            self.by_jobs,
            self.by_stores,
            self.by_rest,
            self.by_walk,
            self.by_beginning,
            self.by_row_pitch,
            self.by_lanes,
            self.exchanged_grid,
            self.by_overlap,
            self.by_shared_memory,
            self.by_dynamic_memory,
            self.by_type,
            self.without_store,
            self.without_filling,
        )

    def cause(self) -> Said | None:
        rules = [self.by_arguments, self.by_exchanged_inputs, self.axis_left_out]
        rules += [self.by_rounding, self.by_block]
        if self.kernel is not None:
            rules += [
                {
                    "out-of-bounds-global": lambda: self.surplus() or self.outside(),
                    "out-of-bounds-shared": self.outside_shared,
                    "unwritten-output": self.unwritten,
                    "wrong-result": self.wrong,
                    "low-precision": self.wrong,
                    "launch-config": self.refused,
                    "race-shared": self.race_shared,
                    "race-global": self.race_global,
                    "uninitialised-shared": self.unfilled,
                    "barrier-divergence": self.divergent,
                    "misaligned-access": self.misaligned,
                    "timeout": lambda: self.endless() or self.surplus(),
                }.get(self.item.code, lambda: None)
            ]
        rules += [self.too_few, self.by_scratch]
        rules += [lambda: self.by_stores(may_guess=True), lambda: self.by_lanes(may_guess=True)]
        return _first_said(*rules)

    def by_idle(self) -> Said | None:
        return idle.idle(self.text) if self.item.code in idle.CODES else None

    def by_warning(self) -> Said | None:
        """What nvcc itself has seen: a barrier that is none, a variable without a value."""
        said = warned.warned(self.text, self.material.warnings, self.item.code)
        if said is not None:
            return said
        for warning in self.material.warnings:
            statement = next(iter(self.text.at(warning.line)), None)
            if statement is None:
                continue
            unset = compiler_words.unset_variable(warning.message)
            if unset and self.item.code in (
                "wrong-result", "uninitialised-global", "out-of-bounds-global", "api-error",
                "host-crash", "low-precision", "unwritten-output",
            ):  # fmt: skip
                if self.host is not None and unset in self.host.allocated:
                    continue
                near = statement
                known = self.text.declaration(unset, near)
                line = known[0] if known is not None else warning.line
                return Said(
                    f"{unset} is used in line {warning.line} before it has a value.",
                    line,
                    f"Give {unset} its first value where it is declared; a sum begins with 0.",
                )
        return None

    def by_int_product(self) -> Said | None:
        """An index that leaves what an int holds: only the probes have sizes for that."""
        if self.item.cases or self.item.code != "out-of-bounds-global" or not self.item.line:
            return None
        facts = self.item.facts or Facts()
        if facts.array_bytes <= _BEYOND_INT:
            return None
        line = self.item.line
        return (
            int_products.aliased(self.text, line)
            or int_products.narrow(self.text, line)
            or int_products.of_pointer(self.text, line)
        )

    def by_permutation(self) -> Said | None:
        if self.item.code not in permuted.CODES:
            return None
        return permuted.torn(self.text) or permuted.straight(self.text)

    def by_switch(self) -> Said | None:
        return cascades.broken(self.text) if self.item.code in cascades.CODES else None

    def by_jobs(self) -> Said | None:
        if self.kernel is None or self.item.code not in jobs.CODES:
            return None
        return jobs.between_jobs(self.kernel, self.item.code)

    def by_stores(self, may_guess: bool = False) -> Said | None:
        if self.kernel is None or self.item.code != "wrong-result":
            return None
        return sum_stores.wrong_sum(self.kernel, may_guess)

    def by_rest(self) -> Said | None:
        if self.kernel is None or self.item.code not in tails.CODES:
            return None
        return tails.wrong_rest(self.kernel)

    def by_row_pitch(self) -> Said | None:
        if self.item.code not in row_pitches.CODES:
            return None
        if self.item.code == "out-of-bounds-shared":
            return row_pitches.not_in_size(self.text)
        return row_pitches.not_in_index(self.text)

    def by_overlap(self) -> Said | None:
        if self.kernel is None or self.item.code not in overlapping.CODES:
            return None
        return overlapping.indexed_beyond(self.kernel)

    def by_beginning(self) -> Said | None:
        found = self.material.explanation
        if self.kernel is None or found is None or found.kind != "unset":
            return None
        return half_set.begins_anyhow(self.kernel)

    def by_walk(self) -> Said | None:
        if self.kernel is None or self.item.code not in walk_ends.CODES:
            return None
        return walk_ends.of_first_row(self.kernel)

    def by_lanes(self, may_guess: bool = False) -> Said | None:
        if self.item.code not in lane_bits.CODES:
            return None
        return lane_bits.shared(self.text, may_guess)

    def by_fraction(self) -> Said | None:
        if self.item.code not in ("wrong-result", "low-precision"):
            return None
        return int_fractions.fraction(self.text.bare)

    def by_type(self) -> Said | None:
        """A char or a short that has to hold more than it can."""
        if self.kernel is None or self.item.code not in (*TRIED, "timeout", "low-precision"):
            return None
        return too_narrow.too_narrow(self.kernel)
