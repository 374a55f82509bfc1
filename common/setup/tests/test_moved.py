"""What was built finds what it needs from where it is, not from where it was made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WARPSIM = ROOT / "build/bin/warpsim"


@pytest.mark.skipif(not WARPSIM.is_file(), reason="warpsim is not built")
class TestDevices:
    @pytest.fixture
    def moved(self, tmp_path):
        """The program alone, in a folder whose only device is `mine`."""
        folder = tmp_path / "other place"
        (folder / "build" / "bin").mkdir(parents=True)
        (folder / "common" / "devices").mkdir(parents=True)
        shutil.copy(ROOT / "common/devices/h200.json", folder / "common/devices/mine.json")
        return shutil.copy(WARPSIM, folder / "build" / "bin")

    def occupancy(self, program, device, **more):
        command = [
            program,
            "occupancy",
            "--device",
            device,
            "--registers",
            "64",
            "--threads",
            "256",
        ]
        environment = {k: v for k, v in os.environ.items() if k != "TILEWISE_DEVICES"}
        return subprocess.run(
            command, text=True, capture_output=True, env=environment, timeout=60, **more
        )

    def test_are_found_beside_a_program_that_was_moved(self, moved):
        done = self.occupancy(moved, "mine")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["blocks_per_sm"] == 4
        done = self.occupancy(moved, "h200")
        assert done.returncode != 0 and "mine" in done.stderr and str(ROOT) not in done.stderr

    def test_are_found_when_the_program_is_called_by_its_name(self, moved, tmp_path):
        done = self.occupancy("warpsim", "mine", cwd=tmp_path, executable=moved)
        assert done.returncode == 0, done.stderr
