"""What a solution's kernel computes, told without the simulator: the text is put into Python and run
with names of elements in place of numbers.

It knows as much C++ as the solutions use. Threads take turns at barriers, so it says nothing of
races. An element of P is the list of its products, in the order of addition.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from types import SimpleNamespace


class Fault(Exception):
    """The kernel touches what it may not, or uses what has no value."""


# --- values


@dataclass(frozen=True)
class Element:
    """M[row][column], or what stands for it."""

    matrix: str
    row: int
    column: int

    def __mul__(self, other):
        return Product(self, other)

    def __str__(self):
        return f"{self.matrix}[{self.row}][{self.column}]"


@dataclass(frozen=True)
class Number:
    value: float

    def __mul__(self, other):
        return Product(self, other)

    def __add__(self, other):
        return Sum([other])


@dataclass(frozen=True)
class Product:
    a: object
    b: object


class Sum:
    def __init__(self, products):
        self.products = products

    def __add__(self, other):
        self.products.append(other)
        return self


class Vector:
    """float4."""

    def __init__(self, x, y, z, w):
        self.x, self.y, self.z, self.w = x, y, z, w


# --- memory


class Matrix:
    def __init__(self, name, rows, columns):
        self.name, self.rows, self.columns = name, rows, columns
        self.stored = {}

    def read(self, at):
        self._require(at)
        return Element(self.name, *divmod(at, self.columns))

    def write(self, at, value):
        self._require(at)
        self.stored.setdefault(divmod(at, self.columns), []).append(value)

    def _require(self, at):
        if not 0 <= at < self.rows * self.columns:
            raise Fault(f"{self.name} has no element {at}")


class Words:
    """Shared memory or a thread's own."""

    def __init__(self, size, first=None):
        self.words = [first] * size

    def read(self, at):
        if not 0 <= at < len(self.words):
            raise Fault(f"word {at} of {len(self.words)}")
        if self.words[at] is None:
            raise Fault(f"word {at} has no value")
        return self.words[at]

    def write(self, at, value):
        if not 0 <= at < len(self.words):
            raise Fault(f"word {at} of {len(self.words)}")
        self.words[at] = value


class View:
    """A pointer, or an array with dimensions: `steps` words from one index to the next."""

    def __init__(self, memory, at=0, steps=(1,)):
        self.memory, self.at, self.steps = memory, at, steps

    def __getitem__(self, index):
        at = self.at + index * self.steps[0]
        if len(self.steps) == 1:
            return self.memory.read(at)
        return View(self.memory, at, self.steps[1:])

    def __setitem__(self, index, value):
        self.memory.write(self.at + index * self.steps[0], value)

    def __add__(self, count):
        return View(self.memory, self.at + count * self.steps[0], self.steps)


def array(dimensions, first=None):
    steps = [1]
    for size in reversed(dimensions[1:]):
        steps.insert(0, steps[0] * size)
    return View(Words(steps[0] * dimensions[0], first), 0, tuple(steps))


def get4(pointer):
    if pointer.at % 4:
        raise Fault("a float4 that is not aligned")
    return Vector(*(pointer.memory.read(pointer.at + i) for i in range(4)))


def set4(pointer, value):
    if pointer.at % 4:
        raise Fault("a float4 that is not aligned")
    for i, word in enumerate((value.x, value.y, value.z, value.w)):
        pointer.memory.write(pointer.at + i, word)


def copy_async(words):
    def copy(to, source, inside=True):
        if to.at % words or (inside and source.at % words):
            raise Fault("a copy that is not aligned")
        for i in range(words):
            to.memory.write(to.at + i, source.memory.read(source.at + i) if inside else ZERO)

    return copy


ZERO = Number(0.0)

# --- from C++ to Python

_TOKEN = re.compile(
    r"\d+\.\d*f?|\w+|<<<|>>>|[-+*/%=!<>]=|\+\+|--|&&|\|\||<<|>>|[-+*/%=!<>&|^?:;,.(){}\[\]]"
)
_TYPES = {"int", "float", "bool", "size_t", "float4", "auto", "dim3", "void", "unsigned"}
_BEFORE = {"const", "constexpr", "__shared__", "static", "__device__", "__host__", "__global__"}
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="),
           ("<<", ">>"), ("+", "-"), ("*", "/", "%"))  # fmt: skip
_IN_PYTHON = {"||": "or", "&&": "and", "/": "//"}


class _Translator:
    def __init__(self, text):
        text = re.sub(r"//[^\n]*|^#[^\n]*", "", text, flags=re.MULTILINE)
        words = _TOKEN.findall(text)
        self.tokens = [word + "_" if word in ("from", "in") else word for word in words] + [""]
        self.at = 0
        self.lines = []
        self.depth = 0
        self.kernel = ""

    # --- tokens

    @property
    def now(self):
        return self.tokens[self.at]

    def take(self, expected=None):
        token = self.now
        assert expected in (None, token), (
            f"{expected} expected: {self.tokens[self.at - 9 : self.at + 3]}"
        )
        self.at += 1
        return token

    def skip(self, token):
        if self.now == token:
            self.at += 1
            return True
        return False

    def balanced(self, opening, closing):
        depth = 0
        while True:
            depth += {opening: 1, closing: -1}.get(self.take(), 0)
            if not depth:
                return

    def put(self, line):
        self.lines.append("    " * self.depth + line)

    # --- files, functions, statements

    def file(self):
        while self.now:
            self.top()
        return "\n".join(self.lines)

    def top(self):
        is_kernel = False
        while self.now in _BEFORE:
            is_kernel = self.take() == "__global__" or is_kernel
        kind = self.take()
        if self.now == "__launch_bounds__":
            self.take()
            self.balanced("(", ")")
        while self.now in "*&":
            self.take()
        if self.tokens[self.at + 1] != "(":
            self.declarators(kind, False)
            return
        name = self.take()
        parameters = self.parameters()
        if name in ("float4_at", "solve"):
            self.balanced("{", "}")
            return
        if is_kernel:
            self.kernel = name
            parameters = ["threadIdx", "blockIdx", "blockDim", "gridDim", "shared", *parameters]
        self.function(name, parameters)

    def parameters(self):
        self.take("(")
        names = []
        while not self.skip(")"):
            token = self.take()
            if self.now in (",", ")"):
                names.append(token)
        return names

    def function(self, name, parameters):
        self.put(f"def {name}({', '.join(parameters)}):")
        self.block()

    def block(self):
        """A statement, or several in braces, one level in."""
        self.depth += 1
        start = len(self.lines)
        if self.skip("{"):
            while not self.skip("}"):
                self.statement()
        else:
            self.statement()
        if len(self.lines) == start:
            self.put("pass")
        self.depth -= 1

    def statement(self):
        token = self.now
        if token == "{":
            self.put("if True:")
            self.block()
        elif self.skip(";"):
            pass
        elif self.skip("for"):
            self.take("(")
            self.simple()
            self.take(";")
            condition = self.expression()
            self.take(";")
            here, self.lines = self.lines, []
            self.depth += 1
            self.simple()
            self.depth -= 1
            step, self.lines = self.lines, here
            self.take(")")
            self.put(f"while {condition}:")
            self.block()
            self.lines += step
        elif self.skip("if"):
            self.take("(")
            condition = self.expression()
            self.take(")")
            self.put(f"if {condition}:")
            self.block()
            if self.skip("else"):
                self.put("else:")
                self.block()
        elif self.skip("return"):
            self.put("return" if self.now == ";" else f"return {self.expression()}")
            self.take(";")
        elif token in ("__syncthreads", "__syncwarp"):
            self.at += 3
            self.put("yield")
            self.take(";")
        else:
            self.simple()
            self.skip(";")

    def simple(self):
        """A declaration or an expression, without its semicolon."""
        is_shared = False
        while self.now in _BEFORE or self.now == "alignas":
            is_shared = self.now == "__shared__" or is_shared
            if self.take() == "alignas":
                self.balanced("(", ")")
        if self.now in _TYPES and self.tokens[self.at + 1] != "(":
            self.declarators(self.take(), is_shared)
            return
        if self.now in ("++", "--"):
            sign = self.take()[0]
            self.put(f"{self.expression()} {sign}= 1")
            return
        if self.now == "float4_at":
            self.at += 2
            pointer = self.expression()
            self.take(")")
            self.take("=")
            self.put(f"set4({pointer}, {self.expression()})")
            return
        left = self.expression()
        if self.now in ("=", "+=", "-="):
            sign = self.take()
            right = self.expression()
            self.put(f"{left} = {left} {sign[0]} {right}" if len(sign) > 1 else f"{left} = {right}")
        else:
            self.put(left)

    def declarators(self, kind, is_shared):
        while True:
            while self.now in "*&":
                self.take()
            name = self.take()
            dimensions = []
            while self.skip("["):
                dimensions.append(self.expression())
                self.take("]")
            self.declared(kind, is_shared, name, dimensions)
            if not self.skip(","):
                break
        if self.depth == 0:
            self.take(";")

    def declared(self, kind, is_shared, name, dimensions):
        sizes = f"[{', '.join(dimensions)}]"
        if is_shared:
            self.put(f"{name} = shared({name!r}, {sizes})")
        elif dimensions:
            first = ", ZERO" if self.skip("=") else ""
            if first:
                self.balanced("{", "}")
            self.put(f"{name} = array({sizes}{first})")
        elif self.skip("="):
            if self.now == "[":
                self.balanced("[", "]")
                self.function(name, self.parameters())
            elif self.skip("{"):
                parts = [self.expression()]
                while self.skip(","):
                    parts.append(self.expression())
                self.take("}")
                self.put(f"{name} = Vector({', '.join(parts)})")
            else:
                self.put(f"{name} = {self.expression()}")

    # --- expressions

    def expression(self):
        condition = self.binary(0)
        if not self.skip("?"):
            return condition
        yes = self.expression()
        self.take(":")
        return f"({yes} if {condition} else {self.expression()})"

    def binary(self, level):
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.now in _LEVELS[level]:
            sign = self.take()
            left = f"({left} {_IN_PYTHON.get(sign, sign)} {self.binary(level + 1)})"
        return left

    def unary(self):
        if self.skip("!"):
            return f"(not {self.unary()})"
        if self.skip("-"):
            return f"(-{self.unary()})"
        if self.skip("&"):
            text = self.unary()
            at = self._last_index(text)
            return f"({text[:at]} + ({text[at + 1 : -1]}))"
        return self.postfix()

    def _last_index(self, text):
        depth = 0
        for at in range(len(text) - 1, -1, -1):
            depth += {"]": 1, "[": -1}.get(text[at], 0)
            if not depth:
                return at
        raise AssertionError(text)

    def postfix(self):
        token = self.take()
        if token == "(":
            text = f"({self.expression()})"
            self.take(")")
        elif token in ("size_t", "int", "float"):
            text = ""
        elif re.fullmatch(r"\d+\.\d*f?", token):
            text = f"Number({token.rstrip('f')})"
        else:
            text = {"true": "True", "false": "False", "float4_at": "get4"}.get(token, token)
        if self.now == "<" and self.tokens[self.at + 2 : self.at + 4] == [">", "("]:
            text = f"{text}_{self.tokens[self.at + 1]}"
            self.at += 3
        while self.now in ("[", "(", "."):
            sign = self.take()
            if sign == ".":
                text += f".{self.take()}"
                continue
            parts = []
            closing = "]" if sign == "[" else ")"
            while not self.skip(closing):
                parts.append(self.expression())
                self.skip(",")
            text += f"{sign}{', '.join(parts)}{closing}"
        return text


class Kernel:
    """A solution's kernel, or a mutant's."""

    def __init__(self, text: str) -> None:
        translator = _Translator(text)
        self.python = translator.file()
        self.names = {
            "Number": Number, "ZERO": ZERO, "Vector": Vector, "array": array, "get4": get4,
            "set4": set4, "copy_async_4": copy_async(1), "copy_async_16": copy_async(4),
            "__pipeline_commit": lambda: None, "__pipeline_wait_prior": lambda count: None,
        }  # fmt: skip
        exec(compile(self.python, "kernel", "exec"), self.names)
        self.function = self.names[translator.kernel]
        self.parameters = self.function.__code__.co_argcount - 8

    def stored(self, shape, grid, block) -> dict[tuple[int, int], list]:
        """What each element of P gets, each time. Raises Fault."""
        j, k, l = shape  # noqa: E741
        m, n, p = Matrix("M", j, k), Matrix("N", k, l), Matrix("P", j, l)
        sizes = (j,) if self.parameters == 1 else (j, k, l)
        for by, bx in itertools.product(range(grid[1]), range(grid[0])):
            arrays = {}

            def shared(name, dimensions, arrays=arrays):
                return arrays.setdefault(name, array(dimensions))

            threads = []
            for ty, tx in itertools.product(range(block[1]), range(block[0])):
                run = self.function(
                    SimpleNamespace(x=tx, y=ty), SimpleNamespace(x=bx, y=by),
                    SimpleNamespace(x=block[0], y=block[1]), SimpleNamespace(x=grid[0], y=grid[1]),
                    shared, View(m), View(n), View(p), *sizes,
                )  # fmt: skip
                if run is not None:
                    threads.append(run)
            try:
                while threads:
                    threads = [one for one in threads if next(one, StopIteration) is None]
            except (TypeError, AttributeError) as error:
                raise Fault(str(error)) from None
        return p.stored
