#include "cudart/decompress.h"

#include <dlfcn.h>

#include <cstdint>

namespace warpsim::cudart {

namespace {

// A length of 15 in a token goes on in the bytes that follow, each of 255 saying that there is one
// more.
bool read_length(std::span<const std::byte> block, size_t* at, size_t* length) {
  if (*length != 15) return true;
  uint8_t more = 255;
  while (more == 255) {
    if (*at >= block.size()) return false;
    more = static_cast<uint8_t>(block[(*at)++]);
    *length += more;
  }
  return true;
}

}  // namespace

bool decompress_lz4(std::span<const std::byte> block, size_t size, std::string* output) {
  constexpr size_t kShortestMatch = 4;
  output->clear();
  output->reserve(size);
  size_t at = 0;
  while (at < block.size()) {
    uint8_t token = static_cast<uint8_t>(block[at++]);
    size_t literals = token >> 4;
    if (!read_length(block, &at, &literals)) return false;
    if (literals > block.size() - at || literals > size - output->size()) return false;
    output->append(reinterpret_cast<const char*>(block.data()) + at, literals);
    at += literals;
    if (at == block.size()) break;  // the last sequence has no match

    if (block.size() - at < 2) return false;
    size_t distance = static_cast<size_t>(block[at]) | static_cast<size_t>(block[at + 1]) << 8;
    at += 2;
    size_t match = token & 15;
    if (!read_length(block, &at, &match)) return false;
    match += kShortestMatch;
    if (distance == 0 || distance > output->size() || match > size - output->size()) return false;
    // Byte by byte: a match may overlap what it produces.
    for (size_t from = output->size() - distance; match > 0; --match)
      output->push_back((*output)[from++]);
  }
  return output->size() == size;
}

ZstdResult decompress_zstd(std::span<const std::byte> frame, size_t size, std::string* output) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  static const Decompress decompress = []() -> Decompress {
    void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress")) : nullptr;
  }();
  if (!decompress) return ZstdResult::kNoLibrary;
  output->assign(size, '\0');
  // Errors come back as sizes near SIZE_MAX, which `size` never is.
  size_t written = decompress(output->data(), size, frame.data(), frame.size());
  return written == size ? ZstdResult::kOk : ZstdResult::kMalformed;
}

}  // namespace warpsim::cudart
