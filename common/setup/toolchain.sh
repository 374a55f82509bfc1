#!/usr/bin/env bash
# Chooses nvcc and writes the choice to build/toolchain.json (see toolchain.py). Done again when
# the surroundings that decide the choice have changed, or when the chosen nvcc is gone.
source "$(dirname "$0")/common.sh"

nvcc_of_stamp() { sed -n 's/^  "nvcc": "\(.*\)",$/\1/p' build/toolchain.json; }

key="$ROOT|$(command -v nvcc || true)|${CUDA_HOME:-}|${TILEWISE_IGNORE_SYSTEM_CUDA:-}|${CXX:-}"
key+="|$(sha256sum common/setup/toolchain.py | cut -c1-16)|$(ls -d /usr/local/cuda 2>/dev/null || true)"
if unchanged "$STATE/toolchain.stamp" "$key" && [[ -f build/toolchain.json ]] &&
  [[ -x $(nvcc_of_stamp) ]]; then
  exit 0
fi

rm -f "$STATE/toolchain.stamp"
.venv/bin/python common/setup/toolchain.py
echo "$key" >"$STATE/toolchain.stamp"
