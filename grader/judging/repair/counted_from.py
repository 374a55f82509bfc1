"""A constant that is counted from others, for which a change puts another one: it may be counted wrongly.

For u < C::m_loads, with rn in its place: m_loads = bn * bk / threads, which is to be bm * bk / threads.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.alternatives import is_of_its_place
from grader.judging.repair.edits import Edit
from grader.judging.repair.nodes import File, Node, replace, walk
from grader.judging.repair.scope import bare

_MOST = 12


def counted_from(file: File, edit: Edit) -> Iterator[Edit]:
    """With other constants in what it is counted from, those first that are called like the one there."""
    node = edit.where
    if node.kind not in ("name", "scoped", "binary") or not is_of_its_place(edit):
        return
    after = edit.changes[0][1](node)
    name, other = _constant(file, node, after)
    block = _declaring(file, name)
    if not name or block is None or _declaring(file, other, is_counted=True) is not None:
        return
    own = next(one for one in block if one.text == name)
    known = [one for one in block if one is not own and one.kind == "declare" and _is_plain(one)]
    names = [one.text for one in known] + [one.text for one in _parameters(file, block)]
    used = [one for one in walk(own.kids[1]) if one.kind == "name" and one.text in names]
    found = []
    for one in used:
        for text in names:
            if text not in {other.text for other in used}:
                found.append((_distance(one.text, text), one, text))
    for _, one, text in sorted(found, key=lambda item: item[0])[:_MOST]:
        yield Edit(
            ((one.id, lambda n, t=text: replace(bare(n), text=t, macro="")),), one.line, edit.cost,
            "", one,
        )  # fmt: skip


def _constant(file: File, node: Node, after: Node) -> tuple[str, str]:
    """The names of the constant and of what an edit puts in its place."""
    if node.kind == "binary":
        pairs = [
            (one, two)
            for one, two in zip(node.kids, after.kids, strict=False)
            if one is not two and one.kind in ("name", "scoped")
        ] if node.text == after.text else []  # fmt: skip
        if len(pairs) != 1:
            return "", ""
        node, after = pairs[0]
    if after.kind not in ("name", "scoped", "number"):
        return "", ""
    return node.text, after.text


def _declaring(file: File, name: str, is_counted: bool = True) -> list[Node] | None:
    """The only struct, or the file itself, that declares a constant which is counted from others."""
    found = []
    for block in (list(file.globals), *file.statics.values()):
        nodes = [kid for one in block for kid in (one.kids if one.kind == "block" else [one])]
        for one in nodes:
            if one is not None and one.kind == "declare" and one.text == name:
                value = one.kids[1]
                if value is not None and (value.kind == "binary" or not is_counted):
                    found.append([kid for kid in nodes if kid is not None])
    return found[0] if len(found) == 1 else None


def _is_plain(declared: Node) -> bool:
    return not declared.kids[0] and declared.kids[1] is not None


def _parameters(file: File, block: list[Node]) -> list[Node]:
    """Of a struct template, whose parameters its constants are counted from."""
    for name, nodes in file.statics.items():
        if any(one in nodes for one in block):
            return [Node("name", text=one) for one in file.parameters.get(name) or ()]
    return []


def _distance(one: str, two: str) -> int:
    """How unlike two names are: in how many letters of the same place they differ."""
    return abs(len(one) - len(two)) + sum(a != b for a, b in zip(one, two, strict=False))
