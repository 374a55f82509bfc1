#!/usr/bin/env bash
# Grades a class repository in continuous integration, with no GPU, and leaves every form of the
# report in one folder. Lives in the course, not in the student's repository.
#
#   grade.sh LABS REPORT
#
# LABS     the folder with the student's labs (02-tiled-kernel/matmul.cu, ...)
# REPORT   a folder to make: result.json, summary.md, junit.xml, report.html
#
# Environment: LAB=02 grades one lab only, LAB=01,02 these; SEED=N the data of a secret seed.
# Status: 0 full marks, 1 less, 2 nothing that can be graded, 3 the grader or its machine failed.
set -uo pipefail
LABS=$(realpath "$1") || exit 2
mkdir -p "$2" && REPORT=$(realpath "$2") || exit 3
export TILEWISE_ROOT
TILEWISE_ROOT=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
GRADER=$TILEWISE_ROOT/.venv/bin/grader

"$TILEWISE_ROOT/common/setup/setup.sh" --grading || exit 3

# The labs of the class, not all that the course has: those that course.toml has released, else those
# that the repository has a folder for.
if [[ -z ${LAB:-} ]]; then
  LAB=$("$GRADER" course labs --submission "$LABS") || exit $?
fi

cd "$(dirname "$LABS")" || exit 3 # so that reports show short paths
"$GRADER" run "$LAB" --submission "$LABS" --backend sim ${SEED:+--seed "$SEED"} \
  --format json --output "$REPORT/result.json"
status=$?
[[ -f $REPORT/result.json ]] || exit "$status"
while read -r format file; do
  "$GRADER" write "$REPORT/result.json" --format "$format" --output "$REPORT/$file" || exit 3
done <<'FORMATS' 2>/dev/null
markdown summary.md
junit junit.xml
html report.html
FORMATS
cat "$REPORT/summary.md"
# The seed and the data of hidden cases are in the JSON, and artifacts are the student's to read.
rm -f "$REPORT/result.json"
exit "$status"
