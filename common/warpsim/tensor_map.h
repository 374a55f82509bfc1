// A tensor map (CUtensorMap): what cuTensorMapEncodeTiled writes into its 128 bytes, and what a
// copy in bulk of a tensor reads there. The layout is our own; programs only pass it on.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace warpsim {

struct TensorMap {
  static constexpr size_t kBytes = 128;
  static constexpr uint64_t kMagic = 0x70616D6F736E6574;  // "tensomap"

  uint64_t magic = kMagic;
  uint64_t address = 0;
  uint64_t call = 0;  // where a recorded program made it, see plan::Malloc; 0: not known
  std::array<uint64_t, 4> stride{};  // bytes from one index to the next, of dimensions 1 to 4
  std::array<uint32_t, 5> size{};    // elements less one, innermost first
  std::array<uint16_t, 5> box{};
  std::array<uint8_t, 5> step{};
  uint8_t dimensions = 0;
  uint8_t element_bytes = 0;
  uint8_t swizzle = 0;  // 0: none; 1, 2, 3: of 32, 64, 128 bytes
  uint8_t fill_nan = 0;
  uint8_t type = 0;       // CUtensorMapDataType
  uint8_t promotion = 0;  // CUtensorMapL2promotion: of no effect here

  // Elements of the box along a dimension.
  uint32_t count(size_t dimension) const {
    return (box[dimension] + step[dimension] - 1u) / step[dimension];
  }
  uint64_t box_bytes() const;
  // Where a byte of the box, as it would lie without swizzle, lies in shared memory.
  uint32_t swizzled(uint32_t shared_address) const {
    if (swizzle == 0) return shared_address;
    const uint32_t chunks = (1u << swizzle) - 1;  // 1, 3, 7
    return shared_address ^ ((shared_address >> 7 & chunks) << 4);
  }
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

// Bytes of an element of a CUtensorMapDataType; 0: none that is known.
uint8_t element_bytes_of(uint32_t type);

// As the driver checks it: "" or what is wrong, beginning with the argument of
// cuTensorMapEncodeTiled.
std::string check_tensor_map(const TensorMap& map);

// The tensor map that lies in the bytes, as cuTensorMapEncodeTiled left it; nullopt: none does.
std::optional<TensorMap> read_tensor_map(std::span<const std::byte> bytes);
void write_tensor_map(const TensorMap& map, std::span<std::byte, TensorMap::kBytes> bytes);

}  // namespace warpsim
