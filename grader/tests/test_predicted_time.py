"""Predicted times: the published times of nine kernels on a C1060, and what a report says."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from grader.labs.course import Course
from grader.machine.toolchain import find_toolchain, program
from grader.results.result import Kernel
from grader.running.compile import Compiled, compile_submission
from grader.writers import prediction

ROOT = Path(__file__).resolve().parents[2]
PREDICT = ROOT / "build/bin/tilewise-predict"
N = 2048
# Kernel: registers a thread on cc 1.3 (the published table), seconds at n = 2048. Where the table's
# two digits say little, the time at 8192 over 64.
PUBLISHED = {
    "gpu1": (10, 0.71), "gpu2": (16, 0.27), "gpu3": (21, 0.27),
    "gpu4": (11, 5.54 / 64), "gpu5": (11, 4.84 / 64), "gpu6": (38, 2.91 / 64),
    "gpu7": (38, 2.91 / 64), "gpu8": (38, 2.88 / 64), "sgemm": (35, 2.97 / 64),
}  # fmt: skip


def recorded(built: Course, source: Path, signature: str, n: int, folder: Path) -> None:
    """Leaves the plan of one size, n.plan.json, and its modules in the folder."""
    compiled = compile_submission(built, find_toolchain(built), source.read_bytes(), 75)
    assert isinstance(compiled, Compiled), compiled
    command = [
        program(built, "tilewise-record"), "--submission", compiled.shared_object,
        "--signature", signature, "--output", folder, "--case", f"n:{n}x{n}x{n}",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def plans(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of the nine kernels' plans for tilewise-predict."""
    folder = tmp_path_factory.mktemp("c1060")
    lines = []
    for name, (registers, _) in PUBLISHED.items():
        here = folder / name
        here.mkdir()
        recorded(built, ROOT / f"solutions/gallery/{name}.cu", "square-device", N, here)
        plan = json.loads((here / "n.plan.json").read_text())
        kernel = next(op["kernel"] for op in plan["ops"] if op["op"] == "launch")
        (here / "resources.json").write_text(json.dumps({kernel: {"registers": registers}}))
        lines.append(f"{name} {here / 'n.plan.json'} {here / 'resources.json'}")
    (folder / "list.txt").write_text("\n".join(lines) + "\n")
    return folder


def predict(plans: Path, devices: Path) -> dict[str, float]:
    """Predicted seconds of each kernel."""
    output = plans / f"{devices.name}.json"
    subprocess.run(
        [PREDICT, "--list", plans / "list.txt", "--device", "c1060", "--output", output],
        check=True,
        env=os.environ | {"TILEWISE_DEVICES": str(devices)},
    )
    return {
        entry["name"]: sum(kernel["predicted_ms"] for kernel in entry["kernels"]) / 1000
        for entry in json.loads(output.read_text())
    }


def disagreements(predicted: dict[str, float]) -> list[str]:
    """Kernels off by more than a factor of 2, and pairs in the wrong order or not told apart."""
    measured = {name: seconds for name, (_, seconds) in PUBLISHED.items()}
    found = [n for n in measured if not 0.5 < predicted[n] / measured[n] < 2]
    for a in measured:
        for b in measured:
            tie = measured[a] < 1.03 * measured[b]
            if not tie and predicted[a] < 1.01 * predicted[b]:
                found.append(f"{a} not after {b}")
    return found


@pytest.mark.slow
def test_the_published_times_of_a_c1060(plans: Path) -> None:
    assert disagreements(predict(plans, ROOT / "common/devices")) == []


def with_timing(folder: Path, **changed: object) -> Path:
    """A folder of devices with a C1060 whose speeds differ in some fields."""
    device = json.loads((ROOT / "common/devices/c1060.json").read_text())
    device["timing"] |= changed
    (folder / "c1060.json").write_text(json.dumps(device))
    return folder


@pytest.mark.slow
def test_leaving_a_term_out_is_noticed(plans: Path, tmp_path: Path) -> None:
    assert disagreements(predict(plans, with_timing(tmp_path, memory_gbs=1e6, memory_latency=0)))


@pytest.mark.slow
def test_offsets_without_limit_make_gpu4_as_fast_as_gpu5(plans: Path, tmp_path: Path) -> None:
    operands = {"offsets": 16384, "issue_cycles": 6}
    predicted = predict(plans, with_timing(tmp_path, shared_operands=operands))
    assert disagreements(predicted) == ["gpu4 not after gpu5"]


def kernel(**facts: object) -> Kernel:
    return Kernel("tiled", "c", (1, 1, 1), (1, 1, 1), 0, 32, 1.0, {}, (), **facts)


BASIS = {
    "terms": [{"name": "shared", "ms": 3.1}], "relief": "keep more results in registers",
    "waves": 1.0, "l1_hit_rate": 0.0, "code": "machine code", "calibrated": True,
    "error": "9% off on average",
}  # fmt: skip


def test_a_sentence_names_the_error_the_bound_and_the_relief() -> None:
    said = prediction.sentence(kernel(predicted_ms=4.0, bound="shared", prediction=BASIS))
    assert said == (
        "Predicted 4 ms (9% off on average); shared wavefronts bind (3.1 of 4 ms). "
        "To relieve: keep more results in registers."
    )


def test_without_calibration_it_says_so() -> None:
    basis = BASIS | {"calibrated": False, "error": ""}
    said = prediction.sentence(kernel(predicted_ms=4.0, bound="latency", prediction=basis))
    assert "(uncalibrated: from published rates); waiting binds" in said
    assert prediction.sentence(kernel()) == ""
