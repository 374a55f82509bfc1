#!/usr/bin/env bash
# Creates .venv/ and installs the grader in it, editable, with its dependencies and pytest.
# Done again only when pyproject.toml or this script changes, or when the checkout has moved.
source "$(dirname "$0")/common.sh"

STAMP=.venv/tilewise.stamp

create() {
  local python
  python=$(common/setup/find_python.sh)
  [[ -n $python ]] || die "Python 3.11 or later is needed; install it or name it with PYTHON=..."
  say "creating .venv with $("$python" --version)"
  rm -rf .venv
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

# Packages already there satisfy pip without a network, also when pyproject.toml was merely touched.
install() {
  say "installing the grader's Python packages"
  log_run pip .venv/bin/python -m pip --disable-pip-version-check install \
    --quiet 'setuptools>=68,<82' wheel &&
    log_run pip .venv/bin/python -m pip --disable-pip-version-check install \
      --quiet --no-build-isolation --editable '.[test]' ||
    die "could not install the Python packages: is the package index reachable from here?"
}

main() {
  # The checkout's path is part of the key: scripts in .venv/bin name it.
  local key
  key="$ROOT $(cat pyproject.toml common/setup/python_env.sh | sha256sum | cut -c1-16)"
  unchanged "$STAMP" "$key" && [[ -x .venv/bin/python ]] && return

  if [[ ! -x .venv/bin/python || ! -f $STAMP || $(<"$STAMP") != "$ROOT "* ]] ||
    ! .venv/bin/python -c pass 2>/dev/null; then
    create
  fi
  install
  echo "$key" >"$STAMP"
}

main
