// What is counted while a kernel runs: the table is counters.inc.

#pragma once

#include <cstdint>
#include <span>

#include "warpsim/device.h"

namespace warpsim {

// Meanings are Nsight Compute's where it has the metric. Of shared memory what the machine code
// does: loads and stores that ptxas merges count as one (ptx/merge.h), unless Options::merge_shared
// is off.
struct Counters {
#define WARPSIM_COUNTER(name, unit, nsight, who, meaning) uint64_t name = 0;
#define WARPSIM_DERIVED(name, unit, who, meaning)
#include "warpsim/counters.inc"

  uint64_t volume_bytes() const;
  double abu() const;  // 0 where nothing was loaded
  void add(const Counters& other);
  bool operator==(const Counters&) const = default;
};

struct CounterInfo {
  enum class Who : uint8_t { kAlways, kTransactions, kInternal };
  const char* name;
  const char* unit;
  const char* nsight;  // metric of Nsight Compute, "" where it has none
  const char* meaning;
  Who who;
  uint64_t Counters::*field;  // nullptr: derived
  bool is_in_reports(CountingRule rule) const {
    return who == Who::kAlways || (who == Who::kTransactions && rule != CountingRule::kSectors);
  }
};

// In the order of reports, derived ones last.
std::span<const CounterInfo> counter_table();

}  // namespace warpsim
