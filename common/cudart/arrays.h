// CUDA arrays of the program, and what its texture and surface objects were made of.

#pragma once

#include <map>
#include <memory>

#include "cudart/abi.h"
#include "warpsim/machine/texture.h"

namespace warpsim::cudart {

struct CudaArray {
  ChannelFormat format{};
  Extent extent{};
  unsigned flags = 0;
  TexelStorage storage;
};

// What a program may ask for again.
struct ObjectDescription {
  ResourceDesc resource{};
  TextureDesc texture{};
};

class Arrays {
 public:
  CudaArray* add(const CudaArray& array) {
    auto made = std::make_unique<CudaArray>(array);
    CudaArray* handle = made.get();
    arrays_[handle] = std::move(made);
    return handle;
  }
  // nullptr: no such array.
  const CudaArray* find(const void* handle) const {
    const auto found = arrays_.find(handle);
    return found == arrays_.end() ? nullptr : found->second.get();
  }
  void remove(const void* handle) { arrays_.erase(handle); }

  std::map<uint64_t, ObjectDescription> textures, surfaces;  // by handle

 private:
  std::map<const void*, std::unique_ptr<CudaArray>> arrays_;
};

}  // namespace warpsim::cudart
