#include "cudart/fatbinary.h"

#include <algorithm>
#include <cstring>

#include "cudart/decompress.h"
#include "cudart/ptx_link.h"

namespace warpsim::cudart {

namespace {

constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint32_t kContainerMagic = 0xBA55ED50;
// Defined by the device runtime alone: launches from kernels.
constexpr char kDeviceRuntime[] = ".visible .func  (.param .b32 func_retval0) __cudaCDP2";
constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;
constexpr uint64_t kEntryHeaderBytes = 0x40;   // the shortest there is
constexpr uint64_t kLargestBytes = 256 << 20;  // a claim above this is a damaged header

template <typename T>
T load(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string entry_name(std::span<const std::byte> entry, uint64_t header_bytes) {
  uint64_t offset = load<uint32_t>(entry, 0x20), length = load<uint32_t>(entry, 0x24);
  if (offset + length > header_bytes) return "";
  return std::string(reinterpret_cast<const char*>(entry.data()) + offset, length);
}

// The text without the zero bytes that pad an uncompressed payload.
std::string without_padding(std::string text) {
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::string ptx_text(const FatBinaryEntry& entry) {
  return without_padding(bytes_of(entry));
}

// The lowest target of the newest toolkit that is supported (CUDA 13).
constexpr uint32_t kLowestTarget = 75;

std::string compile_advice(uint32_t compute_capability) {
  std::string cc = std::to_string(std::max(compute_capability, kLowestTarget));
  return "compile with -gencode arch=compute_" + cc + ",code=compute_" + cc + ".";
}

struct Wrapper {
  uint32_t magic, version;
  const std::byte* container;
  const std::byte* const* others;  // of version 2: containers, to the first nullptr
};

const Wrapper* head_of(const void* wrapper) {
  const auto* head = static_cast<const Wrapper*>(wrapper);
  if (!head || head->magic != kWrapperMagic || !head->container)
    throw FatBinaryError("The program registers device code in a form that is not a fatbinary.");
  return head;
}

std::span<const std::byte> container_at(const std::byte* container) {
  uint32_t magic;
  std::memcpy(&magic, container, sizeof magic);
  if (magic != kContainerMagic)
    throw FatBinaryError("The program registers a fatbinary without its magic number.");
  uint16_t header_bytes;
  uint64_t body_bytes;
  std::memcpy(&header_bytes, container + 6, sizeof header_bytes);
  std::memcpy(&body_bytes, container + 8, sizeof body_bytes);
  return {container, header_bytes + body_bytes};
}

bool has_ptx(std::span<const std::byte> container, uint32_t compute_capability) {
  const std::vector<FatBinaryEntry> entries = read_entries(container);
  return std::any_of(entries.begin(), entries.end(), [&](const FatBinaryEntry& entry) {
    return entry.kind == FatBinaryEntry::Kind::kPtx &&
           entry.compute_capability <= std::max(compute_capability, kLowestTarget);
  });
}

}  // namespace

std::span<const std::byte> container_of_wrapper(const void* wrapper) {
  return container_at(head_of(wrapper)->container);
}

std::vector<std::span<const std::byte>> containers_of_wrapper(const void* wrapper) {
  constexpr uint32_t kLinked = 2;
  const Wrapper* head = head_of(wrapper);
  if (head->version != kLinked || !head->others) return {container_at(head->container)};
  std::vector<std::span<const std::byte>> containers;
  for (const std::byte* const* at = head->others; *at; ++at)
    containers.push_back(container_at(*at));
  return containers;
}

std::vector<FatBinaryEntry> read_entries(std::span<const std::byte> container) {
  if (container.size() < 16 || load<uint32_t>(container, 0) != kContainerMagic)
    throw FatBinaryError("A fatbinary starts with the bytes 50 ED 55 BA; this one does not.");
  uint64_t header_bytes = load<uint16_t>(container, 6), body_bytes = load<uint64_t>(container, 8);
  if (header_bytes < 16 || header_bytes > container.size() ||
      body_bytes > container.size() - header_bytes)
    throw FatBinaryError(
        "A fatbinary is cut short: its header promises more bytes than there are.");

  std::vector<FatBinaryEntry> entries;
  std::span<const std::byte> rest = container.subspan(header_bytes, body_bytes);
  while (rest.size() >= kEntryHeaderBytes) {
    uint64_t entry_header = load<uint32_t>(rest, 4), stored = load<uint64_t>(rest, 8);
    uint64_t compressed = load<uint32_t>(rest, 16), flags = load<uint64_t>(rest, 0x28);
    if (entry_header < kEntryHeaderBytes || entry_header > rest.size() ||
        stored > rest.size() - entry_header || compressed > stored) {
      throw FatBinaryError("A fatbinary is damaged: an entry reaches past its end.");
    }
    bool is_compressed = flags & (kFlagLz4 | kFlagZstd);
    entries.push_back(
        {static_cast<FatBinaryEntry::Kind>(load<uint16_t>(rest, 0)), load<uint32_t>(rest, 0x1C),
         entry_name(rest, entry_header), flags,
         rest.subspan(entry_header, is_compressed && compressed ? compressed : stored),
         is_compressed ? load<uint64_t>(rest, 0x38) : 0});
    rest = rest.subspan(entry_header + stored);
  }
  return entries;
}

std::string bytes_of(const FatBinaryEntry& entry) {
  if (entry.uncompressed_bytes == 0)
    return {reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size()};
  std::string bytes;
  if (entry.uncompressed_bytes <= kLargestBytes) {
    if (entry.flags & kFlagLz4 && decompress_lz4(entry.payload, entry.uncompressed_bytes, &bytes))
      return bytes;
    if (entry.flags & kFlagZstd) {
      ZstdResult result = decompress_zstd(entry.payload, entry.uncompressed_bytes, &bytes);
      if (result == ZstdResult::kOk) return bytes;
      if (result == ZstdResult::kNoLibrary) {
        throw FatBinaryError(
            "The embedded PTX is compressed with Zstandard and this machine has no libzstd.so.1: "
            "compile with nvcc "
            "--no-compress.");
      }
    }
  }
  throw FatBinaryError(
      "The embedded PTX is compressed in a way that cannot be read: compile with nvcc "
      "--no-compress.");
}

Ptx select_ptx(std::span<const std::byte> container, uint32_t compute_capability) {
  std::vector<FatBinaryEntry> entries = read_entries(container);
  const FatBinaryEntry* best = nullptr;
  const FatBinaryEntry* lowest = nullptr;
  for (const FatBinaryEntry& entry : entries) {
    if (entry.kind != FatBinaryEntry::Kind::kPtx) continue;
    if (!lowest || entry.compute_capability < lowest->compute_capability) lowest = &entry;
    if (entry.compute_capability > compute_capability) continue;
    if (!best || entry.compute_capability > best->compute_capability) best = &entry;
  }
  if (best) return {ptx_text(*best), best->name};
  if (lowest) {
    // An older device than any compiler still knows runs the oldest code there is.
    if (lowest->compute_capability <= kLowestTarget) return {ptx_text(*lowest), lowest->name};
    throw FatBinaryError("The program's PTX is for compute capability " +
                         std::to_string(lowest->compute_capability) +
                         " and later, the device has " + std::to_string(compute_capability) + ": " +
                         compile_advice(compute_capability));
  }
  throw FatBinaryError(
      entries.empty()
          ? "The program has no device code as PTX: " + compile_advice(compute_capability)
          : "The program has machine code but no PTX: " + compile_advice(compute_capability));
}

Ptx ptx_of_wrapper(const void* wrapper, uint32_t compute_capability) {
  const auto containers = containers_of_wrapper(wrapper);
  if (containers.size() == 1) return select_ptx(containers[0], compute_capability);
  std::vector<std::string> texts;
  Ptx linked;
  for (const auto& container : containers) {
    // CUDA's own libraries of device functions are machine code, with PTX for later devices only:
    // what is called of them stays declared, and says so when a thread comes to it.
    if (!has_ptx(container, compute_capability)) continue;
    Ptx one = select_ptx(container, compute_capability);
    if (one.text.find(kDeviceRuntime) != std::string::npos) continue;
    if (linked.name.empty()) linked.name = one.name;
    texts.push_back(std::move(one.text));
  }
  if (texts.empty()) return select_ptx(containers.at(0), compute_capability);
  try {
    linked.text = link_ptx(texts);
  } catch (const std::runtime_error& error) {
    throw FatBinaryError(error.what());
  }
  return linked;
}

}  // namespace warpsim::cudart
