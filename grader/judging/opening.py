"""The first finding with its cause: what the simulator saw, joined to the lines that made it so."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from grader.judging import (
    barriers,
    divergence,
    host,
    host_launch,
    managed,
    pieces,
    searched,
    shared_extents,
    suspects,
    tiles,
    too_narrow,
    uncovered,
    warned,
)
from grader.judging.cause_base import Material
from grader.judging.cause_of_access import Accesses
from grader.judging.cause_of_places import Places
from grader.judging.cause_of_wrong import Wrong
from grader.judging.host import Said
from grader.judging.host_events import HostEvents
from grader.judging.repair.child import find_apart
from grader.judging.repair.scope import ALWAYS
from grader.judging.repair.search import SIGNATURES
from grader.judging.wording import changes, names_in
from grader.labs.problem import Problem
from grader.labs.statements import (
    Listing,
    Statement,
    function_name,
    listing,
    shown,
)
from grader.results.finding import Access, Cause, Facts, Scope
from grader.results.result import Diagnostic
from grader.running import compiler_words

_ON_THE_WAY = frozenset(
    {
        "api-error", "host-crash", "uninitialised-global", "out-of-bounds-global", "input-modified",
        "unwritten-output", "wrong-result", "memory-leak", "no-launch",
    }
)  # fmt: skip
_OF_CALLS = _ON_THE_WAY | {"unordered-streams", "host-computed"}
# What a small change may mend.
_TRIED = frozenset(
    {
        "wrong-result", "unwritten-output", "out-of-bounds-global", "out-of-bounds-shared",
        "uninitialised-global", "uninitialised-shared", "race-global", "race-shared",
        "launch-config", "api-error", "host-crash", "misaligned-access",
    }
)  # fmt: skip
# What a call returned is no cause, wherever it stands.
_SAYS_LITTLE = frozenset({"api-error", "host-crash"})
# Who touched what, where a change on that line says what is to be done.
_SAYS_WHERE = frozenset(
    {
        "race-shared", "race-global", "uninitialised-shared", "unwritten-output", "out-of-bounds-global",
        "out-of-bounds-shared",
    }
)  # fmt: skip
# What happens before there is a result: that it is not copied back is another fault.
_IN_THE_KERNEL = frozenset({"out-of-bounds-global", "uninitialised-global"})
_ELEMENTS, _MOST_LINES = 4, 5  # of those that were followed


def with_cause(diagnostics: tuple[Diagnostic, ...], material: Material) -> tuple[Diagnostic, ...]:
    """The findings, the first with the line and the sentence that name what was done."""
    if not diagnostics or not material.text:
        return diagnostics
    first = diagnostics[0]
    if first.severity != "error" or first.code == "does-not-compile":
        if first.code not in ("memory-leak", "barrier-divergence"):
            return diagnostics
    if first.code == "low-precision" and _is_named(first, material) and not _is_split(material):
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
        if tried is not None and _is_general(first, tried):
            first = replace(first, advice="")  # the change itself is told
        said = tried or said
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


def _is_general(item: Diagnostic, tried: Said) -> bool:
    """Whether the advice is that of the code, and would lead away from a change that is known."""
    facts = item.facts or Facts()
    if facts.cause is Cause.ZERO_EXTENT:
        return "/" not in tried.text
    is_guard = "if (" in tried.text or re.search(r" [<>]=? ", tried.text) is not None
    return item.code in (*_SAYS_WHERE, "uninitialised-global") and not is_guard


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
    """Whether it may help to see the calls with which solve moves data, or sets it."""
    if not diagnostics or diagnostics[0].code not in _OF_CALLS:
        return False
    return problem.memory == "host" or "cudaMemset" in text or "cudaMalloc" in text


def may_be_tried(diagnostics: tuple[Diagnostic, ...], problem: Problem) -> bool:
    """Whether a small change may be looked for: then its process can be started before."""
    is_read = not problem.is_product or problem.signature in SIGNATURES
    return is_read and bool(diagnostics) and _is_tried(diagnostics[0], problem)


def _is_tried(item: Diagnostic, problem: Problem) -> bool:
    """Of a product in pieces the search sees also what P lacks of a float's accuracy."""
    return item.code in _TRIED or (item.code == "low-precision" and problem.factors == "split")


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


class _Finder(Accesses, Places, Wrong):
    """The rules, in their order."""

    def known(self) -> Said | None:
        """What needs no guess: nvcc or the calls themselves say so."""
        return (
            self.by_warning()
            or self.by_host()
            or self.by_calls()
            or self.by_shared_memory()
            or self.by_dynamic_memory()
            or self.by_type()
        )

    def cause(self) -> Said | None:
        rules = [self.by_arguments, self.by_block]
        if self.kernel is not None:
            rules += [
                {
                    "out-of-bounds-global": self.outside,
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
                    "timeout": self.endless,
                }.get(self.item.code, lambda: None)
            ]
        for rule in rules:
            said = rule()
            if said is not None:
                return said
        return None

    def by_trying(self, guess: Said | None) -> Said | None:
        """The line where a small change would make P right, if it is not the one already named.

        A change on the line that a rule has guessed is tried first.
        """
        if not self.material.outcomes or not _is_tried(self.item, self.problem):
            return None
        if self.item.code == "launch-config" and guess is not None:
            return None  # what was refused is known; another launch that is not says less
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
        )
        result = self.result
        named = guess.line if guess is not None else self.item.line
        if found is None or found.before == found.after:
            return None
        if self.item.code == "misaligned-access" and found.before.startswith("if"):
            if "%" not in found.after and "&" not in found.after.replace("&&", ""):
                return None  # it only keeps threads from what is moved as one
            if re.search(r"[%&] ?\w+\)? ?== ?[1-9]", found.after):
                return None  # a multiple is what is needed
        if self.item.code == "out-of-bounds-global" and found.before.startswith("if"):
            if "%" in found.before and "%" not in found.after:
                return None  # it only sends all threads another way
        is_said = guess is not None or (self.problem.is_product and self._says_why())
        if found.line == named and is_said:
            return None
        if found.is_added:
            return Said(
                f"{found.after} is missing: with it {result} would be right.", found.line, ""
            )
        if ALWAYS in found.after:
            return Said(f"Without {found.before} {result} would be right.", found.line, "")
        other = f" Or exchange the two in line {found.other} instead." if found.other else ""
        return Said(
            f"{found.before}: with {found.after} in its place {result} would be right.{other}",
            found.line,
            "",
        )

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
        return self.item.code not in (*_SAYS_LITTLE, *_SAYS_WHERE)

    def _followed_lines(self) -> list[int]:
        """Where the wrong elements are stored, and what they are made of was put into a tile."""
        found: list[int] = []
        facts, followed = self.item.facts or Facts(), self.material.provenance
        if self.item.code == "uninitialised-shared" and self.kernel is not None:
            found += [one.line for one in barriers.fills(self.kernel, facts.array.split("[")[0])]
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

    def by_host(self) -> Said | None:
        if self.host is None or self.item.code not in _ON_THE_WAY or self.outcome is None:
            return None
        if self.item.code == "no-launch":
            return self.never_launched()
        if self.material.signature != "square-host" or len(self.host.parameters) != 4:
            return None
        case = self.outcome.case
        rules = host.HostRules(self.text, self.host, self.sizes, 4 * case.j * case.l)
        if self.item.code in _IN_THE_KERNEL:
            return rules.first(asks_for_result=False)
        return rules.first() or host_launch.other_buffers(self.text, self.host)

    def never_launched(self) -> Said | None:
        """A loop that launches, and has no turn since its pieces are counted rounded down."""
        launching = {
            function_name(function)
            for function in self.text.functions()
            if any(item.has("<<<") for item in self.text.inside(function))
        }
        for item in self.host.body:
            if not (item.has("<<<") or launching & set(item.words)):
                continue
            for loop in self.text.loops(item):
                condition = loop.parts[1] if loop.kind == "for" and len(loop.parts) == 3 else ()
                for name in names_in(condition):
                    line, words = self.text.declaration(name, loop) or (0, ())
                    if "/" in words and not _is_rounded_up(words):
                        return Said(
                            f"{name} = {shown(words)} is rounded down, to 0 where there is less "
                            f"than one piece: then the loop of line {loop.line}, which launches, "
                            "has no turn.",
                            line,
                            "Round up: (whole + piece - 1) / piece.",
                        )
        return None

    def by_calls(self) -> Said | None:
        """What solve's calls were seen to do, wherever they stand."""
        if self.host is None or self.material.calls is None or self.item.code not in _OF_CALLS:
            return None
        events = HostEvents(self.text, self.host, self.material.calls, self.problem, self.item)
        said = events.first()
        is_of_result = said is not None and said == events.never_copied_back()
        return None if is_of_result and self.item.code in _IN_THE_KERNEL else said

    def by_shared_memory(self) -> Said | None:
        """What the host itself reads and writes, of memory that a kernel uses, too."""
        if self.host is None or self.outcome is None or self.problem.memory != "host":
            return None
        if self.item.code not in (*_ON_THE_WAY, "host-computed"):
            return None
        names = dict(zip(self.problem.parameters, self.host.parameters, strict=False))
        shapes = self.outcome.case.shapes
        arrays = {
            names[name]: (math.prod(shape), 4 * math.prod(shape))
            for name, shape in shapes.items()
            if name in names
        }
        known = {**self.text.constants, **self.sizes}
        results = {names[one.name] for one in self.problem.outputs if one.name in names}
        return (
            managed.copied_by_halves(self.host, known, arrays)
            or managed.unawaited(self.text, self.host)
            or managed.taken_early(self.text, self.host, results)
        )

    def by_dynamic_memory(self) -> Said | None:
        facts = self.item.facts or Facts()
        if self.item.code != "out-of-bounds-shared" or self.kernel is None:
            return None
        return shared_extents.dynamic(self.kernel, self.host, facts.array, facts.array_bytes)

    def by_type(self) -> Said | None:
        """A char or a short that has to hold more than it can."""
        if self.kernel is None or self.item.code not in (*_TRIED, "timeout", "low-precision"):
            return None
        return too_narrow.too_narrow(self.kernel)

    def by_arguments(self) -> Said | None:
        if self.host is None or self.item.code in ("launch-config", "timeout", "memory-leak"):
            return None
        given = None
        if self.problem.is_product and self.item.code == "input-modified":
            given = host_launch.input_for_output(self.text, self.host)
        return (
            given
            or host_launch.swapped_arguments(self.text, self.host)
            or host_launch.exchanged_templates(self.text, self.material.text, self.host)
            or host_launch.comma(self.text, self.host)
        )

    def by_block(self) -> Said | None:
        """A block whose sides are not the tile's."""
        if self.kernel is None or self.host is None or len(self.host.launches) != 1:
            return None
        if self.item.code not in (
            "unwritten-output", "uninitialised-shared", "out-of-bounds-shared", "race-shared",
            "race-global", "wrong-result", "out-of-bounds-global",
        ):  # fmt: skip
            return None
        mixed = suspects.coordinates(self.kernel) or host_launch.flat_block(
            self.text, self.kernel, self.host
        )
        if mixed is not None:
            return mixed
        found = suspects.block_too_small(self.kernel)
        if found is None:
            return None
        axis, threads, tile = found
        launch = self.host.launches[0]
        name = host.plain_name(launch.settings[1]) if len(launch.settings) > 1 else ""
        known = self.text.declaration(name, self.text.statements[launch.number]) if name else None
        shape = "({},{},{})".format(*self.kernel.block)
        other = host_launch.step_of_other_axis(self.text, self.kernel, launch, axis)
        if other is not None:
            return other
        return Said(
            f"The blocks have {shape} threads, and the kernel counts {tile} along {axis} to the "
            f"next block.",
            known[0] if known is not None else launch.line,
            f"A block needs {tile} threads along {axis}, as the kernel's tile has.",
        )

    def refused(self) -> Said | None:
        """Where the numbers of a refused launch come from."""
        facts = self.item.facts or Facts()
        launch = self.launch
        if launch is None:
            return self._rounded_field(facts)
        if facts.cause is Cause.ZERO_EXTENT:
            of, _, axis = facts.extent.partition(".")
            if of == "block":
                return None
            line, words = self._grid(launch, axis)
            line, words = self._called(words) or (line, words)
            if not line or "/" not in words or self._is_changed_after(line):
                return None
            if _is_rounded_up(words):
                return None  # what it divides is 0
            return Said(
                f"{shown(words).rstrip(';')} is rounded down, to 0 where there is less than one "
                "block.",
                line,
                "Round up: (whole + piece - 1) / piece.",
            )
        if facts.cause in (Cause.BLOCK_THREADS, Cause.BLOCK_EXTENT) and len(launch.settings) > 1:
            name = host.plain_name(launch.settings[1])
            near = self.text.statements[launch.number]
            first = host.plain_name(launch.settings[0])
            if first and name and self._is_number_of_blocks(name, first, near):
                return Said(
                    f"The launch has its arguments exchanged: {name} is counted by a division, as "
                    f"a number of blocks is, and {first} is the size of one.",
                    launch.line,
                    f"Write <<<{name}, {first}>>>: the grid comes first, then the block.",
                )
            if first and self._comes_from(name, first, near):
                return Said(
                    f"The launch has its arguments exchanged: {name} is computed from {first}, so "
                    f"{name} is the number of blocks and {first} the size of one.",
                    launch.line,
                    f"Write <<<{name}, {first}>>>: the grid comes first, then the block.",
                )
            known = self.text.declaration(name, near) if name else None
            if known is not None and known[1]:
                return Said(
                    f"{name}({shown(known[1])}) has too many threads.",
                    known[0],
                    "A block has at most 1024 threads: 32 x 32.",
                )
        return None

    def _rounded_field(self, facts: Facts) -> Said | None:
        """grid.y = width / 16; of a kernel that is not launched by <<<...>>>."""
        of, _, axis = facts.extent.partition(".")
        if facts.cause is not Cause.ZERO_EXTENT or of != "grid" or self.host is None:
            return None
        lines = [
            item
            for item in self.host.body
            if item.has(".", axis, "=") and "/" in item.words and "%" not in item.words
        ]
        if len(lines) != 1 or _is_rounded_up(lines[0].words):
            return None
        return Said(
            f"{shown(lines[0].words).rstrip(';')} is rounded down, to 0 where there is less than one "
            "block.",
            lines[0].line,
            "Round up: (whole + piece - 1) / piece.",
        )

    def _is_number_of_blocks(self, block: str, grid: str, near: Statement) -> bool:
        """Whether what is given as a block is divided, and what is given as a grid a constant."""
        sides = [self.text.declaration(name, near) for name in (block, grid)]
        if sides[0] is None or sides[1] is None:
            return False
        counted, fixed = sides[0][1], sides[1][1]
        constants = self.text.constants
        names = [word for word in names_in(fixed) if word not in constants and word != "dim3"]
        return "/" in counted and bool(fixed) and "/" not in fixed and not names

    def _is_changed_after(self, line: int) -> bool:
        """Whether what a line of the host declares is given another value: tiles++ where there is a rest."""
        here = self.text.simple_at(line)
        if here is None or "=" not in here.words:
            return False
        name = here.words[here.words.index("=") - 1]
        return any(
            changes(one.words, name)
            for one in self.text.inside(self.text.function_of(here))
            if one.number > here.number
        )

    def race_shared(self) -> Said | None:
        facts = self.item.facts or Facts()
        if facts.other is None:
            return None
        mine, other = (facts.line, facts.writes), (facts.other_line, facts.other.writes)
        if facts.access is Access.COPY or facts.other.access is Access.COPY:
            return tiles.stages(self.kernel) or tiles.next_phase(self.kernel)
        if mine[1] == other[1]:
            return suspects.divided(self.kernel) or suspects.coordinates(self.kernel)
        if facts.scope is Scope.WARP and "__syncwarp" in self.material.text:
            return None
        reads = other[0] if mine[1] else mine[0]
        writes = mine[0] if mine[1] else other[0]
        reads = barriers.reading(self.kernel, facts.array, reads)
        return barriers.between(self.kernel, reads, writes)

    def unfilled(self) -> Said | None:
        facts = self.item.facts or Facts()
        array = re.split(r"[^\w]", facts.array)[0]
        if facts.cause is Cause.COPY_IN_FLIGHT:
            return self.waited()
        return (
            suspects.coordinates(self.kernel)
            or suspects.divided(self.kernel)
            or tiles.stages(self.kernel)
            or tiles.never_filled(self.kernel, array, self.item.line)
            or tiles.filled_inside_only(self.kernel, array)
            or self.threads_of_loops()
            or uncovered.uncovered(self.kernel, array)
            or self._scattered_of(array)
        )

    def _scattered_of(self, array: str) -> Said | None:
        """Of this array, or of P: what is wrong with another tile does not leave this one unfilled."""
        said = self.scattered()
        of = re.match(r"(\w+)\[", said.text) if said is not None else None
        return None if of is not None and of[1] != array else said

    def waited(self) -> Said | None:
        """A wait that lets too many groups of copies be under way, or that the block does not meet after."""
        early = tiles.met_before_wait(self.kernel, self.item.line)
        if early is not None:
            return early
        waits = [
            item
            for item in self.kernel.body
            if "__pipeline_wait_prior" in item.words and item.line < self.item.line
        ]
        if waits and not any(
            "commit" in word for one in self.text.statements for word in one.words
        ):
            facts = self.item.facts or Facts()
            return Said(
                f"{shown(waits[-1].words).rstrip(';')} waits for groups of copies, and no copy is in a "
                "group: the kernel has no __pipeline_commit().",
                facts.other_line or waits[-1].line,
                "Call __pipeline_commit() after the copies of a stage have been started.",
            )
        if not waits or waits[-1].has("(", "0", ")"):
            return None
        call = shown(waits[-1].words).rstrip(";")
        return Said(
            f"{call} lets that many groups be under way, and what line {self.item.line} reads is "
            "in one of them.",
            waits[-1].line,
            "The number is that of the groups committed since, which nobody reads yet.",
        )

    def endless(self) -> Said | None:
        """A loop in which nothing changes what its condition asks for."""
        for item in self.kernel.body:
            if item.kind == "for" and len(item.parts) == 3:
                condition, step = item.parts[1], item.parts[2]
            elif item.kind == "while":
                condition, step = item.words, ()
            else:
                continue
            names = [name for name in names_in(condition) if "." not in name]
            inside = [item, *self.text.inside(item)]
            if step or not names or any("[" in one.words[:1] for one in inside):
                continue
            changed = any(changes(one.words, name) for one in inside[1:] for name in names) or any(
                word in ("break", "return", "goto") for one in inside for word in one.words
            )
            if not changed:
                return Said(
                    f"Nothing in the loop changes {names[0]}: {shown(condition)} stays as it is.",
                    item.line,
                    f"Let each turn change it, as in ++{names[0]}.",
                )
        return None

    def divergent(self) -> Said | None:
        """The branch that keeps threads from a barrier."""
        facts = self.item.facts or Facts()
        stops = barriers.barriers(self.kernel)
        if facts.cause is Cause.ANOTHER_BARRIER and (said := self._in_a_branch(stops)):
            return said
        other = facts.other_line if facts.other is not None else 0
        lines = [line for line in (self.item.line, other) if line]
        said = divergence.diverges(self.kernel, lines, facts.cause is Cause.EXITED)
        if said is not None:
            return said
        for barrier in stops:
            holder = next(self.text.above(barrier), None)
            branches = [s for s in self.text.above(barrier) if s.kind in ("if", "else")]
            if (
                branches
                and holder is not None
                and any(w in names_in(b.words) for b in branches for w in names_in(b.words))
            ):
                branch = branches[0]
                if branch.kind == "if":
                    return Said(
                        f"This __syncthreads() is inside if ({shown(branch.words)}): threads for "
                        "which that is false never come to it.",
                        barrier.line,
                        "Let every thread of the block reach each __syncthreads().",
                    )
        return None

    def _in_a_branch(self, stops: Sequence[Statement]) -> Said | None:
        """The one of several barriers that not all threads come to."""
        inside = [
            (barrier, branch)
            for barrier in stops
            if (branch := next(self.text.above(barrier), None)) is not None
            and branch.kind in ("if", "else")
        ]
        if len(inside) != 1:
            return None
        barrier, branch = inside[0]
        where = f"if ({shown(branch.words)})" if branch.kind == "if" else "the else above"
        return Said(
            f"This __syncthreads() is inside {where}: the other threads of the block go past it and "
            "wait at another one.",
            barrier.line,
            "Let every thread of the block reach each __syncthreads().",
        )


def _is_rounded_up(words: Sequence[str]) -> bool:
    """(whole + piece - 1) / piece, and (whole + 15) / 16."""
    at = words.index("/")
    number, by = (words[at - 2] if at > 1 else ""), (words[at + 1] if at + 1 < len(words) else "")
    if words[at - 1] == ")" and words[at - 3 : at - 2] == ("+",) and by.isdigit():
        return number.isdigit() and int(number) >= int(by) - 1
    return words[at - 1] == ")" and words[at - 3 : at - 1] == ("-", "1") and "+" in words[:at]
