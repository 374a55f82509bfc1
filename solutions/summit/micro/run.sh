#!/usr/bin/env bash
# Measures how register banks and the reuse cache limit FFMAs. Needs an sm_90 GPU.
#   micro/run.sh     prints a table
set -euo pipefail
cd "$(dirname "$0")"
build=${BUILD:-../../../build/summit/micro}
mkdir -p "$build"
nvcc -gencode arch=compute_90a,code=sm_90a -O3 -std=c++20 -cubin -o "$build/template.cubin" template.cu
nvcc -O2 -std=c++20 -o "$build/run" run.cu -lcuda
python3 patterns.py "$build/template.cubin" "$build/patterns"
"$build/run" "$build/patterns/list"
