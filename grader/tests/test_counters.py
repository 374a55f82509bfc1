"""One table of counters: the simulator's, the grader's and the docs'."""

import re
import subprocess
from pathlib import Path

import pytest

from grader.labs import counters

ROOT = Path(__file__).resolve().parents[2]
UPDATE = "build/bin/warpsim counters > grader/labs/counters.json"
DOCS = ROOT / "docs" / "reading-a-report.md"


def test_the_file_is_what_the_simulator_prints():
    program = ROOT / "build/bin/warpsim"
    printed = subprocess.run([program, "counters"], capture_output=True, text=True, check=True)
    stored = (ROOT / "grader/labs/counters.json").read_text(encoding="utf-8")
    assert printed.stdout == stored, UPDATE


@pytest.mark.parametrize("devices", ["all", "transactions"])
def test_the_docs_have_the_table(devices):
    table = counters.markdown(devices)
    page = DOCS.read_text(encoding="utf-8")
    without_links = re.sub(r"\[([^\]]+)\]\(glossary\.md#[^)]*\)", r"\1", page)
    assert table in without_links, table


def test_lab_toml_may_use_what_adds_up_on_every_device():
    assert "global_load_sectors" in counters.USABLE and "bank_conflicts" in counters.USABLE
    assert not {"abu", "volume_bytes", "transactions_32"} & set(counters.USABLE)
