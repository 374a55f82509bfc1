"""All changes of a file, the likeliest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from grader.judging.repair.constants import constants_of
from grader.judging.repair.edits import Edit, Editor
from grader.judging.repair.lengths import lengths_of
from grader.judging.repair.likelihood import shift
from grader.judging.repair.nearness import Nearness
from grader.judging.repair.nodes import walk
from grader.judging.repair.repeated import products_of
from grader.judging.repair.traits import traits
from grader.judging.repair.values import Outside

_PER_EDIT = 2  # steps to make it, whether it is tried or not
# An odd change, or one far from what was seen, is made only once all others have been tried.
_CHEAP, _DEAR = 1.65, 2.2
_ADDED = 0.1  # how much farther a line is that lacks something
_SHARED = 0.4  # how much farther what a macro says is, where it is used often

# An edit with what is added to its cost: always, where no line is near, for a macro.
Costed = tuple[Edit, float, float, float]


def _far(editor: Editor) -> float:
    return 1.5 if editor.is_host else 2.5


def _dear(
    near: Mapping[int, float], editor: Editor, most: float | None
) -> Callable[[int, float], bool]:
    """Whether a change of a line is dearer than that."""
    far = _far(editor)
    if not near or most is None:
        return lambda line, cost: False
    return lambda line, cost: cost + near.get(line, far) > most


def distance_of(edit: Edit, near: Mapping[int, float], far: float) -> float:
    """Of what is added also that of what lacks it; of what is likely wherever it stands none."""
    if edit.cost < 0:
        return 0.0
    lacking = near.get(edit.where.line, far) + _ADDED if edit.is_added else far
    return min(near.get(edit.line, far), lacking)


def _by_cost(
    edits: Sequence[Costed], near: Mapping[int, float], most: float | None = None
) -> list[Edit]:
    costs = [
        edit.cost + crowd + distance_of(edit, near, far) + more for edit, crowd, far, more in edits
    ]
    chosen = [at for at, cost in enumerate(costs) if most is None or cost <= most]
    return [edits[at][0] for at in sorted(chosen, key=costs.__getitem__)]


class Order(Nearness):
    """A part of Search."""

    def in_turn(self) -> Iterator[Edit]:
        """All, but what is dear is only made once the others have been tried."""
        known = set()
        for most in (_CHEAP, _DEAR, None):
            for edit in self.up_to(most):
                if id(edit) not in known:
                    known.add(id(edit))
                    yield edit

    def likely(self) -> list[Edit]:
        """Those that are not dear."""
        return self.up_to(_DEAR)

    def ordered(self) -> list[Edit]:
        """All."""
        return self.up_to(None)

    def up_to(self, most: float | None) -> list[Edit]:
        """Those that cost so much at most, as far as their lines are near to what was seen."""
        near = self.nearness()
        if self.edits is None:
            self.making = list(self.to_make(near, most))
            self.keep([one for one in self.making if one[0].__class__ is Edit], near)
        elif any(one.__class__ is not Edit for one, _ in self.making):
            self.making = [
                (edit, editor)
                for one, editor in self.making
                for edit in (
                    [one]
                    if one.__class__ is Edit
                    else editor.made_of(one, _dear(near, editor, most))
                )
            ]
            self.keep([one for one in self.making if one[0].__class__ is Edit], near)
        elif self.costed_near != near:
            self.keep(self.making, near)
        return _by_cost(self.edits, near, most if near else None)

    def keep(self, made: Sequence[tuple[Edit, Editor]], near: Mapping[int, float]) -> None:
        self.left -= _PER_EDIT * (len(made) - len(self.edits or ()))
        self.edits, self.costed_near = list(self.costed(made, near)), near
        self.moving = set().union(*(editor.moving for _, editor in made))

    def to_make(
        self, near: Mapping[int, float], most: float | None
    ) -> Iterator[tuple[Edit | tuple, Editor]]:
        """Edits, and in their places what will be one of a line too far for what it costs."""
        macros = self.macro_numbers | {
            token.macro: int(token.text)
            for token in self.tokens
            if token.macro and token.text.isdigit()
        }
        products = products_of(self.file)
        why = self.plain[self.wrong].why if self.wrong is not None else ""
        watched = self.few.get(self.wrong)
        for function in self.all_functions():
            editor = Editor(self.file, function, macros, products)
            editor.leaves_arrays = why.startswith(Outside.__name__)
            editor.leaves_out = watched is not None and watched.lacking is not None
            yield from ((one, editor) for one in editor.all(_dear(near, editor, most)))
        for constants in constants_of(self.file):
            editor = Editor(self.file, constants, macros, products)
            yield from ((one, editor) for one in editor.of_constants(_dear(near, editor, most)))
        for lengths in lengths_of(self.file):
            editor = Editor(self.file, lengths, macros, products)
            yield from ((one, editor) for one in editor.of_lengths(_dear(near, editor, most)))

    def costed(
        self, made: Iterable[tuple[Edit, Editor]], near: Mapping[int, float]
    ) -> Iterator[Costed]:
        why = self.symptom()
        uses = Counter(n.id for function in self.all_functions() for n in walk(function.body))
        alternatives: dict[tuple, int] = {}
        for edit, editor in made:
            # The first few of many alternatives at one place are the likelier ones.
            place = (edit.where.id, round(edit.cost, 1))
            alternatives[place] = alternatives.get(place, -1) + 1
            crowd = min(alternatives[place] * 0.05, 0.5)
            # In a macro that is used often it would be wrong wherever it is used.
            more = _SHARED * any(uses[key] > 1 for key, _ in edit.changes)
            if edit.cost >= 0:
                distance = distance_of(edit, near, _far(editor))
                more += shift(traits(edit, editor, distance, why), edit.cost)
            yield edit, crowd, _far(editor), more

    def symptom(self) -> str:
        """The fault that ends the run, or that nobody stores what is wrong."""
        why = self.plain[self.wrong].why.split(":")[0] if self.wrong is not None else ""
        watched = self.few.get(self.wrong)
        is_lacking = not why and watched is not None and watched.lacking is not None
        return "lacking" if is_lacking else why

    def all_edits(self) -> list[Costed]:
        self.ordered()
        return self.edits
