#!/usr/bin/env bash
# Runs the project's own tests, C++ (ctest) then Python (pytest), and closes with the totals.
# Both always run; the status is 1 if either had a failure, 3 if set-up failed.
#
#   common/setup/run_tests.sh              all but those marked slow
#   common/setup/run_tests.sh --all        all, after installing what some of them need; nothing may be
#                                          skipped but what needs a GPU
#   common/setup/run_tests.sh --all 1/2    the same, but of the many like cases the first of two parts
#   common/setup/run_tests.sh --sanitize   the C++ tests under the address and undefined-behaviour
#                                          sanitizers, in build/asan/
source "$(dirname "$0")/common.sh"

JOBS=$(nproc 2>/dev/null || echo 2)
WORKERS=$((JOBS + (JOBS + 1) / 2)) # of pytest: most wait for a program now and then

# The tests start hundreds of Pythons: what one has compiled serves the next, also where this machine wants no .pyc
# beside the sources.
if [[ -n ${PYTHONDONTWRITEBYTECODE:-} ]]; then
  unset PYTHONDONTWRITEBYTECODE
  export PYTHONPYCACHEPREFIX=$ROOT/build/pycache
fi

# NumPy's threads spin while they wait for each other, on the processors that the workers share.
export OPENBLAS_NUM_THREADS=1

run_cpp() {
  ctest --test-dir "$1" --output-on-failure --no-tests=error -j "$JOBS" </dev/null
}

sanitize() {
  common/setup/setup.sh
  common/setup/build.sh --tests --sanitize
  # The tests start programs that were built without the sanitizer and load our runtime, which was
  # built with it: the sanitizer's library must be there first.
  local cxx
  cxx=$(sed -n 's/^  "cxx": "\(.*\)",$/\1/p' build/toolchain.json)
  # Leaks are not looked for: nvcc's host objects register themselves for the process's life.
  LD_PRELOAD=$("$cxx" -print-file-name=libasan.so) UBSAN_OPTIONS=print_stacktrace=1 \
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 run_cpp build/asan
}

main() {
  local start cpp=0 python=0 cpp_s python_s selection=(-m "not slow and not wheel")
  common/setup/setup.sh --tests
  if [[ ${1:-} == --all ]]; then
    common/setup/test_extras.sh
    selection=(--all -m "not wheel" ${2:+"--part=$2"})
  fi

  start=$SECONDS
  run_cpp build | tee "$STATE/ctest.log" || cpp=1
  cpp_s=$((SECONDS - start))
  start=$SECONDS
  TILEWISE_REQUIRE_TOOLCHAIN=1 .venv/bin/python -m pytest -n "$WORKERS" --dist loadgroup "${selection[@]}" </dev/null | tee "$STATE/pytest.log" || python=1
  python_s=$((SECONDS - start))

  echo
  echo "C++     $(grep -E 'tests passed|No tests' "$STATE/ctest.log" | tail -n 1) (${cpp_s} s)"
  echo "Python  $(tail -n 1 "$STATE/pytest.log" | tr -d '=')${2:+; of the many like cases part $2}"
  ((cpp == 0 && python == 0)) && echo "All tests passed in $((cpp_s + python_s)) s." && return
  echo "There were failures; they are listed above."
  return 1
}

case ${1:-} in
  --sanitize) sanitize ;;
  --all | "")
    [[ -z ${2:-} || $2 =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || die "PART is 1/2 or 2/2, say, not '$2'"
    main "$@"
    ;;
  *) die "run_tests.sh knows --all and --sanitize, not '$1'" ;;
esac
