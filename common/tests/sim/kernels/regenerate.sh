#!/usr/bin/env bash
# Compiles the .cu files here into the .ptx files that the tests read (so that the tests need no nvcc).
# Code from CUDA's headers keeps a folder of CUDA: its lines are not the kernel's.
set -euo pipefail
cd "$(dirname "$0")"
for file in *.cu; do
  nvcc -std=c++17 -O3 -lineinfo -arch=compute_90 -ptx "$file" -o - |
    sed -E -e '/^\/\//d' -e 's@"[^"]*/(cccl|cooperative_groups)/[^"]*/([^/"]+)"@"/usr/local/cuda/\2"@;t' \
      -e 's@"[^"]*/(mma\.hpp|cooperative_groups\.h|(texture|surface)_indirect_functions\.h)"@"/usr/local/cuda/\1"@;t' -e "s|^(\s*\.file\s+[0-9]+ )\"[^\"]*/([^/\"]+)\"|\1\"\2\"|" > "${file%.cu}.ptx"
done
