"""A finding with what there is to ask: the source, the host side, the kernel, the case."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.judging import host, kernel_text
from grader.judging.judge import Outcome
from grader.judging.kernel_text import Kernel
from grader.judging.plans.origin import Origins
from grader.judging.plans.seen import Plans
from grader.judging.wording import index_of, names_in, value
from grader.labs import source
from grader.labs.lab import Case
from grader.labs.problem import PRODUCT, Problem
from grader.labs.reference import Reference
from grader.labs.statements import (
    Listing,
    Statement,
    function_name,
)
from grader.results.explanation import Explanation
from grader.results.provenance import Provenance
from grader.results.result import Diagnostic
from grader.running.host_calls import HostCalls

# What happens within a block, in whichever kernel.
_IN_A_BLOCK = frozenset({"race-shared", "uninitialised-shared", "barrier-divergence"})
ABOUT_P = frozenset({"wrong-result", "unwritten-output", "low-precision"})


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
    calls: HostCalls | None = None  # of solve, in the first case of the first finding
    # Of a lab that is no product.
    reference: Reference | None = None
    lab: Sequence[Case] = ()  # its cases
    plans: Callable[[], Plans | None] | None = None  # of solve in some cases, made when asked for


class Base:
    """What is known of a finding, its case and its kernel."""

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
        self.outcome = explained[0] if explained and item.code in ABOUT_P else first
        self.kernel = self._kernel()

    @property
    def problem(self) -> Problem:
        return self.outcome.case.problem if self.outcome is not None else PRODUCT

    @property
    def result(self) -> str:
        """What sentences call what has to be right."""
        outputs = self.problem.outputs
        return outputs[0].name if len(outputs) == 1 else "the result"

    @property
    def sizes(self) -> dict[str, str]:
        """Values of solve's integers."""
        return self.sizes_in(self.outcome.case) if self.outcome is not None else {}

    def sizes_in(self, case: Case) -> dict[str, str]:
        """Of one case."""
        if self.host is None:
            return {}
        if not case.problem.is_product:
            names = dict(zip(case.problem.parameters, self.host.parameters, strict=False))
            return {names[one]: f"{number:g}" for one, number in case.given if one in names}
        names = self.host.parameters[3:]
        values = [case.j] if len(names) == 1 else [case.j, case.k, case.l]
        if len(names) != len(values):
            return {}
        return {name: str(number) for name, number in zip(names, values, strict=True)}

    def _kernel(self) -> Kernel | None:
        kernels = [item for item in self.text.functions() if "__global__" in item.words]
        execution = self.outcome.execution if self.outcome else None
        runs = execution.kernels if execution else ()
        name = _plain_name(runs[-1].name) if runs else ""
        chosen = [item for item in kernels if function_name(item) == name] or kernels
        if not self.problem.is_product:
            chosen = self._at_fault(kernels)
            named = {function_name(item) for item in chosen}
            runs = [one for one in runs if _plain_name(one.name) in named]
        is_last = True
        if self.problem.is_product and self.item.code in _IN_A_BLOCK:
            at_fault = self._at_fault(kernels)
            is_last = at_fault == chosen or len(at_fault) != 1
            chosen = chosen if is_last else at_fault
            named = {function_name(item) for item in chosen}
            runs = [one for one in runs if _plain_name(one.name) in named] if not is_last else runs
        if len(chosen) != 1 or self.outcome is None:
            return None
        (function,) = chosen
        parameters = self.text.parameters(function)
        template = source.template_arguments(self.material.text, runs[-1].name) if runs else {}
        sizes = {parameter: str(number) for parameter, number in template.items()}
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
        if not is_last:
            roles, shapes = {}, {}  # what it is given may be between M, N and P
        if not case.problem.is_product:
            roles, shapes = self._arrays_of(launches, parameters, function.words)
        run = runs[-1] if runs else None
        return Kernel(
            self.text, function, parameters, sizes, shapes,
            run.grid if run else (1, 1, 1), run.block if run else (1, 1, 1), roles,
        )  # fmt: skip

    @property
    def launch(self) -> host.Launch | None:
        """The launch of the finding's kernel, if there is one in the text."""
        if self.host is None:
            return None
        names = {self.item.kernel}
        if self.kernel is not None:
            names.add(function_name(self.kernel.function))
        found = [one for one in self.host.all_launches if one.kernel in names]
        found = found or self.host.all_launches
        return found[0] if len(found) == 1 else None

    @property
    def is_launched_once(self) -> bool:
        """Whether each kernel was launched once: then its grid is what there was for all of P."""
        execution = self.outcome.execution if self.outcome is not None else None
        return execution is not None and execution.launches == len(execution.kernels)

    def _at_fault(self, kernels: list[Statement]) -> list[Statement]:
        """Of several kernels the one that the finding is about."""
        here = [item for item in kernels if function_name(item) == self.item.kernel]
        around = [
            function
            for item in self.text.at(self.item.line)
            if (function := self.text.function_of(item)) is not None and function in kernels
        ]
        return (around or here or kernels)[:1] if around or here or len(kernels) == 1 else kernels

    def _arrays_of(
        self, launches: Sequence[host.Launch], parameters: Sequence[str], words: Sequence[str]
    ) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
        """Which of solve's arrays a kernel's parameters are, and their rows and columns.

        "P" is the only one that the kernel may write, whatever its name.
        """
        roles: dict[str, str] = {}
        shapes: dict[str, tuple[int, int]] = {}
        if len(launches) != 1 or len(launches[0].given) != len(parameters):
            return roles, shapes
        arrays = {array.name for array in self.problem.arrays}
        known = {
            own: name
            for name, own in zip(self.problem.parameters, self.host.parameters, strict=False)
            if name in arrays
        }
        copied = host.roles_of(self.host)
        for parameter, given in zip(parameters, launches[0].given, strict=True):
            name = host.plain_name(given)
            array = known.get(copied.get(name, name))
            if array is not None:
                roles[array] = parameter
                shape = self.outcome.case.shapes[array]
                shapes[parameter] = (1, shape[0]) if len(shape) == 1 else shape
        written = [one for one, is_const in _pointers(words, parameters) if not is_const]
        if len(written) == 1 and written[0] in shapes:
            roles["P"] = written[0]
        return roles, shapes

    def _named(self, array: str) -> tuple[str, str] | None:
        """(role, name in the kernel) of a buffer that a finding names."""
        roles = self.kernel.roles
        if array in roles:
            return array, roles[array]
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
            (item, kernel_text.call_arguments_of(item))
            for item in kernel.body
            if item.kind == "simple" and (name,) in kernel_text.call_arguments_of(item)
        ]
        if name and len(calls) == 1 and len(calls[0][1]) == 6:
            item, given = calls[0]
            function = self.text.named(item.words[0])
            names = self.text.parameters(function) if function is not None else []
            if len(names) == 6 and "row" in names[3].lower() and "col" in names[4].lower():
                return item, given[3], given[4]
        return None

    def _grid(self, launch: host.Launch, axis: str = "") -> tuple[int, tuple[str, ...]]:
        """(line, words) of what decides the grid, or its blocks along `axis`."""
        near = self.text.statements[launch.number]
        name = host.plain_name(launch.settings[0])
        if not name:
            return self._grid_from_elsewhere(launch, near, axis) or (
                launch.line,
                launch.settings[0],
            )
        given = [
            item
            for item in self.text.inside(self.text.function_of(near))
            if item.kind == "simple" and item.words[:2] == (name, ".") and "=" in item.words
        ]
        if given:
            decides = next((one for one in given if one.words[2:3] == (axis,)), given[0])
            return decides.line, decides.words
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

    def _grid_from_elsewhere(
        self, launch: host.Launch, near: Statement, axis: str
    ) -> tuple[int, tuple[str, ...]] | None:
        """plan.grid, config.first: what a helper or a constructor gives."""
        if "(" in launch.settings[0] or "{" in launch.settings[0]:
            return None
        sides = Origins(self.text, self.host.solve if self.host else None, ()).sides(
            launch.settings[0], near, launch.line
        )
        at = 1 if axis == "y" else 0
        if at >= len(sides) or "/" not in sides[at].words:
            return None
        return sides[at].line, sides[at].words

    def _called(self, words: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
        """The line of a helper's division, where the words call one."""
        for at, word in enumerate(words[:-1]):
            function = self.text.named(word) if words[at + 1] == "(" else None
            if function is None:
                function = self._lambda(word) if words[at + 1] == "(" else None
            if function is None:
                continue
            inside = [item for item in self.text.inside(function) if "/" in item.words]
            if len(inside) == 1:
                return inside[0].line, inside[0].words
        return None

    def _lambda(self, name: str) -> Statement | None:
        """auto NAME = [&](...) { ... }"""
        named = [one for one in self.text.statements if one.has(name, "=", "[")]
        own = [
            one
            for one in self.text.statements
            if one.kind == "lambda" and any(one.number == of.number or one.parent == of.number
                                            or one.line == of.line for of in named)
        ]  # fmt: skip
        return own[0] if len(own) == 1 else None

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
        given = kernel_text.call_arguments(item.words, at)
        names = self.text.parameters(self.text.named(item.words[at]))
        wanted = "col" if role == "M" else "row"
        places = [i for i, parameter in enumerate(names) if parameter.lower() == wanted]
        if (name,) not in given or len(places) != 1 or len(given) != len(names):
            return ()
        return given[places[0]]


def _plain_name(name: str) -> str:
    """Of a kernel, without its type, template arguments and parameters."""
    return re.sub(r"<.*", "", name).split("(")[0].split()[-1]


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
