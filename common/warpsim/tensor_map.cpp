#include "warpsim/tensor_map.h"

namespace warpsim {

uint64_t TensorMap::box_bytes() const {
  uint64_t bytes = element_bytes;
  for (size_t i = 0; i < dimensions; ++i) bytes *= count(i);
  return bytes;
}

std::string check_tensor_map(const TensorMap& map) {
  constexpr uint64_t kMostStride = uint64_t{1} << 40;
  constexpr uint32_t kMostBox = 256, kMostStep = 8, kPiece = 16;
  if (map.dimensions < 1 || map.dimensions > 5) return "a tensor has 1 to 5 dimensions";
  if (map.element_bytes == 0) return "the type of the elements is not modelled";
  if (map.address == 0 || map.address % kPiece != 0)
    return "the tensor's address is no multiple of 16";
  for (size_t i = 0; i < map.dimensions; ++i) {
    const std::string where = " in dimension " + std::to_string(i);
    if (map.box[i] == 0 || map.box[i] > kMostBox)
      return "the box has " + std::to_string(map.box[i]) + " elements" + where + ": 1 to 256";
    if (map.step[i] == 0 || map.step[i] > kMostStep)
      return "the step is " + std::to_string(map.step[i]) + where + ": 1 to 8";
    if (i + 1 == map.dimensions) continue;
    const uint64_t stride = map.stride[i];
    if (stride % kPiece != 0 || stride >= kMostStride)
      return "the stride of " + std::to_string(stride) + " bytes" + where +
             " is no multiple of 16 below 2^40";
  }
  const uint64_t inner = uint64_t{map.box[0]} * map.element_bytes;
  if (inner % kPiece != 0)
    return "the box has " + std::to_string(inner) +
           " bytes in dimension 0, which is no multiple of 16";
  const uint64_t span = map.swizzle == 0 ? UINT64_MAX : uint64_t{16} << map.swizzle;
  if (inner > span)
    return "the box has " + std::to_string(inner) + " bytes in dimension 0: its swizzle spans " +
           std::to_string(span);
  return "";
}

}  // namespace warpsim
