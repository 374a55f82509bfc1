"""goto to a label further on: lanes leave everything between, and go on behind the label."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.nodes import Node
from grader.judging.repair.values import either


class Jumps:
    """A part of Machine."""

    def _goto(self, node: Node) -> Callable:
        label = f"goto {node.text}"

        def run(f, m):
            f.env[label] = either(f.env.get(label, False), m)
            return False

        return run

    def _label(self, node: Node) -> Callable:
        return lambda f, m: m

    def with_labels(self, node: Node) -> Callable:
        """A block in which lanes are taken up again."""
        parts = [(kid.text if kid.kind == "label" else "", self.code(kid)) for kid in node.kids]

        def run(f, m):
            for label, part in parts:
                if label:
                    m = either(m, f.env.pop(f"goto {label}", False))
                elif m is not False:
                    m = part(f, m)
            return m

        return run
