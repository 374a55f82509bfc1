#include "warpsim/ptx/fragment.h"

namespace warpsim::ptx {

std::optional<FragmentRegisters> fragment_registers(const Instruction& mma) {
  const Tile& tile = mma.tile;
  if (mma.type == Type::kF64) {
    if (mma.src_type != Type::kF64 || tile != Tile{8, 8, 4}) return std::nullopt;
    return FragmentRegisters{2, 1, 1, 2};
  }
  if (tile.m != 16 || tile.n != 8) return std::nullopt;
  if (mma.src_type == Type::kS8 || mma.src_type == Type::kU8) {
    if (mma.type != Type::kS32 || (tile.k != 16 && tile.k != 32)) return std::nullopt;
    const auto a = uint8_t(tile.k / 8);
    return FragmentRegisters{4, a, uint8_t(a / 2), 4};
  }
  const bool is_half = mma.src_type == Type::kF16;
  const bool is_tf32 = mma.src_type == Type::kTF32;
  if (!is_half && !is_tf32 && mma.src_type != Type::kBF16) return std::nullopt;
  if (is_tf32 ? tile.k != 4 && tile.k != 8 : tile.k != 8 && tile.k != 16) return std::nullopt;
  if (mma.type != Type::kF32 && !(is_half && mma.type == Type::kF16)) return std::nullopt;
  const uint8_t per_register = is_tf32 ? 1 : 2;
  const auto a = uint8_t(16 * tile.k / 32 / per_register);
  const uint8_t sums = mma.type == Type::kF32 ? 4 : 2;
  return FragmentRegisters{sums, a, uint8_t(a / 2), sums};
}

}  // namespace warpsim::ptx
