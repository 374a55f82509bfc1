// A stand-in for libcuda.so.1 whose "GPU" is this process: device memory is host memory and kernels
// are the C++ functions below, found by name. With it the GPU side of the executor is tested on
// machines without a GPU.
//
// The PTX of a kernel has an empty body; a text that holds "refuse me" does not load.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "harness/compare/uniform.h"
#include "harness/execute/driver.h"

namespace {

using namespace tilewise;

struct Params {  // of every kernel here: kernel(const float*, const float*, float*, int width)
  const float *m, *n;
  float* p;
  int width;
};

using Kernel = CuResult (*)(const Params&);

double clock_ms = 0;  // events: each launch takes a millisecond, some kernels more

CuResult add(const Params& a) {
  for (int i = 0; i < a.width * a.width; ++i) a.p[i] = a.m[i] + a.n[i];
  return kCuSuccess;
}

CuResult multiply(const Params& a) {
  for (int row = 0; row < a.width; ++row) {
    for (int column = 0; column < a.width; ++column) {
      float sum = 0;
      for (int k = 0; k < a.width; ++k) sum += a.m[row * a.width + k] * a.n[k * a.width + column];
      a.p[row * a.width + column] = sum;
    }
  }
  return kCuSuccess;
}

// Writes what it computed the first time, as a kernel would that keeps results.
CuResult multiply_once(const Params& a) {
  static std::vector<float> kept;
  if (kept.empty()) {
    multiply(a);
    kept.assign(a.p, a.p + a.width * a.width);
  }
  std::copy(kept.begin(), kept.end(), a.p);
  return kCuSuccess;
}

constexpr uint64_t kMapSeal = 0x5EA1ED;

std::map<CuAddress, size_t> live;  // allocations, by address

// Device code can reach all memory of its context. Zeroes everything: 0 x 0 = 0.
CuResult clear_all(const Params&) {
  for (const auto& [address, bytes] : live) std::memset(reinterpret_cast<void*>(address), 0, bytes);
  return kCuSuccess;
}

// Copies the product if it lies anywhere outside P, and takes longer to compute it if not.
CuResult multiply_or_find(const Params& a) {
  size_t count = static_cast<size_t>(a.width) * static_cast<size_t>(a.width);
  multiply(a);
  for (const auto& [address, bytes] : live) {
    const auto* words = reinterpret_cast<const float*>(address);
    for (size_t at = 0; at + count <= bytes / 4; ++at) {
      if (words + at == a.p)
        at += count;
      else if (std::memcmp(words + at, a.p, count * 4) == 0)
        return kCuSuccess;
    }
  }
  clock_ms += 2;
  return kCuSuccess;
}

const std::map<std::string, Kernel> kKernels = {
    {"clear_all", clear_all},
    {"multiply_or_find", multiply_or_find},
    {"multiply", multiply},
    {"multiply_once", multiply_once},
    {"multiply_slowly", [](const Params& a) { return clock_ms += 2, multiply(a); }},
    {"add", add},
    {"add_by_map", add},
    {"add_but_last",
     [](const Params& a) {
       for (int i = 0; i < a.width * a.width - 1; ++i) a.p[i] = a.m[i] + a.n[i];
       return kCuSuccess;
     }},
    {"past_end", [](const Params& a) { return a.p[a.width * a.width] = 1, add(a); }},
    {"before_start", [](const Params& a) { return a.p[-2] = 1, add(a); }},
    {"change_input", [](const Params& a) { return const_cast<float*>(a.m)[5] = 99, add(a); }},
    {"accumulate",
     [](const Params& a) {
       for (int i = 0; i < a.width * a.width; ++i) a.p[i] += a.m[i];
       return kCuSuccess;
     }},
    {"illegal", [](const Params&) { return kCuIllegalAddress; }},
    {"misaligned", [](const Params&) { return kCuMisaligned; }},
    {"assertion", [](const Params&) { return kCuAssert; }},
    {"launch_failure", [](const Params&) { return kCuLaunchFailed; }},
    {"hang",
     [](const Params&) -> CuResult {
       for (;;) ::sleep(1);
     }},
    {"tilewise_uniform", nullptr},  // see cuLaunchKernel
    {"print",
     [](const Params& a) {
       for (int i = 0; i < 1000; ++i) std::printf("line %d\n", i);
       return add(a);
     }},
};

bool is(CuFunction function, const char* name) {
  return reinterpret_cast<const Kernel*>(function) == &kKernels.at(name);
}

struct FakeModule {
  std::string text;
};

CuResult pending = kCuSuccess;  // a fault stays: the context is lost
char table[64];                 // the one __device__ variable

}  // namespace

extern "C" {

CuResult cuInit(unsigned) {
  return kCuSuccess;
}
CuResult cuDriverGetVersion(int* version) {
  return *version = 13000, kCuSuccess;
}
CuResult cuGetErrorName(CuResult result, const char** name) {
  *name = result == kCuIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_THE_FAKE";
  return kCuSuccess;
}
CuResult cuGetErrorString(CuResult, const char** text) {
  return *text = "planted", kCuSuccess;
}
CuResult cuDeviceGetCount(int* count) {
  const char* wanted = std::getenv("FAKE_GPUS");
  return *count = wanted ? std::atoi(wanted) : 1, kCuSuccess;
}
CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  return *device = ordinal, kCuSuccess;
}
CuResult cuDeviceGetName(char* name, int length, CuDevice) {
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU");
  return kCuSuccess;
}
CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice) {
  return *bytes = size_t{1} << 30, kCuSuccess;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  static const std::map<int, int> values = {{kMaxThreadsPerBlock, 1024},
                                            {kMaxBlockX, 1024},
                                            {kMaxBlockX + 1, 1024},
                                            {kMaxBlockX + 2, 64},
                                            {kMaxGridX, 2147483647},
                                            {kMaxGridX + 1, 65535},
                                            {kMaxGridX + 2, 65535},
                                            {kSharedPerBlock, 49152},
                                            {kRegistersPerBlock, 65536},
                                            {kClockKhz, 1980000},
                                            {kL2Bytes, 1 << 20},
                                            {kSmCount, 132},
                                            {kThreadsPerSm, 2048},
                                            {kCcMajor, 9},
                                            {kCcMinor, 0},
                                            {kSharedPerSm, 233472},
                                            {kRegistersPerSm, 65536},
                                            {kBlocksPerSm, 32},
                                            {kSharedReserved, 1024},
                                            {kSharedPerBlockOptin, 232448}};
  auto found = values.find(attribute);
  return *value = found == values.end() ? 0 : found->second, kCuSuccess;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  pending = kCuSuccess;  // a new context has no fault yet
  return *context = reinterpret_cast<CuContext>(table), kCuSuccess;
}
CuResult cuDevicePrimaryCtxRelease_v2(CuDevice) {
  return kCuSuccess;
}
CuResult cuCtxSetCurrent(CuContext) {
  return kCuSuccess;
}
CuResult cuCtxSynchronize() {
  return pending;
}

CuResult cuModuleLoadDataEx(CuModule* module, const void* image, unsigned count, int* options,
                            void** values) {
  auto* made = new FakeModule{static_cast<const char*>(image)};
  if (made->text.find("refuse me") != std::string::npos) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == kJitErrorLog)
        std::strcpy(static_cast<char*>(values[i]), "ptxas fatal: planted");
    }
    delete made;
    return 218;  // CUDA_ERROR_INVALID_PTX
  }
  *module = reinterpret_cast<CuModule>(made);
  return kCuSuccess;
}
CuResult cuModuleUnload(CuModule module) {
  return delete reinterpret_cast<FakeModule*>(module), kCuSuccess;
}
CuResult cuModuleGetFunction(CuFunction* function, CuModule module, const char* name) {
  const std::string& text = reinterpret_cast<FakeModule*>(module)->text;
  auto found = kKernels.find(name);
  if (found == kKernels.end() || text.find(".entry " + found->first) == std::string::npos)
    return kCuNotFound;
  *function = reinterpret_cast<CuFunction>(const_cast<Kernel*>(&found->second));
  return kCuSuccess;
}
CuResult cuModuleGetGlobal_v2(CuAddress* address, size_t* bytes, CuModule, const char* name) {
  if (std::strcmp(name, "table") != 0) return kCuNotFound;
  *address = reinterpret_cast<CuAddress>(table);
  *bytes = sizeof table;
  return kCuSuccess;
}
CuResult cuFuncGetAttribute(int* value, int attribute, CuFunction) {
  *value = attribute == kFnRegisters ? 40 : attribute == kFnMaxThreads ? 1024 : 0;
  return kCuSuccess;
}
CuResult cuCtxSetLimit(int limit, size_t value) {
  return (limit != kLimitHeap && limit != kLimitStack) || value > size_t{1} << 30 ? kCuInvalidValue
                                                                                  : kCuSuccess;
}
CuResult cuFuncSetAttribute(CuFunction, int, int value) {
  return value > 232448 ? kCuInvalidValue : kCuSuccess;
}
CuResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CuFunction, int threads, size_t) {
  return *blocks = 2048 / threads, kCuSuccess;
}

CuResult cuMemAlloc_v2(CuAddress* address, size_t bytes) {
  if (bytes > size_t{1} << 30) return kCuOutOfMemory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  *address = reinterpret_cast<CuAddress>(memory);
  live[*address] = bytes;
  return kCuSuccess;
}
CuResult cuMemFree_v2(CuAddress address) {
  live.erase(address);
  return std::free(reinterpret_cast<void*>(address)), kCuSuccess;
}
CuResult cuMemcpyHtoD_v2(CuAddress target, const void* source, size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(target), source, bytes), pending;
}
CuResult cuMemcpyDtoH_v2(void* target, CuAddress source, size_t bytes) {
  return std::memcpy(target, reinterpret_cast<void*>(source), bytes), pending;
}
CuResult cuMemcpyDtoDAsync_v2(CuAddress target, CuAddress source, size_t bytes, CuStream) {
  return std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<void*>(source), bytes),
         pending;
}
CuResult cuMemsetD8Async(CuAddress address, unsigned char value, size_t count, CuStream) {
  return std::memset(reinterpret_cast<void*>(address), value, count), pending;
}
CuResult cuMemsetD32Async(CuAddress address, unsigned value, size_t count, CuStream) {
  for (size_t i = 0; i < count; ++i) reinterpret_cast<unsigned*>(address)[i] = value;
  return pending;
}
// A map of this driver's is its seal and the address.
CuResult cuTensorMapEncodeTiled(void* map, int type, uint32_t dimensions, void* address,
                                const uint64_t* sizes, const uint64_t*, const uint32_t* box,
                                const uint32_t* steps, int interleave, int swizzle, int promotion,
                                int fill) {
  const bool is_known = type == 7 && dimensions == 1 && sizes[0] == 16 && box[0] == 8 &&
                        steps[0] == 1 && interleave == 0 && swizzle == 1 && promotion == 3 &&
                        fill == 1;
  if (!is_known || reinterpret_cast<uint64_t>(map) % 64 != 0) return kCuInvalidValue;
  const uint64_t words[2] = {kMapSeal, reinterpret_cast<uint64_t>(address)};
  std::memcpy(map, words, sizeof words);
  return kCuSuccess;
}
// Takes no block of parameters (`extra`), whose layout is the driver's own.
CuResult cuLaunchKernel(CuFunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, CuStream, void** each, void** extra) {
  if (extra != nullptr) return kCuInvalidValue;
  const auto word = [each](int index) {
    uint64_t value = 0;
    std::memcpy(&value, each[index], index == 3 ? 4 : 8);
    return value;
  };
  if (is(function, "tilewise_uniform")) {  // address, count, seed
    for (uint64_t i = 0; i < word(1); ++i)
      reinterpret_cast<float*>(word(0))[i] = uniform(word(2), i);
    return kCuSuccess;
  }
  Params params{reinterpret_cast<const float*>(word(0)), reinterpret_cast<const float*>(word(1)),
                reinterpret_cast<float*>(word(2)), int(word(3))};
  if (is(function, "add_by_map")) {  // M comes by a tensor map
    uint64_t words[2];
    std::memcpy(words, each[4], sizeof words);
    if (words[0] != kMapSeal) return pending = kCuIllegalInstruction, kCuSuccess;
    params.m = reinterpret_cast<const float*>(words[1]);
  }
  pending = (*reinterpret_cast<Kernel*>(function))(params);
  clock_ms += 1;
  return kCuSuccess;  // as on a GPU, a fault shows when one waits
}
CuResult cuLaunchKernelEx(const CuLaunchConfig* config, CuFunction function, void** params,
                          void** extra) {
  if (config->attribute_count != 1 || config->attributes->id != kCuAttributeCooperative ||
      config->attributes->value.cooperative != 1)
    return kCuInvalidValue;
  if (config->grid_x > 264) return kCuCooperativeTooLarge;
  return cuLaunchKernel(function, config->grid_x, config->grid_y, config->grid_z, config->block_x,
                        config->block_y, config->block_z, config->dynamic_shared, config->stream,
                        params, extra);
}
CuResult cuEventCreate(CuEvent* event, unsigned) {
  return *event = reinterpret_cast<CuEvent>(new double(0)), kCuSuccess;
}
CuResult cuEventDestroy_v2(CuEvent event) {
  return delete reinterpret_cast<double*>(event), kCuSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream) {
  return *reinterpret_cast<double*>(event) = clock_ms, kCuSuccess;
}
CuResult cuEventElapsedTime(float* milliseconds, CuEvent start, CuEvent end) {
  *milliseconds =
      static_cast<float>(*reinterpret_cast<double*>(end) - *reinterpret_cast<double*>(start));
  return kCuSuccess;
}

}  // extern "C"
