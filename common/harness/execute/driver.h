// The CUDA driver API, found at run time: the program builds and starts on machines that have no
// CUDA at all.
//
// Only what we call is declared here. The driver's ABI is stable: names that end in _v2 are the
// versions whose sizes are 64 bits, since CUDA 3.2. Numbers are those of the CUDA driver API
// reference.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewise {

using CuResult = int;
using CuDevice = int;
using CuAddress = unsigned long long;
using CuContext = struct CuContextTag*;
using CuModule = struct CuModuleTag*;
using CuFunction = struct CuFunctionTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;

struct CuLaunchAttribute {  // CUlaunchAttribute
  int id;
  char pad[4];
  union {
    uint64_t words[8];
    int cooperative;
  } value;
};
struct CuLaunchConfig {  // CUlaunchConfig
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared;
  CuStream stream;
  CuLaunchAttribute* attributes;
  unsigned attribute_count;
};

// X(name without the prefix "cu", symbol, parameters)
// clang-format off
#define TILEWISE_DRIVER_FUNCTIONS(X)                                                              \
  X(init, cuInit, (unsigned flags))                                                               \
  X(driver_version, cuDriverGetVersion, (int* version))                                           \
  X(error_name, cuGetErrorName, (CuResult, const char**))                                         \
  X(error_string, cuGetErrorString, (CuResult, const char**))                                     \
  X(device_count, cuDeviceGetCount, (int*))                                                       \
  X(device_get, cuDeviceGet, (CuDevice*, int ordinal))                                            \
  X(device_name, cuDeviceGetName, (char*, int length, CuDevice))                                  \
  X(device_bytes, cuDeviceTotalMem_v2, (size_t*, CuDevice))                                       \
  X(device_attribute, cuDeviceGetAttribute, (int*, int attribute, CuDevice))                      \
  X(primary_retain, cuDevicePrimaryCtxRetain, (CuContext*, CuDevice))                             \
  X(primary_release, cuDevicePrimaryCtxRelease_v2, (CuDevice))                                    \
  X(set_current, cuCtxSetCurrent, (CuContext))                                                    \
  X(synchronize, cuCtxSynchronize, ())                                                            \
  X(set_limit, cuCtxSetLimit, (int limit, size_t value))                                          \
  X(module_load, cuModuleLoadDataEx,                                                              \
    (CuModule*, const void* image, unsigned count, int* options, void** values))                  \
  X(module_unload, cuModuleUnload, (CuModule))                                                    \
  X(module_function, cuModuleGetFunction, (CuFunction*, CuModule, const char*))                   \
  X(module_global, cuModuleGetGlobal_v2, (CuAddress*, size_t* bytes, CuModule, const char*))      \
  X(function_attribute, cuFuncGetAttribute, (int*, int attribute, CuFunction))                    \
  X(set_function_attribute, cuFuncSetAttribute, (CuFunction, int attribute, int value))           \
  X(max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
    (int*, CuFunction, int threads, size_t dynamic))                                              \
  X(allocate, cuMemAlloc_v2, (CuAddress*, size_t))                                                \
  X(free, cuMemFree_v2, (CuAddress))                                                              \
  X(to_device, cuMemcpyHtoD_v2, (CuAddress, const void*, size_t))                                 \
  X(to_host, cuMemcpyDtoH_v2, (void*, CuAddress, size_t))                                         \
  X(on_device, cuMemcpyDtoDAsync_v2, (CuAddress target, CuAddress source, size_t, CuStream))      \
  X(set_bytes, cuMemsetD8Async, (CuAddress, unsigned char, size_t count, CuStream))               \
  X(set_words, cuMemsetD32Async, (CuAddress, unsigned, size_t count, CuStream))                   \
  X(launch, cuLaunchKernel,                                                                       \
    (CuFunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,             \
     unsigned block_y, unsigned block_z, unsigned dynamic_shared, CuStream, void** params,        \
     void** extra))                                                                               \
  X(launch_with, cuLaunchKernelEx,                                                                \
    (const CuLaunchConfig*, CuFunction, void** params, void** extra))                               \
  X(event_create, cuEventCreate, (CuEvent*, unsigned flags))                                      \
  X(event_destroy, cuEventDestroy_v2, (CuEvent))                                                  \
  X(event_record, cuEventRecord, (CuEvent, CuStream))                                             \
  X(event_elapsed, cuEventElapsedTime, (float* milliseconds, CuEvent, CuEvent))
// clang-format on

struct Driver {
#define TILEWISE_DRIVER_MEMBER(name, symbol, parameters) CuResult(*name) parameters = nullptr;
  TILEWISE_DRIVER_FUNCTIONS(TILEWISE_DRIVER_MEMBER)
#undef TILEWISE_DRIVER_MEMBER

  // Of drivers for CUDA 12 and later; nullptr: an older one.
  CuResult (*encode_tiled)(void* map, int type, uint32_t dimensions, void* address,
                           const uint64_t* sizes, const uint64_t* strides, const uint32_t* box,
                           const uint32_t* steps, int interleave, int swizzle, int promotion,
                           int fill) = nullptr;

  // Loads a driver library and initialises it. Throws HarnessError: no library, no GPU, a function
  // missing.
  static Driver load(const std::string& library = "libcuda.so.1");

  // "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
  std::string describe(CuResult result) const;
  // Throws HarnessError unless `result` is success. `what` says what was tried: "copy to the
  // device".
  void check(CuResult result, const char* what) const;
};

// CUresult
constexpr CuResult kCuSuccess = 0, kCuInvalidValue = 1, kCuOutOfMemory = 2, kCuNotFound = 500,
                   kCuIllegalAddress = 700, kCuOutOfResources = 701, kCuLaunchTimeout = 702,
                   kCuAssert = 710, kCuIllegalInstruction = 715, kCuMisaligned = 716,
                   kCuLaunchFailed = 719, kCuCooperativeTooLarge = 720;
// CUlaunchAttributeID
constexpr int kCuAttributeCooperative = 2;
// CUdevice_attribute
constexpr int kMaxThreadsPerBlock = 1, kMaxBlockX = 2, kMaxGridX = 5, kSharedPerBlock = 8,
              kRegistersPerBlock = 12, kClockKhz = 13, kSmCount = 16, kMemoryClockKhz = 36,
              kBusWidth = 37, kL2Bytes = 38, kThreadsPerSm = 39, kCcMajor = 75, kCcMinor = 76,
              kSharedPerSm = 81, kRegistersPerSm = 82, kSharedPerBlockOptin = 97,
              kBlocksPerSm = 106, kSharedReserved = 111;
// CUfunction_attribute
constexpr int kFnMaxThreads = 0, kFnSharedBytes = 1, kFnLocalBytes = 3, kFnRegisters = 4,
              kFnMaxDynamicShared = 8, kFnCarveout = 9;
// CUlimit
constexpr int kLimitStack = 0, kLimitHeap = 2;
// CUjit_option
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

}  // namespace tilewise
