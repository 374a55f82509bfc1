#include "plan/tensor_map.h"

#include <algorithm>
#include <limits>

namespace tilewise::plan {

namespace {

constexpr uint64_t kMostOfDimension = uint64_t{1} << 32;  // along a dimension

std::vector<uint64_t> numbers(Fields& fields, const char* name) {
  const Json& json = fields.array(name);
  std::vector<uint64_t> found;
  for (const Json& one : json) {
    if (!one.is_number_unsigned()) fields.fail(name, "expected whole numbers >= 0.");
    found.push_back(one.get<uint64_t>());
  }
  return found;
}

// Numbers that a tensor map keeps in fewer bits: what does not fit becomes what check_tensor_map()
// refuses.
template <class Small>
Small clipped(uint64_t value) {
  return Small(std::min<uint64_t>(value, std::numeric_limits<Small>::max()));
}

}  // namespace

Json to_json(const BufferMap& place) {
  const warpsim::TensorMap& map = place.map;
  Json sizes = Json::array(), strides = Json::array(), box = Json::array(), steps = Json::array();
  for (size_t i = 0; i < map.dimensions; ++i) {
    sizes.push_back(uint64_t{map.size[i]} + 1);
    if (i > 0) strides.push_back(map.stride[i - 1]);
    box.push_back(map.box[i]);
    steps.push_back(map.step[i]);
  }
  Json json = {{"buffer", place.buffer},  {"addend", place.addend}, {"type", map.type},
               {"sizes", sizes},          {"strides", strides},     {"box", box},
               {"steps", steps},          {"swizzle", map.swizzle}, {"promotion", map.promotion},
               {"fill_nan", map.fill_nan}};
  if (map.call != 0) json["call"] = map.call;
  return json;
}

BufferMap read_map(Fields& fields, size_t buffers) {
  BufferMap place;
  warpsim::TensorMap& map = place.map;
  place.buffer = fields.u32("buffer");
  if (place.buffer >= buffers)
    fields.fail("buffer", "there is no buffer " + std::to_string(place.buffer) + ".");
  place.addend = fields.u64("addend");
  const std::vector<uint64_t> sizes = numbers(fields, "sizes"),
                              strides = numbers(fields, "strides"), box = numbers(fields, "box"),
                              steps = numbers(fields, "steps");
  const auto small = [&](const char* name, uint64_t most) {
    const uint64_t value = fields.u64(name);
    if (value > most)
      fields.fail(name, "expected at most " + std::to_string(most) + ", found " +
                            std::to_string(value) + ".");
    return uint8_t(value);
  };
  map.type = small("type", UINT8_MAX);
  map.swizzle = small("swizzle", 3);
  map.promotion = small("promotion", 3);
  map.fill_nan = small("fill_nan", 1);
  map.call = fields.u64_or("call", 0);
  map.element_bytes = warpsim::element_bytes_of(map.type);
  map.dimensions = clipped<uint8_t>(sizes.size());
  if (sizes.empty() || sizes.size() > map.size.size())
    fields.fail("sizes", "a tensor has 1 to 5 dimensions.");
  if (strides.size() + 1 != sizes.size() || box.size() != sizes.size() ||
      steps.size() != sizes.size())
    fields.fail("sizes", "strides, box and steps are not of as many dimensions.");
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 || sizes[i] > kMostOfDimension)
      fields.fail("sizes", "expected 1 to 2^32 elements.");
    map.size[i] = uint32_t(sizes[i] - 1);
    if (i > 0) map.stride[i - 1] = strides[i - 1];
    map.box[i] = clipped<uint16_t>(box[i]);
    map.step[i] = clipped<uint8_t>(steps[i]);
  }
  // Buffers begin at multiples of 256: what lies in one at a multiple of 16 has a good address.
  if (place.addend > uint64_t{1} << 40) fields.fail("addend", "more than a device has addresses.");
  warpsim::TensorMap placed = map;
  placed.address = 256 + place.addend;
  if (const std::string wrong = warpsim::check_tensor_map(placed); !wrong.empty())
    fields.fail("sizes", "no driver makes a tensor map of this: " + wrong + ".");
  return place;
}

}  // namespace tilewise::plan
