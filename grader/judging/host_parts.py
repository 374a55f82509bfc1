"""One buffer for several matrices: where each begins in it, and whether there is room for all.

The places are those that the launches were given; the text tells where a place was worked out.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.judging.host import Said, launches_of, plain_name
from grader.judging.host_refused import HostRefused
from grader.judging.host_sizes import SIZE_AT
from grader.judging.plans.origin import Origin, Origins
from grader.judging.plans.parameters import Field, fields_of
from grader.judging.sums import several
from grader.judging.wording import calls as calls_in
from grader.judging.wording import names_in
from grader.labs.statements import shown
from grader.running.host_calls import HostCall

_FLOAT = 4
_ALIGNED = 512  # what pieces are rounded up to, at most


@dataclass(frozen=True)
class _Part:
    field: Field
    place: int
    origin: Origin | None


class HostParts(HostRefused):
    """The rule about parts of a buffer."""

    def parts(self) -> Said | None:
        """Matrices that lie over each other in one buffer, or beyond its end."""
        sizes = {array.bytes for array in self.arrays.values()}
        launches = self.seen.of("launch")
        if not self.is_square or len(sizes) != 1 or not launches or not launches[0].lines:
            return None
        launch, (size,) = launches[0], sizes
        own = {one.buffer: one for one in self.seen.of("malloc")}
        for buffer, made in own.items():
            parts = self._parts_of(launch, buffer)
            if len(parts) < 2:
                continue
            said = (
                self._overlapping(launch, parts, size)
                or self._beyond(parts, size, made)
                or self._other_part(launch, buffer)
            )
            if said is not None:
                return said
        return None

    def _other_part(self, launch: HostCall, buffer: int) -> Said | None:
        """A part with an input that is fetched in place of the result's."""
        filled = {one.place: one for one in self.seen.of("to-device") if one.buffer == buffer}
        stored = {place for _, one, place in launch.places if one == buffer} - set(filled)
        fetched = [one for one in self.seen.of("to-host") if one.buffer == buffer]
        if len(fetched) != 1 or len(stored) != 1 or fetched[0].place not in filled:
            return None
        call = fetched[0]
        array = self.arrays.get(call.host)
        source = self.arrays.get(filled[call.place].host)
        if array is None or source is None or not call.lines:
            return None
        return Said(
            f"What is copied back into {array.name} is the part that {source.name} was copied into; the "
            f"kernel stores its result {min(stored)} bytes behind the buffer's begin.",
            self.line(call, False),
            "Copy the part that the kernel stores its result in.",
        )

    def _parts_of(self, launch: HostCall, buffer: int) -> list[_Part]:
        kernel = self._kernel_of(launch)
        fields = fields_of(self.text, kernel) if kernel is not None else {}
        given = [(at, place) for at, one, place in launch.places if one == buffer]
        if any(at not in fields for at, _ in given):
            return []
        parts = [
            _Part(fields[at], place, self._written_at(launch, fields[at])) for at, place in given
        ]
        return sorted(parts, key=lambda one: one.place)

    def _written_at(self, launch: HostCall, field: Field) -> Origin | None:
        """Where the pointer was worked out that a launch is given."""
        for line in launch.lines:
            for item in self.text.at(line):
                for one in launches_of(self.text, item):
                    if field.parameter >= len(one.given):
                        continue
                    words = tuple(one.given[field.parameter])
                    for part in field.path:
                        words = (*words, ".", part)
                    return Origins(self.text, self.host.solve, launch.lines).of(words, item)
        return None

    def _overlapping(self, launch: HostCall, parts: list[_Part], size: int) -> Said | None:
        for before, part in zip(parts, parts[1:], strict=False):
            gap = part.place - before.place
            if gap >= size:
                continue
            if gap == 0:
                part, before = sorted(
                    (before, part), key=lambda one: one.origin.near.number if one.origin else 0
                )[::-1]
            origin = self._step(part.origin) if gap else self._alias(launch, part, before)
            if origin is None or self._called(part) == self._called(before):
                return None
            written = f" ({shown(origin.words)})" if origin.words else ""
            advice = "Each matrix begins where the one before it ends."
            # Of a small matrix a row has as many bytes as the matrix has elements, or as few.
            if gap and size > _FLOAT**3 and _is_rounded(gap, size // _FLOAT):
                advice = "This counts elements; a place in a buffer of bytes is in bytes."
            where = f"only {several(gap, 'byte')} behind {self._called(before)}"
            if not gap:
                where = f"where {self._called(before)} begins"
            return Said(
                f"{self._called(part)[:1].upper()}{self._called(part)[1:]} begins {where}{written}, in the "
                f"same buffer; a matrix has {size} bytes.",
                origin.line,
                advice,
            )
        return None

    def _alias(self, launch: HostCall, part: _Part, before: _Part) -> Origin | None:
        """Where one of two pointers of a launch got the value of the other: p = n."""
        for line in launch.lines:
            for item in self.text.at(line):
                for one in launches_of(self.text, item):
                    given = [plain_name(words) for words in one.given]
                    names = [
                        given[own.field.parameter]
                        for own in (part, before)
                        if own.field.parameter < len(given)
                    ]
                    for name, other in (names, names[::-1]) if len(names) == 2 else ():
                        known = self.text.declaration(name, item) if name else None
                        if known is not None and other and plain_name(known[1]) == other:
                            return Origin(known[0], (other,), item)
        return part.origin

    def _beyond(self, parts: list[_Part], size: int, made: HostCall) -> Said | None:
        if parts[-1].place + size <= made.bytes:
            return None
        for before, part in zip(parts, parts[1:], strict=False):
            gap = part.place - before.place
            if (gap == _FLOAT * size or gap >= 2 * max(size, _ALIGNED)) and part.origin is not None:
                advice = "Each matrix begins where the one before it ends."
                if gap == _FLOAT * size:
                    advice = "A pointer to float goes on by elements, not by bytes."
                return Said(
                    f"{self._called(part)[:1].upper()}{self._called(part)[1:]} begins {gap} bytes behind {self._called(before)} "
                    f"({shown(part.origin.words)}); a matrix has {size} bytes.",
                    part.origin.line,
                    advice,
                )
        free = [
            at
            for at in range(size, len(parts) * size, size)
            if at not in {one.place for one in parts}
        ]
        for part in parts:
            if part.place in [_FLOAT * at for at in free] and part.origin is not None:
                return Said(
                    f"{self._called(part)[:1].upper()}{self._called(part)[1:]} begins {part.place} bytes "
                    f"behind the buffer's begin ({shown(part.origin.words)}); a matrix has {size} bytes.",
                    part.origin.line,
                    "A pointer to float goes on by elements, not by bytes.",
                )
        need = parts[-1].place + size
        line, words = 0, ()
        for name in SIZE_AT:
            for near in self.text.at(made.lines[0]) if made.lines else ():
                for given in calls_in(near, name):
                    if len(given) > SIZE_AT[name]:
                        found = Origins(self.text, self.host.solve, made.lines).of(
                            given[SIZE_AT[name]], near
                        )
                        line, words = found.line, found.words
        written = f" ({shown(words)})" if words else ""
        return Said(
            f"The buffer has {made.bytes} bytes{written}; with all {len(parts)} matrices in it, of "
            f"{size} bytes each, {need} are needed.",
            line or (made.lines[0] if made.lines else 0),
            "Each matrix needs room of its own in it.",
        )

    def _called(self, part: _Part) -> str:
        return f"the kernel's {part.field.shown}"

    def _step(self, origin: Origin | None) -> Origin | None:
        """Of base + used the line that says by how much `used` goes on; of pool + plan.n that of n."""
        if origin is None:
            return None
        for name in names_in(origin.words):
            added = [
                one
                for one in self.text.statements
                if one.kind == "simple" and one.words[:2] == (name, "+=")
            ]
            if added and len({one.words for one in added}) == 1:
                words = added[0].words[2:-1] if added[0].words[-1] == ";" else added[0].words[2:]
                return Origins(self.text, self.host.solve, ()).of(words, added[0])
        for at, word in enumerate(origin.words):
            if word in (".", "->") and 0 < at < len(origin.words) - 1:
                words = origin.words[at - 1 : at + 2]
                found = Origins(self.text, self.host.solve, ()).of(words, origin.near, origin.line)
                return found if found.words != words else origin
        return origin


def _is_rounded(gap: int, size: int) -> bool:
    return size <= gap <= -(-size // _ALIGNED) * _ALIGNED
