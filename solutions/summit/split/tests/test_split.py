"""The split precision product: it compiles for sm_90a anywhere, and is as accurate as cuBLAS on a GPU.

python3 -m pytest solutions/summit/split/tests      (needs nvcc; the accuracy needs an H100 or H200)
"""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

SUMMIT = pathlib.Path(__file__).parent.parent.parent
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
ARCH = ["-gencode", "arch=compute_90a,code=sm_90a"]

needs_nvcc = pytest.mark.skipif(not NVCC, reason="needs nvcc of the CUDA toolkit")


def compiled(source, output):
    """Compiles one file; returns what ptxas says of it."""
    run = subprocess.run(
        [NVCC, "-std=c++20", "-O3", *ARCH, "-Xptxas", "-v", "-c", "-o", output, source],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stderr


@needs_nvcc
def test_the_product_compiles_without_spills(tmp_path):
    said = compiled(SUMMIT / "split/product.cu", tmp_path / "product.o")
    assert re.findall(r"(\d+) bytes spill", said) and not re.search(
        r"[1-9]\d* bytes spill", said
    ), said
    assert "C7508" not in said  # setmaxnreg ignored


@needs_nvcc
@pytest.mark.parametrize("name", ["prepare", "repair"])
def test_the_other_steps_compile(name, tmp_path):
    compiled(SUMMIT / f"split/{name}.cu", tmp_path / "step.o")


def capability():
    run = shutil.which("nvidia-smi") and subprocess.run(
        ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
        capture_output=True,
        text=True,
    )
    return (
        run.stdout.strip().splitlines()[0]
        if run and run.returncode == 0 and run.stdout.strip()
        else ""
    )


@needs_nvcc
@pytest.mark.skipif(capability() != "9.0", reason="needs a GPU of compute capability 9.0")
@pytest.mark.parametrize("mode", ["accuracy", "check"])
def test_accuracy_on_the_gpu(mode, tmp_path):
    objects = []
    for source in (
        "split/prepare",
        "split/repair",
        "split/product",
        "common/operands",
        "bench/split",
    ):
        objects.append(tmp_path / (source.replace("/", "_") + ".o"))
        compiled(SUMMIT / f"{source}.cu", objects[-1])
    subprocess.run(
        [NVCC, *ARCH, "-o", tmp_path / "split_bench", *objects, "-lcublas", "-lcuda"], check=True
    )
    run = subprocess.run([tmp_path / "split_bench", mode], capture_output=True, text=True)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0 and lines, run.stdout + run.stderr
