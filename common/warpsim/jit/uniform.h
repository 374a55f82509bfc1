// Rows that hold one value in all lanes, as sizes, strides and pointers to whole arrays do: one
// machine register is enough for such a row, and of its bytes in the frame only the first lane's
// are read.
//
// Such are constants, special registers that do not tell threads apart, parameters, and what is
// computed from these by an operation that is the only one to write its row, and that each lane has
// passed that comes to where the row is read.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "warpsim/machine/image.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

class Uniform {
 public:
  Uniform(const Image& image, const Program& program);
  enum class Width : uint8_t { kVaries, kNarrow, kWide };
  // Of a row that is uniform where operation `index` reads it; else kVaries.
  Width width(size_t index, uint32_t row) const;

 private:
  struct Known {
    bool wide = false, is_always = false;
    uint32_t written_at = 0;  // unless is_always
  };
  using Bits = std::vector<uint64_t>;
  void find_dominators(const Program& program);

  std::unordered_map<uint32_t, Known> rows_;
  std::vector<uint32_t> block_of_;  // per operation
  std::vector<Bits> dominators_;    // per block
};

}  // namespace warpsim::jit
