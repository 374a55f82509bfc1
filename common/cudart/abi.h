// The runtime API's types as they lie in memory, declared here so that the library builds without
// CUDA's headers.
//
// Names and layouts are those of driver_types.h and vector_types.h in CUDA 12.0 to 12.9 and 13.0;
// where the two majors differ, both are here. common/tests/cudart/abi_layout_test.cpp holds them
// against the installed toolkit's headers.

#pragma once

#include <cstddef>
#include <cstdint>

namespace warpsim::cudart {

// The cudaError_t values this library itself returns. error_table.inc has all of them.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitializationError = 3,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidChannelDescriptor = 20,
  kInvalidMemcpyDirection = 21,
  kInvalidFilterSetting = 26,
  kInvalidNormSetting = 27,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kNoKernelImageForDevice = 209,
  kInvalidPtx = 218,
  kInvalidResourceHandle = 400,
  kNotReady = 600,
  kIllegalAddress = 700,
  kPeerAccessUnsupported = 217,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kUnsupportedLimit = 215,
  kAssert = 710,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kGraphExecUpdateFailure = 910,
};

enum MemcpyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,
};

enum MemoryType : int { kUnregistered = 0, kHostMemory = 1, kDeviceMemory = 2, kManagedMemory = 3 };

struct Dim3Abi {  // dim3 and uint3: passed in two integer registers
  uint32_t x, y, z;
};

struct Extent {  // cudaExtent
  size_t width, height, depth;
};

struct Pos {  // cudaPos
  size_t x, y, z;
};

struct PitchedPtr {  // cudaPitchedPtr
  void* ptr;
  size_t pitch, xsize, ysize;
};

struct ChannelFormat {  // cudaChannelFormatDesc
  int x, y, z, w, kind;
};

enum ResourceType : int { kOfArray = 0, kOfMipmappedArray = 1, kOfLinear = 2, kOfPitch2D = 3 };

struct ResourceDesc {  // cudaResourceDesc
  int resType;
  union {
    void* array;
    struct {
      void* devPtr;
      ChannelFormat desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      ChannelFormat desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32];
  } res;
  unsigned flags;  // not in CUDA 12: neither read nor written here
};

struct TextureDesc {  // cudaTextureDesc
  int addressMode[3], filterMode, readMode, sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

struct Memcpy3DParms {  // cudaMemcpy3DParms
  void* srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  void* dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  Extent extent;
  int kind;
};

struct Memcpy3DPeerParms {  // cudaMemcpy3DPeerParms
  void* srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  int srcDevice;
  void* dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  int dstDevice;
  Extent extent;
};

struct KernelNodeParams {  // cudaKernelNodeParams and cudaKernelNodeParamsV2
  void* func;
  Dim3Abi gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

struct MemsetParams {  // cudaMemsetParams and cudaMemsetParamsV2
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;  // in elements
};

using HostFunction = void (*)(void*);

struct HostNodeParams {  // cudaHostNodeParams and cudaHostNodeParamsV2
  HostFunction fn;
  void* userData;
};

struct MemLocation {  // cudaMemLocation
  int type, id;
};

struct MemAccessDesc {  // cudaMemAccessDesc
  MemLocation location;
  int flags;
};

struct MemPoolProps {  // cudaMemPoolProps
  int allocType, handleTypes;
  MemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct MemAllocNodeParams {  // cudaMemAllocNodeParams and cudaMemAllocNodeParamsV2
  MemPoolProps poolProps;
  const MemAccessDesc* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
};

struct MemcpyNodeParams {  // cudaMemcpyNodeParams
  int flags, reserved[3];
  Memcpy3DParms copyParams;
};

struct ConditionalNodeParams {  // cudaConditionalNodeParams
  unsigned long long handle;
  int type;
  unsigned size;
  void** graphs;
  void* context;  // CUDA 13
};
enum ConditionalNodeType : int {  // cudaGraphConditionalNodeType
  kIfCondition = 0,
  kWhileCondition = 1,
  kSwitchCondition = 2,
};

enum GraphNodeType : int {  // cudaGraphNodeType
  kKernelNode = 0,
  kMemcpyNode = 1,
  kMemsetNode = 2,
  kHostNode = 3,
  kChildNode = 4,
  kEmptyNode = 5,
  kWaitEventNode = 6,
  kRecordEventNode = 7,
  kAllocNode = 10,
  kFreeNode = 11,
  kConditionalNode = 13,
};

struct GraphNodeParams {  // cudaGraphNodeParams
  int type, reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    MemcpyNodeParams memcpy;
    MemsetParams memset;
    HostNodeParams host;
    MemAllocNodeParams alloc;
    ConditionalNodeParams conditional;
    void* handle;  // of the graph, the event, the memory to free
  };
  long long reserved2;
};

struct GraphInstantiateParams {  // cudaGraphInstantiateParams
  unsigned long long flags;
  void* uploadStream;
  void* errNode_out;
  int result_out;
};

struct GraphUpdateInfo {  // cudaGraphExecUpdateResultInfo
  int result;
  void *errorNode, *errorFromNode;
};

struct FuncAttributes {  // cudaFuncAttributes, the same in 12 and 13
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
  int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
  int reserved[16];
};

struct PointerAttributes12 {  // cudaPointerAttributes of CUDA 12
  int type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

struct PointerAttributes13 {  // cudaPointerAttributes of CUDA 13
  int type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};

struct LaunchAttribute {  // cudaLaunchAttribute
  int id;
  char pad[4];
  union {
    uint64_t words[8];
    int cooperative;
    Dim3Abi clusterDim;
  } val;
};

enum LaunchAttributeId : int {
  kAttributeIgnore = 0,
  kAttributeAccessPolicyWindow = 1,
  kAttributeCooperative = 2,
  kAttributeSynchronizationPolicy = 3,
  kAttributeClusterDimension = 4,
  kAttributeProgrammaticSerialization = 6,
  kAttributeProgrammaticEvent = 7,
  kAttributePriority = 8,
  kAttributeCompletionEvent = 12,
};

struct LaunchConfig {  // cudaLaunchConfig_t
  Dim3Abi gridDim, blockDim;
  size_t dynamicSmemBytes;
  void* stream;
  LaunchAttribute* attrs;
  unsigned int numAttrs;
};

// clang-format off
// The fields that cudaDeviceProp has in common over the majors, in order, between the places where they differ.
#define WARPSIM_DEVICE_PROP_HEAD \
  char name[256]; char uuid[16]; char luid[8]; unsigned int luidDeviceNodeMask;                                          \
  size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock, warpSize; size_t memPitch;                                 \
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
#define WARPSIM_DEVICE_PROP_TEXTURES \
  int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3],             \
      maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],                             \
      maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2],               \
      maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];                                            \
  size_t surfaceAlignment;                                                                                               \
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
#define WARPSIM_DEVICE_PROP_SM \
  int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,     \
      globalL1CacheSupported, localL1CacheSupported;                                                                     \
  size_t sharedMemPerMultiprocessor;                                                                                     \
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
#define WARPSIM_DEVICE_PROP_TAIL \
  size_t sharedMemPerBlockOptin;                                                                                         \
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,                \
      accessPolicyMaxWindowSize;                                                                                         \
  size_t reservedSharedMemPerBlock;                                                                                      \
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,                                    \
      timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;                                   \
  unsigned int gpuDirectRDMAFlushWritesOptions;                                                                          \
  int gpuDirectRDMAWritesOrdering;                                                                                       \
  unsigned int memoryPoolSupportedHandleTypes;                                                                           \
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
// clang-format on

struct DeviceProp12 {  // cudaDeviceProp of CUDA 12 (cudaGetDeviceProperties_v2), 1032 bytes
  WARPSIM_DEVICE_PROP_HEAD
  int clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory,
      computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
  WARPSIM_DEVICE_PROP_TEXTURES
  int memoryClockRate;
  WARPSIM_DEVICE_PROP_SM
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess,
      computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch,
      cooperativeMultiDeviceLaunch;
  WARPSIM_DEVICE_PROP_TAIL
  int reserved[63];
};

struct DeviceProp13 {  // cudaDeviceProp of CUDA 13
  WARPSIM_DEVICE_PROP_HEAD
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int maxTexture1D, maxTexture1DMipmap;
  WARPSIM_DEVICE_PROP_TEXTURES
  WARPSIM_DEVICE_PROP_SM
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
      canUseHostPointerForRegisteredMem, cooperativeLaunch;
  WARPSIM_DEVICE_PROP_TAIL
  int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned int gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[56];
};

}  // namespace warpsim::cudart
