"""The first finding with its cause: what the simulator saw, joined to the lines that made it so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.judging import host, spread, suspects, tiles
from grader.judging.host import Said
from grader.judging.judge import Outcome
from grader.judging.suspects import Kernel
from grader.judging.wording import index_of, names_in, value
from grader.labs.statements import (
    Listing,
    Statement,
    closing,
    find,
    function_name,
    listing,
    shown,
)
from grader.results.explanation import Explanation
from grader.results.finding import Access, Cause, Facts, Scope, Space
from grader.results.provenance import Provenance
from grader.results.result import Diagnostic

_SEVERAL = 4  # elements that a helper moves at once
_ABOUT_P = frozenset({"wrong-result", "unwritten-output", "low-precision"})
_ON_THE_WAY = frozenset(
    {
        "api-error", "host-crash", "uninitialised-global", "out-of-bounds-global", "input-modified",
        "unwritten-output", "wrong-result", "memory-leak",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Material:
    """What a cause is looked for in."""

    text: str
    signature: str
    outcomes: Sequence[Outcome]  # on the simulator
    warnings: Sequence[Diagnostic] = ()
    explanation: Explanation | None = None  # of the case `explained`
    provenance: Provenance | None = None
    explained: str = ""  # a case's id
    p: np.ndarray | None = None  # of that case


def with_cause(diagnostics: tuple[Diagnostic, ...], material: Material) -> tuple[Diagnostic, ...]:
    """The findings, the first with the line and the sentence that name what was done."""
    if not diagnostics or not material.text:
        return diagnostics
    first = diagnostics[0]
    if first.severity != "error" or first.code == "does-not-compile":
        if first.code != "memory-leak":
            return diagnostics
    text = listing(material.text)
    if not text.statements:
        return diagnostics
    said = _Finder(text, material, first).cause()
    if said is None:
        return diagnostics
    return (_joined(first, said), *diagnostics[1:])


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


class _Finder:
    def __init__(self, text: Listing, material: Material, item: Diagnostic) -> None:
        self.text = text
        self.material = material
        self.item = item
        self.host = host.read(text)
        shown = [o for o in material.outcomes if o.case.id in item.cases and not o.case.hidden]
        shown = shown or [o for o in material.outcomes if not o.case.hidden]
        explained = [o for o in shown if o.case.id == material.explained]
        order = {name: at for at, name in enumerate(item.cases)}
        first = min(shown, key=lambda o: order.get(o.case.id, len(order)), default=None)
        self.outcome = explained[0] if explained and item.code in _ABOUT_P else first
        self.kernel = self._kernel()

    # --- what is known

    @property
    def sizes(self) -> dict[str, str]:
        """Values of solve's integers."""
        if self.host is None or self.outcome is None:
            return {}
        case = self.outcome.case
        names = self.host.parameters[3:]
        values = [case.j] if len(names) == 1 else [case.j, case.k, case.l]
        if len(names) != len(values):
            return {}
        return {name: str(number) for name, number in zip(names, values, strict=True)}

    def _kernel(self) -> Kernel | None:
        kernels = [item for item in self.text.functions() if "__global__" in item.words]
        execution = self.outcome.execution if self.outcome else None
        runs = execution.kernels if execution else ()
        name = re.sub(r"<.*", "", runs[-1].name).split("(")[0].split()[-1] if runs else ""
        chosen = [item for item in kernels if function_name(item) == name] or kernels
        if len(chosen) != 1 or self.outcome is None:
            return None
        (function,) = chosen
        parameters = self.text.parameters(function)
        sizes: dict[str, str] = {}
        known = {**self.text.constants, **self.sizes}
        launches = [
            one
            for one in (self.host.launches if self.host else ())
            if one.kernel == function_name(function)
        ]
        if len(launches) == 1 and len(launches[0].given) == len(parameters):
            for parameter, given in zip(parameters, launches[0].given, strict=True):
                number = value(given, known)
                if number is not None:
                    sizes[parameter] = str(number)
        pointers = _pointers(function.words, parameters)
        inputs = [name for name, is_const in pointers if is_const]
        results = [name for name, is_const in pointers if not is_const]
        roles: dict[str, str] = {}
        if len(inputs) == 2 and len(results) == 1:
            roles = {"M": inputs[0], "N": inputs[1], "P": results[0]}
        elif len(pointers) == 3:
            roles = dict(zip("MNP", (name for name, _ in pointers), strict=True))
        case = self.outcome.case
        dimensions = {"M": (case.j, case.k), "N": (case.k, case.l), "P": (case.j, case.l)}
        shapes = {name: dimensions[role] for role, name in roles.items()}
        run = runs[-1] if runs else None
        return Kernel(
            self.text, function, parameters, sizes, shapes,
            run.grid if run else (1, 1, 1), run.block if run else (1, 1, 1), roles,
        )  # fmt: skip

    # --- the order of the rules

    def cause(self) -> Said | None:
        rules = [self.by_warning, self.by_host, self.by_arguments, self.by_block]
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

    def by_warning(self) -> Said | None:
        """What nvcc itself has seen: a barrier that is none, a variable without a value."""
        for warning in self.material.warnings:
            statement = next(iter(self.text.at(warning.line)), None)
            if statement is None:
                continue
            if "expression has no effect" in warning.message and "__syncthreads" in statement.words:
                if self.item.code in ("race-shared", "uninitialised-shared", "wrong-result"):
                    return Said(
                        "__syncthreads without parentheses does nothing: it is not called.",
                        warning.line,
                        "Write __syncthreads();",
                    )
            unset = re.search(r'variable "(\w+)" is used before its value is set', warning.message)
            if unset and self.item.code in (
                "wrong-result", "uninitialised-global", "out-of-bounds-global", "api-error",
                "host-crash", "low-precision", "unwritten-output",
            ):  # fmt: skip
                if self.host is not None and unset[1] in self.host.allocated:
                    continue
                near = statement
                known = self.text.declaration(unset[1], near)
                line = known[0] if known is not None else warning.line
                return Said(
                    f"{unset[1]} is used in line {warning.line} before it has a value.",
                    line,
                    f"Give {unset[1]} its first value where it is declared; a sum begins with 0.",
                )
        return None

    def by_host(self) -> Said | None:
        if self.host is None or self.item.code not in _ON_THE_WAY or self.outcome is None:
            return None
        if self.material.signature != "square-host" or len(self.host.parameters) != 4:
            return None
        case = self.outcome.case
        return host.HostRules(self.text, self.host, self.sizes, 4 * case.j * case.l).first()

    def by_arguments(self) -> Said | None:
        if self.host is None or self.item.code in ("launch-config", "timeout", "memory-leak"):
            return None
        return host.swapped_arguments(self.text, self.host)

    def by_block(self) -> Said | None:
        """A block whose sides are not the tile's."""
        if self.kernel is None or self.host is None or len(self.host.launches) != 1:
            return None
        if self.item.code not in (
            "unwritten-output", "uninitialised-shared", "out-of-bounds-shared", "race-shared",
            "race-global", "wrong-result", "out-of-bounds-global",
        ):  # fmt: skip
            return None
        mixed = suspects.coordinates(self.kernel)
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
        return Said(
            f"The blocks have {shape} threads, and the kernel counts {tile} along {axis} to the "
            f"next block.",
            known[0] if known is not None else launch.line,
            f"A block needs {tile} threads along {axis}, as the kernel's tile has.",
        )

    # --- by code

    def _named(self, array: str) -> tuple[str, str] | None:
        """(role, name in the kernel) of a buffer that a finding names."""
        roles = self.kernel.roles
        if array in roles:
            return array, roles[array]
        return None

    def outside(self) -> Said | None:
        kernel, item = self.kernel, self.item
        facts = item.facts or Facts()
        found = self.text.at(item.line)
        named = self._named(facts.array)
        statement = next((s for s in found if named and s.has(named[1], "[")), None)
        if statement is None:
            statement = self.text.simple_at(item.line)
        if statement is None or facts.cause in (
            Cause.FREED,
            Cause.NULL_POINTER,
            Cause.HOST_POINTER,
        ):
            return None
        mixed = suspects.coordinates(kernel) or self._pointer_of_helper(statement)
        if named is None:
            return mixed
        role, name = named
        index = index_of(statement.words, name)
        words = (*index.row, *index.column) if index else statement.words
        long = suspects.loop_too_long(kernel, statement, words)
        if long is not None:
            return long
        if index is None:
            return mixed
        shape = kernel.shapes[name]
        length = value(index.length, kernel.known)
        if length is not None and length != shape[1]:
            return Said(
                f"A row of {role} has {shape[1]} elements here; {name}[{shown(index.row)} * "
                f"{shown(index.length)} + ...] counts {length}.",
                statement.line,
                f"Multiply the row by the number of columns of {role}.",
            )
        guard = suspects.guard_lets_pass(kernel, statement, name, index, shape)
        return guard or mixed or suspects.divided(kernel)

    def _pointer_of_helper(self, statement: Statement) -> Said | None:
        """from = A + col * cols + col in a helper that is given a row, too."""
        function = self.text.function_of(statement)
        if function is None or "__global__" in function.words:
            return None
        given = [one for one in self.text.parameters(function) if one in ("row", "col", "column")]
        for name in dict.fromkeys(w for w in statement.words if w.isidentifier()):
            known = self.text.declaration(name, statement)
            if known is None or known[1][1:2] != ("+",) or len(given) != 2:
                continue
            absent = [one for one in given if one not in known[1]]
            if len(absent) == 1:
                return Said(
                    f"{name} = {shown(known[1])}: {absent[0]} is not in it.",
                    known[0],
                    "An element is found by its row times the number of columns, plus its column.",
                )
        return None

    def outside_shared(self) -> Said | None:
        kernel, item = self.kernel, self.item
        statement = self.text.simple_at(item.line)
        if statement is None:
            return None
        return (
            suspects.loop_too_long(kernel, statement, statement.words)
            or suspects.divided(kernel)
            or self._short_array()
            or self._load_too_long(statement)
            or self.scattered()
        )

    def _load_too_long(self, statement) -> Said | None:
        """A loop that fills more elements than the tile has."""
        facts = self.item.facts or Facts()
        elements = facts.array_bytes // 4
        for loop in self.text.loops(statement):
            if loop.kind != "for" or len(loop.parts) != 3 or "<" not in loop.parts[1]:
                continue
            condition = loop.parts[1]
            bound = value(condition[condition.index("<") + 1 :], self.kernel.known)
            if bound and elements and bound > elements and "threadIdx" not in condition:
                if "+=" in loop.parts[2]:
                    return Said(
                        f"The loop of line {loop.line} goes on while {shown(condition)}, up to "
                        f"{bound}; the tile has {elements} elements.",
                        loop.line,
                        "End with the number of elements of the tile.",
                    )
        return None

    def _short_array(self) -> Said | None:
        """A tile that is declared with a side too few."""
        facts = self.item.facts or Facts()
        if facts.space is not Space.SHARED or not facts.array:
            return None
        for statement in self.kernel.body:
            if "__shared__" in statement.words and facts.array in statement.words:
                at = statement.words.index(facts.array)
                sides = shown(statement.words[at:]).rstrip(";")
                if " - 1]" in sides:
                    return Said(
                        f"{sides.split(',')[0]} is one too short.",
                        statement.line,
                        "The tile has as many rows and columns as are used.",
                    )
        return None

    def unwritten(self) -> Said | None:
        kernel = self.kernel
        mixed = suspects.coordinates(kernel) or suspects.divided(kernel)
        if mixed is not None:
            return mixed
        for axis in "xy":
            unused = suspects.unused_axis(kernel, axis)
            if unused is not None:
                return unused
        return (
            self.threads_unused()
            or self.scattered()
            or self.stored_alike()
            or self.store_guard()
            or self.covered()
            or self.given_less()
        )

    def given_less(self) -> Said | None:
        """solve's width handed on as width - 1."""
        if self.host is None or len(self.host.launches) != 1:
            return None
        launch = self.host.launches[0]
        for given in launch.given:
            if len(given) == 3 and given[0] in self.host.parameters and given[1:] in (
                ("-", "1"), ("+", "1"),
            ):  # fmt: skip
                return Said(
                    f"The kernel is given {shown(given)} for {given[0]}: it works on a matrix of "
                    "another size.",
                    launch.line,
                    f"Hand {given[0]} over as it is.",
                )
        return None

    def refused(self) -> Said | None:
        """Where the numbers of a refused launch come from."""
        facts = self.item.facts or Facts()
        if self.host is None or len(self.host.launches) != 1:
            return None
        launch = self.host.launches[0]
        if facts.cause is Cause.ZERO_EXTENT:
            line, words = self._grid(launch)
            line, words = self._called(words) or (line, words)
            if not line or "/" not in words:
                return None
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
            if first and self._comes_from(name, first, near):
                return Said(
                    f"The launch has its arguments exchanged: {name} is computed from {first}, so "
                    f"{name} is the number of blocks and {first} the size of one.",
                    launch.line,
                    f"Write <<<{name}, {first}>>>: the grid comes first, then the block.",
                )
            known = self.text.declaration(name, near)
            if known is not None and "," in known[1]:
                return Said(
                    f"{name}({shown(known[1])}) has too many threads.",
                    known[0],
                    "A block has at most 1024 threads: 32 x 32.",
                )
        return None

    def _comes_from(self, name: str, source: str, near: Statement) -> bool:
        """Whether the variable's declaration, or one that it uses, names the other variable."""
        open_names, seen = [name], set[str]()
        while open_names:
            one = open_names.pop()
            known = None if one in seen else self.text.declaration(one, near)
            seen.add(one)
            if known is None:
                continue
            if source in known[1]:
                return True
            open_names += [word for word in known[1] if word.isidentifier()]
        return False

    def _called(self, words: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
        """The line of a helper's division, where the words call one."""
        for at, word in enumerate(words[:-1]):
            function = self.text.named(word) if words[at + 1] == "(" else None
            if function is None:
                continue
            inside = [item for item in self.text.inside(function) if "/" in item.words]
            if len(inside) == 1:
                return inside[0].line, inside[0].words
        return None

    def threads_unused(self) -> Said | None:
        """threadIdx.x for the row and the column: only a diagonal is written."""
        rows = []
        for name, line, words, item in suspects.declarations(self.kernel):
            wide = self.kernel.expanded(words, item)
            threads = suspects.axes_of(wide, "threadIdx")
            if len(threads) == 1 and suspects.stands_alone(wide):
                rows.append((name, line, words, threads[0]))
        used = {
            axis for item in self.kernel.body for axis in suspects.axes_of(item.words, "threadIdx")
        }
        for axis, count in zip("xy", self.kernel.block, strict=False):
            if count > 1 and axis not in used and len(rows) > 1:
                name, line, words, of = rows[0] if axis == "y" else rows[-1]
                for one in rows:
                    if ("row" in one[0].lower()) == (axis == "y"):
                        name, line, words, of = one
                        break
                return Said(
                    f"{name} = {shown(words)}: threadIdx.{axis} is used nowhere, and threadIdx.{of} "
                    "twice, so only elements on diagonals are computed.",
                    line,
                    f"The {'row' if axis == 'y' else 'column'} comes from threadIdx.{axis}.",
                )
        return None

    def covered(self) -> Said | None:
        """A grid that does not cover P."""
        if self.host is None or len(self.host.launches) != 1 or self.outcome is None:
            return None
        case, kernel = self.outcome.case, self.kernel
        p = self.material.p
        if p is None or self.material.explained != case.id:
            return None
        written = ~np.isnan(p)
        launch = self.host.launches[0]
        if not written.any():
            return None
        rows = int(np.flatnonzero(written.any(axis=1))[-1]) + 1
        columns = int(np.flatnonzero(written.any(axis=0))[-1]) + 1
        if not written[:rows, :columns].all():
            return None
        line, words = self._grid(launch)
        text = f"The grid has {kernel.grid[0]} x {kernel.grid[1]} blocks"
        missing = []
        if columns < case.l:
            missing.append((_range("column", columns, case.l - 1), "x", columns, case.l, 0))
        if rows < case.j:
            missing.append((_range("row", rows, case.j - 1), "y", rows, case.j, 1))
        if not missing:
            return None
        tile = [-(-columns // kernel.grid[0]), -(-rows // kernel.grid[1])]
        store = self._store()
        if store is not None:
            statement, row, column = store
            across = spread.step(kernel, column, statement, "x")
            down = spread.step(kernel, row, statement, "y")
            if across and down and across > 0 and down > 0:
                tile = [across, down]
        needed = (-(-case.l // tile[0]), -(-case.j // tile[1]))
        parts = " and ".join(part for part, *_ in missing)
        said = f"{text}, which leave out {parts} of P."
        if any((columns, rows)[axis] % tile[axis] for *_, axis in missing):
            return None
        advice = f"x needs {needed[0]} blocks for the {case.l} columns, y {needed[1]} for the {case.j} rows, rounded up."
        if case.j != case.l:
            turned = (-(-case.j // tile[1]), -(-case.l // tile[0]))
            if kernel.grid[:2] == turned and turned != needed:
                said = (
                    f"The grid's axes are exchanged: x has {kernel.grid[0]} blocks, as many as the "
                    f"{case.j} rows need, and y {kernel.grid[1]}, for the {case.l} columns."
                )
                advice = "x covers the columns of P, y its rows."
        return Said(said, line or launch.line, advice)

    def _grid(self, launch: host.Launch) -> tuple[int, tuple[str, ...]]:
        """(line, words) of what decides the grid."""
        near = self.text.statements[launch.number]
        name = host.plain_name(launch.settings[0])
        if not name:
            return launch.line, launch.settings[0]
        given = [
            item
            for item in self.host.body
            if item.kind == "simple" and item.words[:2] == (name, ".") and "=" in item.words
        ]
        if given:
            return given[0].line, given[0].words
        known = self.text.declaration(name, near)
        if known is None:
            return launch.line, ()
        line, words = known
        names = [n for n in names_in(words) if n not in self.host.parameters and "." not in n]
        inner = [self.text.declaration(n, near) for n in names]
        inner = [one for one in inner if one is not None and "/" in one[1]]
        if len(inner) == 1 and "/" not in words and "," in words:
            parts = [one.strip() for one in " ".join(words).split(",")]
            if len(set(parts[:2])) == 1:
                return inner[0]
        return line, words

    def store_guard(self) -> Said | None:
        """Threads are there, and a guard keeps them from storing."""
        kernel = self.kernel
        name = kernel.roles.get("P", "")
        stores = [item for item in kernel.accesses(name) if item.words[0] == name] if name else []
        if len(stores) != 1:
            return None
        index = index_of(stores[0].words, name)
        found = suspects.guards(kernel, stores[0])
        if index is None:
            return None
        for guard in found:
            for c in guard.comparisons:
                part = next(
                    (p for p in (index.row, index.column) if suspects.same(c.left, p)), None
                )
                if part is None:
                    continue
                limit = kernel.shapes[name][0 if part is index.row else 1]
                bound = value(c.right, kernel.known)
                if bound is not None and bound < limit:
                    what = "rows" if part is index.row else "columns"
                    return self.given_less() or Said(
                        f"The guard {shown(guard.words)} stops at {bound}, and P has {limit} {what}:"
                        " their threads do not store.",
                        guard.line,
                        "Let every thread inside P store.",
                    )
        branch = next((s for s in self.text.above(stores[0]) if s.kind == "if"), None)
        if branch is not None and not found:
            if any(w in branch.words for w in ("<", ">", "<=", ">=")):
                return None
            return Said(
                f"Only threads with {shown(branch.words)} store.",
                branch.line,
                "Let every thread inside P store.",
            )
        return None

    def wrong(self) -> Said | None:
        found, kernel = self.material.explanation, self.kernel
        plain = suspects.product_without(kernel) or suspects.short_local(kernel)
        if plain is not None:
            return plain
        if found is None:
            return suspects.coordinates(kernel) or suspects.subtracted(kernel)
        if found.kind in ("wrong-factor", "zeroed", "missing", "beyond", "mispaired"):
            said = self.phases(found)
            if said is not None:
                return said
        if found.kind in ("misplaced", "not-stored", "stored-twice", "mispaired", "foreign"):
            said = suspects.coordinates(kernel) or suspects.divided(kernel) or self.scattered()
            if said is not None:
                return said
        if found.kind == "converted":
            return self.converted(found)
        if found.kind == "unset":
            return self.unset(found)
        if found.kind in ("wrong-factor", "zeroed"):
            return self.definition(found)
        if found.kind == "missing":
            return self.overwritten(found)
        if found.kind == "one-matrix":
            return None
        return None

    def phases(self, found: Explanation) -> Said | None:
        """A load that goes on by another number from phase to phase than it fills in one."""
        kernel = self.kernel
        for role, name in kernel.roles.items():
            for item in kernel.body if role != "P" else ():
                if item.kind != "simple" or name not in item.words:
                    continue
                index = index_of(item.words, name)
                words = (index.column if role == "M" else index.row) if index else None
                if words is None:
                    words = self._of_helper(item, name, role)
                if not words:
                    continue
                seen = spread.phase(kernel, words, item)
                if seen is None:
                    continue
                loop, by, count = seen
                wide = 4 if index is None else 1
                if count < 2 or by in (count, count * wide) or by < 0:
                    continue
                blamed = suspects.named_definition(kernel, item, words)
                line, meaning = blamed if blamed is not None else (item.line, words)
                what = "column" if role == "M" else "row"
                return Said(
                    f"The {what} of {role}, {shown(meaning)}, goes on by {by} from phase to phase, "
                    f"and a tile has {count * wide} {what}s.",
                    line,
                    "Each phase begins where the one before has ended.",
                )
        return None

    def _of_helper(self, item, name: str, role: str) -> tuple[str, ...]:
        """The row or column that a helper such as load4(M, j, k, row, col) is given."""
        at = next(
            (
                at
                for at, word in enumerate(item.words[:-1])
                if item.words[at + 1] == "(" and self.text.named(word) is not None
            ),
            -1,
        )
        if at < 0:
            return ()
        given = suspects.call_arguments(item.words, at)
        names = self.text.parameters(self.text.named(item.words[at]))
        wanted = "col" if role == "M" else "row"
        places = [i for i, parameter in enumerate(names) if parameter.lower() == wanted]
        if (name,) not in given or len(places) != 1 or len(given) != len(names):
            return ()
        return given[places[0]]

    def overwritten(self, found: Explanation) -> Said | None:
        """sum = a * b, where sum += a * b is meant."""
        for item in self.kernel.body:
            if item.kind != "simple" or "=" not in item.words or not self.text.loops(item):
                continue
            at = item.words.index("=")
            left, right = item.words[:at], item.words[at + 1 :]
            if is_target(left) and "*" in right and not any(w in right for w in left[:1]):
                if suspects.is_declaration(item.words) or found.line == 0:
                    continue
                name = left[0]
                stored = any(
                    name in s.words[s.words.index("=") :]
                    for s in self.kernel.accesses(self.kernel.roles.get("P", ""))
                    if "=" in s.words
                )
                known = self.text.declaration(name, item)
                loops = self.text.loops(item)
                if stored and known is not None and known[0] < loops[-1].line:
                    return Said(
                        f"{shown(left)} = sets the sum anew each time: only the last product is "
                        "left.",
                        item.line,
                        "Add to it: +=.",
                    )
        return None

    def converted(self, found: Explanation) -> Said | None:
        """The variable or array that is declared as int."""
        statement = self.text.simple_at(found.line)
        if statement is None or "int" not in found.sentence.split():
            return None
        for name in names_in(statement.words):
            declaration = next(
                (
                    item
                    for item in self.kernel.body
                    if item.kind == "simple"
                    and suspects.is_declaration(item.words)
                    and name in item.words
                    and any(w in ("int", "unsigned", "long", "short") for w in item.words[:4])
                ),
                None,
            )
            left = statement.words[: statement.words.index("=")] if "=" in statement.words else ()
            left = left or statement.words[:1]
            if declaration is not None and left and left[0] == name:
                return Said(
                    f"{name} is declared as int: what is put into it loses its fraction.",
                    declaration.line,
                    f"Declare {name} as float.",
                )
        return None

    def unset(self, found: Explanation) -> Said | None:
        """An array that looks like a tile and is not shared; a sum without a beginning."""
        statement = self.text.simple_at(found.line)
        if statement is None:
            return None
        if "=" in statement.words and statement.words[0] == self.kernel.roles.get("P"):
            for name in names_in(statement.words[statement.words.index("=") :]):
                known = self.text.declaration(name, statement)
                zero = [
                    item
                    for item in self.text.assignments(name, self.kernel.function)
                    if item.words[-2] in ("0", "0.0f", "0.f", "0.0") and item.words[-3] == "="
                ]
                if known is not None and not known[1] and len(zero) == 1:
                    return Said(
                        f"{shown(zero[0].words)} does not set all of {name}: some sums begin with "
                        "whatever is there.",
                        zero[0].line,
                        f"Set every element of {name} to 0.",
                    )
                if known is not None and not known[1]:
                    return Said(
                        f"{name} has no value at first: the sum begins with whatever is there.",
                        known[0],
                        f"Set {name} to 0 where it is declared.",
                    )
        for name in names_in(statement.words):
            for item in self.kernel.body:
                if item.kind != "simple" or not suspects.is_declaration(item.words):
                    continue
                at = next(
                    (
                        i
                        for i, w in enumerate(item.words)
                        if w == name and item.words[i + 1 : i + 2] == ("[",)
                    ),
                    -1,
                )
                if at < 0 or "__shared__" in item.words or "=" in item.words[at:]:
                    continue
                tiles = [s for s in self.kernel.body if "__shared__" in s.words]
                shape = suspects.array_shape(self.kernel, name)
                if (
                    tiles
                    and shape
                    and any(
                        suspects.array_shape(self.kernel, other) == shape
                        for other in suspects.shared_arrays(self.kernel)
                    )
                ):
                    return Said(
                        f"{name} is not __shared__: every thread has one of its own, and finds only "
                        "what it put there itself.",
                        item.line,
                        f"__shared__ float {name}...",
                    )
        return None

    def definition(self, found: Explanation) -> Said | None:
        """The line that defines the wrong part of an index."""
        kernel = self.kernel
        mixed = suspects.coordinates(kernel) or suspects.divided(kernel) or self.scattered()
        if mixed is not None:
            return mixed
        if not found.needed or found.operand not in ("M", "N"):
            return None
        statement = next(
            (s for s in self.text.at(found.line) if s.has(kernel.roles.get(found.operand, "?"))),
            None,
        )
        if statement is None:
            return None
        name = kernel.roles[found.operand]
        index = index_of(statement.words, name)
        if index is None:
            return None
        row_wrong = found.got[0] != found.needed[0]
        column_wrong = found.got[1] != found.needed[1]
        length = value(index.length, kernel.known)
        if length is not None and length != kernel.shapes[name][1]:
            return None  # the line itself
        if row_wrong == column_wrong:
            return None
        part = index.row if row_wrong else index.column
        blamed = suspects.blamed_definition(kernel, statement, part)
        lacks_phase = found.phase and sum(found.got) < sum(found.needed)
        if blamed is None or (lacks_phase and len(names_in(part)) == 1 and not index.row):
            return None
        if lacks_phase and blamed[0] in names_in(part) and len(part) == 1:
            loops = {suspects.counted(loop) for loop in self.text.loops(statement)[-1:]}
            if not loops & set(names_in(blamed[2])):
                return None
        which, line, words = blamed
        what = "row" if row_wrong else "column"
        return Said(
            f"{which} = {shown(words)} is the wrong {what} of {found.operand}.",
            line,
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
        if facts.scope is Scope.WARP:
            return None
        reads = other[0] if mine[1] else mine[0]
        writes = mine[0] if mine[1] else other[0]
        return tiles.between(self.kernel, reads, writes)

    def scattered(self) -> Said | None:
        """Rows or columns that the threads of a block do not all reach, in a tile or in P."""
        kernel = self.kernel
        store = self._store()
        if store is None:
            return None
        statement, row, column = store
        sides = {}
        for what, words, axis in (("row", row, "y"), ("column", column, "x")):
            side = spread.step(kernel, words, statement, axis)
            found = spread.values_of(kernel, words, statement)
            if side is None or found is None or side < 2:
                continue
            if statement.words[1] == "(" and what == "column":  # a helper stores several
                several = np.unique(found[:, None] + np.arange(_SEVERAL)[None, :])
                if spread.is_whole(several, side):
                    found = several
            if spread.is_whole(found, len(found)) and len(found) > side:
                said = self._step(axis, len(found), side)
                if said is not None:
                    return said
            sides[what] = side
            if not spread.is_whole(found, side):
                whole = suspects.named_definition(kernel, statement, words)
                line, meaning = whole if whole is not None else (statement.line, words)
                line, meaning = spread.blamed(kernel, meaning, statement, side) or (line, meaning)
                return Said(
                    f"The {what} {shown(meaning)}: a block has {side} {what}s of P, and its threads "
                    f"reach {_numbers(found)}.",
                    line,
                    f"Over all threads and turns it must give each {what} of the block once.",
                )
        for item in kernel.body:
            if item.kind != "simple" or "__shared__" in item.words:
                continue
            said = self._scattered_read(item, sides)
            if said is not None:
                return said
        return None

    def _step(self, axis: str, reached: int, side: int) -> Said | None:
        """blockIdx times another number than a block has rows or columns."""
        kernel = self.kernel
        sides = {
            side
            for array in suspects.shared_arrays(kernel)
            for side in suspects.array_shape(kernel, array) or ()
        }
        if reached not in sides:
            return None
        for name, line, words, item in suspects.declarations(kernel):
            if axis in suspects.axes_of(kernel.expanded(words, item), "blockIdx"):
                what = "columns" if axis == "x" else "rows"
                return Said(
                    f"{name} = {shown(words)} goes on by {side} from block to block, and a block "
                    f"has {reached} {what} of P.",
                    line,
                    f"Multiply blockIdx.{axis} by the {what} that a block computes.",
                )
        return None

    def _store(self):
        """(statement, row, column) of the only store to P."""
        kernel = self.kernel
        name = kernel.roles.get("P", "")
        stores = [s for s in kernel.accesses(name) if s.words[:2] == (name, "[")] if name else []
        if len(stores) == 1:
            index = index_of(stores[0].words, name)
            return (stores[0], index.row, index.column) if index else None
        calls = [
            (item, suspects.call_arguments_of(item))
            for item in kernel.body
            if item.kind == "simple" and (name,) in suspects.call_arguments_of(item)
        ]
        if name and len(calls) == 1 and len(calls[0][1]) == 6:
            item, given = calls[0]
            function = self.text.named(item.words[0])
            names = self.text.parameters(function) if function is not None else []
            if len(names) == 6 and "row" in names[3].lower() and "col" in names[4].lower():
                return item, given[3], given[4]
        return None

    def _scattered_read(self, item, sides) -> Said | None:
        kernel = self.kernel
        for array in suspects.shared_arrays(kernel):
            shape = suspects.array_shape(kernel, array)
            at = find(item.words, (array, "["))
            filled = [s for s in tiles.fills(kernel, array)]
            if at < 0 or not shape or item in filled:
                continue
            at, position = at + 1, 0
            while at < len(item.words) and item.words[at] == "[":
                end = closing(item.words, at)
                words = item.words[at + 1 : end]
                used = spread.needed(kernel, words, item)
                if any(name.startswith("threadIdx") for name in used) and position < len(shape):
                    found = spread.values_of(kernel, words, item)
                    fitting = [s for s in sides.values() if s <= shape[position]]
                    wide = "float4_at" in item.words or "float4" in item.words
                    is_last = position == len(shape) - 1
                    if wide and is_last:
                        fitting = []
                    if found is not None and fitting and len(set(fitting)) == 1:
                        if not spread.is_whole(found, fitting[0]):
                            line, _ = spread.blamed(kernel, words, item, fitting[0]) or (
                                item.lines[at],
                                (),
                            )
                            return Said(
                                f"{array}[...][{shown(words)}]: the tile has {fitting[0]}, and the "
                                f"threads of the block read {_numbers(found)}.",
                                line,
                                "Over all threads and turns each must be read, as P is stored.",
                            )
                at, position = end + 1, position + 1
        return None

    def race_global(self) -> Said | None:
        kernel = self.kernel
        said = suspects.coordinates(kernel) or suspects.divided(kernel) or self.scattered()
        if said is not None:
            return said
        for axis in "xy":
            unused = suspects.unused_axis(kernel, axis)
            if unused is not None:
                return unused
        return self.threads_unused() or self.stored_alike()

    def stored_alike(self) -> Said | None:
        """A store to P whose place is the same in several blocks, or in several threads."""
        kernel, store = self.kernel, self._store()
        if store is None:
            return None
        statement, row, column = store
        used = spread.needed(kernel, row, statement) | spread.needed(kernel, column, statement)
        for kind, counts in (("blockIdx", kernel.grid), ("threadIdx", kernel.block)):
            for axis, words, what, count in zip(
                "xy", (column, row), ("column", "row"), counts, strict=False
            ):
                if count < 2 or f"{kind}.{axis}" in used:
                    continue
                line, meaning = suspects.named_definition(kernel, statement, words) or (
                    statement.line,
                    words,
                )
                many = "blocks" if kind == "blockIdx" else "threads of a block"
                return Said(
                    f"The place in P, {what} {shown(meaning)}, does not depend on {kind}.{axis}: "
                    f"the {count} {many} along {axis} store the same elements.",
                    line,
                    f"Let the {what} depend on {kind}.{axis}.",
                )
        return None

    def unfilled(self) -> Said | None:
        facts = self.item.facts or Facts()
        array = re.split(r"[^\w]", facts.array)[0]
        if facts.cause is Cause.COPY_IN_FLIGHT:
            return None
        return (
            suspects.coordinates(self.kernel)
            or suspects.divided(self.kernel)
            or tiles.stages(self.kernel)
            or tiles.never_filled(self.kernel, array, self.item.line)
            or self.threads_of_loops()
            or self.scattered()
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

    def threads_of_loops(self) -> Said | None:
        """Loops that all count on more threads than the launch has."""
        kernel = self.kernel
        if self.host is None or len(self.host.launches) != 1:
            return None
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        steps = {
            value(item.parts[2][2:], kernel.known)
            for item in kernel.body
            if item.kind == "for"
            and len(item.parts) == 3
            and item.parts[2][1:2] == ("+=",)
            and not any("__syncthreads" in one.words for one in self.text.inside(item))
            and spread.turns(kernel, item)
        }
        steps.discard(None)
        if len(steps) != 1 or steps == {threads} or max(steps) <= threads:
            return None
        launch = self.host.launches[0]
        return Said(
            f"The block has {threads} threads, and the kernel's loops count on {steps.pop()}.",
            launch.line,
            "Launch as many threads as the kernel counts on.",
        )

    def misaligned(self) -> Said | None:
        """A float4 whose place is no multiple of 4."""
        kernel = self.kernel
        here = self.text.at(self.item.line)
        function = self.text.function_of(here[0]) if here else None
        if function is None:
            return None
        if "__global__" not in function.words:
            for branch in (one for item in here for one in self.text.above(item)):
                words = branch.words
                if branch.kind == "if" and len(words) == 5 and words[1:] == ("%", "4", "==", "0"):
                    used = [
                        item
                        for item in self.text.inside(function)
                        if item.number < branch.number and item.has("*", words[0])
                    ]
                    others = [
                        item
                        for item in self.text.inside(function)
                        if item.number < branch.number and "*" in item.words and "row" in item.words
                    ]
                    if not used and others:
                        return Said(
                            f"Whether rows are aligned depends on their length, and the condition "
                            f"{shown(words)} asks for {words[0]}.",
                            branch.line,
                            "A row begins at a multiple of 16 bytes if the number of columns is a "
                            "multiple of 4.",
                        )
            for item in kernel.body:
                name = function_name(function)
                at = find(item.words, (name, "("))
                if at < 0:
                    continue
                given = suspects.call_arguments(item.words, at)
                names = self.text.parameters(function)
                places = [i for i, one in enumerate(names) if one.lower() == "col"]
                if len(places) != 1 or len(given) != len(names):
                    continue
                loops = {
                    suspects.counted(loop): 0
                    for loop in self.text.loops(item)
                    if not spread.turns(kernel, loop) and suspects.counted(loop)
                }
                found = spread.values_of(kernel, given[places[0]], item, also=loops)
                if found is not None and (found % 4).any():
                    return Said(
                        f"{name} is given the column {shown(given[places[0]])}, which is not always "
                        "a multiple of 4.",
                        item.line,
                        "A float4 begins at a column that is a multiple of 4: are row and column "
                        "exchanged?",
                    )
            return None
        for item in here:
            for loop in self.text.loops(item):
                step = loop.parts[2] if loop.kind == "for" and len(loop.parts) == 3 else ()
                name = suspects.counted(loop)
                is_one = "++" in step or step[1:] == ("+=", "1")
                if name and is_one and find(item.words, ("]", "[", name, "]", ")")) >= 0:
                    if "&" in item.words:
                        return Said(
                            f"{name} goes on by 1, and each turn moves four elements from "
                            f"[{name}] on.",
                            loop.line,
                            f"Go on by 4: {name} += 4.",
                        )
        return None

    def divergent(self) -> Said | None:
        """The branch that keeps threads from a barrier."""
        facts = self.item.facts or Facts()
        barriers = tiles.barriers(self.kernel)
        for barrier in barriers:
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
        if facts.cause is Cause.EXITED:
            for item in self.kernel.body:
                if item.words[:1] == ("return",) and barriers and item.number < barriers[-1].number:
                    branch = next((s for s in self.text.above(item) if s.kind == "if"), None)
                    if branch is not None:
                        return Said(
                            f"Threads with {shown(branch.words)} return in line {item.line}, before "
                            f"the barrier of line {barriers[0].line} that the others wait at.",
                            item.line,
                            "Let all threads stay for the barriers; guard only loads and stores.",
                        )
        return None


def _numbers(found: np.ndarray) -> str:
    first, last = int(found[0]), int(found[-1])
    if len(found) == last - first + 1:
        return f"{first} to {last}"
    some = ", ".join(str(int(number)) for number in found[:4])
    return f"{some}, ... {last}, {len(found)} in all"


def _range(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"


def changes(words: Sequence[str], name: str) -> bool:
    """Whether a statement may give a variable another value."""
    for at, word in enumerate(words):
        if word != name:
            continue
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        gives = after[-1:] == "=" and after not in _COMPARES
        if gives or before in ("++", "--", "&") or after in ("++", "--"):
            return True
    return False


_COMPARES = ("==", "!=", "<=", ">=")


def is_target(words: Sequence[str]) -> bool:
    return bool(words) and words[0].isidentifier() and (len(words) == 1 or words[1] == "[")


def _pointers(words: Sequence[str], parameters: Sequence[str]) -> list[tuple[str, bool]]:
    """(name, is const) of a function's pointers to float."""
    found = []
    for name in parameters:
        places = [at for at, word in enumerate(words) if word == name]
        if not places:
            continue
        at = places[-1]
        start = at
        while start > 0 and words[start - 1] not in ("(", ","):
            start -= 1
        kind = words[start:at]
        if "*" in kind:
            found.append((name, "const" in kind))
    return found
