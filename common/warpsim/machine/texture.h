// Texture and surface objects: what a program has said of them, and which texels a fetch takes,
// with which weights. Memory is not touched here; exec/ops_texture.cpp does that.
//
// Source: the CUDA C++ Programming Guide, "Texture Fetching". What it leaves open, how a fraction
// is rounded to its eight bits and in which order products are added, has not been compared with a
// GPU.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "warpsim/ptx/ir.h"

namespace warpsim {

// What one element of an array is made of: so many channels of so many bytes.
struct TexelFormat {
  enum class Kind : uint8_t { kSigned, kUnsigned, kFloat };  // cudaChannelFormatKind
  uint8_t channels = 1;                                      // 1, 2, 4
  uint8_t channel_bytes = 4;                                 // 1, 2, 4
  Kind kind = Kind::kFloat;
  uint32_t bytes() const { return uint32_t{channels} * channel_bytes; }
  bool operator==(const TexelFormat&) const = default;
};

// Where the texels lie: rows one after the other, planes (or layers, or the faces of cubes) of rows
// one after the other.
struct TexelStorage {
  enum class Kind : uint8_t { kArray, kLinear, kPitched };
  Kind kind = Kind::kArray;
  TexelFormat format;
  uint64_t address = 0;                       // of the first texel
  uint64_t width = 0, height = 0, depth = 0;  // in texels; 0: there is no such dimension
  uint64_t row_bytes = 0;
  bool is_layered = false;  // the depth counts layers, also where there is no height
  bool is_cube = false;     // six layers each
  uint64_t plane_bytes() const { return row_bytes * (height != 0 ? height : 1); }
  uint64_t bytes() const { return plane_bytes() * (depth != 0 ? depth : 1); }
};

struct TextureObject {
  enum class Edge : uint8_t { kWrap, kClamp, kMirror, kBorder };  // cudaTextureAddressMode
  TexelStorage storage;
  bool is_surface = false;
  std::array<Edge, 3> edge{};
  bool is_linear = false;         // filter
  bool is_read_as_float = false;  // cudaReadModeNormalizedFloat: of integers
  bool is_normalised = false;     // coordinates from 0 to 1
  bool is_srgb = false;
  std::array<float, 4> border{};

  bool fits(ptx::Geometry geometry) const;
  // Whether channels become floats; else they are the integers that lie in memory.
  bool gives_floats() const {
    return storage.format.kind == TexelFormat::Kind::kFloat || is_read_as_float;
  }
};

// The texels of one fetch. Weights are products of fractions of eight bits.
struct Footprint {
  struct Texel {
    uint64_t offset = 0;  // bytes into the storage
    bool is_border = false;
    float weight = 0;
  };
  std::array<Texel, 8> texels;
  size_t count = 0;
  // Of linear memory: no such element.
  bool is_outside = false;
  int64_t outside_at = 0;
};

struct TextureCoordinates {
  std::array<float, 3> at{};
  std::array<int32_t, 3> element{};  // instead of `at`, where the instruction has integers
  bool is_integer = false;
  uint32_t layer = 0;
};

Footprint footprint(const TextureObject& texture, ptx::Geometry geometry,
                    const TextureCoordinates& coordinates);
// The four texels that a linear filter would take, in the order in which a gather gives them.
Footprint gathered(const TextureObject& texture, ptx::Geometry geometry,
                   const TextureCoordinates& coordinates);

// A texel's channels as a fetch gives them: floats by their bits, or integers of 32 bits. What the
// format lacks is 0.
std::array<uint32_t, 4> texel_channels(const TextureObject& texture, const std::byte* texel);
std::array<uint32_t, 4> border_channels(const TextureObject& texture);

// The objects of a program, by their handles.
class TextureTable {
 public:
  uint64_t add(const TextureObject& object) {
    objects_[++last_] = object;
    return last_;
  }
  bool remove(uint64_t handle) { return objects_.erase(handle) != 0; }
  const TextureObject* find(uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }
  bool was_removed(uint64_t handle) const {
    return handle != 0 && handle <= last_ && find(handle) == nullptr;
  }
  void clear() { objects_.clear(); }

 private:
  std::map<uint64_t, TextureObject> objects_;
  uint64_t last_ = 0;
};

}  // namespace warpsim
