"""How likely a change is by what can be said of it: measured, bounded, and of kinds that there are."""

from __future__ import annotations

import importlib.util
import json
import re
import sys

import numpy as np
import pytest

from grader.judging.repair import likelihood, traits
from grader.judging.repair.likelihood import shift
from grader.judging.repair.search import Search
from grader.tests.corpus_files import REPOSITORY, bare_solution

_MEASURED = REPOSITORY / "common" / "measure" / "causes" / "likelihood.py"
_PACKAGE = REPOSITORY / "grader" / "judging" / "repair"


def _search() -> Search:
    text = bare_solution("05-register-tiling").replace("row < j && col < l", "row <= j && col < l")
    search = Search(text, "rect-device", False, [])
    search.wrong = search.first_wrong()
    search.prepare()
    return search


def test_each_weight_is_of_a_kind_that_is_still_offered():
    source = "\n".join(path.read_text() for path in _PACKAGE.glob("*.py"))
    kinds = {
        word
        for trait in likelihood.weights()
        for word in re.findall(r"\b_[a-z]\w+", trait.replace("in _", ""))
    }
    assert kinds
    gone = [kind for kind in sorted(kinds) if not re.search(rf"def {kind}\b", source)]
    assert not gone, f"measure again: common/measure/causes/likelihood.py; no such function: {gone}"


def test_the_page_of_weights_says_over_how_many_mistakes():
    text = json.loads(likelihood.FILE.read_text())
    assert text["mistakes"] > 100


def test_every_change_is_of_some_kind():
    search = _search()
    search.ordered()
    known = likelihood.weights()
    said = {id(edit): list(traits.traits(edit, editor, 0.3, "")) for edit, editor in search.making}
    assert all(one and " " not in one[0].removesuffix(" twice") for one in said.values())
    assert sum(any(trait in known for trait in one) for one in said.values()) > len(said) * 0.95


@pytest.mark.parametrize(
    ("cost", "least", "most"), [(0.3, -0.4, 0.0), (1.2, -0.4, 0.4), (2.5, 0.0, 0.4)]
)
def test_what_is_known_of_a_change_is_not_outweighed(monkeypatch, cost, least, most):
    monkeypatch.setattr(likelihood, "weights", lambda: {"often": -3.0, "seldom": 3.0})
    assert shift(["often"], cost) == least
    assert shift(["seldom"], cost) == most
    assert shift(["unheard of"], cost) == 0.0


def test_a_likelier_kind_is_tried_sooner(monkeypatch):
    def mean_place() -> float:
        edits = _search().ordered()
        return np.mean([
            at for at, edit in enumerate(edits)
            if traits.offered_by(edit.changes[0][1]) == "_names" and 1 < edit.cost < 2
        ])  # fmt: skip

    places = []
    for weight in (0.4, 0.0, -0.4):
        monkeypatch.setattr(likelihood, "weights", lambda weight=weight: {"_names": weight})
        places.append(mean_place())
    assert places[2] < places[1] < places[0]


@pytest.fixture(scope="module")
def measured():
    """The script that measures the weights."""
    spec = importlib.util.spec_from_file_location("measured_likelihood", _MEASURED)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.path[:] = before
    yield module
    del sys.modules[spec.name]


def test_what_mends_often_is_found_to_be_likely(measured):
    random = np.random.default_rng(3)
    asked = []
    for number in range(40):
        mend = int(random.integers(20))
        often = {mend, *random.choice(20, 2).tolist()}
        traits_of = ["often" if at in often else "seldom" for at in range(20)]
        costs = random.uniform(0.5, 1.5, 20)
        asked.append(measured.Asked(f"list {number % 4}", mend, costs, np.arange(20), traits_of))
    weights, scale = measured.fitted(asked)
    assert scale > 0
    assert weights["often"] > 1 > 0 > weights["seldom"]
    by_cost = [measured.rank(one, {}, 1.0) for one in asked]
    by_weight = [measured.rank(one, weights, scale) for one in asked]
    assert sum(by_weight) < sum(by_cost) / 2
    assert "with weights of other lists" in measured.compared(asked)


def test_the_mend_is_the_change_that_makes_the_right_program(measured):
    name = "fresh-39 12-split-precision rest-of-the-wrong-piece"
    mistake = measured._entries("fresh-39")["rest-of-the-wrong-piece"]
    text = measured.right_program(name).replace(*mistake["replace"][0])
    request = {"text": text, "signature": "rect-device", "in_tiles": False, "lines": [13, 17, 15]}
    request |= {"seen": [15, 15, 15], "cases": [], "is_fine": True}
    found = measured.asked(json.dumps({"name": name, "code": "low-precision", "request": request}))
    assert found is not None
    own = {trait for trait, at in zip(found.traits, found.changes, strict=True) if at == found.mend}
    assert "_names" in own
    assert measured.rank(found, {}, 1.0) < 1000
