#!/usr/bin/env bash
# Nsight Compute's view of every contestant at n = 4096, and cuBLAS's kernels at several shapes.
#   profile.sh PATH/TO/bench
# --clock-control none: the card's clocks are measured as found, never set.
set -uo pipefail
bench=$1
stall=smsp__average_warps_issue_stalled
metrics=gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics+=,sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu.sum
metrics+=,dram__bytes.sum,lts__t_bytes.sum
for reason in dispatch_stall no_instruction wait not_selected long_scoreboard short_scoreboard \
              barrier mio_throttle math_pipe_throttle lg_throttle membar selected; do
  metrics+=,${stall}_${reason}_per_issue_active.ratio
done
for contestant in cublas 01_register_tiles 02_async_copies 03_warp_tiles 04_tma_pipeline \
                  05_producer_warps 06_straight_block 07_register_banks 08_even_waves; do
  echo "== $contestant 4096"
  # -s 2: the first two kernels fill the operands
  timeout 60 ncu --clock-control none -s 2 -c 1 --metrics "$metrics" "$bench" once "$contestant" 4096 2>&1 |
    grep -E "^ +[A-Za-z_0-9:<>]+.*\(.*\)x\(|__"
done
for shape in 1024 2048 8192 16384 1000x1000x1000 4095x4095x4095; do
  echo "== cublas names $shape"
  timeout 60 ncu --clock-control none -s 2 -c 3 --metrics gpu__time_duration.sum "$bench" once cublas "$shape" 2>&1 |
    grep -E "^ +[A-Za-z_0-9:<>]+.*\(.*\)x\("
done
