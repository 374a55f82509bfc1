// Calls that succeed, and what they must have done.

#include <cstring>
#include <vector>

#include "expect.h"

__device__ int counter = 7;
__constant__ float weights[8] = {1, 2, 3, 4};

template <typename T>
__global__ void scale(T* p, T factor, int n) {
  extern __shared__ char raw[];
  T* tile = reinterpret_cast<T*>(raw);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = p[i] * factor;
  __syncthreads();
  if (i < n) p[i] = tile[threadIdx.x];
}

__global__ void use_symbols(float* p) {
  int i = threadIdx.x;
  p[i] = weights[i];
  if (i == 0) atomicAdd(&counter, 5);
}

struct Large {
  char tag;
  double values[12];
  short tail;
};
__global__ void take_struct(Large large, char c, double* out) { out[0] = large.values[11] + large.tail + c + large.tag; }

__global__ void greet(int n) {
  if (threadIdx.x < n) printf("hello %d\n", threadIdx.x);
}

void stream_attributes() {
  cudaStream_t a, b;
  EXPECT_OK(cudaStreamCreate(&a));
  EXPECT_OK(cudaStreamCreate(&b));
  cudaStreamAttrValue value{}, back{};
  value.accessPolicyWindow.num_bytes = 4096;
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  EXPECT_OK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &value));
  EXPECT_OK(cudaStreamCopyAttributes(b, a));
  EXPECT_OK(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &back));
  EXPECT(back.accessPolicyWindow.num_bytes == 4096 && back.accessPolicyWindow.hitRatio == 0.5f);
  EXPECT_OK(cudaStreamGetAttribute(b, cudaStreamAttributePriority, &back));
  EXPECT(back.priority == 0);
  EXPECT_CODE(cudaStreamGetAttribute(b, (cudaStreamAttrID)77, &back), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_OK(cudaCtxResetPersistingL2Cache());
  EXPECT_OK(cudaStreamDestroy(a));
  EXPECT_OK(cudaStreamDestroy(b));
}

// Copies between devices, of which there is one.
void peers() {
  int value = 5, back = 0, *p, *q;
  EXPECT_OK(cudaMalloc(&p, 64));
  EXPECT_OK(cudaMalloc(&q, 64));
  EXPECT_OK(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpyPeerAsync(q, 0, p, 0, 4, nullptr));
  EXPECT_OK(cudaMemset(p, 0, 4));
  cudaMemcpy3DPeerParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(q, 64, 64, 1);
  copy.dstPtr = make_cudaPitchedPtr(p, 64, 64, 1);
  copy.extent = make_cudaExtent(4, 1, 1);
  EXPECT_OK(cudaMemcpy3DPeer(&copy));
  EXPECT_OK(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(back == 5);
  copy.dstDevice = 1;
  EXPECT_CODE(cudaMemcpy3DPeerAsync(&copy, nullptr), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaMemcpyPeerAsync(q, 1, p, 0, 4, nullptr), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaDeviceGetP2PAttribute(&back, cudaDevP2PAttrAccessSupported, 0, 1), cudaErrorInvalidDevice);
  cudaGetLastError();
  size_t offset, bytes;
  EXPECT_OK(cudaFuncGetParamInfo((const void*)take_struct, 1, &offset, &bytes));
  EXPECT(offset == sizeof(Large) && bytes == 1);
  EXPECT_CODE(cudaFuncGetParamInfo((const void*)take_struct, 3, &offset, &bytes), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_OK(cudaFree(p));
  EXPECT_OK(cudaFree(q));
}

// Each thread keeps 64 KiB, if it gets them.
__global__ void keep(int* refused) {
  char* p = static_cast<char*>(malloc(64 << 10));
  if (p)
    *p = 1;
  else
    atomicAdd(refused, 1);
}

void heap() {
  int *refused, count;
  size_t bytes;
  EXPECT_OK(cudaMalloc(&refused, sizeof(int)));
  EXPECT_OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes == 8 << 20);
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  EXPECT_OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes == 16 << 20);
  for (int expected : {0, 256}) {  // 256 take all, but for what the heap itself needs
    EXPECT_OK(cudaMemset(refused, 0, sizeof(int)));
    keep<<<expected == 0 ? 7 : 8, 32>>>(refused);
    EXPECT_OK(cudaMemcpy(&count, refused, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(expected == 0 ? count == 0 : count > 200 && count < 256);
  }
  EXPECT_CODE(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20), cudaErrorInvalidValue);
  EXPECT_OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  EXPECT(bytes == 1024);
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  EXPECT_CODE(cudaDeviceSetLimit(cudaLimitStackSize, size_t{1} << 40), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_OK(cudaFree(refused));
}

void memory() {
  std::vector<float> h(256, 2.0f), back(256);
  float* d;
  EXPECT_OK(cudaMalloc(&d, 1024));
  EXPECT_OK(cudaMemcpy(d, h.data(), 1024, cudaMemcpyHostToDevice));
  scale<float><<<4, 64, 64 * sizeof(float)>>>(d, 3.0f, 256);
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaMemcpy(back.data(), d, 1024, cudaMemcpyDefault));
  EXPECT(back[0] == 6.0f && back[255] == 6.0f);
  float* e;
  EXPECT_OK(cudaMalloc(&e, 1024));
  EXPECT_OK(cudaMemcpy(e, d, 1024, cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaMemset(d, 0xFF, 512));
  EXPECT_OK(cudaMemcpy(back.data(), e, 1024, cudaMemcpyDeviceToHost));
  EXPECT(back[77] == 6.0f);
  EXPECT_OK(cudaMemcpy(back.data(), d, 1024, cudaMemcpyDeviceToHost));
  unsigned word;
  std::memcpy(&word, &back[127], 4);
  EXPECT(word == 0xFFFFFFFF && back[128] == 6.0f);
  EXPECT_OK(cudaFree(d));
  EXPECT_OK(cudaFree(e));
}

void pitched() {
  int h[6][5], back[6][5] = {};
  for (int i = 0; i < 30; ++i) (&h[0][0])[i] = i;
  int* d;
  size_t pitch;
  EXPECT_OK(cudaMallocPitch(&d, &pitch, sizeof h[0], 6));
  EXPECT(pitch >= sizeof h[0] && pitch % 256 == 0);
  EXPECT_OK(cudaMemcpy2D(d, pitch, h, sizeof h[0], sizeof h[0], 6, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemset2D((char*)d + pitch, pitch, 0, 8, 2));
  EXPECT_OK(cudaMemcpy2D(back, sizeof back[0], d, pitch, sizeof h[0], 6, cudaMemcpyDeviceToHost));
  EXPECT(back[0][0] == 0 && back[5][4] == 29 && back[1][0] == 0 && back[1][2] == 7 && back[3][0] == 15);
  // Sizes whose products run over 64 bits, and rows of nothing.
  constexpr size_t kHuge = size_t(1) << 62;
  void* none = nullptr;
  cudaPitchedPtr box;
  EXPECT_CODE(cudaMallocPitch(&none, &pitch, size_t(1) << 40, size_t(1) << 40), cudaErrorMemoryAllocation);
  EXPECT_CODE(cudaMallocPitch(&none, &pitch, ~size_t(0), 2), cudaErrorMemoryAllocation);
  EXPECT_CODE(cudaMalloc3D(&box, make_cudaExtent(16, kHuge, 8)), cudaErrorMemoryAllocation);
  EXPECT_CODE(cudaMemcpy2D(d, kHuge, d, kHuge, kHuge, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_OK(cudaMemset2D(d, 512, 0, 0, ~size_t(0)));
  EXPECT_OK(cudaMemset3D(cudaPitchedPtr{d, 512, 512, 1}, 0, make_cudaExtent(0, 1, ~size_t(0))));
  cudaGetLastError();
  EXPECT_OK(cudaFree(d));
}

void boxes() {
  constexpr size_t kWidth = 8, kHeight = 3, kDepth = 2;
  cudaStream_t stream;
  cudaPitchedPtr box;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMalloc3D(&box, make_cudaExtent(kWidth, kHeight, kDepth)));
  EXPECT_OK(cudaMemset3D(box, 1, make_cudaExtent(kWidth, kHeight, kDepth)));
  EXPECT_OK(cudaMemset3DAsync(box, 2, make_cudaExtent(4, 2, kDepth), stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  unsigned char back[kDepth * kHeight][kWidth];
  EXPECT_OK(cudaMemcpy2D(back, kWidth, box.ptr, box.pitch, kWidth, kDepth * kHeight, cudaMemcpyDeviceToHost));
  EXPECT(back[0][3] == 2 && back[0][4] == 1 && back[1][0] == 2 && back[2][0] == 1 && back[3][0] == 2 && back[4][3] == 2);
  EXPECT(back[5][0] == 1);
  EXPECT_OK(cudaFree(box.ptr));
  EXPECT_OK(cudaStreamDestroy(stream));
}

void symbols() {
  float h[8], values[4] = {10, 20, 30, 40};
  float* d;
  EXPECT_OK(cudaMalloc(&d, sizeof h));
  EXPECT_OK(cudaMemcpyToSymbol(weights, values, sizeof values, 4 * sizeof(float)));
  use_symbols<<<1, 8>>>(d);
  EXPECT_OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 1 && h[3] == 4 && h[4] == 10 && h[7] == 40);
  int n = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&n, counter, sizeof n));
  EXPECT(n == 12);
  void* address;
  size_t bytes;
  EXPECT_OK(cudaGetSymbolAddress(&address, counter));
  EXPECT_OK(cudaGetSymbolSize(&bytes, weights));
  EXPECT(bytes == sizeof h);
  n = 99;
  EXPECT_OK(cudaMemcpy(address, &n, sizeof n, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpyFromSymbol(&n, counter, sizeof n));
  EXPECT(n == 99);
  EXPECT_OK(cudaFree(d));
}

void host_memory() {
  float *pinned, *managed, *device_view;
  EXPECT_OK(cudaHostAlloc(&pinned, 128, cudaHostAllocMapped));
  EXPECT_OK(cudaHostGetDevicePointer(&device_view, pinned, 0));
  EXPECT_OK(cudaMallocManaged(&managed, 128));
  for (int i = 0; i < 32; ++i) pinned[i] = managed[i] = i;
  scale<float><<<1, 32, 128>>>(device_view, 2.0f, 32);
  scale<float><<<1, 32, 128>>>(managed, 3.0f, 32);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(pinned[31] == 62.0f && managed[31] == 93.0f);
  EXPECT_OK(cudaMemcpy(managed, pinned, 128, cudaMemcpyHostToDevice));
  EXPECT(managed[31] == 62.0f);
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, managed + 3));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == managed + 3);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  int local;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, &local));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered && attributes.devicePointer == nullptr);
  std::vector<float> registered(64);
  EXPECT_OK(cudaHostRegister(registered.data(), 256, cudaHostRegisterDefault));
  EXPECT_CODE(cudaHostRegister(registered.data(), 256, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_OK(cudaHostUnregister(registered.data()));
  EXPECT_CODE(cudaHostUnregister(registered.data()), cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaFree(managed));
}

void streams() {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  int least, greatest, calls = 0;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest < least);
  EXPECT_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  EXPECT_OK(cudaEventCreate(&start));
  EXPECT_OK(cudaEventCreate(&stop));
  float *d, h[32] = {1};
  EXPECT_OK(cudaMallocAsync(&d, sizeof h, stream));
  EXPECT_OK(cudaEventRecord(start, stream));
  EXPECT_OK(cudaMemcpyAsync(d, h, sizeof h, cudaMemcpyHostToDevice, stream));
  scale<float><<<1, 32, 128, stream>>>(d, 5.0f, 32);
  EXPECT_OK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaLaunchHostFunc(stream, [](void* n) { ++*static_cast<int*>(n); }, &calls));
  EXPECT_OK(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t status, void* n) { *static_cast<int*>(n) += status == cudaSuccess; }, &calls, 0));
  EXPECT_OK(cudaEventRecord(stop, stream));
  EXPECT_OK(cudaStreamWaitEvent(stream, stop, 0));
  EXPECT_OK(cudaEventSynchronize(stop));
  EXPECT_OK(cudaEventQuery(stop));
  EXPECT_OK(cudaStreamSynchronize(stream));
  float ms = -1;
  EXPECT_OK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT(ms > 0 && h[0] == 5.0f && calls == 2);
  EXPECT_OK(cudaFreeAsync(d, stream));
  EXPECT_OK(cudaStreamDestroy(stream));
}

void facts() {
  int count = 0, value = 0, runtime = 0, driver = 0;
  cudaDeviceProp p;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  EXPECT_OK(cudaGetDeviceProperties(&p, 0));
  EXPECT(!std::strcmp(p.name, "NVIDIA H200") && p.major == 9 && p.multiProcessorCount == 132 && p.warpSize == 32);
  EXPECT(p.sharedMemPerBlock == 48 << 10 && p.sharedMemPerBlockOptin == 227 << 10 && p.maxGridSize[1] == 65535);
  EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == p.multiProcessorCount);
  EXPECT_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_OK(cudaDriverGetVersion(&driver));
  EXPECT(runtime / 1000 == CUDART_VERSION / 1000 && driver >= runtime);
  size_t available, total;
  EXPECT_OK(cudaMemGetInfo(&available, &total));
  EXPECT(available <= total && total == p.totalGlobalMem);
  cudaFuncAttributes a;
  EXPECT_OK(cudaFuncGetAttributes(&a, scale<float>));
  EXPECT(a.maxThreadsPerBlock == 1024 && a.binaryVersion == 90 && a.sharedSizeBytes == 0);
  int blocks = 0, grid = 0, block = 0;
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 256, 0));
  EXPECT(blocks == 8);
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 64, 100 << 10));
  EXPECT(blocks == 2);
  EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<float>));
  EXPECT(block >= 256 && block <= 1024 && grid > 0);
}

void launches() {
  Large large = {3, {}, 4};
  large.values[11] = 0.5;
  double *d, result = 0;
  EXPECT_OK(cudaMalloc(&d, sizeof(double)));
  take_struct<<<1, 1>>>(large, 'a', d);
  EXPECT_OK(cudaMemcpy(&result, d, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result == 0.5 + 4 + 'a' + 3);
  large.values[11] = 1.5;
  char c = 'b';
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  EXPECT_OK(cudaLaunchKernelEx(&config, take_struct, large, c, d));
  EXPECT_OK(cudaMemcpy(&result, d, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result == 1.5 + 4 + 'b' + 3);
  void* arguments[] = {&large, &c, &d};
  c = 'c';
  EXPECT_OK(cudaLaunchKernel((const void*)take_struct, 1, 1, arguments, 0, nullptr));
  EXPECT_OK(cudaMemcpy(&result, d, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result == 1.5 + 4 + 'c' + 3);
  greet<<<1, 4>>>(2);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaFree(d));
}

int main() {
  memory();
  pitched();
  boxes();
  symbols();
  host_memory();
  streams();
  facts();
  launches();
  heap();
  stream_attributes();
  peers();
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaDeviceReset());
  return finish();
}
