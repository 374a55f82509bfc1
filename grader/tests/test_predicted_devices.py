"""Predicted times from end to end: every device either gets one or is told why there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.machine.toolchain import find_toolchain
from grader.results.result import Kernel
from grader.tests.selection import first_of
from grader.tests.test_predicted_time import recorded
from grader.writers import prediction

ROOT = Path(__file__).resolve().parents[2]
DEVICES = ROOT / "common/devices"
PREDICT = ROOT / "build/bin/tilewise-predict"
N = 1024
BOUNDS = {"issue", "fma", "integer", "tensor", "shared", "l1", "l2", "memory", "latency", "launch"}


def graded(course, device: str, submission: str = "solutions/02-tiled-kernel", root=ROOT) -> Kernel:
    """The kernel in the report on lab 02, graded by the command line as a student would."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", "run", "02", "--submission", submission,
         "--device", device, "--backend", "sim", "--format", "json"],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
        env=os.environ | {"TILEWISE_ROOT": str(root), "TILEWISE_BUILD": str(course.build)},
    )  # fmt: skip
    kernel = json.loads(done.stdout)["kernels"][0]
    names = ("predicted_ms", "bound", "prediction", "no_prediction")
    facts = {name: kernel[name] for name in names}
    return Kernel(
        kernel["name"], "c", (1, 1, 1), (1, 1, 1), 0, kernel["registers"], None, {}, (), **facts
    )


def measured_error(device: str) -> str:
    """What the device's file says of the error of its predicted times; "" where it was not measured."""
    return json.loads((DEVICES / f"{device}.json").read_text())["timing"].get("error", "")


@pytest.mark.parametrize(
    ("device", "trust"),
    first_of(
        [
            ("h200", measured_error("h200")),
            ("h100", f"uncalibrated: from published rates; {measured_error('h100')}"),
            ("t4", f"uncalibrated: from published rates; {measured_error('t4')}"),
            ("a100", "(uncalibrated: from published rates);"),
        ]
    ),
)
def test_a_report_predicts_a_time_and_says_how_far_to_trust_it(built, device, trust) -> None:
    kernel = graded(built, device)
    assert 0.001 < kernel.predicted_ms < 1
    assert kernel.bound in BOUNDS
    assert kernel.prediction["code"] == "machine code"
    assert kernel.no_prediction is None
    said = prediction.sentence(kernel)
    assert said.startswith(f"Predicted {kernel.predicted_ms:.3g} ms (") and trust in said
    assert "bind" in said and "To relieve: " in said
    assert ("at 1590 MHz" in said) == (device == "t4")


@pytest.mark.parametrize(
    ("device", "reason"),
    first_of([
        ("v100", "no code for compute capability 7.0; registers and occupancy are those of its "
                 "code for 7.5."),
        ("c1060", "no code for compute capability 1.3, so that the registers per thread"),
        ("c2050", "no code for compute capability 2.0, so that the registers per thread"),
    ]),
)  # fmt: skip
def test_a_report_says_why_it_predicts_nothing(built, device, reason) -> None:
    kernel = graded(built, device)
    assert kernel.predicted_ms is None and kernel.prediction is None
    said = prediction.sentence(kernel)
    assert said.startswith("No predicted time: ") and reason in said


@pytest.fixture
def without_speeds(tmp_path: Path) -> Path:
    """A checkout whose T4 has no speeds."""
    (tmp_path / "common").mkdir()
    for name in ("labs", "datasets", "solutions", "common/include"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "common/devices", tmp_path / "common/devices")
    path = tmp_path / "common/devices/t4.json"
    device = json.loads(path.read_text())
    del device["timing"]
    path.write_text(json.dumps(device))
    return tmp_path


def test_a_device_file_without_speeds_is_named(built, without_speeds) -> None:
    kernel = graded(built, "t4", root=without_speeds)
    assert kernel.registers is not None and kernel.predicted_ms is None
    assert prediction.sentence(kernel) == (
        'No predicted time: the device file t4.json has no speeds ("timing").'
    )


def test_a_kernel_that_the_model_does_not_know_is_told_so(built, tmp_path) -> None:
    """The solution, whose last line exchanges elements of P atomically: right, but slow."""
    text = (ROOT / "solutions/02-tiled-kernel/matmul.cu").read_text()
    store = "P[row * width + col] = sum;"
    assert store in text
    (tmp_path / "matmul.cu").write_text(
        text.replace(store, "atomicExch(&P[row * width + col], sum);")
    )
    kernel = graded(built, "h200", str(tmp_path / "matmul.cu"))
    assert prediction.sentence(kernel) == (
        "No predicted time: the kernel uses atomics on global memory, whose speed the model does "
        "not know."
    )


# ---- the devices with speeds, on two labs ----


@pytest.fixture(scope="module")
def plans(built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labs 01 and 05 recorded once; machine code is made per device."""
    folder = tmp_path_factory.mktemp("devices")
    for lab in ("01-naive-kernel", "05-register-tiling"):
        here = folder / lab
        toml = (ROOT / f"labs/{lab}/lab.toml").read_text()
        signature = next(
            line.split('"')[1] for line in toml.splitlines() if line.startswith("signature")
        )
        here.mkdir()
        recorded(built, ROOT / f"solutions/{lab}/matmul.cu", signature, N, here)
    return folder


def predict(plans: Path, device: str, assembler: Path) -> dict[str, dict]:
    """What is predicted of each lab's kernel, from machine code for the device."""
    from grader.running import ptxas

    fields = json.loads((ROOT / f"common/devices/{device}.json").read_text())
    major, minor = fields["compute_capability"]
    lines = []
    for lab in sorted(path for path in plans.iterdir() if path.is_dir()):
        module, cubin = next(lab.glob("module*.ptx")), lab / f"{device}.cubin"
        done = subprocess.run(
            [assembler, "-v", "--generate-line-info", f"-arch=sm_{major}{minor}",
             module, "-o", cubin], check=True, capture_output=True, text=True,
        )  # fmt: skip
        resources = lab / f"{device}.json"
        found = ptxas.parse(done.stderr + done.stdout)
        resources.write_text(
            json.dumps({name: facts | {"cubin": str(cubin)} for name, facts in found.items()})
        )
        lines.append(f"{lab.name} {lab / 'n.plan.json'} {resources}")
    (plans / "list.txt").write_text("\n".join(lines) + "\n")
    output = plans / f"predicted-{device}.json"
    subprocess.run(
        [PREDICT, "--list", plans / "list.txt", "--device", device, "--output", output], check=True
    )
    return {entry["name"][:2]: entry["kernels"][0] for entry in json.loads(output.read_text())}


def with_a_prediction() -> list[str]:
    """Devices with speeds that today's compiler writes for."""
    files = {path.stem: json.loads(path.read_text()) for path in DEVICES.glob("*.json")}
    return sorted(
        name
        for name, fields in files.items()
        if "timing" in fields and fields["compute_capability"] >= [7, 5]
    )


def test_which_devices_get_a_prediction() -> None:
    assert {"t4", "a100", "h100", "h200"} <= set(with_a_prediction())
    assert not {"c1060", "c2050", "v100"} & set(with_a_prediction())


def peak_ms(device: str) -> float:
    """N^3 multiply-adds on all FP32 lanes."""
    fields = json.loads((DEVICES / f"{device}.json").read_text())
    lanes = fields["sm_count"] * fields["fp32_lanes_per_sm"]
    return N**3 / (lanes * fields["sm_clock_mhz"] * 1e3)


@pytest.mark.parametrize("device", first_of(with_a_prediction()))
def test_tiles_in_registers_are_faster_than_none_and_slower_than_the_peak(
    built, plans, device
) -> None:
    found = predict(plans, device, find_toolchain(built).ptxas)
    assert found["01"]["prediction"]["code"] == found["05"]["prediction"]["code"] == "machine code"
    assert found["01"]["predicted_ms"] > 1.5 * found["05"]["predicted_ms"]
    assert found["05"]["predicted_ms"] > peak_ms(device)
    terms = {term["name"]: term["ms"] for term in found["05"]["prediction"]["terms"]}
    assert terms["fma"] >= 0.98 * peak_ms(device)  # no multiply-add got lost, none is too fast
