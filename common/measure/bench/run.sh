#!/usr/bin/env bash
# `make bench`: sets up, installs Numba (the peer) into .venv if it is not there, then measures.
source "$(dirname "$0")/../../setup/common.sh"

common/setup/setup.sh
if ! .venv/bin/python -c 'import numba' 2>/dev/null; then
  say "installing Numba, whose CUDA simulator is the peer"
  log_run pip-bench .venv/bin/python -m pip install --quiet --no-build-isolation --editable '.[bench]' ||
    die "could not install Numba: is the package index reachable from here?"
fi
exec .venv/bin/python common/measure/bench/bench.py "$@"
