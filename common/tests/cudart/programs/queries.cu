// Calls that ask, or set what does not change what a kernel does: what they must answer.

#include <cuda_profiler_api.h>

#include <cstring>

#include "expect.h"

__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void twice(float* p, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = p[i];
  if (i < n) p[i] = 2 * tile[threadIdx.x];
}

void devices() {
  int device = -1, can = -1, all[] = {0}, none[] = {1};
  cudaDeviceProp wanted = {};
  EXPECT_OK(cudaChooseDevice(&device, &wanted));
  EXPECT(device == 0);
  EXPECT_OK(cudaInitDevice(0, 0, 0));
  EXPECT_CODE(cudaInitDevice(1, 0, 0), cudaErrorInvalidDevice);
  EXPECT_OK(cudaSetValidDevices(all, 1));
  EXPECT_CODE(cudaSetValidDevices(none, 1), cudaErrorInvalidDevice);
  // A device is no peer of itself.
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  EXPECT_CODE(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaDeviceDisablePeerAccess(0), cudaErrorInvalidDevice);
  char bus[16] = "", small[4];
  EXPECT_OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  EXPECT_CODE(cudaDeviceGetPCIBusId(small, sizeof small, 0), cudaErrorInvalidValue);
  device = -1;
  EXPECT_OK(cudaDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 0);
  EXPECT_CODE(cudaDeviceGetByPCIBusId(&device, "0000:ff:00.0"), cudaErrorInvalidDevice);
  unsigned flags = 0;
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
  EXPECT_OK(cudaGetDeviceFlags(&flags));
  EXPECT((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync);
  EXPECT_CODE(cudaSetDeviceFlags(0x4000), cudaErrorInvalidValue);
  EXPECT_OK(cudaProfilerStart());
  EXPECT_OK(cudaProfilerStop());
  size_t width = 0;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT_OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
  EXPECT(width >= 1u << 27);
}

void preferences() {
  cudaFuncCache cache = cudaFuncCachePreferNone;
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  EXPECT_OK(cudaDeviceGetCacheConfig(&cache));
  EXPECT(cache == cudaFuncCachePreferL1);
  EXPECT_CODE(cudaDeviceSetCacheConfig((cudaFuncCache)9), cudaErrorInvalidValue);
  EXPECT_OK(cudaFuncSetCacheConfig((const void*)twice, cudaFuncCachePreferShared));
  EXPECT_CODE(cudaFuncSetCacheConfig((const void*)twice, (cudaFuncCache)9), cudaErrorInvalidValue);
  EXPECT_CODE(cudaFuncSetCacheConfig((const void*)devices, cudaFuncCachePreferL1), cudaErrorInvalidDeviceFunction);
  // Banks are four bytes wide, whatever is asked for.
  cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
  EXPECT_OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  EXPECT_OK(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT(banks == cudaSharedMemBankSizeFourByte);
  EXPECT_OK(cudaFuncSetSharedMemConfig((const void*)twice, cudaSharedMemBankSizeFourByte));
}

void kernels() {
  const char* name = nullptr;
  EXPECT_OK(cudaFuncGetName(&name, (const void*)twice));
  EXPECT(name && std::strcmp(name, "_Z5twicePfi") == 0);
  cudaFunction_t function = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&function, (const void*)twice));
  EXPECT(function != nullptr);
  cudaKernel_t kernel = nullptr;
  EXPECT_OK(cudaGetKernel(&kernel, (const void*)twice));
  EXPECT(kernel != nullptr);
  // On an H200 a multiprocessor has 2048 threads and 228 KB of shared memory, and a block takes 1 KB more.
  int blocks = 0;
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)twice, 1024, 0, 0));
  EXPECT(blocks == 2);
  size_t bytes = 0;
  EXPECT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, (const void*)twice, 2, 256));
  EXPECT(bytes == 114 * 1024 - 1024 - 256 * sizeof(float));
}

void streams() {
  int least = 0, greatest = 0, priority = 1, device = -1;
  unsigned flags = 7;
  unsigned long long first = 0, second = 0, null = 0;
  cudaStream_t a, b;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest < 0);
  EXPECT_OK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, greatest));
  EXPECT_OK(cudaStreamCreateWithPriority(&b, cudaStreamDefault, greatest - 100));
  EXPECT_OK(cudaStreamGetPriority(a, &priority));
  EXPECT(priority == greatest);
  EXPECT_OK(cudaStreamGetPriority(b, &priority));
  EXPECT(priority == greatest);  // what lies outside is moved to the end of the range
  EXPECT_OK(cudaStreamGetFlags(a, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  EXPECT_OK(cudaStreamGetFlags(b, &flags));
  EXPECT(flags == cudaStreamDefault);
  EXPECT_OK(cudaStreamGetId(a, &first));
  EXPECT_OK(cudaStreamGetId(b, &second));
  EXPECT_OK(cudaStreamGetId(nullptr, &null));
  EXPECT(first != second && first != null && second != null);
#if CUDART_VERSION >= 12080
  EXPECT_OK(cudaStreamGetDevice(a, &device));
  EXPECT(device == 0);
#endif
  cudaEvent_t event;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaEventRecordWithFlags(event, a, cudaEventRecordDefault));
  EXPECT_OK(cudaStreamWaitEvent(b, event));
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaStreamDestroy(a));
  EXPECT_OK(cudaStreamDestroy(b));
}

void memory() {
  constexpr int n = 64;
  float *managed, *pinned, *d, out[8] = {};
  unsigned flags = 0;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMallocManaged(&managed, n * sizeof(float)));
#if CUDART_VERSION >= 13000
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  EXPECT_OK(cudaMemAdvise(managed, n * sizeof(float), cudaMemAdviseSetPreferredLocation, here));
  EXPECT_OK(cudaMemPrefetchAsync(managed, n * sizeof(float), here, 0, stream));
#else
  EXPECT_OK(cudaMemAdvise(managed, n * sizeof(float), cudaMemAdviseSetPreferredLocation, 0));
  EXPECT_OK(cudaMemPrefetchAsync(managed, n * sizeof(float), 0, stream));
#endif
  EXPECT_OK(cudaStreamAttachMemAsync(stream, managed));
  EXPECT_OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) managed[i] = i;
  twice<<<1, n, 0, stream>>>(managed, n);
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(managed[21] == 42);
  EXPECT_OK(cudaFree(managed));

  EXPECT_OK(cudaHostAlloc(&pinned, 2 * n * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
  EXPECT_OK(cudaHostGetFlags(&flags, pinned));
  EXPECT((flags & cudaHostAllocMapped) && (flags & cudaHostAllocPortable));
  EXPECT_CODE(cudaHostGetFlags(&flags, out), cudaErrorInvalidValue);

  // Four rows of 16 bytes in rows of 64: only these are set.
  EXPECT_OK(cudaMalloc(&d, 4 * 64));
  EXPECT_OK(cudaMemset(d, 1, 4 * 64));
  EXPECT_OK(cudaMemset2DAsync(d, 64, 2, 16, 4, stream));
  EXPECT_OK(cudaMemcpyPeer(pinned, 0, d, 0, 4 * 64));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaMemcpy(pinned, d, 4 * 64, cudaMemcpyDeviceToHost));
  const char* seen = (const char*)pinned;
  EXPECT(seen[0] == 2 && seen[15] == 2 && seen[16] == 1 && seen[63] == 1 && seen[64] == 2 && seen[192 + 15] == 2);
  EXPECT_OK(cudaMemcpyFromSymbolAsync(out, weights, sizeof out, 0, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(out[7] == 8);

  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(d, 64, 64, 4);
  box.dstPtr = make_cudaPitchedPtr(pinned, 16, 16, 4);
  box.extent = make_cudaExtent(16, 4, 1);
  box.kind = cudaMemcpyDeviceToHost;
  EXPECT_OK(cudaMemcpy3DAsync(&box, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 64; ++i) EXPECT(seen[i] == 2);
  EXPECT_OK(cudaFree(d));
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaStreamDestroy(stream));
}

int main() {
  devices();
  preferences();
  kernels();
  streams();
  memory();
  cudaGetLastError();
  EXPECT_OK(cudaDeviceReset());
  return finish();
}
