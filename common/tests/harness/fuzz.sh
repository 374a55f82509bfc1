#!/usr/bin/env bash
# Fuzzes the reader of launch plans, and the executor behind it, with libFuzzer under the address and
# undefined-behaviour sanitizers.
#
#   common/tests/harness/fuzz.sh [SECONDS] [BUILD_FOLDER]     default: 600 seconds, build/fuzz-plan
#
# Starts from plans/. A crash leaves its input in BUILD_FOLDER/crash-*: shorten it, mend the reader or
# check.cpp, and add it to plan_test.cpp. Exit status 0: no crash; 2: no clang with libFuzzer.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
common=$(cd "$here/../.." && pwd)
seconds=${1:-600}
build=${2:-$common/../build/fuzz-plan}

mkdir -p "$build/corpus" "$build/objects"
build=$(cd "$build" && pwd)
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  clang++ -fsanitize=fuzzer,address -x c++ - -o "$build/probe" 2>"$build/probe.log"; then
  echo "fuzz.sh: clang++ with libFuzzer is needed (Debian: apt-get install clang libclang-rt-14-dev)." >&2
  exit 2
fi

flags=(-std=c++20 -O1 -g1 -DFMT_HEADER_ONLY -fsanitize=fuzzer-no-link,address,undefined
  -fno-sanitize-recover=undefined -I "$common")
sources=("$here/fuzz_plan.cpp" "$common"/plan/*.cpp "$common"/json/*.cpp "$common"/warpsim/order/*.cpp
  "$common"/harness/execute/{addresses,executor,inspect,plan_order}.cpp "$common"/warpsim/ptx/demangle.cpp
  "$common"/warpsim/{counters,finding,finding_text,finding_words,launch_log,tensor_map}.cpp)
objects=()
for source in "${sources[@]}"; do
  object=${source#"$common"/}
  object=$build/objects/${object//\//-}.o  # two folders may have a file of one name
  clang++ "${flags[@]}" -c "$source" -o "$object"
  objects+=("$object")
done
clang++ -fsanitize=fuzzer,address,undefined "${objects[@]}" -o "$build/fuzz_plan"

cd "$build"
exec ./fuzz_plan -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -max_len=32768 \
  -print_final_stats=1 corpus "$here/plans"
