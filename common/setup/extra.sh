#!/usr/bin/env bash
# Installs an optional dependency of pyproject.toml into .venv if its module is not there yet.
#
#   common/setup/extra.sh study matplotlib
source "$(dirname "$0")/common.sh"

EXTRA=$1 MODULE=$2
.venv/bin/python -c "import $MODULE" 2>/dev/null && exit
say "installing $MODULE into .venv"
log_run "pip-$EXTRA" .venv/bin/python -m pip --disable-pip-version-check install --quiet \
  --no-build-isolation --editable ".[$EXTRA]" ||
  die "could not install $MODULE: is the package index reachable from here?"
