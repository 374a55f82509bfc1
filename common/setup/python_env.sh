#!/usr/bin/env bash
# Creates .venv/ and installs the grader in it, editable, with its dependencies; with --tests, or
# TILEWISE_TESTS=ON, also what the project's tests use. uv, where it is installed, fetches a Python if
# none of this machine serves.
# With --wheel FILE-OR-URL it installs the grader from that, and not from here.
# Done again only when pyproject.toml or this script changes, or when the checkout has moved.
source "$(dirname "$0")/common.sh"

STAMP=.venv/tilewise.stamp
PACKAGES=.
EXTRA=
WHEEL=
if [[ ${1:-} == --wheel ]]; then
  WHEEL=$2
elif [[ ${1:-} == --tests || ${TILEWISE_TESTS:-} == ON || -f .venv/with-tests ]]; then
  PACKAGES='.[test]'
  EXTRA=' tests'
fi

remove() {
  rm -rf .venv 2>/dev/null ||
    die "the .venv of this checkout cannot be used from here, nor replaced by $(id -un): set up a checkout of your own"
}

create() {
  local python
  python=$(common/setup/find_python.sh)
  if [[ -z $python ]] && command -v uv >/dev/null; then
    say "creating .venv with uv, which fetches a Python of its own if need be"
    remove
    log_run venv uv venv --quiet --seed --python '>=3.11' .venv || die "uv could not create .venv"
    return
  fi
  [[ -n $python ]] || die "Python 3.11 or later is needed ($(common/setup/find_python.sh --found)); install it or name it with PYTHON=..."
  say "creating .venv with $("$python" --version)"
  remove
  if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    log_run venv "$python" -m venv .venv
  elif "$python" -c 'import virtualenv' 2>/dev/null; then
    log_run venv "$python" -m virtualenv .venv
  elif command -v virtualenv >/dev/null; then
    log_run venv virtualenv --python "$python" .venv
  else
    die "$python cannot create virtual environments: install python3-venv (Debian, Ubuntu) or virtualenv"
  fi || die "could not create .venv"
}

# Modules are compiled to .pyc when they are first used, not all of them now; where Python may not write
# them then, those that grading imports are.
pip_install() {
  if command -v uv >/dev/null; then
    log_run pip uv pip install --quiet --python .venv/bin/python "$@"
  else
    log_run pip .venv/bin/python -m pip --disable-pip-version-check install --quiet --no-compile "$@"
  fi
}

# Packages already there satisfy pip without a network, also when pyproject.toml was merely touched.
install() {
  if [[ -n $WHEEL ]]; then
    say "installing ${WHEEL##*/}"
    rm -f "$STAMP"  # if this fails, what is built from the checkout must be installed again
    # pip would keep what is there if the version is the same.
    .venv/bin/python -m pip --disable-pip-version-check uninstall --quiet --yes tilewise >/dev/null 2>&1 || true
    pip_install "$WHEEL"
    return
  fi
  say "installing the grader's Python packages"
  pip_install 'setuptools>=70.1,<82' && pip_install --no-build-isolation --editable "$PACKAGES" ||
    die "could not install the Python packages: is the package index reachable from here?"
}

main() {
  # The checkout's path is part of the key: scripts in .venv/bin name it.
  local key
  key="$ROOT $(cat pyproject.toml common/setup/python_env.sh | sha256sum | cut -c1-16)$EXTRA"
  if [[ -f $WHEEL ]]; then
    key="$ROOT wheel $(sha256sum <"$WHEEL" | cut -c1-16)"
  elif [[ -n $WHEEL ]]; then
    key="$ROOT wheel $WHEEL"
  fi
  unchanged "$STAMP" "$key" && [[ -x .venv/bin/python ]] && return

  if [[ ! -x .venv/bin/python || ! -f $STAMP || $(<"$STAMP") != "$ROOT "* ]] ||
    ! .venv/bin/python -c pass 2>/dev/null; then
    create
  fi
  install || return
  [[ -z $EXTRA ]] || touch .venv/with-tests
  [[ -z ${PYTHONDONTWRITEBYTECODE:-} ]] || .venv/bin/python common/setup/compile_modules.py || true
  echo "$key" >"$STAMP"
}

main
