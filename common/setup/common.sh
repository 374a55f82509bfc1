# Shared by the set-up scripts; source it. Leaves the working directory at the repository's root.
# All talk goes to standard error: standard output belongs to the command that set-up runs before.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
ROOT=$PWD
STATE=$ROOT/build/setup  # stamps and logs of set-up
mkdir -p "$STATE"

say() { printf 'set-up: %s\n' "$*" >&2; }

# Status 3: the machine is not ready. Never the student's fault, never a score.
die() {
  printf 'set-up: %s\n' "$*" >&2
  exit 3
}

# log_run NAME COMMAND...: runs a command with its output in build/setup/NAME.log; on failure shows
# the last lines and returns the command's status.
log_run() {
  local log=$STATE/$1.log status=0
  shift
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then
    tail -n 12 "$log" | sed 's/^/    /' >&2
    say "the last lines of ${log#"$ROOT/"} stand above"
  fi
  return "$status"
}

# unchanged STAMP KEY: true if the stamp was written with this key, i.e. nothing to do.
unchanged() { [[ -f $1 && $(<"$1") == "$2" ]]; }
