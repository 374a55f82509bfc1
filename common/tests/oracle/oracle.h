// The oracle: a PTX interpreter that is meant to be obviously right and nothing else.
//
// It runs one thread at a time, one instruction at a time, on the bits of its registers, straight
// from the PTX ISA's text. It shares the parser and the IR with warpsim and no line of the
// execution. A thread runs until it ends or must wait: for its thread block at a barrier, for lanes
// of its warp at a shuffle, vote, match or redux. Programs whose result depends on the order of
// threads (races, active masks, clocks) have no defined result here.
//
// Not covered: half precision beyond add, sub, mul, fma and conversions, tensor cores, printf,
// malloc, approximate functions of the special function unit other than division, reciprocal and
// square root (which are computed correctly rounded).

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace oracle {

using Dim = std::array<uint32_t, 3>;

// The program does something without a defined result: an access outside of all memory, a deadlock,
// an opcode not covered.
class Undefined : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bytes at addresses: some regions, nothing between them.
class Memory {
 public:
  void add(uint64_t address, std::vector<uint8_t> bytes) { regions_[address] = std::move(bytes); }
  const std::vector<uint8_t>& region(uint64_t address) const { return regions_.at(address); }
  uint64_t load(uint64_t address, uint32_t bytes) const;  // little endian
  void store(uint64_t address, uint64_t value, uint32_t bytes);

 private:
  uint8_t* find(uint64_t address, uint32_t bytes);
  std::map<uint64_t, std::vector<uint8_t>> regions_;
};

// Runs one launch to its end. `memory` has the buffers the kernel may use; the module's global and
// constant variables are placed in it by the call. Throws Undefined.
struct Launch {
  std::string kernel;  // mangled
  Dim grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> params;
};
void run(const warpsim::ptx::Module& module, const Launch& launch, Memory* memory);

}  // namespace oracle
