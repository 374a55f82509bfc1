// Follows data through host memory in record mode, where there is no data: by tags (tags.h).
//
// Arrays that solve was given and the targets of copies from the device are marked. What is copied
// to the device is then described by where its words came from, and at the end the outputs tell
// which copies filled it. Where there were no tags left, words that still lie where they were
// written are followed by their address; those that were moved are counted as lost.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cudart/tags.h"
#include "plan/plan.h"

namespace tilewise::record {

// A copy from the device to the host, in place of whose op the final plan has copies to outputs or
// to a staging array.
struct ReadBack {
  uint32_t buffer = 0;
  uint64_t offset = 0, bytes = 0;
  uint32_t stream = 0;
  uint64_t call = 0;      // see plan::CopyToHost
  bool is_early = false;  // the host does not wait for it: see arrived()
  uint64_t target = 0;    // address on the host
  bool is_used_as_source = false;
};

// Words of a read-back that the host used before it had arrived.
struct EarlyRead {
  size_t read_back = 0;
  bool at_end = false;  // only the caller of solve does
  uint64_t words = 0;
};

class HostTrace {
 public:
  explicit HostTrace(uint32_t tags = Tags::kAvailable) : tags_(tags) {}

  // Marks one of solve's host arrays. `memory` must stay; `writable` is what the trace may write
  // through. Outputs are looked through when solve has returned.
  void add_array(std::string name, void* memory, uint64_t bytes, bool is_output);

  // The bytes that a copy to the device takes from the host. `comes_after(number)`: whether it
  // waits for that read-back, if that has not arrived.
  std::vector<plan::Segment> describe(const void* source, uint64_t bytes,
                                      const std::function<bool(size_t)>& comes_after = {});

  // A kernel's argument: words that come from the device. What was computed from them is counted,
  // what was only moved cannot be part of a list of launches: true.
  bool is_moved_argument(const std::byte* argument, uint64_t bytes);

  // A copy to the host: marks the target (of `bytes`, and where it lies is filled in). Returns the
  // number of the read-back.
  size_t add_read_back(void* target, ReadBack copy);
  // The host has waited for one that was early.
  void arrived(size_t number);
  const ReadBack& read_back(size_t number) const { return read_backs_[number]; }
  // Early reads that describe() and finish() have met since the last call.
  std::vector<EarlyRead> take_early_reads();

  // The ops that stand for read-back `number`, once solve has returned and finish() was called.
  std::vector<plan::CopyToHost> copies_of(size_t number) const;
  // Looks through the outputs, declares arrays in plan.host and fills plan.host_writes.
  void finish(plan::Plan* plan);

  // Words, found by describe() and finish() so far, whose origin is not known: they were moved on
  // the host when there were no tags left. A plan with any of them must not be carried out.
  uint64_t lost_words() const { return lost_words_; }

  // The array whose last byte lies less than `slack` before `address`, or which holds it; empty if
  // none.
  std::string array_near(uint64_t address, uint64_t slack) const;

 private:
  struct Array {
    std::string name;
    uint64_t address, bytes;
    bool is_output;
  };
  // What a run of tags stands for: an array or a read-back.
  struct RunSource {
    int array = -1, read_back = -1;
    bool is_early = false;  // the read-back had not arrived
  };
  // Host memory whose bytes are known by their address: up to which one, for what, and where that
  // begins.
  struct Stretch {
    uint64_t end, first;
    RunSource source;
  };
  using Stretches = std::map<uint64_t, Stretch>;  // by first address, without overlaps
  struct Origin {
    RunSource source;
    uint64_t word = 0;
  };
  struct ByteOrigin {
    RunSource source;
    uint64_t byte = 0;
  };
  struct Piece {  // of an output: bytes that came from one read-back, in order
    int array;
    uint64_t offset, source_offset, bytes;
  };

  // Tags the memory of a new array or read-back.
  void mark(void* memory, uint64_t bytes, RunSource source);
  void mark_read_back(size_t number, bool is_early);
  static void cut(Stretches* stretches, uint64_t address, uint64_t end);
  static const Stretch* stretch_at(const Stretches& stretches, uint64_t address);
  // Whether a copy has left part of this word as it was, or ends within it.
  bool is_torn(uint64_t address) const;
  // Where a word that lies at `address` came from; nullopt if it is none that was marked, or lost.
  std::optional<Origin> origin_of(uint32_t word, uint64_t address);
  std::optional<ByteOrigin> origin_of_byte(uint64_t address);
  plan::Segment segment_of_byte(uint64_t address);
  // How many of `most` words at `address` came from the same place, one behind the other; at
  // least 1.
  uint64_t same_words(uint64_t address, uint64_t most);
  plan::Segment segment_of(uint32_t word, uint64_t address,
                           const std::function<bool(size_t)>& comes_after);
  void note_early(size_t number, bool at_end);
  void add_piece(const RunSource& source, const Piece& piece);
  void look_through(const Array& output, plan::Plan* plan);

  Tags tags_;
  std::vector<Array> arrays_;
  std::vector<RunSource> runs_;
  Stretches unmarked_;  // filled with place tags
  Stretches torn_;      // of read-backs: bytes that are no whole words
  std::vector<ReadBack> read_backs_;
  std::vector<EarlyRead> early_reads_;
  std::vector<std::vector<Piece>> pieces_;  // per read-back
  // Copied to the device, or handed to kernels, although host arithmetic made them.
  uint64_t computed_words_ = 0;
  uint64_t lost_words_ = 0;
};

// The host array in the plan that holds what read-back `number` read.
std::string staging_name(size_t number);

}  // namespace tilewise::record
