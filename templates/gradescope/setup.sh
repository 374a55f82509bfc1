#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the autograder's image (Ubuntu 22.04).
# It installs compilers and Python, NVIDIA's nvcc (a Python package; no driver, no GPU), and builds
# the simulator. Nothing is fetched later, when submissions are graded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/tilewise"

export DEBIAN_FRONTEND=noninteractive
export TILEWISE_NATIVE=OFF   # the image is used on other machines than the one that builds it
export TILEWISE_JOBS=1       # one compiler at a time, for the sake of memory

apt-get update -qq
apt-get install -y -qq --no-install-recommends ca-certificates bubblewrap g++ make
if [[ -z $(bash common/setup/find_python.sh) ]]; then
  # Ubuntu 22.04's own python3 is 3.10; 24.04's needs nothing more.
  apt-get install -y -qq --no-install-recommends python3.11 python3.11-venv
fi
bash common/setup/setup.sh --grading

# Only root, who grades, needs to read these.
chmod -R go-rwx settings.json labs datasets grader
.venv/bin/grader doctor || true   # for the build's log
