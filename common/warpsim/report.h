// What a launch did: counters per kernel and per source line, and what was found (finding.h).

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "warpsim/counters.h"
#include "warpsim/finding.h"
#include "warpsim/touched.h"

namespace warpsim {

struct LineCounters {
  std::string file;   // as nvcc wrote it
  uint32_t line = 0;  // 1-based; 0: no source line known
  Counters counters;
};

enum class LaunchStatus : uint8_t {
  // Ran to the end. Diagnostics may still hold faults that a GPU survives: races, uninitialised
  // reads, ...
  kOk,
  kBadLaunch,  // launch-config: nothing ran; cuda_error says which error the real runtime returns
  kFault,      // an access outside any allocation, misaligned, a trap: cudaErrorIllegalAddress ...
  kAssert,     // a device assert failed
  kTimeout,    // instruction budget used up, or all warps wait at barriers for ever
  kUnsupported,  // an instruction that warpsim does not model; `message` names it and the line
};

// How the counters of a launch came about when only some of its blocks were executed.
struct Sampling {
  bool used = false;
  bool exact = false;  // the counters are those of the whole grid
  std::string why;     // not exact: why, one clause
  uint64_t blocks = 0, executed = 0;
  uint64_t classes = 0;             // kinds of blocks that were told apart
  uint64_t checked = 0;             // blocks drawn at random that counted what their class says
  double relative_error = 0;        // of an estimate: 95% bound for the instructions
  void add(const Sampling& other);  // another launch of the same kernel
};

struct LaunchReport {
  LaunchStatus status = LaunchStatus::kOk;
  // The cudaError_t that the real runtime would report: 0, 1, 9, 98, 700, 710, 716, 719, ...
  int cuda_error = 0;
  std::string message;  // one sentence when status is not kOk
  std::string kernel;   // source name
  std::string mangled;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0, local_bytes = 0;
  Counters counters;
  std::vector<LineCounters> lines;  // sorted by file, line
  // Sorted by block, then by occurrence; the same for any number of workers.
  std::vector<Diagnostic> diagnostics;
  double seconds = 0;  // wall time of the simulation
  Sampling sampling;
  // What it touched, if Options::touched asked for it.
  std::vector<Touched> touched;
  // Of griddepcontrol: it lets a launch that may begin early begin before it has ended itself; and
  // some block did so, or ended, only when it had waited for the launch before.
  bool lets_next_begin = false, waits_first = false;
};

}  // namespace warpsim
