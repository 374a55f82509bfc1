// Texture and surface objects.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cudart/api/array_support.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace {

constexpr uint64_t kTexelAlignment = 512, kTexelPitch = 32;  // cudaDeviceProp says so, too
constexpr size_t kMostLinearElements = size_t{1} << 28;

// Where the memory that the program names begins, in its own allocation.
bool is_aligned(Runtime& runtime, const void* pointer) {
  const MemoryRange* range = runtime.addresses().find(address_of(pointer));
  return range && (address_of(pointer) - range->address) % kTexelAlignment == 0;
}

Error storage_of_linear(Runtime& runtime, const ResourceDesc& desc, TexelStorage* storage) {
  const auto& linear = desc.res.linear;
  const std::optional<TexelFormat> format = texel_format(linear.desc);
  if (!format) return kInvalidChannelDescriptor;
  if (!is_device_range(runtime, linear.devPtr, linear.sizeInBytes)) return kInvalidValue;
  if (!is_aligned(runtime, linear.devPtr)) return kInvalidValue;
  storage->kind = TexelStorage::Kind::kLinear;
  storage->format = *format;
  storage->address = address_of(linear.devPtr);
  storage->width = linear.sizeInBytes / format->bytes();
  storage->row_bytes = linear.sizeInBytes;
  return storage->width <= kMostLinearElements ? kSuccess : kInvalidValue;
}

Error storage_of_rows(Runtime& runtime, const ResourceDesc& desc, TexelStorage* storage) {
  const auto& rows = desc.res.pitch2D;
  const std::optional<TexelFormat> format = texel_format(rows.desc);
  if (!format) return kInvalidChannelDescriptor;
  const size_t row_bytes = rows.width * format->bytes();
  if (rows.width == 0 || rows.height == 0 || rows.pitchInBytes < row_bytes ||
      rows.pitchInBytes % kTexelPitch != 0)
    return kInvalidValue;
  const size_t bytes = (rows.height - 1) * rows.pitchInBytes + row_bytes;
  if (!is_device_range(runtime, rows.devPtr, bytes) || !is_aligned(runtime, rows.devPtr))
    return kInvalidValue;
  storage->kind = TexelStorage::Kind::kPitched;
  storage->format = *format;
  storage->address = address_of(rows.devPtr);
  storage->width = rows.width, storage->height = rows.height;
  storage->row_bytes = rows.pitchInBytes;
  return kSuccess;
}

Error storage_of(Runtime& runtime, const char* api, const ResourceDesc& desc,
                 TexelStorage* storage) {
  switch (desc.resType) {
    case kOfArray: {
      const CudaArray* array = runtime.arrays().find(desc.res.array);
      if (!array) return kInvalidResourceHandle;
      *storage = array->storage;
      return kSuccess;
    }
    case kOfLinear:
      return storage_of_linear(runtime, desc, storage);
    case kOfPitch2D:
      return storage_of_rows(runtime, desc, storage);
    default:
      runtime.backend().not_provided(api, "Mipmapped arrays are not modelled.");
      return kNotSupported;
  }
}

// What the sampler does with the fetched texels.
Error set_sampling(Runtime& runtime, const TextureDesc& desc, TextureObject* object) {
  const bool is_float = object->storage.format.kind == TexelFormat::Kind::kFloat;
  const bool is_word = object->storage.format.channel_bytes == 4;
  for (size_t i = 0; i < 3; ++i) {
    if (desc.addressMode[i] < 0 || desc.addressMode[i] > 3) return kInvalidValue;
    object->edge[i] = static_cast<TextureObject::Edge>(desc.addressMode[i]);
  }
  object->is_linear = desc.filterMode == 1;
  object->is_read_as_float = desc.readMode == 1 && !is_float;
  object->is_normalised = desc.normalizedCoords != 0;
  object->is_srgb = desc.sRGB != 0;
  std::copy_n(desc.borderColor, 4, object->border.begin());
  if (object->is_read_as_float && is_word) return kInvalidNormSetting;
  if (object->is_linear && !object->gives_floats()) return kInvalidFilterSetting;
  if (object->storage.is_cube && desc.seamlessCubemap) {
    runtime.backend().not_provided("cudaCreateTextureObject",
                                   "Filtering over the edges of cube maps is not modelled.");
    return kNotSupported;
  }
  return kSuccess;
}

// Without the last member, which only CUDA 13 has.
void copy_resource(ResourceDesc* to, const ResourceDesc& from) {
  std::memcpy(to, &from, offsetof(ResourceDesc, flags));
}

template <class Descriptions>
const ObjectDescription* find_in(const Descriptions& descriptions, uint64_t object) {
  const auto found = descriptions.find(object);
  return found == descriptions.end() ? nullptr : &found->second;
}

}  // namespace

WARPSIM_API int cudaCreateTextureObject(uint64_t* object, const ResourceDesc* resource,
                                        const TextureDesc* texture, const void* view) {
  return call("cudaCreateTextureObject", [&](Runtime& rt) {
    if (rt.is_recording()) {
      rt.backend().not_provided("cudaCreateTextureObject", "A recorded solve has no textures.");
      return kNotSupported;
    }
    if (!object || !resource || !texture) return kInvalidValue;
    if (view) {
      rt.backend().not_provided("cudaCreateTextureObject", "Views of resources are not modelled.");
      return kNotSupported;
    }
    TextureObject made;
    if (Error error = storage_of(rt, "cudaCreateTextureObject", *resource, &made.storage))
      return error;
    if (Error error = set_sampling(rt, *texture, &made)) return error;
    *object = rt.backend().simulator().textures().add(made);
    ObjectDescription& kept = rt.arrays().textures[*object];
    copy_resource(&kept.resource, *resource);
    kept.texture = *texture;
    return kSuccess;
  });
}

WARPSIM_API int cudaDestroyTextureObject(uint64_t object) {
  return call("cudaDestroyTextureObject", [&](Runtime& rt) {
    if (object == 0) return kSuccess;
    if (rt.arrays().textures.erase(object) == 0) return kInvalidValue;
    rt.backend().simulator().textures().remove(object);
    return kSuccess;
  });
}

WARPSIM_API int cudaCreateSurfaceObject(uint64_t* object, const ResourceDesc* resource) {
  return call("cudaCreateSurfaceObject", [&](Runtime& rt) {
    if (!object || !resource) return kInvalidValue;
    const CudaArray* array =
        resource->resType == kOfArray ? rt.arrays().find(resource->res.array) : nullptr;
    constexpr unsigned kSurfaceLoadStore = 2;
    if (!array || !(array->flags & kSurfaceLoadStore)) return kInvalidValue;
    TextureObject made;
    made.storage = array->storage;
    made.is_surface = true;
    *object = rt.backend().simulator().textures().add(made);
    copy_resource(&rt.arrays().surfaces[*object].resource, *resource);
    return kSuccess;
  });
}

WARPSIM_API int cudaDestroySurfaceObject(uint64_t object) {
  return call("cudaDestroySurfaceObject", [&](Runtime& rt) {
    if (object == 0) return kSuccess;
    if (rt.arrays().surfaces.erase(object) == 0) return kInvalidValue;
    rt.backend().simulator().textures().remove(object);
    return kSuccess;
  });
}

WARPSIM_API int cudaGetTextureObjectResourceDesc(ResourceDesc* resource, uint64_t object) {
  return call("cudaGetTextureObjectResourceDesc", [&](Runtime& rt) {
    const ObjectDescription* found = find_in(rt.arrays().textures, object);
    if (!resource || !found) return kInvalidValue;
    copy_resource(resource, found->resource);
    return kSuccess;
  });
}

WARPSIM_API int cudaGetTextureObjectTextureDesc(TextureDesc* texture, uint64_t object) {
  return call("cudaGetTextureObjectTextureDesc", [&](Runtime& rt) {
    const ObjectDescription* found = find_in(rt.arrays().textures, object);
    if (!texture || !found) return kInvalidValue;
    *texture = found->texture;
    return kSuccess;
  });
}

WARPSIM_API int cudaGetSurfaceObjectResourceDesc(ResourceDesc* resource, uint64_t object) {
  return call("cudaGetSurfaceObjectResourceDesc", [&](Runtime& rt) {
    const ObjectDescription* found = find_in(rt.arrays().surfaces, object);
    if (!resource || !found) return kInvalidValue;
    copy_resource(resource, found->resource);
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const ChannelFormat* format,
                                                     int device) {
  return call("cudaDeviceGetTexture1DLinearMaxWidth", [&](Runtime&) {
    if (!elements || !format || !texel_format(*format)) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    *elements = kMostLinearElements;
    return kSuccess;
  });
}
