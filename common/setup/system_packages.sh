#!/usr/bin/env bash
# Finds the C++20 compiler, CMake, Ninja, Python and the C++ libraries that the build needs.
# What is missing is installed with apt-get where we are root or may sudo without a password;
# elsewhere one list says what to install, and the status is 3. With --tests also what the tests need;
# with --wheel only what a grader from a wheel needs.
source "$(dirname "$0")/common.sh"
source common/setup/apt.sh

TESTS=
WHEEL=
case ${1:-} in
  --tests) TESTS=--tests ;;
  --wheel) WHEEL=--wheel ;;
esac
[[ ${TILEWISE_TESTS:-} == ON ]] && TESTS=--tests
STAMP=$STATE/system${TESTS:+-tests}${WHEEL:+-wheel}.stamp

# One row a need: its name for people, then the package's name for apt, dnf and pacman.
NEEDS="
compiler   g++                 gcc-c++        gcc
cmake      cmake               cmake          cmake
ninja      ninja-build         ninja-build    ninja
catch2     catch2              catch-devel    catch2
json       nlohmann-json3-dev  json-devel     nlohmann-json
cli11      libcli11-dev        cli11-devel    cli11
fmt        libfmt-dev          fmt-devel      fmt
python     python3             python3        python
venv       python3-venv        python3        python
python311  python3.11          python3.11     python
venv311    python3.11-venv     python3.11     python
"

# cpp_says COMPILER CONDITION: "yes" if the preprocessor finds the condition true.
cpp_says() {
  printf '#if %s\nyes\n#endif\n' "$2" | "$1" -std=c++20 -E -P -x c++ - 2>/dev/null | tail -n 1
}

# Prints the names of the needs that are not met, one a line.
missing() {
  [[ -n $(common/setup/find_cxx.sh) ]] || echo compiler
  [[ -n $WHEEL ]] || missing_for_building
  missing_of_python
}

missing_for_building() {
  local cxx
  cxx=$(common/setup/find_cxx.sh)
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || command -v ninja-build >/dev/null || echo ninja
  if [[ -n $cxx ]]; then
    [[ -z $TESTS || $(cpp_says "$cxx" '__has_include(<catch2/catch_all.hpp>) || __has_include(<catch2/catch.hpp>)') == yes ]] || echo catch2
    [[ $(cpp_says "$cxx" '__has_include(<nlohmann/json.hpp>)') == yes ]] || echo json
    [[ $(cpp_says "$cxx" '__has_include(<CLI/CLI.hpp>)') == yes ]] || echo cli11
    [[ $(cpp_says "$cxx" '__has_include(<fmt/format.h>)') == yes ]] || echo fmt
  else
    printf '%s\n' ${TESTS:+catch2} json cli11 fmt
  fi
}

missing_of_python() {
  local python
  python=$(common/setup/find_python.sh)
  if [[ -z $python ]] && command -v uv >/dev/null; then
    : # python_env.sh has uv fetch one
  elif [[ -z $python ]] && command -v python3 >/dev/null; then
    printf '%s\n' python311 venv311  # this system's own python3 is older
  elif [[ -z $python ]]; then
    printf '%s\n' python venv
  elif ! can_make_venv "$python"; then
    echo venv
  fi
}

# Debian's Python comes without ensurepip, which venv needs; virtualenv serves as well.
can_make_venv() {
  [[ -x .venv/bin/python ]] || "$1" -c 'import venv, ensurepip' 2>/dev/null ||
    "$1" -c 'import virtualenv' 2>/dev/null || command -v virtualenv >/dev/null
}

# package_names COLUMN NEED...: the packages for these needs, each once.
package_names() {
  local column=$1 need
  shift
  for need in "$@"; do
    awk -v need="$need" -v column="$column" '$1 == need { print $column }' <<<"$NEEDS"
  done | sort -u | paste -sd ' '
}

explain_and_stop() {
  {
    echo "set-up: this machine lacks: $(in_words "$@")"
    echo "  Install it with the line for your system, then run the same command again:"
    echo "    sudo apt-get install $(package_names 2 "$@")"
    echo "    sudo dnf install $(package_names 3 "$@")"
    echo "    sudo pacman -S $(package_names 4 "$@")"
    if [[ " $* " == *" python"* ]]; then
      echo "  Where no package has Python 3.11: uv (docs.astral.sh/uv) fetches one, without root."
    fi
  } >&2
  exit 3
}

in_words() {
  local need words=()
  for need in "$@"; do
    case $need in
      compiler) words+=("a C++20 compiler") ;;
      json) words+=("nlohmann-json") ;;
      cli11) words+=("CLI11") ;;
      python) words+=("Python 3.11 or later") ;;
      python311) words+=("Python 3.11 or later ($(common/setup/find_python.sh --found))") ;;
      venv | venv311) words+=("Python's venv module") ;;
      *) words+=("$need") ;;
    esac
  done
  (IFS=,; echo "${words[*]}" | sed 's/,/, /g')
}

# Grading one's own work goes without bubblewrap; grading other people's (`grader batch`) does not.
wish_for_sandbox() {
  command -v bwrap >/dev/null && return
  if may_apt; then
    say "installing system packages: bubblewrap"
    install bubblewrap >"$STATE/apt-bubblewrap.log" 2>&1 </dev/null && return
  fi
  say "no bubblewrap: submissions will run with limits only; see docs/trust.md"
}

knows() { apt-cache show "$1" >/dev/null 2>&1; }

# Lists of packages may be absent or out of date: refresh them only when needed.
install() {
  apt_get install -y --no-install-recommends "$@" ||
    { apt_get update && apt_get install -y --no-install-recommends "$@"; }
}

# Without it kernels are interpreted, which is several times slower and otherwise the same.
wish_for_xbyak() {
  has_xbyak && return
  if may_apt; then
    say "installing system packages: libxbyak-dev"
    install libxbyak-dev >"$STATE/apt-xbyak.log" 2>&1 </dev/null && return
  fi
  say "no Xbyak (libxbyak-dev, xbyak-devel, xbyak): kernels will be interpreted, not compiled; see docs/compiled-kernels.md"
}

has_xbyak() {
  [[ -n $WHEEL ]] && return
  [[ $(cpp_says "$(common/setup/find_cxx.sh)" '__has_include(<xbyak/xbyak.h>)') == yes ]]
}

main() {
  local key lacks
  # The system is part of the key: a checkout may be shared between a machine and a container.
  key=$(cat common/setup/system_packages.sh /etc/os-release 2>/dev/null | sha256sum | cut -c1-16)
  # What the tests need has all the rest in it.
  unchanged "$STAMP" "$key" || unchanged "$STATE/system-tests.stamp" "$key" && return

  mapfile -t lacks < <(missing)
  # Twice: the python3 that the first round brings may turn out to be too old.
  for _ in 1 2; do
    ((${#lacks[@]} > 0)) || break
    may_apt || explain_and_stop "${lacks[@]}"
    local packages
    read -ra packages <<<"$(package_names 2 "${lacks[@]}")"
    # In the same go what is only wished for, if this system knows it: apt-get takes its time to start.
    command -v bwrap >/dev/null || ! knows bubblewrap || packages+=(bubblewrap)
    has_xbyak || ! knows libxbyak-dev || packages+=(libxbyak-dev)
    say "installing system packages: ${packages[*]}"
    log_run apt install "${packages[@]}" || explain_and_stop "${lacks[@]}"
    mapfile -t lacks < <(missing)
  done
  ((${#lacks[@]} == 0)) || explain_and_stop "${lacks[@]}"
  wish_for_sandbox
  wish_for_xbyak
  echo "$key" >"$STAMP"
}

main
