// Reads the fatbinary container that nvcc puts into a host object: finds the PTX to run on a
// device.
//
// Layout (little-endian), as nvcc 11 to 13 write it:
//   wrapper, what __cudaRegisterFatBinary gets: u32 magic 0x466243B1, u32 version, u64 address of
//   the container, u64 other container: u32 magic 0xBA55ED50, u16 version, u16 header bytes (16),
//   u64 bytes that follow the header
//     entry: u16 kind (1 PTX, 2 machine code), u16 version, u32 header bytes, u64 payload bytes,
//     u32 compressed bytes,
//            u32 options, u16 minor, u16 major, u32 compute capability (90), u32 name offset, u32
//            name bytes, u64 flags, u64 zero, u64 uncompressed bytes; then the payload, padded with
//            zeros
// Flags: 0x2000 the payload is one LZ4 block, 0x8000 one Zstandard frame.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpsim::cudart {

// One sentence: what is wrong with the container, or why it has no PTX for this device and how to
// compile so that it has.
class FatBinaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct FatBinaryEntry {
  enum class Kind : uint16_t { kPtx = 1, kMachineCode = 2 };
  Kind kind;
  uint32_t compute_capability;  // 90
  std::string name;             // the source file, if nvcc noted it (-lineinfo, -G), else empty
  uint64_t flags;
  std::span<const std::byte> payload;  // as stored
  uint64_t uncompressed_bytes;         // 0: not compressed
};

// The container behind a wrapper. The caller vouches for the wrapper's memory; the container's own
// size fields are trusted only after its magic number has been seen. Throws FatBinaryError.
std::span<const std::byte> container_of_wrapper(const void* wrapper);

// The same of a program of which several objects were linked (-rdc=true): the containers of all of
// them. The linked machine code's own container has no PTX.
std::vector<std::span<const std::byte>> containers_of_wrapper(const void* wrapper);

// The entries of a container. Never reads outside `container`; throws FatBinaryError for anything
// malformed.
std::vector<FatBinaryEntry> read_entries(std::span<const std::byte> container);

// The payload, decompressed; zeros may pad it. Throws FatBinaryError.
std::string bytes_of(const FatBinaryEntry& entry);

struct Ptx {
  std::string text;
  std::string name;  // FatBinaryEntry::name
};

// The PTX for a device of `compute_capability` (90): of those entries not above it, the highest.
// For a device below what compilers still target (75), such as 13 or 70: the lowest, if it is for
// 75 or below.
// Throws FatBinaryError.
Ptx select_ptx(std::span<const std::byte> container, uint32_t compute_capability);
// Of a wrapper, linked if there are several.
Ptx ptx_of_wrapper(const void* wrapper, uint32_t compute_capability);

}  // namespace warpsim::cudart
