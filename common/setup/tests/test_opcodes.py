"""A new opcode does not compile before it is entered in warpsim/ptx/opcode_facts.h."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PTX = ROOT / "common" / "warpsim" / "ptx"


def compiles(tree: Path) -> str:
    """What the compiler says of opcode_facts.h in the tree; "" if nothing."""
    compiler = json.loads((ROOT / "build" / "toolchain.json").read_text())["cxx"]
    source = '#include "warpsim/ptx/opcode_facts.h"\n'
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-I", tree, "-x", "c++", "-"],
        input=source, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


def test_an_opcode_without_facts_does_not_compile(tmp_path: Path):
    folder = tmp_path / "warpsim" / "ptx"
    folder.mkdir(parents=True)
    for header in ("ir.h", "opcode_facts.h"):
        shutil.copy(PTX / header, folder)
    assert compiles(tmp_path) == ""
    ir = (folder / "ir.h").read_text()
    assert ir.count("  kAdd,") == 1
    (folder / "ir.h").write_text(ir.replace("  kAdd,", "  kPlanted,\n  kAdd,"))
    assert "kPlanted" in compiles(tmp_path)
