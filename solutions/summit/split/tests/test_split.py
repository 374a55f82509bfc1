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
@pytest.mark.slow
def test_the_product_compiles_without_spills(tmp_path):
    said = compiled(SUMMIT / "split/product.cu", tmp_path / "product.o")
    assert re.findall(r"(\d+) bytes spill", said) and not re.search(
        r"[1-9]\d* bytes spill", said
    ), said
    assert "C7508" not in said  # setmaxnreg ignored


@needs_nvcc
@pytest.mark.slow
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


def build(folder, summit=SUMMIT):
    """split_bench, built in `folder` from the sources under `summit`."""
    objects = []
    for source in (
        "split/prepare",
        "split/repair",
        "split/product",
        "common/operands",
        "bench/split",
    ):
        objects.append(folder / (source.replace("/", "_") + ".o"))
        compiled(summit / f"{source}.cu", objects[-1])
    subprocess.run(
        [NVCC, *ARCH, "-o", folder / "split_bench", *objects, "-lcublas", "-lcuda"], check=True
    )
    return folder / "split_bench"


needs_gpu = pytest.mark.skipif(
    capability() != "9.0", reason="needs a GPU of compute capability 9.0"
)


@needs_nvcc
@needs_gpu
def test_accuracy_on_the_gpu(tmp_path):
    program = build(tmp_path)
    for mode in ("accuracy", "check"):
        run = subprocess.run([program, mode], capture_output=True, text=True)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        assert run.returncode == 0 and lines, run.stdout + run.stderr


LEFT_OUT = "multiply_pieces(acc, m, n, 0, 2, true);"


def with_a_piece_left_out(folder):
    """A copy of the sources in which five of the six products are computed."""
    for part in ("split", "common", "bench"):
        shutil.copytree(SUMMIT / part, folder / part)
    product = folder / "split/product.cu"
    text = product.read_text()
    assert text.count(LEFT_OUT) == 1
    product.write_text(text.replace(LEFT_OUT, ""))
    return folder


def test_the_planted_fault_has_its_place(tmp_path):
    assert LEFT_OUT not in (with_a_piece_left_out(tmp_path) / "split/product.cu").read_text()


@needs_nvcc
@needs_gpu
def test_a_piece_left_out_is_found_on_the_gpu(tmp_path):
    program = build(tmp_path, with_a_piece_left_out(tmp_path))
    run = subprocess.run([program, "accuracy"], capture_output=True, text=True)
    assert run.returncode == 1, run.stdout + run.stderr
