"""A piece of the tree as text, as the student would write it."""

from __future__ import annotations

from collections.abc import Mapping

from grader.judging.repair.nodes import Node

# How tight each operator binds: what is looser inside it stands in parentheses.
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))  # fmt: skip
_TIGHT = {sign: level for level, signs in enumerate(_LEVELS, 1) for sign in signs}
_ALL = len(_LEVELS) + 1
_NUMBERS = ("number", "name", "scoped", "binary")


def text_of(node: Node, edits: Mapping = {}, around: int = 0) -> str:  # noqa: B006
    edit = edits.get(node.id)
    if edit is not None:
        return text_of(edit(node), edits, around)
    kids = [kid if isinstance(kid, Node) else None for kid in node.kids]

    def of(at: int, within: int = 0) -> str:
        return text_of(kids[at], edits, within) if kids[at] is not None else ""

    def listed(items) -> str:
        return ", ".join(text_of(item, edits) for item in items)

    match node.kind:
        case "number" | "name" | "string":
            return node.macro or node.text
        case "scoped":
            return node.macro
        case "member":
            sign = "->" if kids[0] is not None and kids[0].text == "this" else "."
            return f"{of(0, _ALL)}{sign}{node.text}"
        case "index":
            return f"{of(0, _ALL)}[{of(1)}]"
        case "deref" | "address" | "unary":
            sign = {"deref": "*", "address": "&"}.get(node.kind, node.text)
            return f"{sign}{of(0, _ALL)}"
        case "cast":
            if node.text[:1].isalpha() and not node.text.endswith("_cast"):
                return f"{node.text}({of(0)})"  # size_t(row)
            stars = "*" * node.type.stars
            return f"({node.type.name}{stars}){of(0, _ALL)}"
        case "trait":
            return f"{node.text}_v<{listed(node.kids)}>"
        case "bits":
            return f"bit_cast<{node.type.name}>({of(0)})"
        case "before":
            return f"{node.text}{of(0, _ALL)}"
        case "after":
            return f"{of(0, _ALL)}{node.text}"
        case "assign":
            return f"{of(0)} {node.text} {of(1)}"
        case "binary":
            level = _TIGHT.get(node.text, 0)
            if node.text in ("+", "-") and of(1) == "0":  # of r + 1
                return of(0, around)
            # a * (b / c) is not a * b / c
            is_apart = node.text in "-/%" or (node.text == "*" and kids[1].text in ("/", "%"))
            text = f"{of(0, level)} {node.text} {of(1, level + is_apart)}"
            return f"({text})" if around > level else text
        case "choose":
            text = f"{of(0)} ? {of(1)} : {of(2)}"
            return f"({text})" if around else text
        case "call" | "template":
            marks = "()" if node.kind == "call" else "<>"
            return f"{of(0)}{marks[0]}{listed(node.kids[1:])}{marks[1]}"
        case "object" | "of parameter":
            return f"{node.text}({listed(node.kids[0].kids)})"
        case "make" | "built":
            return f"{node.text}({listed(node.kids)})"
        case "launch":
            return f"{of(0)}<<<{listed(node.kids[1])}>>>({listed(node.kids[2])})"
        case "declare":
            sizes = "".join(f"[{text_of(s, edits)}]" for s in node.kids[0] or [] if s is not None)
            args = node.type.args
            given = f"<{listed(args)}>" if args and all(n.kind in _NUMBERS for n in args) else ""
            kind = node.type.name + given + " " + "*" * node.type.stars
            if node.kids[1] is None:
                return f"{kind}{node.text}{sizes}"
            if node.kids[1].kind == "make":
                return f"{kind}{node.text}({listed(node.kids[1].kids)})"
            return f"{kind}{node.text}{sizes} = {of(1)}"
        case "sizeof":
            return f"sizeof({of(0) if kids else node.type.name})"
        case "do" | "range":
            return of(0)
        case "if":
            return f"if ({of(0)})"
        case "for":
            if node.kids[0] is None and node.kids[2] is None:
                return f"while ({of(1)})"
            return f"for ({of(0)}; {of(1)}; {of(2)})"
        case "comma":
            return f"{of(0)}, {of(1)}"
        case "dowhile":
            return f"while ({of(0)})"
        case "block":
            return ", ".join(text_of(kid, edits) for kid in node.kids)
        case "return":
            return f"return {of(0)}"
        case "braces":
            return "{" + listed(node.kids) + "}"
    return node.text
