// Surfaces of one, two and three dimensions and of layers, read and written, and what is outside by
// each mode.
#include <cstring>

#include "../feature.h"

__global__ void double_all(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < w && y < h) surf2Dwrite(2 * surf2Dread<float>(from, x * 4, y), to, (w - 1 - x) * 4, y);
}

__global__ void outside(cudaSurfaceObject_t s, float* out, int w, int h) {
  int x = threadIdx.x - 2, y = threadIdx.y - 2, i = threadIdx.y * blockDim.x + threadIdx.x;
  out[2 * i] = surf2Dread<float>(s, x * 4, y, cudaBoundaryModeZero);
  out[2 * i + 1] = surf2Dread<float>(s, x * 4, y, cudaBoundaryModeClamp);
}

__global__ void write_outside(cudaSurfaceObject_t s) {
  int x = threadIdx.x - 2, y = threadIdx.y - 2;
  surf2Dwrite(float(100 * threadIdx.y + threadIdx.x), s, x * 4, y, cudaBoundaryModeZero);
}

__global__ void solid(cudaSurfaceObject_t s, int n) {
  for (int z = 0; z < n; ++z) {
    int2 v = surf3Dread<int2>(s, threadIdx.x * 8, threadIdx.y, z);
    v.x += z, v.y = v.x * v.y;
    surf3Dwrite(v, s, threadIdx.x * 8, threadIdx.y, z);
  }
}

__global__ void layers(cudaSurfaceObject_t s, cudaSurfaceObject_t line) {
  for (int l = 0; l < 3; ++l) {
    uchar4 c = surf2DLayeredread<uchar4>(s, threadIdx.x * 4, threadIdx.y, l);
    surf2DLayeredwrite(make_uchar4(c.w, c.z, c.y, l), s, threadIdx.x * 4, threadIdx.y, l);
  }
  if (threadIdx.y == 0) surf1Dwrite((short)(threadIdx.x * 3), line, threadIdx.x * 2);
}

cudaSurfaceObject_t make(cudaArray_t a) {
  cudaResourceDesc r;
  std::memset(&r, 0, sizeof r);
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s;
  OK(cudaCreateSurfaceObject(&s, &r));
  return s;
}

template <class T>
void copy3(cudaArray_t a, std::vector<T>& v, int x, int y, int z, bool up) {
  cudaMemcpy3DParms p;
  std::memset(&p, 0, sizeof p);
  auto host = make_cudaPitchedPtr(v.data(), x * sizeof(T), x, y);
  if (up)
    p.srcPtr = host, p.dstArray = a, p.kind = cudaMemcpyHostToDevice;
  else
    p.dstPtr = host, p.srcArray = a, p.kind = cudaMemcpyDeviceToHost;
  p.extent = make_cudaExtent(x, y, z);
  OK(cudaMemcpy3D(&p));
}

int main() {
  const int w = 10, h = 7;
  auto v = random_floats(w * h);
  auto desc = cudaCreateChannelDesc<float>();
  cudaArray_t a, b;
  OK(cudaMallocArray(&a, &desc, w, h, cudaArraySurfaceLoadStore));
  OK(cudaMallocArray(&b, &desc, w, h, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(a, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  auto sa = make(a), sb = make(b);
  double_all<<<1, dim3(16, 8)>>>(sa, sb, w, h);
  std::vector<float> back(w * h);
  OK(cudaMemcpy2DFromArray(back.data(), w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < w * h; ++i) right &= back[i] == 2 * v[i / w * w + w - 1 - i % w];
  expect("doubled", right);
  float* out = to_device(std::vector<float>(2 * 14 * 11));
  outside<<<1, dim3(14, 11)>>>(sa, out, w, h);
  auto o = from_device(out, 2 * 14 * 11);
  right = true;
  for (int i = 0; i < 14 * 11; ++i) {
    int x = i % 14 - 2, y = i / 14 - 2,
        cx = x < 0    ? 0
             : x >= w ? w - 1
                      : x,
        cy = y < 0    ? 0
             : y >= h ? h - 1
                      : y;
    right &= o[2 * i] == (x == cx && y == cy ? v[y * w + x] : 0) && o[2 * i + 1] == v[cy * w + cx];
  }
  expect("outside", right);
  bits("outside", o);
  write_outside<<<1, dim3(14, 11)>>>(sa);
  OK(cudaMemcpy2DFromArray(back.data(), w * 4, a, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  right = true;
  for (int i = 0; i < w * h; ++i) right &= back[i] == 100 * (i / w + 2) + i % w + 2;
  expect("written outside", right);

  std::vector<int2> deep(5 * 4 * 3);
  for (size_t i = 0; i < deep.size(); ++i) deep[i] = make_int2(int(i) * 7, 3 - int(i));
  auto pairs = cudaCreateChannelDesc<int2>();
  cudaArray_t c;
  OK(cudaMalloc3DArray(&c, &pairs, make_cudaExtent(5, 4, 3), cudaArraySurfaceLoadStore));
  copy3(c, deep, 5, 4, 3, true);
  auto sc = make(c);
  solid<<<1, dim3(5, 4)>>>(sc, 3);
  auto before = deep;
  copy3(c, deep, 5, 4, 3, false);
  right = true;
  for (int i = 0; i < 60; ++i)
    right &= deep[i].x == before[i].x + i / 20 && deep[i].y == deep[i].x * before[i].y;
  expect("solid", right);

  std::vector<uchar4> colours(6 * 5 * 3);
  for (size_t i = 0; i < colours.size(); ++i) colours[i] = make_uchar4(i, 2 * i, 3 * i, 5 * i);
  auto of_colours = cudaCreateChannelDesc<uchar4>(), of_shorts = cudaCreateChannelDesc<short>();
  cudaArray_t l, one;
  OK(cudaMalloc3DArray(&l, &of_colours, make_cudaExtent(6, 5, 3),
                       cudaArrayLayered | cudaArraySurfaceLoadStore));
  OK(cudaMallocArray(&one, &of_shorts, 6, 0, cudaArraySurfaceLoadStore));
  copy3(l, colours, 6, 5, 3, true);
  auto sl = make(l), s1 = make(one);
  layers<<<1, dim3(6, 5)>>>(sl, s1);
  auto first = colours;
  copy3(l, colours, 6, 5, 3, false);
  right = true;
  for (int i = 0; i < 90; ++i) right &= colours[i].x == first[i].w && colours[i].w == i / 30;
  std::vector<short> line(6);
  OK(cudaMemcpy2DFromArray(line.data(), 12, one, 0, 0, 12, 1, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 6; ++i) right &= line[i] == 3 * i;
  expect("layers", right);
  for (auto s : {sa, sb, sc, sl, s1}) OK(cudaDestroySurfaceObject(s));
  for (auto x : {a, b, c, l, one}) OK(cudaFreeArray(x));
  OK(cudaFree(out));
  return finish();
}
