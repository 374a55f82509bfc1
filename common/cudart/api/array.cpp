// CUDA arrays, and copies to and from them. An array's texels lie row by row in memory of the
// device whose address the program does not get.

#include <algorithm>
#include <cstring>

#include "cudart/api/array_support.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace warpsim::cudart {

std::optional<TexelFormat> texel_format(const ChannelFormat& format) {
  const int bits[4] = {format.x, format.y, format.z, format.w};
  TexelFormat made;
  made.channels = 0;
  while (made.channels < 4 && bits[made.channels] != 0) ++made.channels;
  for (size_t i = 0; i < 4; ++i) {
    if (bits[i] != (i < made.channels ? bits[0] : 0)) return std::nullopt;
  }
  const bool has_size = bits[0] == 8 || bits[0] == 16 || bits[0] == 32;
  const bool has_kind = format.kind >= 0 && format.kind <= 2;  // signed, unsigned, float
  if (made.channels == 0 || made.channels == 3 || !has_size || !has_kind) return std::nullopt;
  made.channel_bytes = static_cast<uint8_t>(bits[0] / 8);
  made.kind = static_cast<TexelFormat::Kind>(format.kind);
  if (made.kind == TexelFormat::Kind::kFloat && made.channel_bytes == 1) return std::nullopt;
  return made;
}

}  // namespace warpsim::cudart

namespace {

constexpr unsigned kLayered = 1, kSurfaceLoadStore = 2, kCubemap = 4, kGather = 8;

Error make_array(Runtime& runtime, const char* api, void** array, const ChannelFormat* format,
                 const Extent& extent, unsigned flags) {
  if (runtime.is_recording()) {
    runtime.backend().not_provided(api, "A recorded solve has no CUDA arrays.");
    return kNotSupported;
  }
  if (!array || !format) return kInvalidValue;
  *array = nullptr;
  const std::optional<TexelFormat> texel = texel_format(*format);
  if (!texel) {
    const bool is_plain = format->kind <= 2;
    if (!is_plain)
      runtime.backend().not_provided(api, "Packed and compressed texels are not modelled.");
    return is_plain ? kInvalidChannelDescriptor : kNotSupported;
  }
  if (flags & ~(kLayered | kSurfaceLoadStore | kCubemap | kGather)) {
    runtime.backend().not_provided(api, "Sparse and deferred arrays are not modelled.");
    return kNotSupported;
  }
  const bool is_cube = flags & kCubemap, is_layered = flags & kLayered;
  const bool has_faces =
      extent.width == extent.height && extent.depth % 6 == 0 && extent.depth != 0;
  if (extent.width == 0 || (extent.depth != 0 && extent.height == 0 && !is_layered) ||
      (is_cube && (!has_faces || (!is_layered && extent.depth != 6))) ||
      (is_layered && extent.depth == 0)) {
    return kInvalidValue;
  }
  CudaArray made{*format, extent, flags, {}};
  TexelStorage& s = made.storage;
  s.format = *texel;
  s.width = extent.width, s.height = extent.height, s.depth = extent.depth;
  s.row_bytes = extent.width * texel->bytes();
  s.is_layered = is_layered, s.is_cube = is_cube;
  s.address = runtime.backend().allocate(s.bytes(), MemoryKind::kArray);
  if (!s.address) return kMemoryAllocation;
  runtime.addresses().add({s.address, s.bytes(), MemoryKind::kArray});
  *array = runtime.arrays().add(made);
  return kSuccess;
}

// One side of a copy whose array has been looked up: elements of `unit` bytes, from `at` on.
struct ArraySpot {
  char* base = nullptr;
  size_t pitch = 0, rows = 0;  // of a plane
};

ArraySpot spot_of(const CudaArray* array, const PitchedPtr& pitched, const Pos& at) {
  if (!array) {
    return {static_cast<char*>(pitched.ptr) + at.z * pitched.ysize * pitched.pitch +
                at.y * pitched.pitch + at.x,
            pitched.pitch, pitched.ysize};
  }
  const TexelStorage& s = array->storage;
  const size_t rows = std::max<size_t>(s.height, 1);
  return {static_cast<char*>(pointer_to(s.address)) + (at.z * rows + at.y) * s.row_bytes +
              at.x * s.format.bytes(),
          s.row_bytes, rows};
}

bool lies_in(const CudaArray& array, const Pos& at, const Extent& extent) {
  const TexelStorage& s = array.storage;
  auto fits = [](size_t first, size_t count, size_t all) {
    return first <= all && count <= all - first;
  };
  return fits(at.x, extent.width, s.width) &&
         fits(at.y, extent.height, std::max<size_t>(s.height, 1)) &&
         fits(at.z, extent.depth, std::max<size_t>(s.depth, 1));
}

// A copy of `rows` rows of `width` bytes between an array, at a byte of a row, and memory or
// another array.
struct ArraySide {
  const void* array;
  size_t bytes, row;
};

// The parameters of cudaMemcpy3D for a copy of rows. False: an offset or a width is no number of
// texels.
bool as_3d(Runtime& runtime, const ArraySide* to, const ArraySide* from, const PitchedPtr& memory,
           size_t width, size_t rows, int kind, Memcpy3DParms* p) {
  *p = {};
  p->kind = kind;
  p->extent = {width, rows, 1};
  auto side = [&](const ArraySide& s, const void** handle, Pos* at) {
    const CudaArray* array = runtime.arrays().find(s.array);
    const size_t unit = array ? array->storage.format.bytes() : 1;
    *handle = s.array;
    *at = {s.bytes / unit, s.row, 0};
    p->extent.width = width / unit;
    return array && s.bytes % unit == 0 && width % unit == 0;
  };
  const void *target = nullptr, *source = nullptr;
  if (to && !side(*to, &target, &p->dstPos)) return false;
  if (from && !side(*from, &source, &p->srcPos)) return false;
  p->dstArray = const_cast<void*>(target);
  p->srcArray = const_cast<void*>(source);
  (to ? p->srcPtr : p->dstPtr) = memory;
  return true;
}

// Inlined, as call() is: it asks who has called the exported function.
[[gnu::always_inline]] inline Error copy_2d(const char* api, const ArraySide* to,
                                            const ArraySide* from, const PitchedPtr& memory,
                                            size_t width, size_t rows, int kind,
                                            std::optional<void*> stream) {
  auto body = [&](Runtime& rt) -> Error {
    Memcpy3DParms p;
    if (!as_3d(rt, to, from, memory, width, rows, kind, &p)) return kInvalidValue;
    Error error;
    if (stream && is_captured(rt, *stream, p, &error)) return error;
    return copy_3d(rt, &p, stream);
  };
  return stream ? call(api, body) : waiting_call(api, body);
}

// Bytes one after the other, from a byte of a row on, over the ends of rows.
[[gnu::always_inline]] inline Error copy_run(const char* api, const ArraySide& side, void* memory,
                                             size_t bytes, bool to_array, int kind,
                                             std::optional<void*> stream) {
  auto body = [&](Runtime& rt) -> Error {
    const CudaArray* array = rt.arrays().find(side.array);
    if (!array) return kInvalidResourceHandle;
    const TexelStorage& s = array->storage;
    const size_t first = side.row * s.row_bytes + side.bytes;
    if (side.bytes > s.row_bytes || first > s.bytes() || bytes > s.bytes() - first)
      return kInvalidValue;
    if (stream && rt.captures().of(rt.find_stream(*stream))) return kCaptureUnsupported;
    void* texels = pointer_to(s.address + first);
    return copy_bytes(rt, to_array ? texels : memory, to_array ? memory : texels, bytes, kind,
                      stream);
  };
  return stream ? call(api, body) : waiting_call(api, body);
}

}  // namespace

namespace warpsim::cudart {

Error copy_with_arrays(Runtime& runtime, const Memcpy3DParms& p, std::optional<void*> stream) {
  const CudaArray* from = runtime.arrays().find(p.srcArray);
  const CudaArray* to = runtime.arrays().find(p.dstArray);
  if ((p.srcArray && !from) || (p.dstArray && !to)) return kInvalidResourceHandle;
  if ((from && !lies_in(*from, p.srcPos, p.extent)) || (to && !lies_in(*to, p.dstPos, p.extent)))
    return kInvalidValue;
  // With an array the extent counts its elements.
  const size_t unit = (to ? to : from)->storage.format.bytes();
  if (from && to && from->storage.format.bytes() != unit) return kInvalidValue;
  const ArraySpot source = spot_of(from, p.srcPtr, p.srcPos),
                  target = spot_of(to, p.dstPtr, p.dstPos);
  for (size_t z = 0; z < p.extent.depth; ++z) {
    Error error = copy_rows(runtime, target.base + z * target.rows * target.pitch, target.pitch,
                            source.base + z * source.rows * source.pitch, source.pitch,
                            p.extent.width * unit, p.extent.height, p.kind, stream);
    if (error) return error;
  }
  return kSuccess;
}

}  // namespace warpsim::cudart

WARPSIM_API int cudaMallocArray(void** array, const ChannelFormat* format, size_t width,
                                size_t height, unsigned flags) {
  return uncaptured_call("cudaMallocArray", [&](Runtime& rt) {
    if (flags & (kLayered | kCubemap)) return kInvalidValue;
    return make_array(rt, "cudaMallocArray", array, format, {width, height, 0}, flags);
  });
}

WARPSIM_API int cudaMalloc3DArray(void** array, const ChannelFormat* format, Extent extent,
                                  unsigned flags) {
  return uncaptured_call("cudaMalloc3DArray", [&](Runtime& rt) {
    return make_array(rt, "cudaMalloc3DArray", array, format, extent, flags);
  });
}

WARPSIM_API int cudaFreeArray(void* handle) {
  return uncaptured_call("cudaFreeArray", [&](Runtime& rt) {
    if (!handle) return kSuccess;
    const CudaArray* array = rt.arrays().find(handle);
    if (!array) return kInvalidResourceHandle;
    const uint64_t address = array->storage.address;
    rt.backend().host_waits(HostWait::kDevice, 0, true);
    if (Error error = rt.backend().release(*rt.addresses().find(address))) return error;
    rt.addresses().remove(address);
    rt.arrays().remove(handle);
    return kSuccess;
  });
}

WARPSIM_API int cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags,
                                 const void* handle) {
  return call("cudaArrayGetInfo", [&](Runtime& rt) {
    const CudaArray* array = rt.arrays().find(handle);
    if (!array) return kInvalidResourceHandle;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return kSuccess;
  });
}

WARPSIM_API int cudaGetChannelDesc(ChannelFormat* format, const void* handle) {
  return call("cudaGetChannelDesc", [&](Runtime& rt) {
    const CudaArray* array = rt.arrays().find(handle);
    if (!array) return kInvalidResourceHandle;
    if (!format) return kInvalidValue;
    *format = array->format;
    return kSuccess;
  });
}

WARPSIM_API int cudaMemcpy2DToArray(void* array, size_t offset, size_t row, const void* source,
                                    size_t pitch, size_t width, size_t height, int kind) {
  const ArraySide to{array, offset, row};
  return copy_2d("cudaMemcpy2DToArray", &to, nullptr,
                 {const_cast<void*>(source), pitch, width, height}, width, height, kind,
                 std::nullopt);
}

WARPSIM_API int cudaMemcpy2DToArrayAsync(void* array, size_t offset, size_t row, const void* source,
                                         size_t pitch, size_t width, size_t height, int kind,
                                         void* stream) {
  const ArraySide to{array, offset, row};
  return copy_2d("cudaMemcpy2DToArrayAsync", &to, nullptr,
                 {const_cast<void*>(source), pitch, width, height}, width, height, kind, stream);
}

WARPSIM_API int cudaMemcpy2DFromArray(void* target, size_t pitch, const void* array, size_t offset,
                                      size_t row, size_t width, size_t height, int kind) {
  const ArraySide from{array, offset, row};
  return copy_2d("cudaMemcpy2DFromArray", nullptr, &from, {target, pitch, width, height}, width,
                 height, kind, std::nullopt);
}

WARPSIM_API int cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, const void* array,
                                           size_t offset, size_t row, size_t width, size_t height,
                                           int kind, void* stream) {
  const ArraySide from{array, offset, row};
  return copy_2d("cudaMemcpy2DFromArrayAsync", nullptr, &from, {target, pitch, width, height},
                 width, height, kind, stream);
}

WARPSIM_API int cudaMemcpy2DArrayToArray(void* target, size_t target_offset, size_t target_row,
                                         const void* source, size_t source_offset,
                                         size_t source_row, size_t width, size_t height, int kind) {
  const ArraySide to{target, target_offset, target_row}, from{source, source_offset, source_row};
  return copy_2d("cudaMemcpy2DArrayToArray", &to, &from, {}, width, height, kind, std::nullopt);
}

WARPSIM_API int cudaMemcpyToArray(void* array, size_t offset, size_t row, const void* source,
                                  size_t bytes, int kind) {
  return copy_run("cudaMemcpyToArray", {array, offset, row}, const_cast<void*>(source), bytes, true,
                  kind, std::nullopt);
}

WARPSIM_API int cudaMemcpyToArrayAsync(void* array, size_t offset, size_t row, const void* source,
                                       size_t bytes, int kind, void* stream) {
  return copy_run("cudaMemcpyToArrayAsync", {array, offset, row}, const_cast<void*>(source), bytes,
                  true, kind, stream);
}

WARPSIM_API int cudaMemcpyFromArray(void* target, const void* array, size_t offset, size_t row,
                                    size_t bytes, int kind) {
  return copy_run("cudaMemcpyFromArray", {array, offset, row}, target, bytes, false, kind,
                  std::nullopt);
}

WARPSIM_API int cudaMemcpyFromArrayAsync(void* target, const void* array, size_t offset, size_t row,
                                         size_t bytes, int kind, void* stream) {
  return copy_run("cudaMemcpyFromArrayAsync", {array, offset, row}, target, bytes, false, kind,
                  stream);
}
