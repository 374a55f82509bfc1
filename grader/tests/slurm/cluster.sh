#!/usr/bin/env bash
# A Slurm cluster of this one machine, for tests: no systemd, no fixed ports, nothing outside FOLDER.
#
#   cluster.sh start FOLDER    starts munged, slurmctld and slurmd; prints the line to source
#   cluster.sh stop FOLDER     ends them
#
# Needs Debian's slurm-wlm and munge (or their like), and root: slurmd runs jobs as their owner.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

fail() {
  echo "cluster.sh: $*" >&2
  exit 3
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'
}

configure() {
  local host memory
  host=$(hostname -s)
  memory=$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
  cat >"$1/slurm.conf" <<END
ClusterName=tilewise-test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0
KillWait=2
MinJobAge=10
ReturnToService=2
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
  echo "Name=gpu File=/dev/null" >"$1/gres.conf" # so that a task may ask for one
}

start() {
  local folder=$1 program
  for program in munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null || fail "$program is missing: apt-get install slurm-wlm munge"
  done
  mkdir -p "$folder"/{state,spool}
  chmod 755 "$folder"
  head -c 1024 /dev/urandom >"$folder/munge.key"
  chmod 600 "$folder/munge.key"
  configure "$folder"
  export SLURM_CONF=$folder/slurm.conf
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
    --seed-file="$folder/munged.seed" || fail "munged did not start: see $folder/munged.log"
  slurmctld || fail "slurmctld did not start: see $folder/slurmctld.log"
  slurmd || fail "slurmd did not start: see $folder/slurmd.log"
  local tries=0
  until [[ $(sinfo --noheader --format=%t 2>/dev/null) == idle ]]; do
    ((++tries < 150)) || fail "no idle node after 30 s: see $folder/slurmctld.log"
    sleep 0.2
  done
  echo "export SLURM_CONF=$SLURM_CONF"
}

stop() {
  local name pid
  for name in slurmd slurmctld munged; do
    pid=$(cat "$1/$name.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
}

case "${1:-} ${2:-}" in
  "start "/*) start "$2" ;;
  "stop "/*) stop "$2" ;;
  *) fail "usage: cluster.sh start|stop FOLDER, an absolute path" ;;
esac
