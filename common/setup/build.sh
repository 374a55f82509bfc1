#!/usr/bin/env bash
# Configures build/ with CMake once, then lets Ninja bring the C++ programs up to date.
#
#   common/setup/build.sh [--grading | --tests] [--sanitize] [--ahead]
#
# --ahead compiles what goes without a CUDA toolkit, while set-up still fetches other things; it never fails.
# --grading builds no more than grading needs, unless the rest was built before.
# --sanitize builds in build/asan/ with the address and undefined-behaviour sanitizers.
# TILEWISE_TESTS=ON configures the tests without building them: ninja -C build test_ptx
# TILEWISE_JOBS=N compiles N files at a time (each may take 600 MB); default: as Ninja chooses.
source "$(dirname "$0")/common.sh"

BUILD=build
TARGETS=(all)
OPTIONS=(-DTILEWISE_NATIVE="${TILEWISE_NATIVE:-ON}" -DTILEWISE_TOOLKIT_LATER=ON)
AHEAD=
TESTS=${TILEWISE_TESTS:-OFF}
for argument in "$@"; do
  case $argument in
    --ahead) AHEAD=yes ;;
    --grading) [[ -e build/bin/warpsim ]] || TARGETS=(tilewise_grading) ;;
    --tests)
      TARGETS+=(tilewise_tests)
      TESTS=ON
      ;;
    --sanitize)
      BUILD=build/asan
      OPTIONS+=(-DTILEWISE_SANITIZE=ON)
      ;;
    *) die "build.sh knows --grading, --tests, --sanitize and --ahead, not '$argument'" ;;
  esac
done
# Once configured, tests stay so.
grep -qs '^TILEWISE_TESTS:BOOL=ON' "$BUILD/CMakeCache.txt" && TESTS=ON
OPTIONS+=(-DTILEWISE_TESTS="$TESTS")
NAME=${BUILD//\//-}
NINJA=$(command -v ninja || command -v ninja-build)

configure() {
  local key cxx
  if [[ -n $AHEAD ]]; then
    cxx=$(common/setup/find_cxx.sh)
  else
    cxx=$(sed -n 's/^  "cxx": "\(.*\)",$/\1/p' build/toolchain.json)
  fi
  # Components are found by their CMakeLists.txt: one that comes or goes calls for a new configuration.
  key="$ROOT $cxx ${OPTIONS[*]} $(find common -name CMakeLists.txt | sort | tr '\n' ' ')"
  unchanged "$STATE/$NAME.stamp" "$key" && [[ -f $BUILD/build.ninja ]] && return
  rm -rf "$BUILD/CMakeCache.txt" "$BUILD/CMakeFiles"  # a cache of another place or compiler
  log_run "$NAME-configure" cmake -S common -B "$BUILD" -G Ninja \
    -DCMAKE_CXX_COMPILER="$cxx" "${OPTIONS[@]}" || die "CMake could not configure $BUILD/"
  echo "$key" >"$STATE/$NAME.stamp"
}

# Makes the one header of the CUDA toolkit that we need to be found.
link_toolkit() {
  local folder
  while read -r folder; do
    [[ -f $folder/cuda_occupancy.h ]] || continue
    mkdir -p "$BUILD/toolkit"
    [[ $BUILD/toolkit/cuda_occupancy.h -ef $folder/cuda_occupancy.h ]] ||
      ln -sfn "$folder/cuda_occupancy.h" "$BUILD/toolkit/cuda_occupancy.h"
    return
  done < <(sed -n '/"include_dirs"/,/]/s/^ *"\(\/.*\)",\{0,1\}$/\1/p' build/toolchain.json)
  die "the CUDA toolkit of build/toolchain.json has no cuda_occupancy.h"
}

# All but what includes the toolkit's header, and what is made of that.
build_ahead() {
  "$NINJA" -C "$BUILD" -k 0 ${TILEWISE_JOBS:+-j "$TILEWISE_JOBS"} "${TARGETS[@]}" >"$STATE/ahead.log" 2>&1 || true
}

build() {
  local work
  local jobs=(${TILEWISE_JOBS:+-j "$TILEWISE_JOBS"})
  work=$("$NINJA" -C "$BUILD" -n "${TARGETS[@]}" | tail -n 1)
  [[ $work == *"no work to do"* ]] && return
  say "building the C++ programs in $BUILD/ (the first time takes a few minutes)"
  if [[ -t 2 ]]; then
    "$NINJA" -C "$BUILD" "${jobs[@]}" "${TARGETS[@]}" >&2
  else
    "$NINJA" -C "$BUILD" "${jobs[@]}" --quiet "${TARGETS[@]}" >&2
  fi || die "the C++ build failed; the compiler's messages stand above"
}

configure
if [[ -n $AHEAD ]]; then
  build_ahead
else
  link_toolkit
  build
fi
