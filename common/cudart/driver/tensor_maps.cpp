#include "cudart/driver/tensor_maps.h"

#include <algorithm>
#include <utility>

#include "warpsim/tensor_map.h"

namespace warpsim::cudart {

namespace {

constexpr int kSuccessful = 0, kInvalid = 1, kUnmodelled = 801;  // of CUresult

}  // namespace

Encoded encode_tiled(void* map, int type, uint32_t dimensions, void* address, const uint64_t* sizes,
                     const uint64_t* strides, const uint32_t* box, const uint32_t* steps,
                     int interleave, int swizzle, int promotion, int fill, uint64_t call) {
  const std::pair<const void*, const char*> needed[] = {
      {map, "tensorMap"}, {sizes, "globalDim"}, {box, "boxDim"}, {steps, "elementStrides"}};
  for (const auto& [pointer, name] : needed)
    if (pointer == nullptr) return {kInvalid, std::string(name) + " is null"};
  if (dimensions < 1 || dimensions > 5)
    return {kInvalid,
            "tensorRank is " + std::to_string(dimensions) + ": a tensor has 1 to 5 dimensions"};
  if (dimensions > 1 && strides == nullptr) return {kInvalid, "globalStrides is null"};
  if (type < 0 || element_bytes_of(uint32_t(type)) == 0)
    return {kUnmodelled, "tensorDataType is " + std::to_string(type) +
                             ": elements of this type are not modelled"};
  if (interleave != 0) return {kUnmodelled, "interleaved layouts are not modelled"};
  if (swizzle < 0 || swizzle > 3)
    return {kUnmodelled, "swizzle is " + std::to_string(swizzle) + ": it is not modelled"};
  TensorMap made;
  made.address = reinterpret_cast<uint64_t>(address);
  made.call = call;
  made.dimensions = uint8_t(dimensions);
  made.element_bytes = element_bytes_of(uint32_t(type));
  made.swizzle = uint8_t(swizzle);
  made.fill_nan = uint8_t(fill != 0);
  made.type = uint8_t(type);
  made.promotion = uint8_t(std::clamp(promotion, 0, 3));
  for (uint32_t i = 0; i < dimensions; ++i) {
    constexpr uint64_t kMostElements = uint64_t{1} << 32;
    if (sizes[i] == 0 || sizes[i] > kMostElements)
      return {kInvalid, "globalDim[" + std::to_string(i) + "] is " + std::to_string(sizes[i]) +
                            ": 1 to 2^32 elements"};
    made.size[i] = uint32_t(sizes[i] - 1);
    made.box[i] = uint16_t(std::min<uint32_t>(box[i], UINT16_MAX));
    made.step[i] = uint8_t(std::min<uint32_t>(steps[i], UINT8_MAX));
    if (i + 1 < dimensions) made.stride[i] = strides[i];
  }
  if (std::string wrong = check_tensor_map(made); !wrong.empty())
    return {kInvalid, std::move(wrong)};
  // A program's own bytes: as large as CUtensorMap, aligned or not.
  write_tensor_map(made, std::span<std::byte, TensorMap::kBytes>(static_cast<std::byte*>(map),
                                                                 TensorMap::kBytes));
  return {kSuccessful, ""};
}

}  // namespace warpsim::cudart
