#!/usr/bin/env bash
# What the container runs: grades the labs that are mounted at /work, not the skeletons inside.
#
#   podman run --rm -v "$PWD/labs":/work:ro,Z tilewise [LAB [OPTION ...]]
#
# TILEWISE_WORK names another folder than /work. Another command than a lab's number is run as it is.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=${TILEWISE_WORK:-/work}
if (($#)) && [[ ! $1 =~ ^([0-9]|all$) ]]; then
  exec "$@"
fi
if [[ ! -d $WORK || -z $(ls -A "$WORK" 2>/dev/null) ]]; then
  echo "Nothing is mounted at $WORK: podman run --rm -v \"\$PWD/labs\":/work:ro,Z tilewise" >&2
  exit 2
fi
lab=${1:-all}
shift || true
exec "$ROOT/.venv/bin/grader" run "$lab" --submission "$WORK" --backend sim "$@"
