"""Calls of solve, as the recorder would have told them, for tests of the rules about the host's side."""

from grader.judging import host
from grader.judging.host_events import HostEvents
from grader.labs.problem import PRODUCT
from grader.labs.statements import Listing
from grader.results.finding import Facts
from grader.results.result import Diagnostic
from grader.running.host_calls import HostCall, HostCalls

SIZES = {"M": 64, "N": 64, "P": 64}  # bytes of 4 x 4 floats


def line(text: str, part: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if part in row)


def said(text: str, calls: list[HostCall], code: str, room: int = 64, **facts):
    seen = HostCalls(
        tuple(calls), SIZES, False, {at: (f"cudaMalloc #{at + 1}", room) for at in range(5)},
        {name: (4, 4) for name in SIZES},
    )  # fmt: skip
    item = Diagnostic(code, "error", "", facts=Facts(**facts))
    read = Listing(text)
    return HostEvents(read, host.read(read), seen, PRODUCT, item).first()


def launch(text: str, part: str, kernel: str, *buffers: int) -> HostCall:
    given = tuple((8 * at, one) for at, one in enumerate(buffers))
    return HostCall("launch", (line(text, part),), arguments=given, kernel=kernel)
