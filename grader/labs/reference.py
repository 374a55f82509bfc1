"""reference.py of a lab: what solve's arrays must hold in the end, and how exactly.

    def reference(x, n):            # parameters of solve, by their names, as many as it needs
        return x.sum()              # of the only output; of several {"sum": ..., "count": ...}

    def bound(x, n):                # the largest permitted error, of the same form; without it
        return n * 2.0**-24 * abs(x).sum()         # the reference, rounded, is met exactly

Arrays come as float64 or int64, as solve is given them; of one that is read and changed what it held
before. It is the instructor's own code and runs in the grader.
"""

from __future__ import annotations

import inspect
import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from grader.errors import CourseError
from grader.labs.problem import Array, Problem

if TYPE_CHECKING:
    import numpy as np

FILE = "reference.py"


@dataclass(frozen=True)
class Reference:
    """A lab's reference.py, ready to be asked. Raises CourseError where it fails."""

    path: Path
    problem: Problem
    functions: Mapping[str, Callable]

    def expected(
        self, numbers: Mapping[str, float], given: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """What each output must hold: float64 or int64, of its shape."""
        return self._asked("reference", numbers, given)

    def bounds(
        self, numbers: Mapping[str, float], given: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray] | None:
        """The largest permitted error of each element; None: none is."""
        return self._asked("bound", numbers, given) if "bound" in self.functions else None

    def _asked(
        self, name: str, numbers: Mapping[str, float], given: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        import numpy as np

        values: dict[str, Any] = {
            array: value.astype(np.int64 if value.dtype.kind == "i" else np.float64)
            for array, value in given.items()
        }
        values |= {n: v if n in self.problem.floats else int(v) for n, v in numbers.items()}
        function = self.functions[name]
        wanted = inspect.signature(function).parameters
        try:
            with np.errstate(all="ignore"):
                found = function(**{one: values[one] for one in wanted})
        except Exception as error:
            raise CourseError(f"{self.path}: {name}: {_said(error, self.path)}.") from None
        outputs = self.problem.outputs
        if not isinstance(found, dict):
            found = {outputs[0].name: found} if len(outputs) == 1 else {}
        if set(found) != {array.name for array in outputs}:
            names = ", ".join(array.name for array in outputs)
            raise CourseError(f"{self.path}: {name} must return an entry for each of {names}.")
        shapes = self.problem.shapes(numbers)
        return {a.name: self._array(name, a, found[a.name], shapes[a.name]) for a in outputs}

    def _array(self, name: str, array: Array, found: Any, shape: tuple[int, ...]) -> np.ndarray:
        import numpy as np

        where = f"{self.path}: {name}: {array.name}"
        value = np.asarray(found)
        if value.dtype.kind not in "biuf":
            raise CourseError(f"{where} is no array of numbers but {value.dtype}.")
        if value.dtype.itemsize < 8 and value.dtype.kind == "f":
            raise CourseError(f"{where} is {value.dtype}, and float64 is needed.")
        if name == "bound" and value.ndim == 0:
            return np.full(shape, float(value))
        if value.size != math.prod(shape) or (value.ndim > 0 and value.shape != shape):
            raise CourseError(f"{where} is {list(value.shape)}, and {list(shape)} is needed.")
        return value.reshape(shape)


def load_reference(folder: Path, problem: Problem) -> Reference:
    """FOLDER/reference.py. Raises CourseError with one sentence if anything is wrong."""
    path = folder / FILE
    try:
        source = path.read_bytes()
    except OSError:
        raise CourseError(
            f"{path} is missing: it says what solve's arrays must hold in the end."
        ) from None
    module = ModuleType("reference")
    module.__file__ = str(path)
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the instructor's
    except Exception as error:
        raise CourseError(f"{path}: {_said(error, path)}.") from None
    functions = {
        name: getattr(module, name) for name in ("reference", "bound") if hasattr(module, name)
    }
    if not callable(functions.get("reference")):
        raise CourseError(f"{path} has no function 'reference'.")
    known = {array.name for array in problem.given} | set(problem.numbers)
    for name, function in functions.items():
        if not callable(function):
            raise CourseError(f"{path}: '{name}' is no function.")
        for wanted in inspect.signature(function).parameters:
            if wanted not in known:
                what = f"'{wanted}', and solve is given {', '.join(sorted(known))}"
                raise CourseError(f"{path}: {name} asks for {what}.")
    return Reference(path, problem, functions)


def _said(error: Exception, path: Path) -> str:
    """ "line 3: ZeroDivisionError: division by zero"."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
    place = f"line {line}: " if line else ""
    text = getattr(error, "msg", None) or str(error)
    return f"{place}{type(error).__name__}: {text}".rstrip(".")
