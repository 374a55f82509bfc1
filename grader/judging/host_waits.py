"""Who waits for what: events, streams, and what the host itself takes from memory that a copy fills."""

from __future__ import annotations

from grader.judging.host import Said, plain_name
from grader.judging.host_flow import HostFlow
from grader.judging.host_seen import BY_HAND
from grader.judging.wording import calls as calls_in
from grader.labs.statements import Statement, shown
from grader.results.finding import Cause
from grader.running.host_calls import HostCall

# Where an asynchronous copy has its target and its stream.
_COPIES = {"cudaMemcpyAsync": (0, 4), "cudaMemcpy2DAsync": (0, 7)}
_WAITS = ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize")


class HostWaits(HostFlow):
    """The rules about what is done before something else has ended."""

    def unordered(self) -> Said | None:
        return self.marked_early() or self.waited_elsewhere() or self.taken_early()

    def waited_elsewhere(self) -> Said | None:
        """The host waits for a stream, but not for that of the copy whose data it uses."""
        for copy, _, stream in self._unawaited():
            after = [one for one in self._beside(copy) if one.number > copy.number]
            waits = [one for one in after if any(calls_in(one, name) for name in _WAITS)]
            if not waits or not stream:
                continue
            given = calls_in(waits[0], "cudaStreamSynchronize")
            other = plain_name(given[0][0]) if given and given[0] else ""
            if not other or other == plain_name(stream) or not plain_name(stream):
                continue
            return Said(
                f"This waits for the stream {other}; the copy of line {copy.line} is in "
                f"{shown(stream)}, and nobody waits for that.",
                waits[0].line,
                f"Wait for {shown(stream)}.",
            )
        return None

    def taken_early(self) -> Said | None:
        """The host takes what an asynchronous copy brings, and no call waits for the copy."""
        for copy, target, _ in self._unawaited():
            if any(calls_in(one, name) for one in self.text.statements for name in _WAITS):
                continue
            takers = [
                one
                for one in self.text.statements
                if any(
                    len(given) > 1 and any(_is_within(target, part) for part in given[1:])
                    or name == "copy" and given and _is_within(target, given[0])
                    for name in BY_HAND
                    for given in calls_in(one, name)
                )
            ]  # fmt: skip
            if len(takers) == 1:
                return Said(
                    f"The host takes {shown(target)} here, which line {copy.line} copies "
                    "asynchronously, and nothing waits until the copy has ended.",
                    takers[0].line,
                    "Call cudaStreamSynchronize for the copy's stream before.",
                )
        return None

    def _unawaited(self) -> list[tuple[Statement, tuple[str, ...], tuple[str, ...]]]:
        """The copy that the host did not wait for, with its target and its stream."""
        facts = self._facts("unordered-streams")
        if facts is None or facts.other is None or facts.cause is not Cause.HOST_READ:
            return []
        return [
            (item, tuple(given[to]), tuple(given[at]) if len(given) > at else ())
            for item in self.text.at(facts.other.line)
            for name, (to, at) in _COPIES.items()
            for given in calls_in(item, name)
            if len(given) > to
        ]

    def _beside(self, item: Statement) -> list[Statement]:
        return self.text.inside(self.text.function_of(item))

    def marked_early(self) -> Said | None:
        """An event that is recorded before the work that is to be waited for."""
        facts = self._facts("unordered-streams")
        if facts is None or facts.other is None or not facts.other.line:
            return None
        calls = self.seen.calls
        works = [one for one in calls if facts.other.line in one.lines]
        users = [one for one in calls if facts.line and facts.line in one.lines]
        for work in works:
            for user in users:
                if work.stream == user.stream or self._order(user) < self._order(work):
                    continue
                waits = [
                    one
                    for one in calls[: self._order(user)]
                    if one.kind == "wait" and one.stream == user.stream
                ]
                turned = self._turned_wait(work, user) if not waits else None
                if turned is not None:
                    return turned
                for wait in waits:
                    marks = [
                        one
                        for one in calls[: self._order(wait)]
                        if one.kind == "mark" and one.event == wait.event
                    ]
                    said = self._other_event(work, wait, marks)
                    if said is not None:
                        return said
                    if marks and marks[-1].stream == user.stream:
                        said = self._marked_elsewhere(work, user)
                        if said is not None:
                            return said
                    if not marks or marks[-1].stream != work.stream:
                        continue
                    if self._order(marks[-1]) < self._order(work) and work.lines:
                        line = self._marked_in_helper(work)
                        if line:
                            return Said(
                                "The event is recorded here before the work that is to be waited for "
                                f"(line {work.lines[0]}): the wait ends without it.",
                                line,
                                "Record the event after the work that is to be waited for.",
                            )
                        return Said(
                            f"The event that line {user.lines[-1]}'s stream waits for is recorded "
                            "before this: the wait ends without it.",
                            self._blamed(work, [work]),
                            "Record the event after the work that is to be waited for.",
                        )
        return None

    def _turned_wait(self, work: HostCall, user: HostCall) -> Said | None:
        """The stream of the work waits for the one that needs it, and not the other way round."""
        for wait in self.seen.calls[: self._order(user)]:
            if wait.kind != "wait" or wait.stream != work.stream:
                continue
            marks = [
                one
                for one in self.seen.calls[: self._order(wait)]
                if one.kind == "mark" and one.event == wait.event
            ]
            items = [one for one in self.text.statements if calls_in(one, "cudaStreamWaitEvent")]
            if len(items) == 1 and marks and marks[-1].stream == user.stream and work.lines:
                return Said(
                    f"This lets the stream of line {work.lines[0]} wait for that of line "
                    f"{user.lines[0]}: it is the other one that needs the work of the first.",
                    items[0].line,
                    "The stream that needs the work waits, for the event that is recorded behind it.",
                )
        return None

    def _marked_in_helper(self, work: HostCall) -> int:
        """The line that records an event before the work, in the function that asks for it."""
        function = self._function_at(work.lines[0])
        if function is None:
            return 0
        every = [one for one in self.text.statements if calls_in(one, "cudaEventRecord")]
        found = [one for one in every if self.text.function_of(one) is function]
        if function is self.host.solve and len(every) > 1:
            return 0
        return found[0].line if len(found) == 1 and found[0].line < work.lines[0] else 0

    def _other_event(self, work: HostCall, wait: HostCall, marks: list[HostCall]) -> Said | None:
        """A wait for another event than the one that follows the work in its stream."""
        own = [
            one
            for one in self.seen.of("mark")
            if one.stream == work.stream and one.event != wait.event
            and self._order(work) < self._order(one) < self._order(wait)
        ]  # fmt: skip
        waits = [item for item in self.text.statements if calls_in(item, "cudaStreamWaitEvent")]
        if not own or len(waits) != 1 or not work.lines:
            return None
        if marks and marks[-1].stream == work.stream:
            return None
        return Said(
            "This waits for an event of another stream than that of the work that is needed (line "
            f"{work.lines[0]}); the event behind that work is another one.",
            waits[0].line,
            "Wait for the event that is recorded in the stream of the work.",
        )

    def _marked_elsewhere(self, work: HostCall, user: HostCall) -> Said | None:
        """An event that is recorded in the stream that waits for it: it tells nothing of another one."""
        records = [item for item in self.text.statements if calls_in(item, "cudaEventRecord")]
        if len(records) != 1 or not work.lines or not user.lines:
            return None
        return Said(
            f"The event that line {user.lines[0]}'s stream waits for is recorded in that stream "
            f"itself; what line {work.lines[0]} asks for is in another stream.",
            records[0].line,
            "Record the event in the stream of the work that is to be waited for.",
        )


def _is_within(words: tuple[str, ...], of: tuple[str, ...]) -> bool:
    """Whether an expression is a part of another one."""
    return any(of[at : at + len(words)] == words for at in range(len(of) - len(words) + 1))
