"""Of a kernel for rows that can be moved in fours and one for others the wrong one is launched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from grader.judging.host import Host, Launch, Said
from grader.judging.wording import bare, names_in
from grader.labs.source import facts
from grader.labs.statements import Listing, Statement, shown, split

CODES = frozenset({"misaligned-access", "out-of-bounds-global", "wrong-result", "unwritten-output"})
_MOST = 4  # conditions
# What a parameter's name says of which matrix it is: of M, whose rows have k elements, or of N.
_OF_M = frozenset({"m", "k", "a", "left", "lhs", "first", "1"})
_OF_N = frozenset({"n", "l", "b", "right", "rhs", "second", "2"})

_Branch = tuple[tuple[tuple[str, ...], bool], ...]  # conditions, and whether each holds


def exchanged(text: Listing, source: str, host: Host) -> Said | None:
    """if (only N is aligned) kernel<true, false> of a template <bool FastM, bool FastN>."""
    if len(host.parameters) < 2:
        return None
    lengths = host.parameters[-2:]  # of a row of M, and of N
    by_kernel: dict[str, list[tuple[Launch, _Branch]]] = {}
    for launch in host.launches:
        item = next((one for one in text.at(launch.line) if launch.kernel in one.words), None)
        if item is not None:
            by_kernel.setdefault(launch.kernel, []).append((launch, tuple(_branch(text, item))))
    for kernel, launches in by_kernel.items():
        wanted = facts(source).templates.get(kernel, [])
        if len(launches) < 2 or len(wanted) < 2:
            continue
        places = {
            at: of for at, name in enumerate(wanted) if (of := _matrix(name, wanted)) is not None
        }
        atoms = _atoms(branch for _, branch in launches)
        sides = {atom: _side(text, atom, launches[0][0], lengths) for atom in atoms}
        if sorted(places.values()) != [0, 1] or len(atoms) > _MOST:
            continue
        if sorted(side for side in sides.values() if side is not None) != [0, 1]:
            continue
        said = _told(kernel, wanted, launches, places, sides)
        if said is not None:
            return said
    return None


def _told(
    kernel: str, wanted: Sequence[str], launches: Sequence[tuple[Launch, _Branch]],
    places: Mapping[int, int], sides: Mapping[tuple[str, ...], int | None],
) -> Said | None:  # fmt: skip
    """The first launch that takes for granted what does not hold where it is reached."""
    for holds in product((True, False), repeat=len(sides)):
        known = dict(zip(sides, holds, strict=True))
        reached = [
            launch
            for launch, branch in launches
            if all(_holds(words, known) == wished for words, wished in branch)
        ]
        if len(reached) != 1:
            continue
        given = reached[0].template
        for at, side in places.items():
            atom = next(one for one, of in sides.items() if of == side)
            if at < len(given) and tuple(given[at]) == ("true",) and not known[atom]:
                return Said(
                    f"{kernel}<{', '.join(shown(one) for one in given)}> is launched here where "
                    f"{shown(atom)} does not hold, and {wanted[at]} is true.",
                    reached[0].line,
                    f"The template's parameters are <{', '.join(wanted)}>: which of them does each "
                    "condition decide?",
                )
    return None


def _branch(text: Listing, item: Statement) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The conditions that a statement stands behind."""
    for one in text.above(item):
        if one.kind == "if":
            yield tuple(one.words), True
        elif one.kind == "else":
            before = [
                other
                for other in text.statements[: one.number]
                if other.parent == one.parent and other.kind == "if"
            ]
            if before:
                yield tuple(before[-1].words), False


def _atoms(branches: Iterator[_Branch]) -> list[tuple[str, ...]]:
    found: dict[tuple[str, ...], None] = {}
    for branch in branches:
        for words, _ in branch:
            found.update(dict.fromkeys(_parts(words)))
    return list(found)


def _parts(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What && , || and ! join."""
    words = tuple(bare(words))
    for sign in ("||", "&&"):
        parts = split(words, sign)
        if len(parts) > 1:
            for part in parts:
                yield from _parts(part)
            return
    if words[:1] == ("!",):
        yield from _parts(words[1:])
    elif words:
        yield words


def _holds(words: Sequence[str], known: Mapping[tuple[str, ...], bool]) -> bool:
    words = tuple(bare(words))
    for sign, all_of in (("||", any), ("&&", all)):
        parts = split(words, sign)
        if len(parts) > 1:
            return all_of(_holds(part, known) for part in parts)
    if words[:1] == ("!",):
        return not _holds(words[1:], known)
    return known.get(words, False)


def _matrix(name: str, names: Sequence[str]) -> int | None:
    """0 of FastM, 1 of FastN: what is left of a name without what it shares with the others."""
    own = name.lower()
    others = [one.lower() for one in names if one != name]
    start = 0
    while (
        others and start < len(own) and all(one[start : start + 1] == own[start] for one in others)
    ):
        start += 1
    end = 0
    while (
        others
        and end < len(own) - start
        and all(one[-1 - end :][:1] == own[-1 - end] for one in others)
    ):
        end += 1
    left = own[start : len(own) - end].strip("_")
    return 0 if left in _OF_M else 1 if left in _OF_N else None


def _side(
    text: Listing, atom: tuple[str, ...], launch: Launch, lengths: Sequence[str]
) -> int | None:
    """Which of the two lengths a condition is about."""
    near = next(iter(text.at(launch.line)))
    words = atom
    known = text.declaration(atom[0], near) if len(atom) == 1 else None
    if known is not None and known[1]:
        words = known[1]
    found = [side for side, name in enumerate(lengths) if name in names_in(words)]
    return found[0] if len(found) == 1 else None
