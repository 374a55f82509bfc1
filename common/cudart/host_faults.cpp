#include "cudart/host_faults.h"

#include <algorithm>
#include <vector>

namespace warpsim::cudart {

namespace {

struct Hole {
  uint64_t first = 0, bytes = 0;
};

// The first holes of a range that nobody has written, as long as they are short.
std::vector<Hole> holes(const DeviceMemory& memory, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kMostHoles = 64, kLongest = 8;
  std::vector<Hole> found;
  uint64_t at = 0;
  while (at < bytes && found.size() < kMostHoles) {
    uint64_t unwritten = 0;
    const uint64_t first = at + memory.first_uninitialised(address + at, bytes - at, &unwritten);
    if (first >= bytes) break;
    uint64_t end = first + 1;
    while (end < bytes && end - first < kLongest &&
           memory.first_uninitialised(address + end, 1, &unwritten) == 0)
      ++end;
    found.push_back({first, end - first});
    at = end;
  }
  return found;
}

// Between the members of a structure: less than 4 bytes, or 4 to 7 in a structure that is aligned
// to 8 bytes; the same in each. The first holes stand for all if that gives their sum.
bool is_padding(const std::vector<Hole>& holes, uint64_t bytes, uint64_t unwritten,
                uint64_t* period) {
  if (holes.size() < 2) return false;
  const uint64_t size = holes[0].bytes;
  *period = holes[1].first - holes[0].first;
  if (size >= 8 || *period > 256 || bytes % *period != 0) return false;
  if (size >= 4 && (*period % 8 != 0 || *period < size + 12)) return false;
  for (size_t i = 0; i < holes.size(); ++i) {
    if (holes[i].bytes != size || holes[i].first != holes[0].first + i * *period) return false;
  }
  return unwritten == bytes / *period * size;
}

}  // namespace

std::optional<Diagnostic> never_written_copy(const DeviceMemory& memory, uint64_t address,
                                             uint64_t bytes) {
  uint64_t unwritten = 0;
  const uint64_t first = memory.first_uninitialised(address, bytes, &unwritten);
  if (unwritten == 0) return std::nullopt;
  Diagnostic d;
  d.code = Code::kNeverWrittenCopy;
  d.cause = unwritten == bytes ? Cause::kAllUnwritten : Cause::kPartUnwritten;
  d.severity = unwritten == bytes ? Severity::kError : Severity::kWarning;
  d.access = AccessKind::kLoad;
  d.space = MemorySpace::kGlobal;
  d.count = 1;
  d.amount = unwritten;
  d.limit = bytes;
  if (const Allocation* at = memory.find(address)) {
    d.array = at->name;
    d.array_bytes = at->size_bytes;
    d.offset_bytes = static_cast<int64_t>(address - at->address + first);
  }
  if (d.cause == Cause::kPartUnwritten) {
    constexpr uint64_t kLookedAt = 8192;
    const std::vector<Hole> found = holes(memory, address, std::min(bytes, kLookedAt));
    uint64_t period = 0;
    if (is_padding(found, bytes, unwritten, &period)) {
      d.cause = Cause::kPadding;
      d.severity = Severity::kNote;
      d.beyond_bytes = found[0].bytes;
      d.element_bytes = static_cast<uint32_t>(period);
    }
  }
  return d;
}

std::optional<Diagnostic> leak(const DeviceMemory& memory, const AddressMap& allocated) {
  Diagnostic d;
  d.code = Code::kMemoryLeak;
  d.severity = Severity::kNote;
  d.count = 1;
  for (const auto& [address, range] : allocated.all()) {
    if (range.kind == MemoryKind::kSymbol || range.kind == MemoryKind::kRegistered) continue;
    if (range.flags == kOfVariable) continue;  // __managed__: as long as the program
    if (range.flags == kOfGraph) continue;     // the graph's
    const Allocation* at = memory.find(address);
    if (at == nullptr) continue;
    if (d.limit++ == 0) {
      d.array = at->name;
      d.array_bytes = at->size_bytes;
    }
    d.amount += range.bytes;
  }
  if (d.limit == 0) return std::nullopt;
  return d;
}

Diagnostic unchecked_launch(Cause cause, const std::string& kernel) {
  Diagnostic d;
  d.code = Code::kUncheckedLaunch;
  d.severity = Severity::kWarning;
  d.cause = cause;
  d.kernel = kernel;
  d.count = 1;
  return d;
}

Diagnostic device_pointer_on_host(const DeviceMemory& memory, uint64_t address) {
  Diagnostic d;
  d.code = Code::kHostCrash;
  d.cause = Cause::kDevicePointer;
  d.count = 1;
  if (const Allocation* at = memory.find(address)) {
    d.array = at->name;
    d.array_bytes = at->size_bytes;
    d.offset_bytes = static_cast<int64_t>(address - at->address);
    d.space = MemorySpace::kGlobal;
  }
  return d;
}

void set_place(Diagnostic* found, const HostLine& line) {
  found->file = line.file;
  found->line = line.line;
}

}  // namespace warpsim::cudart
