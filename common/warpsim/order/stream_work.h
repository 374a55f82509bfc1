// What the work of streams does to memory, and which of it meets without an order.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "warpsim/finding.h"
#include "warpsim/order/stream_order.h"
#include "warpsim/report.h"
#include "warpsim/touched.h"

namespace warpsim {

// A launch, a copy, a fill, an asynchronous allocation or release.
struct StreamWork {
  std::string operation;  // the kernel's name, or what the call does: "copy to the device"
  bool is_kernel = false;
  uint64_t call = 0;  // where the program calls it, see Party::call
  std::vector<Touched> touched;
  LaunchOrder launch = {};
  bool lets_next_begin = false;  // a launch that may begin early does so while this one runs
};

// Of a launch, from its report.
StreamWork work_of(const LaunchReport& report, bool is_early, uint64_t call);

// Two pieces of work that touch a byte in no order, at least one to write it.
struct Unordered {
  Party earlier, later;  // as they were called
  bool later_is_kernel = false;
  bool is_early = false;  // the later one is a launch that has begun early, and has not waited
  uint64_t address = 0;   // the lowest byte that both touch
};

class StreamWorkLog {
 public:
  StreamOrder& order() { return order_; }

  // Adds work to a stream's end. Returns what it meets, one entry for each earlier work.
  std::vector<Unordered> add(uint32_t stream, StreamWork work);

 private:
  struct Entry {
    StreamPoint point;
    uint64_t first = 0, end = 0;  // all that it touches lies between
    StreamWork work;
  };
  void forget_ended();

  StreamOrder order_;
  std::deque<Entry> entries_;  // what may be running as far as the host knows
};

// Sorted by address, with neighbours of one kind and line joined.
void tidy(std::vector<Touched>* touched);

// The finding, but for the array, which the caller knows by the address.
Diagnostic unordered_finding(const Unordered& met);

}  // namespace warpsim
