// Loads, stores, atomics and asynchronous copies, which here take place at once.

#include <algorithm>

#include "tests/oracle/machine.h"

namespace oracle {

using namespace warpsim::ptx;

namespace {

uint64_t read_bytes(const uint8_t* from, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t n = 0; n < bytes; ++n) value |= uint64_t{from[n]} << (8 * n);
  return value;
}

void write_bytes(uint8_t* to, uint64_t value, uint32_t bytes) {
  for (uint32_t n = 0; n < bytes; ++n) to[n] = static_cast<uint8_t>(value >> (8 * n));
}

}  // namespace

uint8_t* Memory::find(uint64_t address, uint32_t bytes) {
  auto region = regions_.upper_bound(address);
  if (region == regions_.begin()) throw Undefined("an access outside of all memory");
  --region;
  uint64_t offset = address - region->first;
  if (offset + bytes > region->second.size()) throw Undefined("an access outside of all memory");
  return region->second.data() + offset;
}

uint64_t Memory::load(uint64_t address, uint32_t bytes) const {
  return read_bytes(const_cast<Memory*>(this)->find(address, bytes), bytes);
}

void Memory::store(uint64_t address, uint64_t value, uint32_t bytes) {
  write_bytes(find(address, bytes), value, bytes);
}

uint8_t* Block::inside(std::vector<uint8_t>* memory, uint64_t offset, uint32_t bytes) const {
  if (offset + bytes > memory->size() || offset + bytes < offset)
    throw Undefined("an access outside of shared, local or parameter memory");
  return memory->data() + offset;
}

// The bytes in shared, local or parameter memory; nullptr: `at` is an address in global or constant
// memory.
uint8_t* Block::own_place(Thread* thread, Space space, const Operand& address, uint64_t at,
                          uint32_t bytes) {
  if (space == Space::kGeneric && at - kSharedWindow < kWindowBytes) {
    space = Space::kShared;
    at -= kSharedWindow;
  } else if (space == Space::kGeneric && at - kLocalWindow < kWindowBytes) {
    space = Space::kLocal;
    at -= kLocalWindow;
  }
  if (space == Space::kShared) return inside(&shared_, at, bytes);
  if (space == Space::kLocal) return inside(&thread->local, at, bytes);
  if (space != Space::kParam) return nullptr;
  if (address.symbol < 0)
    throw Undefined("the oracle does not cover parameters at computed addresses");
  std::vector<uint8_t>& bytes_of = thread->frames.back().params[address.symbol];
  bytes_of.resize(world_.module.variables[address.symbol].size_bytes);
  return inside(&bytes_of, at, bytes);
}

uint64_t Block::effective_address(Thread* thread, Space space, const Operand& address,
                                  uint64_t offset, uint32_t bytes) const {
  uint64_t base = address.imm;
  if (address.reg >= 0)
    base = read_register(thread->frames.back(), address.reg);
  else if (address.symbol >= 0 && space != Space::kParam)
    base = symbol_address(thread, address.symbol);
  uint64_t at = base + static_cast<uint64_t>(address.offset) + offset;
  if (at % bytes != 0) throw Undefined("a misaligned access");
  return at;
}

uint64_t Block::read(Thread* thread, Space space, const Operand& address, uint64_t offset,
                     uint32_t bytes) {
  uint64_t at = effective_address(thread, space, address, offset, bytes);
  uint8_t* own = own_place(thread, space, address, at, bytes);
  return own ? read_bytes(own, bytes) : world_.memory->load(at, bytes);
}

void Block::write(Thread* thread, Space space, const Operand& address, uint64_t offset,
                  uint64_t bits, uint32_t bytes) {
  uint64_t at = effective_address(thread, space, address, offset, bytes);
  uint8_t* own = own_place(thread, space, address, at, bytes);
  if (own)
    write_bytes(own, bits, bytes);
  else
    world_.memory->store(at, bits, bytes);
}

void Block::access(Thread* thread, const Instruction& i) {
  switch (i.op) {
    case Opcode::kSt:
      return store(thread, i);
    case Opcode::kAtom:
    case Opcode::kRed:
      return atomic(thread, i);
    case Opcode::kCpAsync:
      return copy_async(thread, i);
    default:
      return load(thread, i);
  }
}

void Block::load(Thread* thread, const Instruction& i) {
  uint32_t bytes = size_bytes(i.type);
  const bool vector = i.dst[0].kind == Operand::Kind::kVector;
  size_t count = vector ? i.dst[0].elements.size() : 1;
  std::vector<uint64_t> loaded;
  for (size_t n = 0; n < count; ++n) {
    uint64_t bits = read(thread, i.space, i.src[0], n * bytes, bytes);
    // Signed types extend their sign to the width of the register.
    loaded.push_back(is_float(i.type) ? bits : static_cast<uint64_t>(value_of(i.type, bits)));
  }
  for (size_t n = 0; n < count; ++n)
    put(&thread->frames.back(), vector ? i.dst[0].elements[n] : i.dst[0], loaded[n]);
}

void Block::store(Thread* thread, const Instruction& i) {
  uint32_t bytes = size_bytes(i.type);
  const bool vector = i.src[1].kind == Operand::Kind::kVector;
  size_t count = vector ? i.src[1].elements.size() : 1;
  for (size_t n = 0; n < count; ++n) {
    uint64_t bits = value(thread, vector ? i.src[1].elements[n] : i.src[1]);
    write(thread, i.space, i.src[0], n * bytes, bits, bytes);
  }
}

void Block::atomic(Thread* thread, const Instruction& i) {
  uint32_t bytes = size_bytes(i.type);
  Sources operands;
  for (size_t n = 1; n < i.src.size(); ++n) operands.push_back(value(thread, i.src[n]));
  uint64_t old = read(thread, i.space, i.src[0], 0, bytes);
  write(thread, i.space, i.src[0], 0, atomic_result(i, old, operands), bytes);
  if (!i.dst.empty()) put(&thread->frames.back(), i.dst[0], old);
}

// Bytes beyond the source size are zero.
void Block::copy_async(Thread* thread, const Instruction& i) {
  uint64_t bytes = i.src[2].imm;
  uint64_t given =
      i.src.size() > 3 ? std::min<uint64_t>(cut(value(thread, i.src[3]), 4), bytes) : bytes;
  for (uint64_t n = 0; n < bytes; ++n) {
    uint64_t byte = n < given ? read(thread, Space::kGlobal, i.src[1], n, 1) : 0;
    write(thread, Space::kShared, i.src[0], n, byte, 1);
  }
}

}  // namespace oracle
