#!/usr/bin/env bash
# Fuzzes the PTX parser with libFuzzer under the address and undefined-behaviour sanitizers.
#
#   common/tests/ptx/fuzz.sh [SECONDS] [BUILD_FOLDER]     default: 600 seconds, build/fuzz
#
# Starts from the golden inputs and corpus/. A crash leaves its input in BUILD_FOLDER/crash-*: shorten it, fix the parser,
# and add it to golden/ as a test. Exit status 0: no crash; 2: no clang with libFuzzer.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
common=$(cd "$here/../.." && pwd)
seconds=${1:-600}
build=${2:-$common/../build/fuzz}

mkdir -p "$build/corpus"
build=$(cd "$build" && pwd)
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  clang++ -fsanitize=fuzzer,address -x c++ - -o "$build/probe" 2>"$build/probe.log"; then
  echo "fuzz.sh: clang++ with libFuzzer is needed (Debian: apt-get install clang libclang-rt-14-dev)." >&2
  exit 2
fi

clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
  -I "$common" "$here/fuzz_parser.cpp" "$here/printer.cpp" "$here/spell.cpp" "$common"/warpsim/ptx/*.cpp -o "$build/fuzz_parser"

cd "$build"
exec ./fuzz_parser -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 \
  -dict="$here/ptx.dict" -print_final_stats=1 corpus "$here/corpus" "$here/golden"
