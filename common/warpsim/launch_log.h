// What the launches of one program or plan did, merged: kernels in the order of their first
// launches, one entry per kernel and configuration, and findings by what and where they are.
//
// Launches are numbered from 0, here and in every JSON; for people a report counts from 1.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "warpsim/report.h"

namespace warpsim {

// One kernel in one configuration; all its launches together.
struct LoggedKernel {
  std::string name, mangled;  // `tiled`, `_Z5tiledPKfS0_Pfi`
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  // per block
  uint32_t local_bytes = 0;                                    // per thread
  uint64_t launches = 0;
  Counters counters;
  std::map<std::pair<std::string, uint32_t>, Counters> lines;  // by (file, line)
  Sampling sampling;
  double seconds = 0;  // wall time spent, of the simulation or of launch and wait

  bool is_of(const LaunchReport& report) const;
  void begin(const LaunchReport& report);  // takes over names and sizes
  void add(const LaunchReport& report);    // one more launch
};

struct LoggedFinding {
  Diagnostic diagnostic;  // count summed over the launches
  int64_t launch = -1;    // that showed it first; -1: belongs to none
  // More buffers of the device in which the same place of the program does the same.
  std::vector<std::string> more_arrays;
};

// Adds to the one that is the same, if there is one. `joins_arrays`: whichever buffer of the device
// it is in.
void add_finding(std::vector<LoggedFinding>* findings, const Diagnostic& found, int64_t launch,
                 bool joins_arrays = false);

// Kernel: derived from LoggedKernel.
template <class Kernel>
struct LaunchLog {
  std::vector<Kernel> kernels;
  std::vector<LoggedFinding> faults;
  uint64_t launches = 0;      // carried out or refused
  bool joins_arrays = false;  // see add_finding

  // Index of the report's kernel; it gets an entry if it has none.
  size_t kernel_index(const LaunchReport& report) {
    const auto known = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const Kernel& k) { return k.is_of(report); });
    if (known != kernels.end()) return size_t(known - kernels.begin());
    kernels.emplace_back().begin(report);
    return kernels.size() - 1;
  }
  // Returns the kernel's entry.
  Kernel& add(const LaunchReport& report) {
    Kernel& kernel = kernels[kernel_index(report)];
    kernel.add(report);
    add_findings(report.diagnostics);
    return kernel;
  }
  // Of a launch that belongs to no kernel's entry, or of one that add() takes.
  void add_findings(const std::vector<Diagnostic>& found) {
    for (const Diagnostic& d : found) add_finding(&faults, d, int64_t(launches), joins_arrays);
    ++launches;
  }
};

}  // namespace warpsim
