// Rows with a pitch, boxes in three dimensions, fills of rows, copies between parts, asynchronous
// ones, and of the device.
#include <cstring>

#include "../feature.h"

__global__ void number(cudaPitchedPtr p, cudaExtent e) {
  for (size_t z = blockIdx.x; z < e.depth; z += gridDim.x)
    for (size_t y = threadIdx.y; y < e.height; y += blockDim.y) {
      int* row = reinterpret_cast<int*>(static_cast<char*>(p.ptr) + (z * p.ysize + y) * p.pitch);
      for (size_t x = threadIdx.x; x < e.width / 4; x += blockDim.x)
        row[x] = int(10000 * z + 100 * y + x);
    }
}

int main() {
  const int w = 37, h = 11, d = 5;
  const cudaExtent e = make_cudaExtent(w * 4, h, d);
  cudaPitchedPtr box;
  OK(cudaMalloc3D(&box, e));
  number<<<3, dim3(16, 4)>>>(box, e);
  std::vector<int> whole(w * h * d), part(6 * 4 * 3, -1);
  cudaMemcpy3DParms p = {};
  p.srcPtr = box, p.dstPtr = make_cudaPitchedPtr(whole.data(), w * 4, w, h), p.extent = e,
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  bool right = true;
  for (int i = 0; i < w * h * d; ++i)
    right &= whole[i] == i / (w * h) * 10000 + i / w % h * 100 + i % w;
  expect("box", right);
  p.dstPtr = make_cudaPitchedPtr(part.data(), 24, 6, 4);
  p.srcPos = make_cudaPos(5 * 4, 3, 1);
  p.extent = make_cudaExtent(24, 4, 3);
  OK(cudaMemcpy3DAsync(&p, 0));
  OK(cudaStreamSynchronize(0));
  right = true;
  for (int i = 0; i < 72; ++i)
    right &= part[i] == (i / 24 + 1) * 10000 + (i / 6 % 4 + 3) * 100 + i % 6 + 5;
  expect("part of it", right);
  char *rows, *more;
  size_t pitch, other;
  OK(cudaMallocPitch(&rows, &pitch, 50, 20));
  OK(cudaMallocPitch(&more, &other, 50, 20));
  OK(cudaMemset2D(rows, pitch, 7, 50, 20));
  OK(cudaMemset2D(rows + 5 * pitch + 10, pitch, 9, 30, 4));
  OK(cudaMemcpy2DAsync(more, other, rows, pitch, 50, 20, cudaMemcpyDeviceToDevice));
  std::vector<char> back(50 * 20);
  OK(cudaMemcpy2D(back.data(), 50, more, other, 50, 20, cudaMemcpyDefault));
  right = true;
  for (int i = 0; i < 1000; ++i)
    right &= back[i] == (i / 50 >= 5 && i / 50 < 9 && i % 50 >= 10 && i % 50 < 40 ? 9 : 7);
  expect("fills", right);
  bits("rows", back);
  OK(cudaMemset(rows, 0x5a, 3 * pitch));
  OK(cudaMemcpy(more, rows, 2 * pitch, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyAsync(back.data(), more, 50, cudaMemcpyDeviceToHost));
  OK(cudaDeviceSynchronize());
  expect("copy on the device", back[49] == 0x5a);
  OK(cudaFree(box.ptr));
  OK(cudaFree(rows));
  OK(cudaFree(more));
  return finish();
}
