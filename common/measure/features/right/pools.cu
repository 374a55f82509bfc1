// Memory in the order of a stream: the default pool, a pool of one's own, its attributes, reuse by
// events.
#include "../feature.h"

__global__ void fill(int* a, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = v + i;
}

__global__ void sum(const int* a, int n, int* out) {
  int v = 0;
  for (int i = threadIdx.x; i < n; i += 32) v += a[i];
  v = __reduce_add_sync(0xffffffffu, v);
  if (threadIdx.x == 0) *out = v;
}

int main() {
  cudaStream_t s, t;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&t));
  cudaEvent_t e;
  OK(cudaEventCreate(&e));
  int* out = to_device(std::vector<int>(10));
  for (int r = 0; r < 5; ++r) {
    int *a, n = 500 * (r + 1);
    OK(cudaMallocAsync(&a, n * 4, s));
    fill<<<(n + 127) / 128, 128, 0, s>>>(a, n, r);
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    sum<<<1, 32, 0, t>>>(a, n, out + r);
    OK(cudaFreeAsync(a, t));
    OK(cudaEventRecord(e, t));
    OK(cudaStreamWaitEvent(s, e, 0));
  }
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  OK(cudaMemPoolCreate(&pool, &props));
  unsigned long long keep = ~0ull, used = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  int* b;
  OK(cudaMallocFromPoolAsync(&b, 4096, pool, s));
  fill<<<8, 128, 0, s>>>(b, 1024, 3);
  sum<<<1, 32, 0, s>>>(b, 1024, out + 5);
  OK(cudaStreamSynchronize(s));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  expect("used", used >= 4096);
  OK(cudaFreeAsync(b, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  expect("given back", used == 0);
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaMemPoolDestroy(pool));
  auto o = from_device(out, 10);
  bool right = o[5] == 1024 * 3 + 1024 * 1023 / 2;
  for (int r = 0; r < 5; ++r) {
    int n = 500 * (r + 1);
    right &= o[r] == n * r + n * (n - 1) / 2;
  }
  expect("sums", right);
  OK(cudaFree(out));
  OK(cudaEventDestroy(e));
  OK(cudaStreamDestroy(s));
  OK(cudaStreamDestroy(t));
  return finish();
}
