#!/usr/bin/env bash
# Clones the repositories of a class, and notes when each was last pushed to by its commit.
#
#   clone_class.sh FOLDER
#
# Environment: CLASS_OWNER, CLASS_PREFIX, and what `gh` (GitHub's command line) needs to log in.
# Makes FOLDER/PREFIXsubmissions/REPOSITORY and FOLDER/times.csv (account, time of the last commit).
# Nothing of a clone is run: hooks are off, and submodules are not fetched.
set -euo pipefail
FOLDER=$1
: "${CLASS_OWNER:?is not set: the organisation of the class}"
: "${CLASS_PREFIX:?is not set: what the names of the repositories begin with}"
mkdir -p "$FOLDER/${CLASS_PREFIX}submissions"
: >"$FOLDER/times.csv"

gh repo list "$CLASS_OWNER" --limit 4000 --json name --jq '.[].name' | sort | while read -r name; do
  [[ $name == "$CLASS_PREFIX"* ]] || continue
  place=$FOLDER/${CLASS_PREFIX}submissions/$name
  if [[ ! -d $place ]]; then
    gh repo clone "$CLASS_OWNER/$name" "$place" -- --quiet --depth 1 --no-tags \
      -c core.hooksPath=/dev/null -c core.symlinks=false </dev/null
  fi
  when=$(git -C "$place" log -1 --format=%cI)
  printf '%s,%s\n' "${name#"$CLASS_PREFIX"}" "$when" >>"$FOLDER/times.csv"
done
