"""What copies in bulk do on a GPU and under warpsim: boxes of tensors, and the summit's rungs 04 and 05.

.venv/bin/python common/measure/bulk/measure.py [--cases 400] [--without-gpu]

Builds both programs once with nvcc, runs each on the GPU and under `build/bin/warpsim run`, and compares what
they print line by line. Exit status 1 if a line differs, 3 if a program could not be built or run.
--without-gpu runs them under warpsim alone and prints the lines.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SUMMIT = ROOT / "solutions" / "summit"
NVCC = ("nvcc", "-std=c++20", "-O3", "-lineinfo", "-cudart", "shared")
MOST_SHOWN = 20  # lines that differ


def build(folder: Path) -> dict[str, list[str]]:
    """The commands of the programs; both machine code and PTX are in each."""
    boxes, rungs = folder / "boxes", folder / "rungs"
    # To link against; when the program runs, the machine's driver or warpsim's takes its place.
    stubs = Path(shutil.which("nvcc") or "nvcc").resolve().parents[1] / "lib64" / "stubs"
    subprocess.run([*NVCC, "-arch=sm_90", "-o", boxes, HERE / "boxes.cu"], check=True)
    # The last three: what they launch before, where an operand has to be copied.
    names = (
        "04_tma_pipeline",
        "05_producer_warps",
        "10_few_rows",
        "common/operands",
        "common/copy_beside",
    )
    sources = [SUMMIT / f"{name}.cu" for name in names]
    command = [*NVCC, "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", "-I", SUMMIT]
    command += ["-o", rungs, HERE / "rungs.cu", *sources]
    command += ["-L", stubs, "-lcuda"]
    subprocess.run(command, check=True)
    return {"boxes": [str(boxes)], "rungs": [str(rungs)]}


def lines(command: list[str]) -> list[str]:
    """What the command prints; the process ends with status 3 if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-4000:])
        sys.stderr.write(f"{' '.join(command)}: exit status {done.returncode}\n")
        raise SystemExit(3)
    return done.stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--without-gpu", action="store_true")
    options = parser.parse_args()
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        commands = build(Path(folder))
        commands["boxes"] += ["0", str(options.cases)]
        for name, command in commands.items():
            simulated = lines([str(ROOT / "build/bin/warpsim"), "run", "--quiet", "--", *command])
            if options.without_gpu:
                print("\n".join(simulated))
                continue
            real = lines(command)
            pairs = [(a, b) for a, b in zip(real, simulated, strict=True) if a != b]
            for a, b in pairs[:MOST_SHOWN]:
                print(f"GPU:     {a}\nwarpsim: {b}")
            print(f"{name}: {len(real)} lines, {len(pairs)} differ")
            different += len(pairs)
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
