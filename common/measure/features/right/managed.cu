// Managed memory by turns of host and device, prefetched and advised; mapped and registered memory
// of the host.
#include "../feature.h"

struct Node {
  int value;
  Node* next;
};

__global__ void walk(Node* head, int* sum) {
  for (Node* p = head; p; p = p->next) *sum += p->value, p->value = -p->value;
}

__global__ void change(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 3 + 1;
}

int main() {
  Node* nodes;
  int* sum;
  OK(cudaMallocManaged(&nodes, 100 * sizeof(Node)));
  OK(cudaMallocManaged(&sum, 4));
  for (int i = 0; i < 100; ++i) nodes[i] = {i, i < 99 ? &nodes[i + 1] : nullptr};
  *sum = 0;
  walk<<<1, 1>>>(nodes, sum);
  OK(cudaDeviceSynchronize());
  expect("list", *sum == 4950 && nodes[42].value == -42);
  nodes[50].next = nullptr;
  walk<<<1, 1>>>(nodes, sum);
  OK(cudaDeviceSynchronize());
  expect("shorter list", *sum == 4950 - 1275 && nodes[50].value == 50);
  const int n = 3000;
  int* a;
  OK(cudaMallocManaged(&a, n * 4));
  for (int i = 0; i < n; ++i) a[i] = i;
  int device;
  OK(cudaGetDevice(&device));
  cudaMemLocation where = {cudaMemLocationTypeDevice, device};
  OK(cudaMemAdvise(a, n * 4, cudaMemAdviseSetReadMostly, where));
  OK(cudaMemPrefetchAsync(a, n * 4, where, 0));
  for (int r = 0; r < 2; ++r) {
    change<<<(n + 255) / 256, 256>>>(a, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) --a[i];
  }
  bool right = true;
  for (int i = 0; i < n; ++i) right &= a[i] == 9 * i;
  expect("by turns", right);
  int *mapped, *seen;
  OK(cudaHostAlloc(&mapped, n * 4, cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&seen, mapped, 0));
  for (int i = 0; i < n; ++i) mapped[i] = i;
  change<<<(n + 255) / 256, 256>>>(seen, n);
  OK(cudaDeviceSynchronize());
  std::vector<int> own(n, 5);
  OK(cudaHostRegister(own.data(), n * 4, cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&seen, own.data(), 0));
  change<<<(n + 255) / 256, 256>>>(seen, n);
  OK(cudaDeviceSynchronize());
  OK(cudaHostUnregister(own.data()));
  right = true;
  for (int i = 0; i < n; ++i) right &= mapped[i] == 3 * i + 1 && own[i] == 16;
  expect("memory of the host", right);
  cudaPointerAttributes what;
  OK(cudaPointerGetAttributes(&what, a));
  expect("attributes", what.type == cudaMemoryTypeManaged);
  bits("a", a, n * 4);
  OK(cudaFreeHost(mapped));
  OK(cudaFree(nodes));
  OK(cudaFree(sum));
  OK(cudaFree(a));
  return finish();
}
