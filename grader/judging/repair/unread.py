"""Passes over what is not read: a function, a method or a struct that the product may not need.

Nothing is known of it then. Whoever calls it is given up when the call is carried out, and a call that
is never reached, as one that says why the program ends, is in nobody's way.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from grader.judging.repair.reading import GivenUp

_OPENS, _CLOSES = "([{", ")]}"


class Unread:
    """A part of Parser."""

    def read_or_pass(self, read: Callable[[], None]) -> None:
        """Reads one declaration; if that cannot be done, what comes behind it is read all the same."""
        at, held = self.at, self.angles
        try:
            read()
        except GivenUp as why:
            self.at, self.angles = at, held
            self.pass_over(str(why))

    def pass_over(self, why: str = "") -> None:
        """One declaration: to its semicolon, or to the end of its body.

        Another function of its name may be read: which of them is meant is not known then.
        """
        begin, depth = self.at, 0
        if why:
            self.file.unread.append(why)
            name = next((a.text for a, b in pairwise(self.tokens[begin:]) if b.text == "("), "")
            self.file.unread_names.add(name)
        while True:
            if self.now == "}" and not depth:
                raise GivenUp(f"line {self.tokens[begin].line}")
            text = self.take().text
            depth += (text in _OPENS) - (text in _CLOSES)
            if depth:
                continue
            if text == ";":
                return
            # Behind a body nothing follows; behind the value of a member or of a variable something does.
            if text == "}" and self.now not in (";", ",", "{", ")"):
                return
