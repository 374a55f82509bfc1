#!/usr/bin/env bash
# Installs what only some tests need: the Python extras, and system packages where apt-get may be
# used. What cannot be had is named; its tests then skip, and `make test ALL=1` says so and fails.
source "$(dirname "$0")/common.sh"
source common/setup/apt.sh

# One row a need: a program that shows it is there, and its package in Debian and Ubuntu.
NEEDS="
bwrap         bubblewrap
chromium      chromium
clang-format  clang-format
munged        munge
sbatch        slurm-client
slurmctld     slurmctld
slurmd        slurmd
"

system_packages() {
  local program package lacks=()
  while read -r program package; do
    [[ -z $program ]] || PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || lacks+=("$package")
  done <<<"$NEEDS"
  ((${#lacks[@]} > 0)) || return 0
  if ! may_apt; then
    say "some tests will be skipped for want of: ${lacks[*]} (sudo apt-get install ${lacks[*]})"
    return 0
  fi
  say "installing system packages for the tests: ${lacks[*]}"
  log_run apt-tests-update apt_get update || true
  for package in "${lacks[@]}"; do
    log_run "apt-$package" apt_get install -y --no-install-recommends "$package" ||
      say "some tests will be skipped for want of $package"
  done
}

disassembler() {
  .venv/bin/python -c 'import sys; sys.path.insert(0, "solutions/summit/schedule")
import sass; sass.nvdisasm()' 2>/dev/null || common/setup/extra.sh disassembler nvidia.cu13.nvdisasm
}

common/setup/extra.sh docs furo myst_parser
common/setup/extra.sh study matplotlib
common/setup/extra.sh slurm submitit
common/setup/extra.sh lti requests jwt cryptography
common/setup/extra.sh serve starlette uvicorn
common/setup/extra.sh browser axe_playwright_python
common/setup/extra.sh schemas check_jsonschema xmlschema pylti1p3
disassembler
system_packages
