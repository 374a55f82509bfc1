"""Code and reports shown in a handout are real, so that the text cannot drift from the course.

Every fenced block marked as CUDA follows a comment that says where it is from:

    <!-- from solutions/02-tiled-kernel/matmul.cu -->
    ```cuda
    ...consecutive lines of that file, indented as one likes...
    ```

or `<!-- not from a file: REASON -->`. And what a report is said to show, it shows, of a file or of an entry of the corpus:

    <!-- report of 06 solutions/05-register-tiling/matmul.cu -->
    <!-- report of 06 corpus:padding-0 -->
    ```text
    ...part of what `grader run 06 --submission FILE` prints on the simulator, spacing apart...
    ```
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from grader.labs import codes
from grader.labs.lab import COUNTERS
from grader.machine.toolchain import find_toolchain
from grader.tests import corpus_files
from grader.tests.selection import one_of_each

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("labs/*/README.md", "docs/*.md", "docs/*/*.md", "solutions/*/*.md", "*/README.md")
HANDOUTS = sorted(path for page in PAGES for path in ROOT.glob(page))
BLOCK = re.compile(r"^```(?:cuda|cpp|c\+\+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCE = re.compile(r"<!-- from (\S+) -->\n\Z")
NO_SOURCE = re.compile(r"<!-- not from a file: .+ -->\n\Z")
REPORT = re.compile(
    r"^<!-- report of (\S+) (\S+) -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
EXPERIMENT = re.compile(
    r"^<!-- experiment (\S+) ([0-9 ]+) -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"!?\[[^\]]*(?:\[[^\]]*\]\[[^\]]*\][^\]]*)?\]\(([^)#\s]+)(?:#[^)]*)?\)")


def normal(text: str) -> str:
    """Without common indentation, and with alignment before a trailing comment evened out."""
    text = textwrap.dedent(text).strip("\n")
    return re.sub(r" {2,}//", "  //", "\n".join(line.rstrip() for line in text.splitlines()))


def stands_in(block: str, text: str) -> bool:
    """Whether the lines of `block` follow each other in `text`, indentation apart."""
    lines, count = text.splitlines(), len(block.strip("\n").splitlines())
    wanted = normal(block)
    return any(normal("\n".join(lines[i : i + count])) == wanted for i in range(len(lines)))


def faults(handout: str) -> list[str]:
    found = []
    for block in BLOCK.finditer(handout):
        before, line = handout[: block.start()], handout.count("\n", 0, block.start()) + 1
        if source := SOURCE.search(before):
            path = ROOT / source[1]
            if not path.is_file():
                found.append(f"line {line}: {source[1]} does not exist")
            elif not stands_in(block[1], path.read_text()):
                found.append(f"line {line}: not found in {source[1]}")
        elif not NO_SOURCE.search(before):
            found.append(f"line {line}: the block does not say which file it is from")
    return found


@pytest.mark.parametrize("path", HANDOUTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_is_from_real_files(path):
    assert faults(path.read_text()) == []


@pytest.mark.parametrize("path", HANDOUTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL)
    for target in LINK.findall(text):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (path.parent / target).exists(), target


def test_every_measurement_is_listed():
    folder = ROOT / "docs" / "measurements"
    listed = set(LINK.findall((folder / "README.md").read_text())) | {"README.md"}
    assert {path.name for path in folder.glob("*.md")} <= listed


@pytest.mark.parametrize(
    "lab", sorted(p.parent for p in ROOT.glob("labs/*/lab.toml")), ids=lambda p: p.name
)
def test_handout_has_its_parts(lab):
    text = (lab / "README.md").read_text()
    for part in (
        "**Goal.**",
        "make grade LAB=" + lab.name[:2],
        "## The arithmetic",
        "## What the report shows",
    ):
        assert part in text, part
    assert ".svg)" in text, "a drawing"
    assert text.count("<details>") == text.count("</details>") >= 3, "questions with folded answers"
    assert "## Further reading" in text


def excerpts() -> list[tuple[str, str, str]]:
    """(lab, submission, text) of every report shown in a handout or the README."""
    return [
        match.groups()
        for path in [ROOT / "README.md", *HANDOUTS]
        for match in REPORT.finditer(path.read_text())
    ]


def words(text: str) -> str:
    return " ".join(text.split())


def test_every_code_and_counter_is_documented():
    page = (ROOT / "docs" / "reading-a-report.md").read_text()
    first_cells = re.findall(r"^\| ([a-z_, -]+) \|", page, re.MULTILINE)
    rows = {name.strip() for cell in first_cells for name in cell.split(",")}
    assert set(codes.ORDER) | set(COUNTERS) <= rows


EXCERPTS = excerpts()
NAMES = [
    f"{lab}-{Path(submission.partition(':')[2] or submission).stem}"
    for lab, submission, _ in EXCERPTS
]


@pytest.mark.parametrize(
    "excerpt", one_of_each(EXCERPTS, lambda shown: [shown[1].startswith("corpus:")]), ids=NAMES
)
def test_reports_are_as_shown(excerpt, built, tmp_path):
    lab, submission, text = excerpt
    if submission.startswith("corpus:"):
        submission = corpus_files.find(lab, submission.removeprefix("corpus:")).write(tmp_path)
    command = [sys.executable, "-m", "grader", "run", lab, "--submission", submission]
    command += ["--backend", "sim"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert words(text) in words(done.stdout)


def test_the_experiment_prints_what_its_page_shows(built, tmp_path):
    page = (ROOT / "docs" / "experiments" / "README.md").read_text()
    [(lab, sizes, shown)] = EXPERIMENT.findall(page)
    experiment = tmp_path / "experiment"
    command = [find_toolchain(built).nvcc, "-std=c++17", "-lineinfo", "--no-compress"]
    command += ["-arch=compute_90", "-cudart", "shared", "-I", ROOT / "common" / "include"]
    command += ["-include", ROOT / "solutions" / lab / "matmul.cu"]
    command += [ROOT / "docs" / "experiments" / "main.cu", "-o", experiment]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = [built.build / "bin" / "warpsim", "run", "--", experiment, *sizes.split()]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "0 of 10000 elements wrong" in done.stdout
    for line in shown.splitlines():
        assert words(line) in words(done.stderr)


TENSOR = re.compile(r"^<!-- tensor (\d+) -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_tensor_cores_count_what_their_page_shows(built, tmp_path):
    page = (ROOT / "docs" / "experiments" / "README.md").read_text()
    shown = TENSOR.findall(page)
    assert len(shown) == 2
    for pad, text in shown:
        command = [find_toolchain(built).nvcc, "-std=c++17", "-lineinfo", "--no-compress"]
        command += ["-arch=compute_90", "-cudart", "shared", f"-DPAD={pad}"]
        command += [ROOT / "docs" / "experiments" / "tensor_cores.cu", "-o", tmp_path / "tensor"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        run = [built.build / "bin" / "warpsim", "run", "--", tmp_path / "tensor"]
        done = subprocess.run(run, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "No faults found." in done.stderr
        for line in text.splitlines():
            assert words(line) in words(done.stderr)


SAMPLE = "<!-- from solutions/01-naive-kernel/matmul.cu -->\n```cuda\n{}\n```\n"


def test_drift_is_found():
    right = "if (row >= width || col >= width) return;"
    assert faults(SAMPLE.format(right)) == []
    assert faults(SAMPLE.format(right.replace(">=", ">"))) != []
    assert faults("```cuda\nint x;\n```\n") != []
    assert faults("<!-- from solutions/none.cu -->\n```cuda\nint x;\n```\n") != []
