#!/usr/bin/env bash
# Makes this checkout ready to grade: system packages, Python environment, nvcc, C++ build.
# Every step has a stamp in build/setup/, so a second call costs a fraction of a second and needs
# no network. Safe to call from two shells at once.
#
#   common/setup/setup.sh --grading all that grading needs
#   common/setup/setup.sh           and all other programs: warpsim, and those of the study
#   common/setup/setup.sh --tests   and the C++ tests, pytest and what else the project's tests use
#
# With TILEWISE_WHEEL=FILE-OR-URL, or that as the one line of wheel.txt, --grading installs a wheel of the
# course and compiles nothing. If that fails it says so, and builds. TILEWISE_WHEEL=none builds anyway.
#
# TILEWISE_TESTS=ON makes ready for the tests without building them.
source "$(dirname "$0")/common.sh"

# Somebody who may not write here uses what another has set up: nothing is to be locked then.
if command -v flock >/dev/null && : 2>/dev/null >>"$STATE/lock"; then
  exec 9>>"$STATE/lock"
  flock 9
fi

wheel=${TILEWISE_WHEEL:-}
[[ -n $wheel || ! -f wheel.txt ]] || read -r wheel <wheel.txt || true
if [[ ${1:-} == --grading && -n $wheel && $wheel != none ]]; then
  common/setup/system_packages.sh --wheel
  if common/setup/python_env.sh --wheel "$wheel"; then
    common/setup/toolchain.sh
    exit
  fi
  say "$wheel cannot be installed here: building the course instead"
fi

tests=()
[[ ${1:-} == --tests ]] && tests=(--tests)
common/setup/system_packages.sh "${tests[@]}"

# The first time, what needs no CUDA toolkit is compiled while Python packages and, may be, the toolkit are
# fetched. In a process group of its own, so that it can be ended as a whole.
if [[ ! -f build/build.ninja ]]; then
  say "compiling the C++ programs in build/ meanwhile"
  set -m
  common/setup/build.sh "$@" --ahead </dev/null &
  ahead=$!
  set +m
  trap 'kill -- "-$ahead" 2>/dev/null || true' EXIT
fi
common/setup/python_env.sh "${tests[@]}"
common/setup/toolchain.sh
[[ -z ${ahead:-} ]] || wait "$ahead" || true
common/setup/build.sh "$@"
