#include "warpsim/rules.h"

namespace warpsim {

namespace {

Rule rule_for(Code code) {
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
  switch (code) {  // no default
    case Code::kOutOfBoundsGlobal:
      return {code, "A kernel accesses an address outside every buffer.",
              "Usually a missing guard (if (i < n)), a row length of another matrix, a pointer of "
              "the host, or a buffer that was freed."};
    case Code::kOutOfBoundsShared:
      return {code, "A kernel accesses shared memory outside its array.",
              "Usually a loop bound that is one too large, or rows and columns swapped; for "
              "dynamic shared memory, too few bytes in the launch."};
    case Code::kMisalignedAccess:
      return {
          code, "An address is no multiple of the access's size.",
          "Usually a float4 or double read at an index or offset that is no multiple of its size."};
    case Code::kUninitialisedShared:
      return {code, "A kernel reads shared memory that nobody has written.",
              "Usually a part of a tile that no thread loads, or an asynchronous copy that is not "
              "waited for."};
    case Code::kUninitialisedGlobal:
      return {code, "A kernel reads global memory that nobody has written.",
              "Usually a copy or memset that is missing or too short, or an output used as an "
              "accumulator."};
    case Code::kRaceShared:
      return {code,
              "Two threads of a block use one word of shared memory, at least one writes, and "
              "nothing orders them.",
              "Put __syncthreads() between the two, or __syncwarp() where both are in one warp."};
    case Code::kRaceGlobal:
      return {code,
              "Two threads use one word of global memory, at least one writes, and nothing orders "
              "them.",
              "Give each thread elements of its own, use atomics, or split the kernel: blocks of a "
              "launch run in no particular order."};
    case Code::kBarrierDivergence:
      return {code, "Some threads of a block wait at a barrier that others never reach.",
              "Move __syncthreads() out of the branch, or out of the loop whose length differs."};
    case Code::kTimeout:
      return {code, "A launch used up its budget of instructions.",
              "Usually a loop variable that is not advanced, or threads that wait for each other "
              "for ever."};
    case Code::kAssert:
      return {code, "A device assert failed.", "The condition names what did not hold."};
    case Code::kTrap:
      return {code, "A kernel stopped itself.", "It executed __trap()."};
    case Code::kStackOverflow:
      return {code, "A recursion goes deeper than the stack of a thread allows.",
              "Write a loop instead, or ask for more before the launch: "
              "cudaDeviceSetLimit(cudaLimitStackSize, bytes)."};
    case Code::kUnsupported:
      return {code, "The kernel uses an instruction that the simulator does not model.",
              "Its results, and what follows from them, are not to be relied on: run it on a GPU."};
    case Code::kLaunchConfig:
      return {code, "A launch breaks a limit of the device, and nothing is executed.",
              "Usually more than 1024 threads in a block, a grid of 0, or too much shared memory."};
    case Code::kNoLaunch:
      return {code, "solve launches no kernel.",
              "Usually a launch that is missing, or under a condition."};
    case Code::kHostComputed:
      return {code, "The host has written the result.", "The result must come from a kernel."};
    case Code::kInputModified:
      return {code, "An input came back changed.",
              "Usually source and target that are swapped, in a copy or in a store."};
    case Code::kUnwrittenOutput:
      return {code, "Elements of the result were never written.",
              "Usually a grid that is too small, a guard that is too strict, or no copy back."};
    case Code::kWrongMask:
      return {code,
              "The mask of a warp function names lanes that do not take part, or not its caller.",
              "Compute the mask before the branch (__ballot_sync), or move the call out of it."};
    case Code::kUnorderedStreams:
      return {code, "Work of two streams touches the same memory in no order.",
              "Order them by an event (cudaStreamWaitEvent), by a wait of the host, or use one "
              "stream."};
    case Code::kDeadlock:
      return {code, "Blocks wait for each other, or for blocks that cannot begin, for ever.",
              "Blocks of a launch run in any order and not all at once: wait for other blocks in a "
              "cooperative launch, or end the kernel instead."};
    case Code::kNeverWrittenCopy:
      return {code, "The host copies device memory that no kernel, copy or memset has written.",
              "Usually a grid that is too small, a guard that is too strict, a wrong buffer, or a "
              "size that is larger than what the kernel computes."};
    case Code::kUncheckedLaunch:
      return {code, "A launch failed, and the program never asks for the error.",
              "Call cudaGetLastError() after each launch, and look at what cudaDeviceSynchronize() "
              "returns."};
    case Code::kMemoryLeak:
      return {code, "Memory of the device is still allocated when the program ends.",
              "Every cudaMalloc needs its cudaFree."};
    case Code::kHostCrash:
      return {code, "The host follows a device pointer, which ends the program.",
              "Copy the data to the host with cudaMemcpy first, or allocate them with "
              "cudaMallocManaged."};
    case Code::kPhase:
      return {code,
              "An mbarrier is misused, or what a copy in bulk brings is used before its phase is "
              "complete.",
              "Initialise it once, by one thread, before all others use it, and wait for the phase "
              "that the copy belongs to: the first has parity 0, the next 1."};
    case Code::kAsyncProxy:
      return {
          code,
          "A copy in bulk meets what a thread has written, with no fence of the proxies between.",
          "The thread that wrote it needs fence.proxy.async, and then a barrier, before the copy "
          "is asked for."};
  }
#pragma GCC diagnostic pop
  __builtin_unreachable();
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule>& all = *new std::vector<Rule>([] {
    std::vector<Rule> each;
#define WARPSIM_CODE(name, text) each.push_back(rule_for(Code::name));
#include "warpsim/codes.inc"
#undef WARPSIM_CODE
    return each;
  }());
  return all;
}

}  // namespace warpsim
