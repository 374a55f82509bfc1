// Rows that hold one value in all lanes, as sizes, strides and pointers to whole arrays do: one
// machine register is enough for such a row, and of its bytes in the frame only the first lane's
// are read.
//
// Such are constants, special registers that do not tell threads apart, parameters, and what is
// computed from these, where it is read: on every way that leads there one and the same operation
// has written the row last.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "warpsim/machine/image.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

class Uniform {
 public:
  Uniform(const Image& image, const Program& program);
  enum class Width : uint8_t { kVaries, kNarrow, kWide };
  // Of a row that is uniform and that operation `index` reads; else kVaries.
  Width width(size_t index, uint32_t row) const;

 private:
  static uint64_t key(size_t index, uint32_t row) { return uint64_t{index} << 32 | row; }
  std::unordered_map<uint32_t, Width> always_;  // by row
  std::unordered_map<uint64_t, Width> read_;    // by key()
};

}  // namespace warpsim::jit
