// Follows data through host memory in record mode, where there is no data: by tags (tags.h).
//
// Arrays that solve was given and the targets of copies from the device are marked. What is copied
// to the device is then described by where its words came from, and at the end P's host array tells
// which copies filled it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cudart/tags.h"
#include "harness/plan/plan.h"

namespace tilewise::record {

// A copy from the device to the host, in place of whose op the final plan has copies to P or to a
// staging array.
struct ReadBack {
  uint32_t buffer = 0;
  uint64_t offset = 0, bytes = 0;
  uint32_t stream = 0;
  uint64_t target = 0;     // host address
  bool is_marked = false;  // false: there were no tags left
  bool is_used_as_source = false;
};

class HostTrace {
 public:
  // Marks one of solve's host arrays. `memory` must stay; `writable` is what the trace may write
  // through.
  void add_array(std::string name, void* memory, uint64_t bytes);

  // The bytes that a copy to the device takes from the host.
  std::vector<plan::Segment> describe(const void* source, uint64_t bytes);

  // A copy to the host: marks the target. Returns the number of the read-back.
  size_t add_read_back(void* target, uint32_t buffer, uint64_t offset, uint64_t bytes,
                       uint32_t stream);

  // The ops that stand for read-back `number`, once solve has returned and finish() was called.
  std::vector<plan::CopyToHost> copies_of(size_t number) const;
  // Looks through P's host array, declares arrays in plan.host and fills plan.host_writes.
  void finish(plan::Plan* plan);

  // The array whose last byte lies less than `slack` before `address`, or which holds it; empty if
  // none.
  std::string array_near(uint64_t address, uint64_t slack) const;

 private:
  struct Array {
    std::string name;
    uint64_t address, bytes;
    std::optional<uint32_t> run;
  };
  // What a run of tags stands for: an array or a read-back.
  struct RunSource {
    int array = -1, read_back = -1;
  };
  struct Piece {  // of P: words that came from one read-back, in order
    uint64_t p_offset, source_offset, bytes;
  };

  plan::Segment segment_of(uint32_t word);
  const Array* unmarked_array(uint64_t address, uint64_t bytes) const;
  void look_through(const Array& p, plan::Plan* plan);

  Tags tags_;
  std::vector<Array> arrays_;
  std::vector<RunSource> runs_;
  std::vector<ReadBack> read_backs_;
  std::vector<std::vector<Piece>> pieces_;  // per read-back
  uint64_t computed_words_ = 0;  // copied to the device although host arithmetic made them
};

// The host array in the plan that holds what read-back `number` read.
std::string staging_name(size_t number);

}  // namespace tilewise::record
