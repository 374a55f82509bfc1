"""Where things lie on this machine is nothing that a result tells.

A submission can learn the grader's paths (they stand in its process's tables) and put them into an
exception's text, a compiler's message or what it prints.
"""

from __future__ import annotations

import dataclasses
import re
import tempfile
from pathlib import Path
from typing import Any

from grader.labs.course import Course
from grader.results.result import Result

_KEPT = frozenset({"submission", "source"})  # what the caller named; the student's own text


def without_places(result: Result, course: Course) -> Result:
    """The same with only the last part of each path into the grader's folders."""
    folders = {course.root, course.build, course.programs, course.cache, course.work}
    folders |= {Path(tempfile.gettempdir()), Path.home()}
    folders |= {folder.resolve() for folder in folders}
    texts = sorted({str(folder) for folder in folders if len(folder.parts) > 1}, key=len)
    names = "|".join(re.escape(text) for text in reversed(texts))
    # The folder itself, or a path below it.
    path = re.compile(rf"(?<![\w./-])(?:{names})(?:/[^\s'\"`,;:()<>|]*)?(?![\w-])")
    return _replaced(result, lambda text: path.sub(lambda found: found[0].rpartition("/")[2], text))


def _replaced(value: Any, change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_replaced(item, change) for item in value)
    if isinstance(value, list):
        return [_replaced(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _replaced(item, change) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.name not in _KEPT]
        fields = {name: _replaced(getattr(value, name), change) for name in names}
        return dataclasses.replace(value, **fields)
    return value
