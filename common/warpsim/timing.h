// Speeds of one GPU model: the "timing" section of a device file. Cycles are of the
// multiprocessor's clock; "source" there says what was measured by which microbenchmark and what
// was read where.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace warpsim {

// Arithmetic with an operand in shared memory (shared_operands.h).
struct SharedOperands {
  uint32_t offsets = 32;    // reach of an operand's offset from its address register, in accesses
  double issue_cycles = 6;  // between such an instruction and the scheduler's next
};

struct Timing {
  bool calibrated = false;  // by microbenchmarks on the device; else from published rates
  std::string error;        // of predictions, as a phrase: "12% on average, 45% at worst, ...";
                            // empty where nobody has measured it
  std::string note;  // what else the reader of a prediction must know, as a phrase; may be empty

  // One scheduler: cycles that a warp instruction keeps its unit busy.
  int schedulers = 4;       // of a multiprocessor
  double issue_cycles = 1;  // between two instructions of one scheduler
  // FP32 arithmetic. 1: 32 lanes, so that issue slots are what limits it (8.6 and later); 2: 16
  // lanes, the same as multiply integers (7.0 to 8.0).
  double fma_cycles = 1;
  double integer_cycles = 2;   // ALU: integer, logic, comparison, move
  double multiply_cycles = 2;  // integer multiply-add
  double slow_cycles = 8;      // conversion, special function
  double double_cycles = 8;    // double precision, in the same queue
  // A product of 16 x 8 elements on a tensor core, by 32 and by 16 bytes of each row of the left
  // factor (k = 16 and 8 of 16-bit numbers, 8 and 4 of tf32). 0: not known.
  double tensor_cycles = 0, tensor_half_cycles = 0;
  double wide_load_cycles = 0;  // register ports, for a 16-byte shared load's result
  int alu_latency = 4;          // of arithmetic, where no machine code says it

  // The multiprocessor's load/store unit: one wavefront of a shared request, one line or one word
  // per lane of a global request.
  double load_store_cycles = 1;
  double line_cycles = 0;     // of a line, where that differs; 0: it does not
  double request_cycles = 0;  // of any request at least
  double shared_latency = 23, constant_latency = 30, l1_latency = 33, l2_latency = 280,
         memory_latency = 660;
  double l2_other_half = 0;         // more cycles, for the first read of what an upload left in L2
  uint64_t l1_bytes = 0;            // shared memory included; 0: no cache
  uint64_t shared_least_bytes = 0;  // of those, that shared memory has even if no kernel wants any
  double l2_port_bytes = 64;        // per cycle, from L2 into one multiprocessor
  double l2_gbs = 0, memory_gbs = 0;
  double barrier_latency = 11, barrier_cycles = 2;  // alone; for each warp that arrives

  std::optional<SharedOperands> shared_operands;  // empty: arithmetic reads registers only

  double launch_us = 3;        // an empty kernel between two events
  double block_start_ns = 80;  // of one multiprocessor, between two blocks
};

}  // namespace warpsim
