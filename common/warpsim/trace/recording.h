// What launches did, instruction by instruction: the tables of docs/trace.md, filled by the
// recorder (recorder.h) and written by trace_json.h.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "warpsim/finding.h"
#include "warpsim/report.h"

namespace warpsim {
struct Device;
}

namespace warpsim::trace {

inline constexpr int32_t kNone = -1;

struct Settings {
  std::vector<uint64_t> blocks;            // linear indices of those that are wanted; empty: all
  uint32_t first_line = 0, last_line = 0;  // of the source; 0: all lines
  uint64_t most_events = 100'000;          // of all launches together
  bool follows = true;                     // fills Products and Sums
};

enum class Space : uint8_t { kGlobal, kShared, kLocal, kConstant };
enum class Kind : uint8_t { kLoad, kStore, kAtomic, kCopyRead, kCopyWrite };

struct Array {
  std::string name, type;
  std::string holds;  // the lab's matrix that was put there, empty: none
  Space space = Space::kGlobal;
  uint64_t address = 0, bytes = 0;
  uint32_t element_bytes = 4;
  bool is_typed = false;                 // element_bytes is known from an access
  bool is_kept = false;                  // whether `initial` and `final` were taken
  std::vector<uint32_t> initial, final;  // words
};

// One of the kernel's parameters. A pointer: `array` and `offset` say where to.
struct Parameter {
  uint32_t bytes = 0;
  uint64_t value = 0;  // of up to 8 bytes
  int32_t array = kNone;
  uint64_t offset = 0;
};

struct Instruction {
  uint32_t function = 0, number = 0;  // within it
  int32_t file = kNone;               // index into Recording::files
  uint32_t line = 0;
  std::string text, op, type;
  const char* kind = "other";
  uint32_t elements = 1;
  uint32_t copy = 0, copies = 1;
  std::vector<uint32_t> loops;
  int32_t merged_into = kNone;
  uint32_t times = 1;
};

struct Loop {
  uint32_t function = 0, first = 0, last = 0;  // instructions of the launch
  int32_t parent = kNone;
  int32_t file = kNone;
  uint32_t line = 0;
};

struct Events {
  std::vector<uint32_t> block, code, active, mask, interval, clock;
  std::vector<uint16_t> warp;
  std::vector<int32_t> value;
  std::vector<std::vector<int32_t>> turns;  // by depth
  size_t count() const { return block.size(); }
};

struct Accesses {
  std::vector<uint32_t> event, mask, first;
  std::vector<int32_t> array;
  std::vector<uint8_t> space, kind;
  std::vector<uint16_t> requests, sectors, wavefronts, ideal;
};

struct Barriers {
  std::vector<uint32_t> event, round;
  std::vector<uint8_t> number, waits;
  std::vector<int32_t> released;
};

struct Copies {
  std::vector<uint32_t> event, value;
  std::vector<uint8_t> lane, bytes, read;
  std::vector<int32_t> from, from_offset, to, to_offset, committed, arrived;
};

struct Products {
  std::vector<uint32_t> event;
  std::vector<uint8_t> lane;
  std::vector<int32_t> left, left_offset, right, right_offset;
};

struct Sums {
  std::vector<uint32_t> event, first, terms;
  std::vector<uint8_t> lane, element;
};

// Where among the events a finding shows.
struct Moment {
  int32_t at = kNone, lane = kNone, other = kNone, other_lane = kNone;
};

struct LaunchTrace {
  uint64_t number = 0;
  uint32_t warps = 0;
  LaunchReport report;  // names, sizes, counters, findings
  std::vector<uint64_t> blocks;
  bool is_whole = false;
  std::vector<Array> arrays;
  std::vector<Parameter> parameters;
  std::vector<std::string> functions;
  std::vector<Instruction> instructions;
  std::vector<Loop> loops;
  Events events;
  std::vector<uint32_t> values;
  Accesses accesses;
  std::vector<int32_t> offsets;
  std::vector<uint8_t> served;
  Barriers barriers;
  Copies copies;
  Products products;
  Sums sums;
  std::vector<uint32_t> terms;
  std::vector<Moment> moments;  // of report.diagnostics
};

class Recording {
 public:
  explicit Recording(Settings settings = {}) : settings_(std::move(settings)) {}

  const Settings& settings() const { return settings_; }
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<LaunchTrace>& launches() const { return launches_; }
  uint64_t event_count() const { return events_; }
  bool is_cut() const { return !cut_.empty(); }
  const std::string& cut() const { return cut_; }

  // What the memory at `address` holds from now on: a matrix of the lab.
  void label(uint64_t address, const std::string& matrix) { labels_[address] = matrix; }

  // --- for the recorder and the simulator
  std::string label_of(uint64_t address) const {
    const auto known = labels_.find(address);
    return known == labels_.end() ? "" : known->second;
  }
  LaunchTrace& begin_launch(uint64_t number);
  // Takes over what the launch counted and found; `report` is that of the last one begun.
  void end_launch(const LaunchReport& report);
  // Index of a file; it gets an entry if it has none.
  int32_t file(const std::string& name);
  // Whether there is room for one more event, which is then counted.
  bool take_event();

 private:
  Settings settings_;
  std::vector<std::string> files_;
  std::map<uint64_t, std::string> labels_;
  std::vector<LaunchTrace> launches_;
  uint64_t events_ = 0;
  std::string cut_;
};

// The moments of the launch's findings: `at` comes with them, the other side is looked for among
// the events.
std::vector<Moment> find_moments(const Recording& recording, const LaunchTrace& launch);

const char* to_string(Space space);

}  // namespace warpsim::trace
