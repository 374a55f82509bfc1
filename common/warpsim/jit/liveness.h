// Which registers' values are still wanted after an operation: what nobody will read need not be
// written back to the frame.
//
// A lane's registers are read and written by that lane only, so what holds on every path of the
// function's flow graph holds for each lane, however the warp is divided.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "warpsim/jit/actions.h"
#include "warpsim/machine/image.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

// The rows an operation reads and writes, in all lanes; `reads_all`: any row may be read.
struct RowUse {
  struct Row {
    uint32_t offset;
    bool wide;
  };
  std::vector<Row> reads, writes;
  bool reads_all = false;
  bool writes_all = false;  // may write any row
};

RowUse row_use(const Image& image, const Op& op, const Meaning& meaning);

class Liveness {
 public:
  Liveness(const Image& image, const Program& program, bool is_kernel);
  // Whether the value that the row holds before, or after, operation `index` may be read.
  bool live_before(size_t index, uint32_t row) const { return get(before_[index], row); }
  bool live_after(size_t index, uint32_t row) const { return get(after_[index], row); }

 private:
  using Set = std::vector<uint64_t>;
  bool get(const Set& set, uint32_t row) const {
    const auto it = rows_.find(row);
    return it == rows_.end() || (set[it->second / 64] >> it->second % 64 & 1) != 0;
  }
  std::unordered_map<uint32_t, uint32_t> rows_;  // offset -> index
  std::vector<Set> before_, after_;              // per operation
};

}  // namespace warpsim::jit
