"""`--sample`: counters from few blocks are, to the last one, those of the whole grid."""

from __future__ import annotations

import json

import pytest

from grader.labs import data
from grader.labs.lab import Case, load_lab
from grader.running import execute
from grader.running.compile import compile_submission
from grader.running.record import record
from grader.study import gallery, measure
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import first_of

LABS = sorted(path.parent.name for path in (REPOSITORY / "labs").glob("*/lab.toml"))
# What cannot be followed: an address that threads pick, `inside ? from : A`; the wait at an mbarrier.
NOT_FOLLOWED = {
    "08-async-copies": "an address (line ",
    "09-warp-tiles": "an address (line ",
    "11-copy-engine": "the branch (line ",
}
ONE_OF_EACH = [variant for variant in gallery.VARIANTS if variant.is_published_best]


@pytest.fixture(scope="module")
def bench(tmp_path_factory, built):
    return measure.open_bench(built, "h200", tmp_path_factory.mktemp("sampling"), lambda text: None)


def _execute(course, plan, shape, device, *, sampled):
    """The kernels of result.json."""
    result = plan.with_suffix(".sampled.json" if sampled else ".whole.json")
    arguments = ["--plan", plan, "--device", device, "--threads", "1", "--result", result]
    if sampled:
        arguments.append("--sample")
    else:
        m, n = data.make_inputs("uniform", shape, 1, "sampling", plan.stem)
        for name, path in execute.save_inputs(plan.with_suffix(".inputs"), m, n).items():
            arguments += ["--inputs", f"{name}={path}"]
    execute.run_executor(course, arguments, plan.stem)
    outcome = json.loads(result.read_text())
    assert outcome["status"] == "ok", outcome["message"]
    assert outcome["kernels"]
    return outcome["kernels"]


def _same(course, plan, shape, device):
    """Compares the two; returns the sampling of the first kernel."""
    sampled = _execute(course, plan, shape, device, sampled=True)
    whole = _execute(course, plan, shape, device, sampled=False)
    assert len(sampled) == len(whole)
    for few, all_blocks in zip(sampled, whole, strict=True):
        assert few["sampling"]["exact"], few["sampling"]["why"]
        assert all_blocks["sampling"] is None
        assert few["counters"] == all_blocks["counters"]
        assert few["lines"] == all_blocks["lines"]
        assert few["counters"]["instructions"] > 0
    return sampled[0]["sampling"]


@pytest.mark.parametrize("variant", first_of(ONE_OF_EACH), ids=str)
def test_the_gallery_sampled_is_the_gallery(bench, variant):
    n = 256
    plan = measure.record_plans(bench, variant, [n])[n]
    for device in ("h200", "c1060"):
        sampling = _same(bench.course, plan, (n, n, n), device)
        assert sampling["executed"] < sampling["blocks"] / 3


@pytest.mark.parametrize("lab", first_of(LABS))
def test_a_solution_sampled_is_the_solution(bench, lab):
    course = bench.course
    signature = load_lab(course.labs / lab).signature
    shapes = [(160, 96, 192), (133, 67, 213)]
    if signature.startswith("square"):
        # Lab 02 knows no partial tile yet.
        shapes = [(n, n, n) for n in ((160, 96) if lab.startswith("02") else (160, 131))]
    source = (course.solutions / lab / "matmul.cu").read_bytes()
    compiled = compile_submission(course, bench.toolchain, source, bench.architecture)
    cases = [Case("x".join(map(str, shape)), "", *shape) for shape in shapes]
    recorded = record(course, signature, cases, compiled, "h200", bench.folder / lab)
    for case, shape in zip(cases, shapes, strict=True):
        plan = recorded[case.id].plan
        assert plan is not None, recorded[case.id].message
        if lab in NOT_FOLLOWED:
            kernels = _execute(course, plan, shape, "h200", sampled=True)
            why = [
                kernel["sampling"]["why"] for kernel in kernels if not kernel["sampling"]["exact"]
            ]
            assert why
            assert all(reason.startswith(NOT_FOLLOWED[lab]) for reason in why), why
        else:
            _same(course, plan, shape, "h200")


def test_a_size_that_nobody_would_execute_whole(bench):
    n = 16384
    variant = next(v for v in ONE_OF_EACH if v.kernel == "GPU4")
    plan = measure.record_plans(bench, variant, [n])[n]
    kernel = _execute(bench.course, plan, (n, n, n), "c1060", sampled=True)[0]
    assert kernel["sampling"]["exact"]
    assert kernel["counters"]["transactions_64"] == variant.traffic.total(n)
    assert kernel["counters"]["volume_bytes"] == variant.traffic.volume(n)
    assert kernel["counters"]["fma_lanes"] == n**3
