// Writes down what the warps of one launch do, while a worker executes it.
//
// Kernels are decoded with an operation before each instruction (begin) and, where it has a result
// or goes to memory, one behind it (finish): a kernel that is not traced costs nothing. Wavefronts
// and sectors are what the counters of the memory instruction grew by between the two.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "warpsim/machine/program.h"
#include "warpsim/machine/worker.h"
#include "warpsim/trace/recording.h"
#include "warpsim/trace/types.h"

namespace warpsim::provenance {
class Follower;
class History;
}  // namespace warpsim::provenance

namespace warpsim::trace {

class Recorder final : public EventClock {
 public:
  // `follower`: of the same worker, nullptr where values are not followed; its history then knows
  // the launch's arrays by their indices.
  Recorder(Recording* recording, Worker& worker, provenance::Follower* follower,
           provenance::History* history);

  void begin_block(uint64_t block);
  void end_block();
  void end();

  void begin(const Warp& w, const Op* op);
  void finish(const Warp& w, const Op* op);

  // The event that the warp is at; kNone: it is not among those that are kept.
  int32_t event_of(const Warp& w) const override;

  // The warp arrives at a barrier; the last one that a round was missing has done so, or left.
  void arrive(const Warp& w, const Op* op, uint32_t number, bool waits);
  void complete(uint32_t number);

  // One lane of a cp.async. Returns the copy's row, kNone: not kept.
  struct CopyOfLane {
    uint32_t lane, bytes, read, target;
    uint64_t source;
    const std::byte* data;
  };
  int32_t copy(const Warp& w, const CopyOfLane& copy);
  void commit(const Warp& w);
  void arrived(const Warp& w, int32_t row);

 private:
  struct Snapshot {
    uint64_t requests = 0, sectors = 0, shared = 0, wavefronts = 0, ideal = 0, local = 0,
             local_sectors = 0;
  };
  // One side of an access to memory: cp.async has two.
  struct Side {
    int32_t site = kNone;
    Kind kind = Kind::kLoad;
    uint32_t mask = 0, bytes = 0;
    std::array<uint64_t, kLanes> address{};
    Snapshot before;
  };
  struct WarpTrace {
    int32_t event = kNone;
    uint32_t code = 0;
    uint32_t clock = 0;
    int32_t previous = kNone;    // instruction
    std::vector<int32_t> turns;  // by loop
    std::array<Side, 2> sides;   // that are under way
    uint32_t side_count = 0;
    std::vector<int32_t> open;  // copies that belong to no group yet
  };
  struct Fact {  // of one instruction
    const ptx::Instruction* code = nullptr;
    uint32_t function = 0;  // of the launch
    std::array<int32_t, 2> sites{kNone, kNone};
    bool is_wanted = true;  // by the lines
    bool has_values = false;
    uint32_t value_bytes = 0, elements = 1;
    std::array<bool, 4> wide{};  // whether the row of an element has 64 bits
  };

  void describe_instructions();
  void describe_merges();
  void describe_loops();
  void describe_arrays();
  void describe_parameters();
  void name_types();
  void count_turns(WarpTrace& at, uint32_t code);
  void look_at_memory(const Warp& w, const Op* op, WarpTrace& at, const Fact& fact);
  void close_access(const Warp& w, WarpTrace& at);
  void add_access(const WarpTrace& at, const Side& side);
  Snapshot snapshot(int32_t site) const;
  uint64_t address(const Warp& w, const ptx::Operand& operand, ptx::Space space, uint32_t row,
                   int lane) const;
  struct PlaceInArray {
    int32_t array = kNone;
    Space space = Space::kGlobal;
    int32_t offset = 0;
  };
  PlaceInArray place(int32_t site, uint64_t address) const;
  int32_t shared_index(uint32_t offset, int32_t known) const;
  void learn_type(const WarpTrace& at, const Side& side, int32_t array);
  bool element_of(uint32_t node, int32_t* array, int32_t* offset) const;
  void add_products(const Warp& w, const Fact& fact, int32_t event);
  void add_sums(const Warp& w, const Fact& fact, int32_t event);

  Recording& recording_;
  LaunchTrace& launch_;
  Worker& worker_;
  const LaunchContext& context_;
  const Image& image_;
  provenance::Follower* follower_;
  provenance::History* history_;
  ValueTypes types_;
  std::vector<uint32_t> registers_;                   // by function of the launch: in types_
  uint32_t first_array_ = 0;                          // in types_
  std::set<std::pair<uint32_t, int32_t>> learnt_;     // instruction, array
  std::vector<Fact> facts_;                           // by instruction of the launch
  std::vector<uint32_t> base_;                        // by function: its first instruction
  std::map<uint64_t, int32_t> globals_;               // by address: index into arrays
  std::vector<std::pair<int32_t, int32_t>> shareds_;  // index into Image::shared, into arrays
  std::vector<WarpTrace> warps_;
  bool is_recorded_ = true;  // the running block
  struct Round {
    uint32_t number = 0;
    std::vector<uint32_t> rows;  // of barriers, that have arrived
    std::vector<uint32_t> warps;
  };
  std::array<Round, 16> rounds_;
  int32_t latest_event_ = kNone;                         // of any warp
  std::unordered_map<uint32_t, uint32_t> product_rows_;  // by node of the history
};

// The operand whose values are kept: what is loaded, computed, or stored; nullptr: none.
const ptx::Operand* valued_operand(const ptx::Instruction& code);

// Handlers of the two operations.
// begin: a = predicate of the guard (0: none), d = 1: it is negated; b, c = rows of addresses.
// finish: d, a, b, c = rows of the elements.
const Op* begin(Warp& w, const Op* op);
const Op* finish(Warp& w, const Op* op);

}  // namespace warpsim::trace
