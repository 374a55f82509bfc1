#!/usr/bin/env bash
# 50 submissions on a one-node cluster while tasks are killed; then the same class without Slurm.
# Ends with status 0 if everybody is in both gradebooks and they are the same, byte for byte.
#
#   grader/tests/slurm/fifty.sh FOLDER      FOLDER: new, absolute; about five minutes on two cores
set -euo pipefail
cd "$(dirname "$0")/../../.."
FOLDER=${1:?usage: fifty.sh FOLDER}
CLUSTER=$FOLDER/cluster
GRADER=.venv/bin/grader
OUT=$FOLDER/slurm

say() { printf '%s  %s\n' "$(date -u +%T)" "$*"; }

attempts() { find "$OUT/.batch/slurm/attempts" -name '*.json' 2>/dev/null | wc -l; }

# Waits until there are at least $1 attempts.
until_attempts() {
  while (($(attempts) < $1)); do
    kill -0 "$BATCH" 2>/dev/null || return 0
    sleep 0.2
  done
}

running() { squeue --noheader --array --states=running --format=%i | head -n 1; }

.venv/bin/python -m grader.tests.make_class "$FOLDER/class" --students 50 --seed 11 \
  --platform canvas --labs 02-tiled-kernel
grader/tests/slurm/cluster.sh start "$CLUSTER" >/dev/null
trap 'grader/tests/slurm/cluster.sh stop "$CLUSTER"' EXIT
export SLURM_CONF=$CLUSTER/slurm.conf
sinfo

$GRADER batch "$FOLDER/class" --output "$OUT" --labs 02 --executor slurm --jobs 2 &
BATCH=$!
until_attempts 5
squeue | head -n 6
task=$(running)
say "scancel $task, with $(attempts) attempts there"
scancel "$task"
until_attempts 12
pid=$(pgrep --oldest --full "grader.batch.worker .*$OUT" || true)
say "kill -9 of the worker $pid, with $(attempts) attempts there"
kill -9 "$pid"
until_attempts 18
task=$(running)
pid=$(pgrep --oldest --full "submitit.core._submit $OUT" || true)
say "kill -9 of the task's own process $pid (one of $task ...), with $(attempts) attempts there"
kill -9 "$pid"
status=0
wait "$BATCH" || status=$?
say "the batch ended with status $status"
sed -n '/^## Tried twice/,/^## S/p' "$OUT/summary.md"
sed -n '3,8p' "$OUT/summary.md"
sinfo

$GRADER batch "$FOLDER/class" --output "$FOLDER/local" --labs 02 --jobs 2
wc -l "$OUT/gradebook.csv" "$FOLDER/local/gradebook.csv"
sha256sum "$OUT/gradebook.csv" "$FOLDER/local/gradebook.csv"
cmp "$OUT/gradebook.csv" "$FOLDER/local/gradebook.csv"
diff --recursive "$OUT/results" "$FOLDER/local/results"
say "the same gradebook and the same results"
exit "$status"
