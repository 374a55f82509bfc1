#!/usr/bin/env bash
# Prints a Python interpreter of version 3.11 or later, or nothing. PYTHON=... overrides the search.
set -euo pipefail

for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
  if command -v "$python" >/dev/null &&
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    command -v "$python"
    exit 0
  fi
done
