#include "check.h"

#define TW 16

__global__ void rest(const float* M, const float* N, float* P, int size) {
  __shared__ float mTile[TW * TW];
  __shared__ float nTile[TW * TW];
  int y = threadIdx.y, x = threadIdx.x;
  int myRow = TW * blockIdx.y + y;
  int myCol = TW * blockIdx.x + x;
  float value = 0;
  for (int done = 0; done < size; done += TW) {
    int rest = size - done;
    int deep = rest < TW ? rest : TW;
    if (myRow < size && x < deep) mTile[y * TW + x] = M[myRow * size + (done + x)];
    if (myCol < size && y < deep) nTile[y * TW + x] = N[(done + y) * size + myCol];
    __syncthreads();
    if (myRow < size && myCol < size)
      for (int q = 0; q < deep; ++q) value = value + mTile[y * TW + q] * nTile[q * TW + x];
    __syncthreads();
  }
  if (myRow < size && myCol < size) P[myRow * size + myCol] = value;
}

void solve(const float* M, const float* N, float* P, int width) {
  int tiles = width / TW;
  if (width % TW > 0) tiles++;
  dim3 g(tiles, tiles), b(TW, TW);
  rest<<<g, b>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
