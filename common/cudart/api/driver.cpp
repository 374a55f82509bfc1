// The driver's functions that the runtime hands out.

#include <cstring>

#include "cudart/api/support.h"
#include "cudart/driver/tensor_maps.h"

using namespace warpsim::cudart;

// The driver's, and not of the runtime's lists of names.
#define WARPSIM_OF_THE_DRIVER extern "C" __attribute__((visibility("default")))

// Programs that link against the driver find libcuda.so.1 when they run live; a library that is
// recorded finds it here.
WARPSIM_OF_THE_DRIVER int cuTensorMapEncodeTiled(void* map, int type, uint32_t dimensions,
                                                 void* address, const uint64_t* sizes,
                                                 const uint64_t* strides, const uint32_t* box,
                                                 const uint32_t* steps, int interleave, int swizzle,
                                                 int promotion, int fill);

namespace {

constexpr int kFound = 0, kNotFound = 1;  // cudaDriverEntryPointQueryResult

// A GPU's driver knows nothing of the program's errors in the runtime: cudaGetLastError does not
// tell of this one.
int encode(void* map, int type, uint32_t dimensions, void* address, const uint64_t* sizes,
           const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
           int swizzle, int promotion, int fill, const void* caller) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.backend().called_from(caller);
  const Encoded made =
      encode_tiled(map, type, dimensions, address, sizes, strides, box, steps, interleave, swizzle,
                   promotion, fill, runtime.backend().call_to_tell());
  if (made.result == 0) return 0;
  runtime.backend().failed_in_driver("cuTensorMapEncodeTiled", made.result, made.why);
  return made.result;
}

Error find_entry(const char* name, void** function, int* found) {
  if (name == nullptr || function == nullptr) return kInvalidValue;
  const bool known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (found != nullptr) *found = known ? kFound : kNotFound;
  return kSuccess;
}

}  // namespace

WARPSIM_OF_THE_DRIVER int cuTensorMapEncodeTiled(void* map, int type, uint32_t dimensions,
                                                 void* address, const uint64_t* sizes,
                                                 const uint64_t* strides, const uint32_t* box,
                                                 const uint32_t* steps, int interleave, int swizzle,
                                                 int promotion, int fill) {
  return encode(map, type, dimensions, address, sizes, strides, box, steps, interleave, swizzle,
                promotion, fill, __builtin_return_address(0));
}

WARPSIM_API int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                        int* found) {
  return call("cudaGetDriverEntryPoint",
              [&](Runtime&) { return find_entry(name, function, found); });
}

WARPSIM_API int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                 unsigned long long, int* found) {
  return call("cudaGetDriverEntryPointByVersion",
              [&](Runtime&) { return find_entry(name, function, found); });
}
