"""Typed access to the tables of a TOML file; every mistake is one sentence that says where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_REQUIRED = object()


class Fields:
    """One table; `finish` complains about fields nobody asked for.

    fail: makes the error of a place ("case w64") and of what is wrong there.
    """

    required = _REQUIRED  # as a default: there is none

    def __init__(self, fail: Callable[[str, str], Exception], where: str, table: Any) -> None:
        self.fail, self.where = fail, where
        if not isinstance(table, dict):
            raise fail(where, "a table is expected")
        self.rest = dict(table)

    def take(self, name: str, default: Any, kinds: type | tuple, wanted: str) -> Any:
        if name not in self.rest:
            if default is _REQUIRED:
                raise self.fail(self.where, f"'{name}' is missing")
            return default
        value = self.rest.pop(name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise self.fail(self.where, f"'{name}' must be {wanted}")
        return value

    def text(self, name: str, default: Any = _REQUIRED) -> str:
        value = self.take(name, default, str, "a text")
        if value == "" and default is _REQUIRED:
            raise self.fail(self.where, f"'{name}' is empty")
        return value

    def number(self, name: str, default: Any = _REQUIRED) -> float:
        value = self.take(name, default, (int, float), "a number")
        if value is not None and not 0 <= value < float("inf"):
            raise self.fail(self.where, f"'{name}' must not be negative")
        return value

    def whole(self, name: str, low: int, default: Any = _REQUIRED) -> int:
        value = self.take(name, default, int, "a whole number")
        if value < low:
            raise self.fail(self.where, f"'{name}' must be at least {low}")
        return value

    def flag(self, name: str) -> bool:
        return self.take(name, False, bool, "true or false")

    def choice(self, name: str, allowed: Any, default: Any = _REQUIRED) -> str:
        value = self.take(name, default, str, "a text")
        if value is not None and value not in allowed:
            listed = ", ".join(allowed)
            raise self.fail(self.where, f"'{name}' is '{value}', not one of {listed}")
        return value

    def texts(self, name: str, default: Any = _REQUIRED) -> tuple[str, ...]:
        value = self.take(name, default, list, "a list of texts")
        if not all(isinstance(item, str) for item in value):
            raise self.fail(self.where, f"'{name}' must be a list of texts")
        return tuple(value)

    def tables(self, name: str, default: Any = _REQUIRED) -> list:
        return self.take(name, default, list, f"tables [[{name}]]")

    def finish(self) -> None:
        if self.rest:
            raise self.fail(self.where, f"there is no field '{min(self.rest)}'")
