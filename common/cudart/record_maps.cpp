// Tensor maps in a launch plan: solve asks cuTensorMapEncodeTiled for one and hands its bytes to a
// kernel, or copies them to the device. The plan has what the map was made of; its address is
// relocated like every other.

#include <algorithm>

#include "cudart/record.h"
#include "plan/tensor_map.h"

namespace warpsim::cudart {

namespace plan = tilewise::plan;

std::optional<plan::BufferMap> Recorder::tensor_map(std::span<const std::byte> bytes) {
  const std::optional<TensorMap> found = read_tensor_map(bytes);
  // Bytes that solve has put together itself are no map of ours.
  if (!found || !check_tensor_map(*found).empty() ||
      found->element_bytes != element_bytes_of(found->type))
    return std::nullopt;
  if (found->address < DeviceMemory::kDeviceBase || found->address >= DeviceMemory::kDeviceEnd)
    return std::nullopt;
  plan::BufferMap map;
  if (!nearest_buffer(found->address, &map.buffer)) return std::nullopt;
  map.addend = found->address - plan_.buffers[map.buffer].address;
  map.map = *found;
  map.map.address = 0;
  return map;
}

std::vector<plan::ParameterMap> Recorder::tensor_maps(std::vector<std::byte>* params) {
  std::vector<plan::ParameterMap> maps;
  for (uint32_t at = 0; at + TensorMap::kBytes <= params->size(); at += plan::kMapAlignment) {
    const auto bytes = std::span(*params).subspan(at, TensorMap::kBytes);
    const auto found = tensor_map(bytes);
    if (!found) continue;
    maps.push_back({at, *found});
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    at += TensorMap::kBytes - plan::kMapAlignment;
  }
  return maps;
}

std::vector<plan::Segment> Recorder::with_tensor_maps(std::vector<plan::Segment> segments,
                                                      uint64_t target) {
  std::vector<plan::Segment> result;
  for (plan::Segment& segment : segments) {
    const uint64_t start = target;
    target += segment.bytes;
    const std::vector<std::byte>& literal = segment.literal;
    uint64_t taken = 0;
    const auto take_until = [&](uint64_t end) {
      if (end == taken) return;
      plan::Segment part;
      part.literal.assign(literal.begin() + std::ptrdiff_t(taken),
                          literal.begin() + std::ptrdiff_t(end));
      part.bytes = end - taken;
      result.push_back(std::move(part));
    };
    // Only what lies as a kernel can use it.
    uint64_t at = (plan::kMapAlignment - start % plan::kMapAlignment) % plan::kMapAlignment;
    for (; at + TensorMap::kBytes <= literal.size(); at += plan::kMapAlignment) {
      const auto found = tensor_map(std::span(literal).subspan(at, TensorMap::kBytes));
      if (!found) continue;
      take_until(at);
      plan::Segment map;
      map.bytes = TensorMap::kBytes;
      map.map = *found;
      result.push_back(std::move(map));
      taken = at + TensorMap::kBytes;
      at = taken - plan::kMapAlignment;
    }
    if (taken == 0)
      result.push_back(std::move(segment));
    else
      take_until(literal.size());
  }
  return result;
}

}  // namespace warpsim::cudart
