// The host reads through a pointer of the device.
#include "../feature.h"

int main() {
  int* a = to_device(std::vector<int>(10, 3));
  std::printf("%d\n", a[0]);  // FAULT host-crash
  cudaFree(a);
}
