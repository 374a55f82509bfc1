// Logic, shifts and bit fields, bit by bit where that is how the ISA words it.

#include <algorithm>

#include "tests/oracle/arithmetic.h"

namespace oracle {

using namespace warpsim::ptx;

namespace {

bool bit(uint64_t value, uint64_t n) {
  return n < 64 && (value >> n & 1);
}

uint64_t shift_right(const Instruction& i, uint64_t a, uint64_t count) {
  uint64_t width = 8 * size_bytes(i.type);
  uint64_t n = std::min<uint64_t>(count, width);
  bool sign = is_signed(i.type) && bit(a, width - 1);
  uint64_t result = 0;
  for (uint64_t k = 0; k < width; ++k) {
    bool value = k + n < width ? bit(a, k + n) : sign;
    result |= uint64_t{value} << k;
  }
  return result;
}

uint64_t shift_left(const Instruction& i, uint64_t a, uint64_t count) {
  uint64_t width = 8 * size_bytes(i.type), result = 0;
  for (uint64_t k = 0; k < width; ++k) {
    if (k >= count) result |= uint64_t{bit(a, k - count)} << k;
  }
  return result;
}

// b:a as 64 bits, shifted; the upper (left) or lower (right) word of it.
uint64_t funnel(const Instruction& i, uint64_t a, uint64_t b, uint64_t c) {
  bool wrap = i.shift == ShiftMode::kLeftWrap || i.shift == ShiftMode::kRightWrap;
  bool left = i.shift == ShiftMode::kLeftClamp || i.shift == ShiftMode::kLeftWrap;
  uint64_t n = wrap ? c & 31 : std::min<uint64_t>(c, 32);
  uint64_t both = b << 32 | a;
  return left ? cut(both << n >> 32, 4) : cut(both >> n, 4);
}

uint64_t extract_field(const Instruction& i, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t pos = b & 0xFF, len = c & 0xFF, msb = 8 * size_bytes(i.type) - 1;
  bool fill = is_signed(i.type) && len > 0 && bit(a, std::min(pos + len - 1, msb));
  uint64_t result = 0;
  for (uint64_t k = 0; k <= msb; ++k) {
    bool value = k < len && pos + k <= msb ? bit(a, pos + k) : fill;
    result |= uint64_t{value} << k;
  }
  return result;
}

uint64_t insert_field(const Instruction& i, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t pos = c & 0xFF, len = d & 0xFF, msb = 8 * size_bytes(i.type) - 1;
  uint64_t result = cut(b, size_bytes(i.type));
  for (uint64_t k = 0; k < len && pos + k <= msb; ++k) {
    result = (result & ~(uint64_t{1} << (pos + k))) | uint64_t{bit(a, k)} << (pos + k);
  }
  return result;
}

// The most significant bit that is set, or, of a signed number, that differs from the sign; all
// ones if there is none.
uint64_t find_bit(const Instruction& i, uint64_t a) {
  int msb = static_cast<int>(8 * size_bytes(i.type)) - 1;
  if (is_signed(i.type) && bit(a, msb)) a = ~a;
  for (int k = msb; k >= 0; --k) {
    if (bit(a, k)) return static_cast<uint64_t>(i.shift_amount ? msb - k : k);
  }
  return 0xFFFFFFFF;
}

uint64_t count_bits(uint64_t a, uint64_t width) {
  uint64_t count = 0;
  for (uint64_t k = 0; k < width; ++k) count += bit(a, k);
  return count;
}

uint64_t leading_zeros(uint64_t a, uint64_t width) {
  uint64_t count = 0;
  while (count < width && !bit(a, width - 1 - count)) ++count;
  return count;
}

uint64_t reverse(uint64_t a, uint64_t width) {
  uint64_t result = 0;
  for (uint64_t k = 0; k < width; ++k) result |= uint64_t{bit(a, k)} << (width - 1 - k);
  return result;
}

// The selectors of the four result bytes, lowest first; 8 added: the byte's sign instead of the
// byte.
void selectors(PrmtMode mode, uint64_t c, int out[4]) {
  int n = static_cast<int>(c & 3);
  for (int k = 0; k < 4; ++k) {
    switch (mode) {
      case PrmtMode::kF4e:
        out[k] = n + k;
        break;
      case PrmtMode::kB4e:
        out[k] = (n - k) & 7;
        break;
      case PrmtMode::kRc8:
        out[k] = n;
        break;
      case PrmtMode::kEcl:
        out[k] = std::max(n, k);
        break;
      case PrmtMode::kEcr:
        out[k] = std::min(n, k);
        break;
      case PrmtMode::kRc16:
        out[k] = (n & 1) * 2 + (k & 1);
        break;
      case PrmtMode::kNone:
        out[k] = static_cast<int>(c >> (4 * k) & 15);
        break;
    }
  }
}

uint64_t permute(const Instruction& i, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t both = b << 32 | cut(a, 4), result = 0;
  int selected[4];
  selectors(i.prmt, c, selected);
  for (int k = 0; k < 4; ++k) {
    uint64_t byte = both >> (8 * (selected[k] & 7)) & 0xFF;
    if (selected[k] & 8) byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * k);
  }
  return result;
}

uint64_t lookup(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint64_t result = 0;
  for (int k = 0; k < 32; ++k) {
    uint64_t index = uint64_t{bit(a, k)} << 2 | uint64_t{bit(b, k)} << 1 | uint64_t{bit(c, k)};
    result |= uint64_t{bit(table, index)} << k;
  }
  return result;
}

// The position of the offset-th set bit of mask, counted from base upwards (offset > 0) or
// downwards (offset < 0).
uint64_t find_nth(uint64_t mask, uint64_t base, uint64_t offset_bits) {
  int32_t offset = static_cast<int32_t>(offset_bits), count = offset < 0 ? -offset : offset;
  int step = offset < 0 ? -1 : 1;
  if (offset == 0) return bit(mask, base) && base < 32 ? base : 0xFFFFFFFF;
  for (int64_t k = static_cast<int64_t>(base); k >= 0 && k < 32; k += step) {
    if (bit(mask, static_cast<uint64_t>(k)) && --count == 0) return static_cast<uint64_t>(k);
  }
  return 0xFFFFFFFF;
}

}  // namespace

uint64_t evaluate_bits(const Instruction& i, const Sources& given) {
  Sources s = given;
  s.resize(4);
  uint32_t bytes = size_bytes(i.type);
  uint64_t width = 8 * bytes, a = s[0];
  // Counts and positions are 32-bit operands.
  uint64_t b32 = cut(s[1], 4), c32 = cut(s[2], 4), d32 = cut(s[3], 4);
  switch (i.op) {
    case Opcode::kAnd:
      return cut(a & s[1], bytes);
    case Opcode::kOr:
      return cut(a | s[1], bytes);
    case Opcode::kXor:
      return cut(a ^ s[1], bytes);
    case Opcode::kNot:
      return i.type == Type::kPred ? !(a & 1) : cut(~a, bytes);
    case Opcode::kCnot:
      return cut(a, bytes) == 0;
    case Opcode::kShl:
      return shift_left(i, a, b32);
    case Opcode::kShr:
      return shift_right(i, a, b32);
    case Opcode::kShf:
      return funnel(i, cut(a, 4), b32, c32);
    case Opcode::kBfe:
      return extract_field(i, a, b32, c32);
    case Opcode::kBfi:
      return insert_field(i, a, s[1], c32, d32);
    case Opcode::kBfind:
      return find_bit(i, a);
    case Opcode::kPopc:
      return count_bits(a, width);
    case Opcode::kClz:
      return leading_zeros(a, width);
    case Opcode::kBrev:
      return reverse(a, width);
    case Opcode::kPrmt:
      return permute(i, a, b32, c32);
    case Opcode::kLop3:
      return lookup(a, b32, c32, d32);
    case Opcode::kFns:
      return find_nth(cut(a, 4), b32, c32);
    default:
      not_covered(i);
  }
}

}  // namespace oracle
