#!/usr/bin/env bash
# Prints a Python interpreter of version 3.11 or later, or nothing. PYTHON=... overrides the search.
# With --found it prints, for people, which Pythons there are: "python3 here is 3.10.12".
set -euo pipefail

NAMES="${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python"

if [[ ${1:-} == --found ]]; then
  for python in $NAMES; do
    if version=$("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null); then
      echo "$python here is $version"
      exit 0
    fi
  done
  echo "there is none here"
  exit 0
fi

for python in $NAMES; do
  if command -v "$python" >/dev/null &&
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    command -v "$python"
    exit 0
  fi
done
