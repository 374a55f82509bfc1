// Memory pools.

#include <cstdint>

#include "expect.h"

__global__ void fill(int* p, int value) {
  p[threadIdx.x] = value;
}

uint64_t get(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  uint64_t value = 0;
  EXPECT_OK(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

int main() {
  int supported = 0, device = -1;
  EXPECT_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  cudaMemPool_t standard, current, own;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&standard, 0));
  EXPECT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(standard == current);
  EXPECT_CODE(cudaDeviceGetMemPool(&current, 1), cudaErrorInvalidDevice);
  uint64_t keep = UINT64_MAX;
  EXPECT(get(standard, cudaMemPoolAttrReleaseThreshold) == 0);
  EXPECT_OK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &keep));
  int reuse = 0;
  EXPECT_OK(cudaMemPoolSetAttribute(standard, cudaMemPoolReuseAllowOpportunistic, &reuse));
  reuse = 5;
  EXPECT_OK(cudaMemPoolGetAttribute(standard, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(reuse == 0);

  int *a, *b;
  EXPECT_OK(cudaMallocAsync(&a, 1 << 20, stream));
  EXPECT(get(standard, cudaMemPoolAttrUsedMemCurrent) == 1 << 20);
  EXPECT(get(standard, cudaMemPoolAttrReservedMemCurrent) >= 1 << 20);
  fill<<<1, 32, 0, stream>>>(a, 3);
  EXPECT_OK(cudaFreeAsync(a, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(get(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
  EXPECT(get(standard, cudaMemPoolAttrUsedMemHigh) == 1 << 20);
  EXPECT(get(standard, cudaMemPoolAttrReservedMemCurrent) >= 1 << 20);  // kept, as it was told
  EXPECT_OK(cudaMemPoolTrimTo(standard, 0));
  EXPECT(get(standard, cudaMemPoolAttrReservedMemCurrent) == 0);

  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  props.maxSize = 1 << 16;
  EXPECT_OK(cudaMemPoolCreate(&own, &props));
  EXPECT_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&b), 256, own, stream));
  fill<<<1, 64, 0, stream>>>(b, 4);
  int back[64];
  EXPECT_OK(cudaMemcpyAsync(back, b, 256, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(back[63] == 4);
  EXPECT_CODE(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&a), 1 << 17, own, stream),
              cudaErrorMemoryAllocation);
  EXPECT_OK(cudaFreeAsync(b, stream));
  EXPECT_OK(cudaDeviceSetMemPool(0, own));
  EXPECT_OK(cudaMallocAsync(&b, 512, stream));
  EXPECT(get(own, cudaMemPoolAttrUsedMemCurrent) == 512);
  EXPECT_OK(cudaFree(b));
  EXPECT(get(own, cudaMemPoolAttrUsedMemCurrent) == 0);
  cudaMemAccessFlags flags;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  EXPECT_OK(cudaMemPoolGetAccess(&flags, own, &here));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  EXPECT_OK(cudaMemPoolDestroy(own));
  EXPECT_CODE(cudaMemPoolTrimTo(own, 0), cudaErrorInvalidValue);
  EXPECT_OK(cudaGetDevice(&device));
  return finish();
}
