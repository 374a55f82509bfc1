"""What a newcomer sees first: the README's links lead somewhere, `make help` names what is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_link_of_the_readme_leads_to_a_file(target):
    assert (ROOT / target).exists()


def test_every_target_that_help_and_readme_name_exists():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"\.PHONY: ((?:.*\\\n)*.*)", makefile)[1].replace("\\\n", " ").split())
    help_text = "".join(re.findall(r"^#>.*\n", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:^|[`>,:] *)make ([a-z-]+)", README + help_text, re.MULTILINE))
    assert {"grade", "test", "watch", "bench"} <= named
    assert named <= targets


def test_a_variable_in_small_letters_is_not_overlooked(tmp_path):
    command = ["make", "-f", ROOT / "Makefile", "grade", "lab=01"]
    result = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    assert result.returncode == 2
    assert "write lab=... in capitals, as in LAB=02" in result.stderr
