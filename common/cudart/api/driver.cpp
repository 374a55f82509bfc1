// The driver's functions that the runtime hands out.

#include <cstring>

#include "cudart/api/support.h"
#include "cudart/driver/tensor_maps.h"

using namespace warpsim::cudart;

namespace {

constexpr int kFound = 0, kNotFound = 1;  // cudaDriverEntryPointQueryResult

Error find_entry(const char* name, void** function, int* found) {
  if (name == nullptr || function == nullptr) return kInvalidValue;
  const bool known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&encode_tiled) : nullptr;
  if (found != nullptr) *found = known ? kFound : kNotFound;
  return kSuccess;
}

}  // namespace

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
