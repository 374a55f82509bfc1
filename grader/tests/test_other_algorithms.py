"""Right products by algorithms that add before they multiply: which bound holds, and who is told."""

import numpy as np
import pytest

from grader import writers
from grader.judging import explain, judge, numerics
from grader.labs import data
from grader.labs.lab import Case
from grader.labs.options import Options
from grader.pipeline import begun, conclude
from grader.running.execution import parse
from grader.tests.executions import execution_json
from grader.writers.style import Style


def sums(m, n):
    """Element by element, as a naive kernel does it."""
    p = np.zeros((m.shape[0], n.shape[1]), np.float32)
    for k in range(m.shape[1]):
        p += m[:, k : k + 1] * n[k : k + 1]
    return p


def quarters(x):
    h, w = x.shape[0] // 2, x.shape[1] // 2
    return x[:h, :w], x[:h, w:], x[h:, :w], x[h:, w:]


def strassen(m, n, levels=1):
    if not levels:
        return sums(m, n)
    a, b, c, d = quarters(m)
    e, f, g, h = quarters(n)
    factors = [
        (a + d, e + h), (c + d, e), (a, f - h), (d, g - e), (a + b, h), (c - a, e + f), (b - d, g + h),
    ]  # fmt: skip
    p = [strassen(left, right, levels - 1) for left, right in factors]
    return np.block(
        [[p[0] + p[3] - p[4] + p[6], p[2] + p[4]], [p[1] + p[3], p[0] - p[1] + p[2] + p[5]]]
    )


def winograd(m, n, levels=1):
    if not levels:
        return sums(m, n)
    a, b, c, d = quarters(m)
    e, f, g, h = quarters(n)
    s = c + d
    t = s - a
    x = f - e
    y = h - x
    p = [
        winograd(left, right, levels - 1)
        for left, right in [
            (a, e), (b, g), (b - t, h), (d, y - g), (s, x), (t, y), (a - c, h - f),
        ]
    ]  # fmt: skip
    u = p[0] + p[5]
    v = u + p[6]
    return np.block([[p[0] + p[1], u + p[4] + p[2]], [v - p[3], v + p[4]]])


def tf32(m, n):
    cut = [(x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (m, n)]
    return sums(*cut)


def without_last_term(m, n):
    return sums(m[:, :-1], n[:-1])


def flushed_large(m, n):
    return sums(np.where(np.abs(m) > 1e3, 0, m).astype(np.float32), n)


def case_of(kind, width=64):
    return Case(kind, f"{kind} {width}", width, width, width, kind)


def outcomes(algorithm, kinds=("uniform", "integers", "special", "ill-conditioned"), odd=None):
    """Each kind of data judged, `odd` computed by sums."""
    found = {}
    for kind in kinds:
        case = case_of(kind)
        m, n = data.make_inputs(kind, (case.j, case.k, case.l), 3, "x", kind)
        with np.errstate(all="ignore"):
            p = np.asarray((sums if kind == odd else algorithm)(m, n), np.float32)
        context = explain.Context("", case, {"M": "M", "N": "N", "P": "P"})
        execution = parse(execution_json(kind))
        found[kind] = judge.judge(case, execution, context, p, (m, n), seed=1)
    return judge.settled(found)


@pytest.mark.parametrize("algorithm", [strassen, winograd])
def test_a_right_product_by_another_algorithm_is_right_in_every_case(algorithm):
    found = outcomes(algorithm)
    assert all(one.is_right for one in found.values())
    assert not any(one.diagnostics for one in found.values())
    bounds = {kind: one.result.bound for kind, one in found.items()}
    assert bounds["special"] == "norm"
    assert (bounds["uniform"], bounds["integers"]) == ("sum", "exact")


def test_sums_are_judged_by_the_bound_of_each_element():
    found = outcomes(sums)
    assert {one.result.bound for one in found.values()} == {"sum", "exact"}
    assert all(one.is_right for one in found.values())


@pytest.mark.parametrize("algorithm", [tf32, without_last_term, flushed_large])
def test_a_mistake_is_no_other_algorithm(algorithm):
    found = outcomes(algorithm)
    assert not found["special"].is_right
    only_there = outcomes(algorithm, kinds=("special",))["special"]
    assert not only_there.is_right, "nothing shows that it is another algorithm"


@pytest.mark.parametrize("algorithm", [tf32, without_last_term, flushed_large])
def test_the_other_bound_is_no_hole_for_a_mistake_that_only_mixed_data_would_show(algorithm):
    case = case_of("special")
    for seed in range(5):
        m, n = data.make_inputs("special", (64, 64, 64), seed, "x", "y")
        with np.errstate(all="ignore"):
            assert numerics.norm_ratio(algorithm(m, n), m, n) > 1, (case, seed)


def test_another_algorithm_has_to_be_right_on_all_other_data():
    wrong_somewhere = outcomes(strassen) | outcomes(without_last_term, kinds=("uniform",))
    again = judge.settled(
        {
            kind: one if kind == "uniform" else outcomes(strassen, kinds=(kind,))[kind]
            for kind, one in wrong_somewhere.items()
        }
    )
    assert not again["special"].is_right


def test_several_levels_on_a_small_product_are_told_what_they_exceed():
    case = case_of("uniform", 16)
    m, n = data.make_inputs("uniform", (16, 16, 16), 0, "x", "winograd3")
    p = winograd(m, n, 3)
    context = explain.Context("", case, {"M": "M", "N": "N", "P": "P"})
    found = judge.judge(case, parse(execution_json("uniform")), context, p, (m, n), seed=1)
    (said,) = found.diagnostics
    assert not found.is_right
    assert "keeps to it, several do not" in said.advice


@pytest.mark.parametrize("format_name", ["text", "markdown", "html", "junit", "gradescope"])
def test_every_report_says_which_bound_it_was(format_name, lab):
    from grader.judging import rubric
    from grader.tests.test_judge import outcome

    found = {case.id: outcome(lab, case.id) for case in lab.cases}
    special = outcomes(strassen)["special"]
    from dataclasses import replace

    found["w8"] = replace(found["w8"], result=replace(found["w8"].result, bound="norm"))
    assert special.result.bound == "norm"
    result = begun.blank(lab, "matmul.cu", Options("sim"))
    result = conclude.concluded(lab, result, rubric.Evidence(found, found, {}))
    text = writers.render(format_name, [result], one=True, style=Style(width=500))
    assert "by the bound for algorithms that add before they multiply" in text
