"""goto: lanes leave everything up to the label, or up to the end of its block, and go on behind the label."""

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

        labels = {label: at for at, (label, _) in enumerate(parts) if label}
        key = node.loop

        def run(f, m):
            begin, done, turns, batch = 0, False, 0, f.world.batch
            while True:
                for label, part in parts[begin:]:
                    if label:
                        m = either(m, f.env.pop(f"goto {label}", False))
                    elif m is not False:
                        m = part(f, m)
                done = either(done, m)
                back = [at for label, at in labels.items() if f"goto {label}" in f.env]
                if not back:
                    if turns:
                        seen = f.world.turns_of
                        seen[key] = max(seen.get(key, 0), turns)
                    return done
                f.world.step()
                begin, m, turns = min(back), False, turns + 1
                if batch is None:
                    f.world.turned(key, turns)
                    continue
                here = f"goto {parts[begin][0]}"
                batch.turned(key, turns, f.env[here])
                f.env[here] = batch.living(f.env[here])

        return run
