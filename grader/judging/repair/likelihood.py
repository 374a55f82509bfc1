"""How likely a change is the one that mends, by what can be said of it before it is tried.

Of mistakes that strangers made it is known which change mends each, and which others there are.
`likelihood.json` has how much each trait speaks for a change there: the weights of a choice among all
changes of a file (a conditional logit; common/measure/causes/likelihood.py, which says over how many
mistakes). It shifts what was thought of a change (its cost, how far its line is), and replaces neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
# What more is known of a change is in its cost, and is not to be outweighed by of what kind it is: it
# is not put back where it is cheap, as others of its kind are not, nor brought forward where it is dear.
_MOST, _CHEAP, _DEAR = 0.4, 0.95, 2.2


@cache
def weights() -> dict[str, float]:
    """In units of cost, less for what is likelier."""
    return json.loads(FILE.read_text())["weights"]


def shift(traits: Iterable[str], cost: float) -> float:
    """What is added to the cost of a change."""
    known = weights()
    most = _MOST if cost > _CHEAP else 0.0
    least = -_MOST if cost < _DEAR else 0.0
    return max(least, min(most, sum(known.get(trait, 0.0) for trait in traits)))
