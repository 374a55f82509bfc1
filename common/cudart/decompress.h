// The two compressions that nvcc uses inside fatbinaries.

#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace warpsim::cudart {

// Decompresses one raw LZ4 block (no frame header) to exactly `size` bytes. False if the block is
// malformed or has another size; never reads or writes outside its bounds.
bool decompress_lz4(std::span<const std::byte> block, size_t size, std::string* output);

enum class ZstdResult { kOk, kNoLibrary, kMalformed };

// Decompresses one Zstandard frame to exactly `size` bytes with the system's libzstd.so.1, looked
// for at run time, so that the build does not depend on it.
ZstdResult decompress_zstd(std::span<const std::byte> frame, size_t size, std::string* output);

}  // namespace warpsim::cudart
