#include "cudart/driver/tensor_maps.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "warpsim/tensor_map.h"

namespace warpsim::cudart {

namespace {

constexpr int kSuccessful = 0, kInvalid = 1, kUnmodelled = 801;  // of CUresult

int refuse(int result, const std::string& why) {
  std::fprintf(stderr, "warpsim: cuTensorMapEncodeTiled: %s\n", why.c_str());
  return result;
}

}  // namespace

int encode_tiled(void* map, int type, uint32_t dimensions, void* address, const uint64_t* sizes,
                 const uint64_t* strides, const uint32_t* box, const uint32_t* steps,
                 int interleave, int swizzle, int, int fill) {
  // u8 u16 u32 i32 u64 i64 f16 f32 f64 bf16 f32-ftz tf32 tf32-ftz
  constexpr uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (map == nullptr || sizes == nullptr || box == nullptr || steps == nullptr)
    return refuse(kInvalid, "a pointer is null");
  if (dimensions < 1 || dimensions > 5 || (dimensions > 1 && strides == nullptr))
    return refuse(kInvalid, "a tensor has 1 to 5 dimensions");
  if (type < 0 || type >= int(std::size(kElementBytes)))
    return refuse(kUnmodelled, "elements of this type are not modelled");
  if (interleave != 0) return refuse(kUnmodelled, "interleaved layouts are not modelled");
  if (swizzle < 0 || swizzle > 3) return refuse(kUnmodelled, "this swizzle is not modelled");
  TensorMap made;
  made.address = reinterpret_cast<uint64_t>(address);
  made.dimensions = uint8_t(dimensions);
  made.element_bytes = kElementBytes[type];
  made.swizzle = uint8_t(swizzle);
  made.fill_nan = uint8_t(fill != 0);
  made.type = uint8_t(type);
  for (uint32_t i = 0; i < dimensions; ++i) {
    constexpr uint64_t kMostElements = uint64_t{1} << 32;
    if (sizes[i] == 0 || sizes[i] > kMostElements)
      return refuse(kInvalid, "the tensor has " + std::to_string(sizes[i]) +
                                  " elements in dimension " + std::to_string(i) + ": 1 to 2^32");
    made.size[i] = uint32_t(sizes[i] - 1);
    made.box[i] = uint16_t(std::min<uint32_t>(box[i], UINT16_MAX));
    made.step[i] = uint8_t(std::min<uint32_t>(steps[i], UINT8_MAX));
    if (i + 1 < dimensions) made.stride[i] = strides[i];
  }
  if (const std::string wrong = check_tensor_map(made); !wrong.empty())
    return refuse(kInvalid, wrong);
  std::memset(map, 0, TensorMap::kBytes);
  std::memcpy(map, &made, sizeof made);
  return kSuccessful;
}

}  // namespace warpsim::cudart
