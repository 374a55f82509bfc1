#!/usr/bin/env bash
# Builds the summit's ladder, checks every rung against float64, times all of them and cuBLAS in one
# process, and writes the tables and the plot. Needs an sm_90 GPU (H100 or H200).
#
#   run.sh [--profile] [--sanitize] [--output DIR]
#     --profile    also read stall reasons with Nsight Compute and the names of cuBLAS's kernels
#     --sanitize   also run compute-sanitizer (memcheck, racecheck) on small shapes
#     --output     where the results go (default: docs/measurements)
set -euo pipefail
cd "$(dirname "$0")/.."

output=../../docs/measurements profile=0 sanitize=0
while (($#)); do
  case $1 in
    --profile) profile=1 ;;
    --sanitize) sanitize=1 ;;
    --output) output=$2; shift ;;
    *) echo "run.sh: unknown option $1; see the head of this file" >&2; exit 2 ;;
  esac
  shift
done
command -v nvidia-smi >/dev/null || { echo "run.sh: no NVIDIA driver here; the summit needs an H100 or H200" >&2; exit 3; }
mkdir -p "$output"
build=${BUILD:-../../build/summit}
mkdir -p "$build"
make -s -j"$(nproc)" BUILD="$build" 2> "$build/make.log" || { cat "$build/make.log" >&2; exit 3; }

squares="512 1024 1536 2048 3072 4096 6144 8192 12288 16384"
# Rectangular, odd, and badly aligned: chosen before anything was measured on them.
shapes="1000x1000x1000 1023x1025x1021 1531x1531x1531 2049x2047x2050 3000x2048x5000 3001x777x1999
        4095x4095x4095 4097x4096x4097 5000x333x5000 777x9001x1234 8192x512x8192 16384x1024x512"

raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.max.sm --format=csv,noheader > "$raw/gpu.csv"

echo "checking ..." >&2
status=0
timeout 300 "$build/bench" check > "$raw/check.jsonl" || status=1
grep '"passed": false' "$raw/check.jsonl" >&2 || true

echo "timing ..." >&2
nvidia-smi --query-gpu=timestamp,clocks.sm,power.draw,temperature.gpu,clocks_event_reasons.active \
  --format=csv,noheader,nounits -lms 100 > "$raw/clocks.csv" &
sampler=$!
for size in $squares $shapes; do
  echo "{\"at\": \"$(date '+%Y/%m/%d %H:%M:%S.%3N')\", \"shape\": \"$size\"}"
  timeout 120 "$build/bench" time "$size"
done > "$raw/time.jsonl"
kill $sampler

if ((profile)); then
  echo "profiling ..." >&2
  bench/profile.sh "$build/bench" > "$raw/profile.txt"
fi
if ((sanitize)); then
  echo "sanitizing ..." >&2
  for tool in memcheck racecheck; do
    echo "== $tool"
    timeout 90 compute-sanitizer --tool $tool "$build/bench" check 257x33x129 300x200x400 2>&1 || true
  done > "$raw/sanitizer.txt"
fi
command=solutions/summit/bench/run.sh
((profile)) && command+=" --profile"
((sanitize)) && command+=" --sanitize"
python3 bench/report.py "$raw" "$build" "$output" "$command"
exit $status
