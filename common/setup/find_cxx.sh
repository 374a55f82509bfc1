#!/usr/bin/env bash
# Prints the first C++20 compiler of $CXX, c++, g++, clang++, or nothing.
set -euo pipefail

for cxx in ${CXX:-} c++ g++ clang++; do
  if command -v "$cxx" >/dev/null && printf '#if __cplusplus >= 202002L\nyes\n#endif\n' |
    "$cxx" -std=c++20 -E -P -x c++ - 2>/dev/null | grep -qx yes; then
    command -v "$cxx"
    exit 0
  fi
done
