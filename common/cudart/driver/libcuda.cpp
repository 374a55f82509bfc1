// libcuda.so.1, for programs that link against the driver: what they need of it besides the
// runtime. Names that it does not have, the dynamic linker misses when they are called.

#include <cstdio>

#include "cudart/driver/tensor_maps.h"

#define WARPSIM_DRIVER extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kDriverSuccess = 0, kDriverInvalid = 1, kDriverUnmodelled = 801;

}  // namespace

WARPSIM_DRIVER int cuTensorMapEncodeTiled(void* map, int type, uint32_t dimensions, void* address,
                                          const uint64_t* sizes, const uint64_t* strides,
                                          const uint32_t* box, const uint32_t* steps,
                                          int interleave, int swizzle, int promotion, int fill) {
  const warpsim::cudart::Encoded made =
      warpsim::cudart::encode_tiled(map, type, dimensions, address, sizes, strides, box, steps,
                                    interleave, swizzle, promotion, fill);
  if (made.result != kDriverSuccess)
    std::fprintf(stderr, "warpsim: cuTensorMapEncodeTiled: %s.\n", made.why.c_str());
  return made.result;
}

WARPSIM_DRIVER int cuInit(unsigned) {
  return kDriverSuccess;
}

WARPSIM_DRIVER int cuGetErrorString(int error, const char** text) {
  if (text == nullptr) return kDriverInvalid;
  *text = error == kDriverSuccess      ? "no error"
          : error == kDriverInvalid    ? "invalid argument"
          : error == kDriverUnmodelled ? "operation not supported"
                                       : "unknown error";
  return kDriverSuccess;
}

WARPSIM_DRIVER int cuGetErrorName(int error, const char** text) {
  if (text == nullptr) return kDriverInvalid;
  *text = error == kDriverSuccess      ? "CUDA_SUCCESS"
          : error == kDriverInvalid    ? "CUDA_ERROR_INVALID_VALUE"
          : error == kDriverUnmodelled ? "CUDA_ERROR_NOT_SUPPORTED"
                                       : "CUDA_ERROR_UNKNOWN";
  return kDriverSuccess;
}
