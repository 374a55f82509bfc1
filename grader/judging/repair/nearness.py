"""How far each line is from what was seen: what is tried first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from grader.judging.repair.guards import leaves
from grader.judging.repair.nodes import Function, Node, children, walk
from grader.judging.repair.values import Unset

# How much farther a line is from which a value comes, that uses it, or that decides whether it is carried out.
_BACK, _FORWARD, _AROUND = 0.3, 0.5, 0.6
_BACK_OF_ADDRESS = 0.1  # from an access that is not aligned: its own line is seldom the wrong one
_ADDING = 0.7  # how far a line is that adds to P, where what is stored is wrong
_ON_HOST = 0.5  # one that stores a result that the host has
_UNALIGNED = "alignment"  # why a run ended (values.Pointer)
_FLOATING = ("float", "float2", "float3", "float4", "auto")
_FILLING = ("multiply_add", "load_matrices", "load_matrices_transposed")  # their first argument
_CALLED = "operator()"
_MULTIPLYING = ("fmaf", "fma", "__fmaf_rn")


class Nearness:
    """A part of Search."""

    def all_functions(self) -> list[Function]:
        return [*self.file.functions.values(), *self.file.methods.values()]

    def nearness(self) -> dict[int, float]:
        """How far each line is from the suspected ones: along the values that they use."""
        found: dict[int, float] = {}
        for at, line in enumerate(dict.fromkeys(self.lines)):
            found.setdefault(line, 0.3 * min(at, 3))
        if self.is_a_wrong_value():
            for line in self.adding():
                found.setdefault(line, _ADDING)
        for line in self.storing_on_host():
            found.setdefault(line, _ON_HOST)
        defined: dict[str, set[int]] = {}
        used: dict[int, set[str]] = {}
        calls: dict[str, set[int]] = {}
        filled = {function.called: _filled(function) for function in self.all_functions()}
        for function in self.all_functions():
            own = _own_names(function)
            given_to = {name for _, name in function.parameters}
            lambdas = _lambdas_of(function)

            def called(name: str, own: frozenset = own, function: Function = function) -> str:
                """The same name in another function is another one."""
                return f"{function.name} {name}" if name in own else name

            for node in walk(function.body):
                name = ""
                if node.kind == "declare":
                    name = called(node.text)
                elif node.kind in ("assign", "before", "after"):
                    name = _target(node.kids[0], called)
                    if node.kids[0].kind == "member":  # of a struct, which it is a part of
                        defined.setdefault(called(_root(node.kids[0])), set()).add(node.line)
                if node.kind == "assign" and not function.is_kernel:
                    if _root(node.kids[0]) in given_to:  # what a helper fills
                        defined.setdefault(function.called, set()).add(node.line)
                elif _fills(node) and not function.is_kernel:
                    if _of_array(node.kids[1]) in given_to:
                        defined.setdefault(function.called, set()).add(node.line)
                elif node.kind == "return" and not function.is_kernel:
                    defined.setdefault(function.called, set()).add(node.line)
                if node.kind == "declare" and node.kids[1] is not None:
                    if node.kids[1].kind == "lambda":
                        given = {one.line for one in walk(node.kids[1]) if one.kind == "return"}
                        defined.setdefault(name, set()).update(given)
                if name:
                    defined.setdefault(name, set()).update(_lines(node, function.line))
                    for kid in children(node):
                        used.setdefault(node.line, set()).update(_names(kid, called))
                if _object_of(node):  # it may be given its values there
                    defined.setdefault(called(_object_of(node)), set()).add(node.line)
                if node.kind in ("name", "member", "scoped"):
                    text = called(node.text) if node.kind == "name" else node.text
                    used.setdefault(node.line, set()).add(text)
                for kid in children(node):
                    if kid.line != node.line and kid.line < function.line:  # a macro's body
                        used.setdefault(node.line, set()).add(f"@{kid.line}")
                        defined.setdefault(f"@{kid.line}", set()).add(kid.line)
                if node.kind in ("call", "launch"):
                    target = (
                        node.kids[0].kids[0] if node.kids[0].kind == "template" else node.kids[0]
                    )
                    calls.setdefault(target.text, set()).add(node.line)
                    for at in lambdas.get(target.text, ()) if node.kind == "call" else ():
                        for given in node.kids[1:][at : at + 1]:
                            defined.setdefault(called(_of_array(given)), set()).add(node.line)
                    if target.kind == "name" and target.text in own:  # an object that is called
                        calls.setdefault(_CALLED, set()).add(node.line)
                        used.setdefault(node.line, set()).add(_CALLED)
                    if target.kind == "scoped":
                        used.setdefault(node.line, set()).add(target.text)
                    for at in filled.get(target.text, ()) if node.kind == "call" else ():
                        for given in node.kids[1:][at : at + 1]:
                            defined.setdefault(called(_of_array(given)), set()).add(node.line)
            lines = {node.line for node in walk(function.body)}
            for node in walk(function.body):  # what decides whether and how often
                if node.kind in ("if", "for", "dowhile"):
                    inside = {one.line for one in walk(node)}
                    if node.kind == "if" and leaves(node.kids[1]):
                        inside |= {line for line in lines if line > node.line}
                    for line in inside & lines:
                        used.setdefault(line, set()).add(f"@{node.line}")
                    defined.setdefault(f"@{node.line}", set()).update(_head(node, function.line))
        for block in chain(self.file.globals, *self.file.statics.values()):
            for node in walk(block):
                if node.kind == "declare":
                    defined.setdefault(node.text, set()).add(node.line)
                elif node.kind == "name":
                    used.setdefault(node.line, set()).add(node.text)
        for (_, array), lengths in self.file.lengths.items():  # of a struct
            for node in (one for length in lengths if length is not None for one in walk(length)):
                defined.setdefault(array, set()).add(node.line)
                used.setdefault(node.line, set()).add(node.text)
        for function in self.all_functions():
            for _, parameter in function.parameters:
                given = calls.get(function.called, ())
                defined.setdefault(f"{function.name} {parameter}", set()).update(given)
        for line, there in self.callers():  # what a helper gives back
            if line in found:
                found.setdefault(there, found[line] + _FORWARD)
        for line, distance in list(found.items()):  # what becomes of the values that are made there
            for name, made in defined.items():
                if line not in made or name.startswith("@"):
                    continue
                for there, names in used.items():
                    if name in names:
                        found[there] = min(distance + _FORWARD, found.get(there, 9.0))
        is_address = self.wrong is not None and _UNALIGNED in self.plain[self.wrong].why
        near = self.places_declared() if is_address else set()
        front = dict(found)
        for _ in range(4):
            following: dict[int, float] = {}
            for line, distance in front.items():
                for name in used.get(line, ()):
                    for there in defined.get(name, ()):
                        back = _BACK_OF_ADDRESS if (name, there) in near else _BACK
                        far = distance + (back if not name.startswith("@") else _AROUND)
                        if far < found.get(there, 9.0):
                            found[there] = following[there] = far
            front = following
        return found

    def is_a_wrong_value(self) -> bool:
        """Whether all is stored, and wrong: not what nobody stores, nor what lies outside."""
        why = self.plain[self.wrong].why if self.wrong is not None else "nothing"
        if why and not why.startswith(Unset.__name__):
            return False
        watched = self.watched(self.wrong)
        return watched is None or watched.lacking is None

    def places_declared(self) -> set[tuple[str, int]]:
        """Indices, pointers and arrays, whose rows have a length: an address is made of them."""
        return {
            (f"{function.name} {node.text}", node.line)
            for function in self.all_functions()
            for node in walk(function.body)
            if node.kind == "declare"
            and (node.type.name == "int" or node.type.stars or node.kids[0])
        }

    def adding(self) -> list[int]:
        """Lines that add products of floats: what is multiplied there goes into P."""
        found = []
        for function in [*self.file.functions.values(), *self.file.methods.values()]:
            kinds = {name: kind for kind, name in function.parameters}
            kinds |= {one.text: one.type for one in walk(function.body) if one.kind == "declare"}
            for node in walk(function.body):
                is_sum = node.kind == "assign" and node.text in ("+=", "=")
                if is_sum and any(one.text == "*" for one in walk(node.kids[1])):
                    kind = kinds.get(_root(node.kids[0]))
                    if kind is not None and kind.name in _FLOATING and not kind.stars:
                        found.append(node.line)
                elif node.kind == "call" and node.kids[0].text in _MULTIPLYING:
                    found.append(node.line)
        return list(dict.fromkeys(found))

    def storing(self) -> list[int]:
        """Lines that store in what a kernel is given: where nothing else is suspected."""
        found = []
        filled = {function.called: _filled(function) for function in self.all_functions()}
        for function in self.file.functions.values():
            given = {
                name
                for kind, name in function.parameters
                if (kind.stars and not kind.is_constant) or kind.name in self.file.structs
            }
            for node in walk(function.body) if function.is_kernel else ():
                if node.kind == "call" and node.kids[0].kind in ("name", "template"):
                    target = node.kids[0] if node.kids[0].kind == "name" else node.kids[0].kids[0]
                    places = filled.get(target.text, range(len(node.kids) - 1))  # of a library
                    parts = [kid for at in places for kid in node.kids[at + 1 : at + 2]]
                    if any(_of_array(kid) in given for kid in parts):
                        found.append(node.line)
                if node.kind != "assign":
                    continue
                target = node.kids[0]
                if target.kind == "call":  # P(row, col) = sum
                    target = target.kids[0]
                elif target.kind not in ("index", "deref"):
                    continue
                if _root(target) in given:
                    found.append(node.line)
        return list(dict.fromkeys(found))

    def storing_on_host(self) -> list[int]:
        """Lines of solve that store in its result themselves."""
        solve = self.file.functions.get("solve")
        if solve is None or not self.on_host:
            return []
        given = {name for kind, name in solve.parameters if kind.stars}
        stores = (
            node
            for node in walk(solve.body)
            if node.kind == "assign" and node.kids[0].kind in ("index", "deref")
        )
        return list(dict.fromkeys(node.line for node in stores if _root(node.kids[0]) in given))

    def callers(self) -> list[tuple[int, int]]:
        """Lines of helpers and of lambdas, each with a line that calls it."""
        inside: dict[str, set[int]] = {}
        called: dict[str, set[int]] = {}
        for function in [*self.file.functions.values(), *self.file.methods.values()]:
            if not function.is_kernel and function.name != "solve":
                lines = inside.setdefault(function.called, set())
                lines |= {node.line for node in walk(function.body)}
            for node in walk(function.body):
                first = node.kids[1] if node.kind == "declare" else None
                if first is not None and first.kind == "lambda":
                    inside.setdefault(node.text, set()).update(one.line for one in walk(first))
                if node.kind == "call":
                    target = node.kids[0]
                    target = target.kids[0] if target.kind == "template" else target
                    called.setdefault(target.text, set()).add(node.line)
        return [
            (line, there)
            for name, lines in inside.items()
            for line in lines
            for there in sorted(called.get(name, ()))
            if there != line
        ]


def _lines(node: Node, first: int) -> set[int]:
    """Of a declaration or an assignment, which may go over several."""
    if any(one.kind == "lambda" for one in walk(node)):
        return {node.line}
    return {node.line} | {one.line for one in walk(node) if one.line >= max(first, node.line)}


def _filled(function: Function) -> list[int]:
    """Which of its parameters are pointers or references that it stores through."""
    behind: dict[str, str] = {}  # a pointer of its own, and what it points into
    roots = set()
    for node in walk(function.body):
        if node.kind == "declare" and node.kids[1] is not None and node.type.stars:
            behind[node.text] = _of_array(node.kids[1])
        elif node.kind == "assign" and node.kids[0].kind in ("index", "deref", "member", "name"):
            roots.add(_root(node.kids[0]))
        elif _fills(node):
            roots.add(_of_array(node.kids[1]))
    roots |= {behind[root] for root in roots if root in behind}
    return [at for at, (_, name) in enumerate(function.parameters) if name in roots]


def _lambdas_of(function: Function) -> dict[str, list[int]]:
    """Which parameters of each lambda are references or pointers: what it is given may be filled there."""
    return {
        node.text: [at for at, (kind, _) in enumerate(node.kids[1].given) if kind.is_reference or kind.stars]
        for node in walk(function.body)
        if node.kind == "declare" and node.kids[1] is not None and node.kids[1].kind == "lambda"
    }  # fmt: skip


def _fills(node: Node) -> bool:
    """Whether it is a call that stores into its first argument."""
    return node.kind == "call" and node.kids[0].text in _FILLING and len(node.kids) > 1


def _of_array(node: Node) -> str:
    """Of &tile[r][c], of strip + 4 * x: the array, or the pointer."""
    while node.kind in ("address", "unary", "index", "cast", "deref", "member", "binary"):
        node = node.kids[0]
    return node.text if node.kind == "name" else ""


def _object_of(node: Node) -> str:
    """Of a call whose method it is: sum.clear()."""
    is_method = node.kind == "call" and node.kids[0].kind == "member"
    return _root(node.kids[0].kids[0]) if is_method else ""


def _own_names(function: Function) -> frozenset[str]:
    """Parameters and what is declared in it."""
    declared = {one.text for one in walk(function.body) if one.kind == "declare"}
    return frozenset(declared | {name for _, name in function.parameters})


def _head(node: Node, first: int) -> set[int]:
    """Lines that decide: of do { ... } while (...) the last one, too."""
    deciding = node.kids[:3] if node.kind == "for" else node.kids[:1]
    lines = {one.line for kid in deciding if kid is not None for one in walk(kid)}
    return {node.line, *(line for line in lines if line >= first)}


def _target(node: Node, called: Callable[[str], str]) -> str:
    while node.kind in ("index", "deref", "cast"):
        node = node.kids[0]
    if node.kind == "name":
        return called(node.text)
    return node.text if node.kind == "member" else ""


def _root(node: Node) -> str:
    while node.kind in ("index", "deref", "cast", "member"):
        node = node.kids[0]
    return node.text if node.kind == "name" else ""


def _names(node: Node, called: Callable[[str], str]) -> set[str]:
    return {
        called(one.text) if one.kind == "name" else one.text
        for one in walk(node)
        if one.kind in ("name", "member")
    }
