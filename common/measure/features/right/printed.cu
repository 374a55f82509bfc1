// What kernels print: formats, strings, 64 bits, counts that printf returns, and asserts that hold.
#include <cassert>

#include "../feature.h"

__global__ void say(const float* a, int* returned) {
  const int i = threadIdx.x;
  assert(a[i] > -100);
  if (i == 0) returned[0] = printf("%d|%5d|%-5d|%05u|%x|%#o|%+d\n", 1, -2, 3, 4u, 255, 8, 9);
  if (i == 0)
    returned[1] =
        printf("%f|%.2e|%g|%10.3f|%s|%c|%%\n", 1.5, 12345.678, 0.0001, double(a[0]), "text", 'c');
  if (i == 0)
    returned[2] = printf("%lld|%llu|%lx|%p\n", -5000000000ll, 18446744073709551615ull,
                         0xfedcba9876543210ul, (void*)0x10);
  if (i == 0) returned[3] = printf("no arguments\n");
}

int main() {
  std::vector<float> v = {2.5f, 1, 2, 3};
  float* a = to_device(v);
  int* r = to_device(std::vector<int>(4));
  say<<<1, 4>>>(a, r);
  auto o = from_device(r, 4);
  expect("arguments", o[0] == 7 && o[1] == 6 && o[2] == 4 && o[3] == 0);
  size_t room;
  OK(cudaDeviceGetLimit(&room, cudaLimitPrintfFifoSize));
  expect("room", room >= 1 << 20);
  OK(cudaFree(a));
  OK(cudaFree(r));
  return finish();
}
