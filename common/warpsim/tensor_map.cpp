#include "warpsim/tensor_map.h"

#include <cstring>
#include <iterator>

namespace warpsim {

namespace {

std::string indexed(const char* argument, size_t i) {
  return std::string(argument) + "[" + std::to_string(i) + "]";
}

}  // namespace

uint64_t TensorMap::box_bytes() const {
  uint64_t bytes = element_bytes;
  for (size_t i = 0; i < dimensions; ++i) bytes *= count(i);
  return bytes;
}

uint8_t element_bytes_of(uint32_t type) {
  // u8 u16 u32 i32 u64 i64 f16 f32 f64 bf16 f32-ftz tf32 tf32-ftz
  constexpr uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < std::size(kElementBytes) ? kElementBytes[type] : 0;
}

std::string check_tensor_map(const TensorMap& map) {
  constexpr uint64_t kMostStride = uint64_t{1} << 40;
  constexpr uint32_t kMostBox = 256, kMostStep = 8, kPiece = 16;
  if (map.dimensions < 1 || map.dimensions > 5)
    return "tensorRank is " + std::to_string(map.dimensions) + ": a tensor has 1 to 5 dimensions";
  if (map.element_bytes == 0)
    return "tensorDataType is " + std::to_string(map.type) +
           ": elements of this type are not modelled";
  if (map.address == 0 || map.address % kPiece != 0)
    return "globalAddress is no multiple of 16: " + std::to_string(map.address % kPiece) +
           " beyond one";
  for (size_t i = 0; i < map.dimensions; ++i) {
    if (map.box[i] == 0 || map.box[i] > kMostBox)
      return indexed("boxDim", i) + " is " + std::to_string(map.box[i]) +
             ": a box has 1 to 256 elements in each dimension";
    if (map.step[i] == 0 || map.step[i] > kMostStep)
      return indexed("elementStrides", i) + " is " + std::to_string(map.step[i]) + ": 1 to 8";
    if (i + 1 == map.dimensions) continue;
    const uint64_t stride = map.stride[i];
    if (stride % kPiece != 0 || stride >= kMostStride)
      return indexed("globalStrides", i) + " is " + std::to_string(stride) +
             " bytes: a multiple of 16 below 2^40; rows of the matrix may need padding";
  }
  const uint64_t inner = uint64_t{map.box[0]} * map.element_bytes;
  const std::string box = "boxDim[0] is " + std::to_string(map.box[0]) + " elements of " +
                          std::to_string(map.element_bytes) + ", " + std::to_string(inner) +
                          " bytes: ";
  if (inner % kPiece != 0) return box + "a multiple of 16";
  const uint64_t span = map.swizzle == 0 ? UINT64_MAX : uint64_t{16} << map.swizzle;
  if (inner > span)
    return box + "at most the " + std::to_string(span) +
           " that its swizzle spans; bring a wider tile as several boxes";
  return "";
}

std::optional<TensorMap> read_tensor_map(std::span<const std::byte> bytes) {
  TensorMap map;
  if (bytes.size() < TensorMap::kBytes) return std::nullopt;
  std::memcpy(&map, bytes.data(), sizeof map);
  if (map.magic != TensorMap::kMagic) return std::nullopt;
  return map;
}

void write_tensor_map(const TensorMap& map, std::span<std::byte, TensorMap::kBytes> bytes) {
  std::memset(bytes.data(), 0, TensorMap::kBytes);
  std::memcpy(bytes.data(), &map, sizeof map);
}

}  // namespace warpsim
