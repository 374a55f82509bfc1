#include "warpsim/ptx/source_lines.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace warpsim::ptx {

namespace {

bool holds_any(std::string_view path, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](auto part) { return path.find(part) != path.npos; });
}

}  // namespace

bool is_library_file(std::string_view path) {
  constexpr std::string_view kPlaces[] = {"/targets/x86_64-linux/include/",
                                          "/targets/sbsa-linux/include/",
                                          "/targets/aarch64-linux/include/",
                                          "/targets/ppc64le-linux/include/",
                                          "/site-packages/nvidia/",
                                          "/dist-packages/nvidia/",
                                          "/common/include/"};
  constexpr std::string_view kRoots[] = {"/usr/include/",   "/usr/lib/", "/usr/local/include/",
                                         "/usr/local/cuda", "/opt/cuda", "/opt/nvidia/"};
  return holds_any(path, kPlaces) ||
         std::ranges::any_of(kRoots, [&](auto root) { return path.starts_with(root); });
}

bool is_algorithm_file(std::string_view path) {
  constexpr std::string_view kPlaces[] = {"/thrust/",
                                          "/cub/",
                                          "/cooperative_groups/reduce.h",
                                          "/cooperative_groups/scan.h",
                                          "/cooperative_groups/details/reduce.h",
                                          "/cooperative_groups/details/scan.h",
                                          "/cooperative_groups/details/coalesced_reduce.h",
                                          "/cooperative_groups/details/coalesced_scan.h"};
  const size_t include = path.rfind("/include/");  // a folder above it may be called anything
  if (include == path.npos || !is_library_file(path)) return false;
  return holds_any(path.substr(include), kPlaces);
}

int32_t SourceLines::add_location(Place place, const Place* caller) {
  int32_t caller_location = -1;
  if (caller) {
    auto known = latest_.find(*caller);
    if (known != latest_.end()) {
      caller_location = known->second;
    } else {
      locations_.push_back({*caller, -1});
      caller_location = static_cast<int32_t>(locations_.size() - 1);
      latest_[*caller] = caller_location;
    }
  }
  // A caller is always an earlier location, so chains end.
  locations_.push_back({place, caller_location});
  return latest_[place] = static_cast<int32_t>(locations_.size() - 1);
}

void SourceLines::add_file(uint64_t number, std::string path) {
  paths_[number] = std::move(path);
}

std::vector<std::string> SourceLines::files() const {
  std::vector<std::string> result;
  for (const auto& [number, path] : paths_) result.push_back(path);
  return result;
}

SourceLine SourceLines::at(const Place& place) const {
  auto file = paths_.find(place.file);
  if (file == paths_.end() || place.line == 0 || place.line > UINT32_MAX) return {};
  return {static_cast<int32_t>(std::distance(paths_.begin(), file)),
          static_cast<uint32_t>(place.line)};
}

SourceLine SourceLines::resolve(int32_t location) const {
  SourceLine innermost;
  for (int32_t id = location; id >= 0; id = locations_[id].caller) {
    SourceLine line = at(locations_[id].place);
    if (line.line == 0) continue;
    if (!is_library_file(paths_.at(locations_[id].place.file))) return line;
    if (innermost.line == 0) innermost = line;
  }
  return innermost;
}

bool SourceLines::is_by_algorithm(int32_t location) const {
  for (int32_t id = location; id >= 0; id = locations_[id].caller) {
    if (at(locations_[id].place).line == 0) continue;
    const std::string& path = paths_.at(locations_[id].place.file);
    if (is_algorithm_file(path)) return true;
    if (!is_library_file(path)) return false;
  }
  return false;
}

}  // namespace warpsim::ptx
