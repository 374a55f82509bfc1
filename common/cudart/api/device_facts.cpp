#include "cudart/api/device_facts.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace warpsim::cudart {

namespace {

constexpr int kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr int kUuid = 0x57;  // 'W': some programs tell devices apart by it

int as_int(uint64_t value) {
  return static_cast<int>(std::min<uint64_t>(value, INT_MAX));
}
int kilohertz(double megahertz) {
  return static_cast<int>(megahertz * 1000.0);
}

// What arrays may have at most, as deviceQuery prints it for devices from Pascal on.
constexpr int kMost1D = 131072, kMost2D[2] = {131072, 65536}, kMost3D = 16384;
constexpr int kMostLayered = 32768, kMostLayers = 2048;

template <typename Properties>
void fill_textures(Properties* p) {
  p->maxTexture1D = kMost1D;
  std::copy_n(kMost2D, 2, p->maxTexture2D);
  std::fill_n(p->maxTexture3D, 3, kMost3D);
  p->maxTexture1DLayered[0] = p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = kMostLayered;
  p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = kMostLayers;
  p->maxTextureCubemap = kMostLayered;
  std::copy_n(kMost2D, 2, p->maxSurface2D);
  std::fill_n(p->maxSurface3D, 3, kMost3D);
}

// The fields that both majors have.
template <typename Properties>
void fill_common(const Device& device, Properties* p) {
  std::memset(p, 0, sizeof *p);
  std::strncpy(p->name, device.name.c_str(), sizeof p->name - 1);
  std::memset(p->uuid, kUuid, sizeof p->uuid);
  p->totalGlobalMem = device.global_bytes;
  p->sharedMemPerBlock = device.shared_bytes_per_block;
  p->regsPerBlock = as_int(device.registers_per_block);
  p->warpSize = 32;
  p->memPitch = INT_MAX;
  p->maxThreadsPerBlock = as_int(device.max_threads_per_block);
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = as_int(device.max_block[i]);
    p->maxGridSize[i] = as_int(device.max_grid[i]);
  }
  p->totalConstMem = device.constant_bytes;
  p->major = device.cc_major;
  p->minor = device.cc_minor;
  p->textureAlignment = kTextureAlignment;
  p->texturePitchAlignment = kTexturePitchAlignment;
  fill_textures(p);
  p->multiProcessorCount = as_int(device.sm_count);
  p->canMapHostMemory = 1;
  p->surfaceAlignment = kTextureAlignment;
  p->concurrentKernels = 1;
  p->pciBusID = 1;
  p->asyncEngineCount = 1;
  p->unifiedAddressing = 1;
  p->memoryBusWidth = as_int(device.memory_bus_bits);
  p->l2CacheSize = as_int(device.l2_bytes);
  p->maxThreadsPerMultiProcessor = as_int(device.max_threads_per_sm);
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = device.shared_bytes_per_sm;
  p->regsPerMultiprocessor = as_int(device.registers_per_sm);
  p->managedMemory = 1;
  p->concurrentManagedAccess = 1;
  p->sharedMemPerBlockOptin = device.shared_bytes_per_block_optin;
  p->maxBlocksPerMultiProcessor = as_int(device.max_blocks_per_sm);
  p->reservedSharedMemPerBlock = device.shared_bytes_reserved_per_block;
  p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
  p->cooperativeLaunch = device.cc_major >= 6;
}

}  // namespace

void fill_properties(const Device& device, DeviceProp12* properties) {
  fill_common(device, properties);
  properties->clockRate = kilohertz(device.sm_clock_mhz);
  properties->memoryClockRate = kilohertz(device.memory_clock_mhz);
  properties->deviceOverlap = 1;
  properties->singleToDoublePrecisionPerfRatio = 2;
}

void fill_properties(const Device& device, DeviceProp13* properties) {
  fill_common(device, properties);
  properties->hostNumaId = -1;
}

bool device_attribute(const Device& device, int attribute, int* value) {
  struct Row {
    int attribute;
    int value;
  };
  // clang-format off
  const Row rows[] = {
      {1, as_int(device.max_threads_per_block)},      // MaxThreadsPerBlock
      {2, as_int(device.max_block[0])},               // MaxBlockDimX
      {3, as_int(device.max_block[1])},               // MaxBlockDimY
      {4, as_int(device.max_block[2])},               // MaxBlockDimZ
      {5, as_int(device.max_grid[0])},                // MaxGridDimX
      {6, as_int(device.max_grid[1])},                // MaxGridDimY
      {7, as_int(device.max_grid[2])},                // MaxGridDimZ
      {8, as_int(device.shared_bytes_per_block)},     // MaxSharedMemoryPerBlock
      {9, as_int(device.constant_bytes)},             // TotalConstantMemory
      {10, 32},                                       // WarpSize
      {11, INT_MAX},                                  // MaxPitch
      {12, as_int(device.registers_per_block)},       // MaxRegistersPerBlock
      {13, kilohertz(device.sm_clock_mhz)},           // ClockRate
      {14, kTextureAlignment},                        // TextureAlignment
      {15, 1},                                        // GpuOverlap
      {16, as_int(device.sm_count)},                  // MultiProcessorCount
      {19, 1},                                        // CanMapHostMemory
      {21, kMost1D},                                  // MaxTexture1DWidth
      {22, kMost2D[0]},                               // MaxTexture2DWidth
      {23, kMost2D[1]},                               // MaxTexture2DHeight
      {24, kMost3D},                                  // MaxTexture3DWidth
      {25, kMost3D},                                  // MaxTexture3DHeight
      {26, kMost3D},                                  // MaxTexture3DDepth
      {27, kMostLayered},                             // MaxTexture2DLayeredWidth
      {28, kMostLayered},                             // MaxTexture2DLayeredHeight
      {29, kMostLayers},                              // MaxTexture2DLayeredLayers
      {30, kTextureAlignment},                        // SurfaceAlignment
      {31, 1},                                        // ConcurrentKernels
      {33, 1},                                        // PciBusId
      {35, kilohertz(device.memory_clock_mhz)},       // MemoryClockRate
      {36, as_int(device.memory_bus_bits)},           // GlobalMemoryBusWidth
      {37, as_int(device.l2_bytes)},                  // L2CacheSize
      {38, as_int(device.max_threads_per_sm)},        // MaxThreadsPerMultiProcessor
      {40, 1},                                        // AsyncEngineCount
      {41, 1},                                        // UnifiedAddressing
      {42, kMostLayered},                             // MaxTexture1DLayeredWidth
      {43, kMostLayers},                              // MaxTexture1DLayeredLayers
      {51, kTexturePitchAlignment},                   // TexturePitchAlignment
      {75, device.cc_major},                          // ComputeCapabilityMajor
      {76, device.cc_minor},                          // ComputeCapabilityMinor
      {78, 1},                                        // StreamPrioritiesSupported
      {79, 1},                                        // GlobalL1CacheSupported
      {80, 1},                                        // LocalL1CacheSupported
      {81, as_int(device.shared_bytes_per_sm)},       // MaxSharedMemoryPerMultiprocessor
      {82, as_int(device.registers_per_sm)},          // MaxRegistersPerMultiprocessor
      {83, 1},                                        // ManagedMemory
      {87, 2},                                        // SingleToDoublePrecisionPerfRatio
      {89, 1},                                        // ConcurrentManagedAccess
      {95, device.cc_major >= 6},                     // CooperativeLaunch
      {97, as_int(device.shared_bytes_per_block_optin)},   // MaxSharedMemoryPerBlockOptin
      {99, 1},                                        // HostRegisterSupported
      {106, as_int(device.max_blocks_per_sm)},        // MaxBlocksPerMultiprocessor
      {111, as_int(device.shared_bytes_reserved_per_block)},  // ReservedSharedMemoryPerBlock
      {115, 1},                                       // MemoryPoolsSupported
      {134, -1},                                      // HostNumaId
  };
  // clang-format on
  constexpr int kLastAttribute = 147;
  if (attribute < 1 || attribute > kLastAttribute) return false;
  *value = 0;
  for (const Row& row : rows) {
    if (row.attribute == attribute) *value = row.value;
  }
  return true;
}

}  // namespace warpsim::cudart
