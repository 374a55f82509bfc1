"""The committed data sets are what their generator writes, and their P is the product."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "datasets" / "generate.py"
SETS = runpy.run_path(str(GENERATOR))["committed"]()


@pytest.mark.parametrize("name", sorted(SETS))
def test_committed_set_is_what_the_generator_writes(name):
    folder = ROOT / "datasets" / name
    m, n = SETS[name]
    for wanted, file in ((m, "M.npy"), (n, "N.npy")):
        stored = np.load(folder / file)
        assert stored.dtype == np.float32
        assert np.array_equal(stored.view(np.uint32), wanted.view(np.uint32))
    product = np.load(folder / "P.npy")
    assert np.array_equal(product, (m.astype(np.float64) @ n.astype(np.float64)).astype(np.float32))


def test_every_folder_is_known():
    folders = {path.name for path in (ROOT / "datasets").iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == set(SETS)


def test_same_seed_same_bytes(tmp_path):
    for folder, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        command = [sys.executable, GENERATOR, "uniform", "3", "5", "2", "--seed", seed]
        subprocess.run([*command, "--output", tmp_path / folder], check=True)
    first, again, other = ((tmp_path / f / "M.npy").read_bytes() for f in "abc")
    assert first == again
    assert first != other


def test_bad_usage_is_one_sentence():
    done = subprocess.run(
        [sys.executable, GENERATOR, "uniform", "3"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "three sizes" in done.stderr
    assert "Traceback" not in done.stderr
