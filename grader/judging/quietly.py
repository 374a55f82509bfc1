"""What looks for a cause may fail: then the finding stays as it is, and no verdict changes.

Rules read programs of every shape, and one that meets a shape that nobody thought of must cost
nobody a result. The project's own tests say TILEWISE_LOUD=1, and the failure is theirs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

LOUD = "TILEWISE_LOUD"
# What a rule that is wrong raises; what a machine in trouble raises is no fault of a rule.
_FAULTS = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError)


def is_loud() -> bool:
    return os.environ.get(LOUD) == "1"


@contextlib.contextmanager
def quietly(*expected: type[BaseException]) -> Iterator[None]:
    """Passes over faults of what is done inside, and over what is `expected` even in the tests."""
    try:
        yield
    except (RecursionError, *expected):  # a program may be nested deeper than anyone writes
        pass
    except _FAULTS:
        if is_loud():
            raise
