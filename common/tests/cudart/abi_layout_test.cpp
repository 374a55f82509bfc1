// Holds cudart/abi.h against the headers of the CUDA toolkit that the build found, at compile time.
// Without a toolkit there is nothing to hold it against, and the test says so.

#include "cudart/abi.h"
#include "tests/catch.h"

#if __has_include(<driver_types.h>)
#include <cuda_runtime_api.h>
#include <driver_types.h>

#include <type_traits>

namespace abi = warpsim::cudart;

#if CUDART_VERSION >= 13000
using DeviceProp = abi::DeviceProp13;
using PointerAttributes = abi::PointerAttributes13;
#else
using DeviceProp = abi::DeviceProp12;
using PointerAttributes = abi::PointerAttributes12;
#endif

#define SAME_SIZE(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs))
#define SAME_FIELD(ours, theirs, field)                             \
  static_assert(offsetof(ours, field) == offsetof(theirs, field) && \
                sizeof(std::declval<ours>().field) == sizeof(std::declval<theirs>().field))
#define PROP(field) SAME_FIELD(DeviceProp, cudaDeviceProp, field)

SAME_SIZE(abi::Memcpy3DPeerParms, cudaMemcpy3DPeerParms);
SAME_SIZE(abi::KernelNodeParams, cudaKernelNodeParams);
SAME_SIZE(abi::KernelNodeParams, cudaKernelNodeParamsV2);
SAME_SIZE(abi::MemsetParams, cudaMemsetParams);
SAME_SIZE(abi::HostNodeParams, cudaHostNodeParams);
SAME_SIZE(abi::MemcpyNodeParams, cudaMemcpyNodeParams);
SAME_SIZE(abi::MemPoolProps, cudaMemPoolProps);
SAME_SIZE(abi::MemAllocNodeParams, cudaMemAllocNodeParams);
SAME_FIELD(abi::MemAllocNodeParams, cudaMemAllocNodeParams, dptr);
SAME_SIZE(abi::GraphNodeParams, cudaGraphNodeParams);
SAME_FIELD(abi::GraphNodeParams, cudaGraphNodeParams, kernel);
SAME_SIZE(abi::GraphInstantiateParams, cudaGraphInstantiateParams);
SAME_SIZE(abi::GraphUpdateInfo, cudaGraphExecUpdateResultInfo);
SAME_SIZE(abi::ChannelFormat, cudaChannelFormatDesc);
SAME_SIZE(abi::TextureDesc, cudaTextureDesc);
SAME_FIELD(abi::TextureDesc, cudaTextureDesc, borderColor);
SAME_FIELD(abi::TextureDesc, cudaTextureDesc, seamlessCubemap);
SAME_FIELD(abi::ResourceDesc, cudaResourceDesc, resType);
SAME_FIELD(abi::ResourceDesc, cudaResourceDesc, res.linear.sizeInBytes);
SAME_FIELD(abi::ResourceDesc, cudaResourceDesc, res.pitch2D.pitchInBytes);
#if CUDART_VERSION >= 13000
SAME_SIZE(abi::ResourceDesc, cudaResourceDesc);
#endif
SAME_SIZE(DeviceProp, cudaDeviceProp);
PROP(name);
PROP(uuid);
PROP(totalGlobalMem);
PROP(sharedMemPerBlock);
PROP(regsPerBlock);
PROP(warpSize);
PROP(memPitch);
PROP(maxThreadsPerBlock);
PROP(maxThreadsDim);
PROP(maxGridSize);
PROP(totalConstMem);
PROP(major);
PROP(minor);
PROP(textureAlignment);
PROP(texturePitchAlignment);
PROP(multiProcessorCount);
PROP(integrated);
PROP(canMapHostMemory);
PROP(maxTexture1D);
PROP(maxTexture2D);
PROP(maxTexture3DAlt);
PROP(maxTextureCubemapLayered);
PROP(maxSurfaceCubemapLayered);
PROP(surfaceAlignment);
PROP(concurrentKernels);
PROP(ECCEnabled);
PROP(pciBusID);
PROP(tccDriver);
PROP(asyncEngineCount);
PROP(unifiedAddressing);
PROP(memoryBusWidth);
PROP(l2CacheSize);
PROP(maxThreadsPerMultiProcessor);
PROP(streamPrioritiesSupported);
PROP(globalL1CacheSupported);
PROP(sharedMemPerMultiprocessor);
PROP(regsPerMultiprocessor);
PROP(managedMemory);
PROP(hostNativeAtomicSupported);
PROP(pageableMemoryAccess);
PROP(concurrentManagedAccess);
PROP(cooperativeLaunch);
PROP(sharedMemPerBlockOptin);
PROP(maxBlocksPerMultiProcessor);
PROP(accessPolicyMaxWindowSize);
PROP(reservedSharedMemPerBlock);
PROP(hostRegisterSupported);
PROP(memoryPoolsSupported);
PROP(gpuDirectRDMAFlushWritesOptions);
PROP(ipcEventSupported);
PROP(clusterLaunch);
PROP(unifiedFunctionPointers);
#if CUDART_VERSION >= 13000
PROP(deviceNumaConfig);
PROP(hostNumaId);
PROP(gpuPciSubsystemID);
PROP(hostNumaMultinodeIpcSupported);
#else
PROP(clockRate);
PROP(deviceOverlap);
PROP(kernelExecTimeoutEnabled);
PROP(computeMode);
PROP(maxTexture1DLinear);
PROP(memoryClockRate);
PROP(singleToDoublePrecisionPerfRatio);
PROP(cooperativeMultiDeviceLaunch);
#endif

SAME_SIZE(PointerAttributes, cudaPointerAttributes);
SAME_FIELD(PointerAttributes, cudaPointerAttributes, devicePointer);
SAME_FIELD(PointerAttributes, cudaPointerAttributes, hostPointer);
SAME_SIZE(abi::FuncAttributes, cudaFuncAttributes);
SAME_FIELD(abi::FuncAttributes, cudaFuncAttributes, numRegs);
SAME_FIELD(abi::FuncAttributes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_FIELD(abi::FuncAttributes, cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME_SIZE(abi::Dim3Abi, dim3);
SAME_SIZE(abi::Extent, cudaExtent);
SAME_SIZE(abi::PitchedPtr, cudaPitchedPtr);
SAME_SIZE(abi::Memcpy3DParms, cudaMemcpy3DParms);
SAME_FIELD(abi::Memcpy3DParms, cudaMemcpy3DParms, extent);
SAME_FIELD(abi::Memcpy3DParms, cudaMemcpy3DParms, kind);
SAME_SIZE(abi::LaunchAttribute, cudaLaunchAttribute);
SAME_FIELD(abi::LaunchAttribute, cudaLaunchAttribute, val);
SAME_SIZE(abi::LaunchConfig, cudaLaunchConfig_t);
SAME_FIELD(abi::LaunchConfig, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_FIELD(abi::LaunchConfig, cudaLaunchConfig_t, numAttrs);
static_assert(abi::kAttributeCooperative == static_cast<int>(cudaLaunchAttributeCooperative));
static_assert(abi::kAttributeClusterDimension ==
              static_cast<int>(cudaLaunchAttributeClusterDimension));

#define X(code, name, text) static_assert(static_cast<int>(name) == code);
#include "cudart/error_table.inc"
#undef X

TEST_CASE("abi: layouts are those of the installed CUDA headers") {
  INFO("CUDART_VERSION " << CUDART_VERSION);
  CHECK(sizeof(DeviceProp) == sizeof(cudaDeviceProp));
}

#else

TEST_CASE("abi: layouts are those of the installed CUDA headers") {
  WARN("skipped: the build found no CUDA headers");
}

#endif

// Sizes as measured with the headers of CUDA 12.9 and 13.0, so that the other major is held too.
TEST_CASE("abi: sizes of both majors") {
  CHECK(sizeof(warpsim::cudart::DeviceProp12) == 1032);
  CHECK(sizeof(warpsim::cudart::DeviceProp13) == 1008);
  CHECK(sizeof(warpsim::cudart::PointerAttributes12) == 24);
  CHECK(sizeof(warpsim::cudart::PointerAttributes13) == 88);
}
