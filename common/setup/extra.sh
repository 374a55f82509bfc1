#!/usr/bin/env bash
# Installs optional dependencies of pyproject.toml into .venv if their modules are not there yet.
#
#   common/setup/extra.sh study matplotlib
source "$(dirname "$0")/common.sh"

EXTRA=$1
shift
MODULES=$*
.venv/bin/python -c "import ${MODULES// /, }" 2>/dev/null && exit
say "installing $MODULES into .venv"
log_run "pip-$EXTRA" .venv/bin/python -m pip --disable-pip-version-check install --quiet \
  --no-build-isolation --editable ".[$EXTRA]" ||
  die "could not install $MODULES: is the package index reachable from here?"
