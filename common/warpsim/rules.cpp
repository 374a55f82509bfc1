#include "warpsim/rules.h"

#include <algorithm>

namespace warpsim {

const std::vector<Rule>& rules() {
  static const std::vector<Rule>& all = *new std::vector<Rule>{
      {Code::kOutOfBoundsGlobal, "A kernel accesses an address outside every buffer.",
       "Usually a missing guard (if (i < n)), a row length of another matrix, a pointer of the "
       "host, "
       "or a buffer that was freed."},
      {Code::kOutOfBoundsShared, "A kernel accesses shared memory outside its array.",
       "Usually a loop bound that is one too large, or rows and columns swapped; for dynamic "
       "shared "
       "memory, too few bytes in the launch."},
      {Code::kMisalignedAccess, "An address is no multiple of the access's size.",
       "Usually a float4 or double read at an index or offset that is no multiple of its size."},
      {Code::kUninitialisedShared, "A kernel reads shared memory that nobody has written.",
       "Usually a part of a tile that no thread loads, or an asynchronous copy that is not waited "
       "for."},
      {Code::kUninitialisedGlobal, "A kernel reads global memory that nobody has written.",
       "Usually a copy or memset that is missing or too short, or an output used as an "
       "accumulator."},
      {Code::kRaceShared,
       "Two threads of a block use one word of shared memory, at least one writes, and nothing "
       "orders them.",
       "Put __syncthreads() between the two, or __syncwarp() where both are in one warp."},
      {Code::kRaceGlobal,
       "Two threads use one word of global memory, at least one writes, and nothing orders them.",
       "Give each thread elements of its own, use atomics, or split the kernel: blocks of a launch "
       "run in no particular order."},
      {Code::kBarrierDivergence,
       "Some threads of a block wait at a barrier that others never reach.",
       "Move __syncthreads() out of the branch, or out of the loop whose length differs."},
      {Code::kTimeout, "A launch used up its budget of instructions.",
       "Usually a loop variable that is not advanced, or threads that wait for each other for "
       "ever."},
      {Code::kAssert, "A device assert failed.", "The condition names what did not hold."},
      {Code::kTrap, "A kernel stopped itself.", "It executed __trap()."},
      {Code::kUnsupported, "The kernel uses an instruction that the simulator does not model.",
       "Its results, and what follows from them, are not to be relied on: run it on a GPU."},
      {Code::kLaunchConfig, "A launch breaks a limit of the device, and nothing is executed.",
       "Usually more than 1024 threads in a block, a grid of 0, or too much shared memory."},
      {Code::kWrongMask,
       "The mask of a warp function names lanes that do not take part, or not its caller.",
       "Compute the mask before the branch (__ballot_sync), or move the call out of it."},
      {Code::kUnorderedStreams, "Work of two streams touches the same memory in no order.",
       "Order them by an event (cudaStreamWaitEvent), by a wait of the host, or use one stream."},
      {Code::kDeadlock, "Blocks wait for each other, or for blocks that cannot begin, for ever.",
       "Blocks of a launch run in any order and not all at once: wait for other blocks in a "
       "cooperative "
       "launch, or end the kernel instead."},
      {Code::kNeverWrittenCopy,
       "The host copies device memory that no kernel, copy or memset has written.",
       "Usually a grid that is too small, a guard that is too strict, a wrong buffer, or a size "
       "that "
       "is larger than what the kernel computes."},
      {Code::kUncheckedLaunch, "A launch failed, and the program never asks for the error.",
       "Call cudaGetLastError() after each launch, and look at what cudaDeviceSynchronize() "
       "returns."},
      {Code::kMemoryLeak, "Memory of the device is still allocated when the program ends.",
       "Every cudaMalloc needs its cudaFree."},
      {Code::kHostCrash, "The host follows a device pointer, which ends the program.",
       "Copy the data to the host with cudaMemcpy first, or allocate them with cudaMallocManaged."},
  };
  return all;
}

const Rule& rule_of(Code code) {
  const auto found = std::find_if(rules().begin(), rules().end(),
                                  [&](const Rule& rule) { return rule.code == code; });
  return found == rules().end() ? rules().front() : *found;
}

}  // namespace warpsim
