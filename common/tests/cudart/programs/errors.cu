// Error codes, call by call, as the documentation of the CUDA runtime gives them.

#include <cstring>

#include "expect.h"

__global__ void store(int* p) { p[threadIdx.x] = 1; }
__constant__ int table[4];

// Ends with the last error read, so that the parts do not depend on each other.
void last_error() {
  EXPECT_OK(cudaGetLastError());
  EXPECT_CODE(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_CODE(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_CODE(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_OK(cudaGetLastError());
  EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
  EXPECT(!std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
  EXPECT(!std::strcmp(cudaGetErrorString(cudaSuccess), "no error"));
  EXPECT(!std::strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
}

void allocation() {
  void* p = &p;
  EXPECT_OK(cudaMalloc(&p, 0));
  EXPECT(p == nullptr);
  EXPECT_CODE(cudaMalloc(&p, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_OK(cudaFree(nullptr));
  int on_host;
  EXPECT_CODE(cudaFree(&on_host), cudaErrorInvalidValue);
  EXPECT_OK(cudaMalloc(&p, 100));
  EXPECT_CODE(cudaFree((char*)p + 4), cudaErrorInvalidValue);
  EXPECT_CODE(cudaFreeHost(p), cudaErrorInvalidValue);
  EXPECT_OK(cudaFree(p));
  EXPECT_CODE(cudaFree(p), cudaErrorInvalidValue);
  EXPECT_OK(cudaFreeHost(nullptr));
  EXPECT_OK(cudaMallocHost(&p, 100));
  EXPECT_CODE(cudaFree(p), cudaErrorInvalidValue);
  EXPECT_OK(cudaFreeHost(p));
  EXPECT_CODE(cudaMallocManaged(&p, 0), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMallocManaged(&p, 4, 7), cudaErrorInvalidValue);
  cudaGetLastError();
}

void copies() {
  int* d;
  int h[64] = {};
  EXPECT_OK(cudaMalloc(&d, sizeof h));
  EXPECT_CODE(cudaMemcpy(d, h, sizeof h, (cudaMemcpyKind)5), cudaErrorInvalidMemcpyDirection);
  EXPECT_CODE(cudaMemcpy(d, h, sizeof h + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy(d + 60, h, 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy(h, d, sizeof h + 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy(h, d, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy(d, h, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy(d, h, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  EXPECT_CODE(cudaMemcpy2D(d, 8, h, 16, 12, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_CODE(cudaMemcpy2D(d, 128, h, 16, 12, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemset(d, 0, sizeof h + 1), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemset(h, 0, 4), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  int not_a_symbol;
  EXPECT_CODE(cudaMemcpyToSymbol((const void*)&not_a_symbol, h, 4), cudaErrorInvalidSymbol);
  EXPECT_CODE(cudaMemcpyToSymbol(table, h, 20), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpyToSymbol(table, h, 8, 12), cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpyToSymbol(table, h, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  EXPECT_CODE(cudaMemcpyFromSymbol(h, table, 20), cudaErrorInvalidValue);
  EXPECT_OK(cudaFree(d));
  EXPECT_CODE(cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaGetLastError();
}

void handles() {
  cudaStream_t stream;
  cudaEvent_t a, b;
  float ms;
  EXPECT_CODE(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamQuery(stream));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_CODE(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CODE(cudaEventCreateWithFlags(&a, 64), cudaErrorInvalidValue);
  EXPECT_OK(cudaEventCreate(&a));
  EXPECT_OK(cudaEventCreateWithFlags(&b, cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(a));
  EXPECT_CODE(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);  // b was never recorded
  EXPECT_OK(cudaEventRecord(b));
  EXPECT_CODE(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);  // b does not time
  EXPECT_OK(cudaEventDestroy(a));
  EXPECT_CODE(cudaEventRecord(a), cudaErrorInvalidResourceHandle);
  EXPECT_CODE(cudaEventDestroy(a), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

void devices() {
  int value;
  cudaDeviceProp properties;
  EXPECT_CODE(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaGetDeviceProperties(&properties, 7), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
  EXPECT_CODE(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0), cudaErrorInvalidValue);
  EXPECT_CODE(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  EXPECT_CODE(cudaDeviceSetLimit((cudaLimit)99, 0), cudaErrorUnsupportedLimit);
  cudaGetLastError();
}

void launches() {
  int* d;
  EXPECT_OK(cudaMalloc(&d, 4096 * sizeof(int)));
  auto code_of = [&](dim3 grid, dim3 block, size_t shared) {
    store<<<grid, block, shared>>>(d);
    int code = cudaGetLastError();
    EXPECT_OK(cudaDeviceSynchronize());  // a launch that never started leaves no fault behind
    return code;
  };
  EXPECT_OK(code_of(1, 1024, 0));
  EXPECT_CODE(code_of(1, 1025, 0), cudaErrorInvalidConfiguration);
  EXPECT_CODE(code_of(1, dim3(32, 33), 0), cudaErrorInvalidConfiguration);
  EXPECT_CODE(code_of(1, dim3(1, 1, 65), 0), cudaErrorInvalidConfiguration);
  EXPECT_CODE(code_of(0, 32, 0), cudaErrorInvalidConfiguration);
  EXPECT_CODE(code_of(1, 0, 0), cudaErrorInvalidConfiguration);
  EXPECT_CODE(code_of(dim3(1, 65536), 32, 0), cudaErrorInvalidConfiguration);
  EXPECT_OK(code_of(1, 32, 48 << 10));
  EXPECT_CODE(code_of(1, 32, (48 << 10) + 1), cudaErrorInvalidValue);
  EXPECT_CODE(cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
  EXPECT_OK(cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  cudaGetLastError();
  EXPECT_OK(code_of(1, 32, 64 << 10));
  EXPECT_CODE(code_of(1, 32, (64 << 10) + 4), cudaErrorInvalidValue);
  int not_a_kernel;
  cudaFuncAttributes attributes;
  EXPECT_CODE(cudaFuncGetAttributes(&attributes, (const void*)&not_a_kernel), cudaErrorInvalidDeviceFunction);
  EXPECT_CODE(cudaLaunchKernel((const void*)&not_a_kernel, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  EXPECT_OK(cudaFree(d));
}

int main() {
  last_error();
  allocation();
  copies();
  handles();
  devices();
  launches();
  return finish();
}
