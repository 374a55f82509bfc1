// N's tile is kept turned, so that both factors are walked along a row
#define B 16

__global__ void both_rows(const float* M, const float* N, float* P, int width) {
  __shared__ float rows[B][B];
  __shared__ float cols[B][B + 2];  // cols[c][i]: column c of the tile of N
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty;
  float dot = 0.0f;

  for (int begin = 0; begin != width; begin += B) {
    rows[ty][tx] = M[y * width + begin + tx];
    cols[tx][ty] = N[(begin + ty) * width + x];
    __syncthreads();
    const float* r = rows[ty];
    const float* c = cols[tx];
    for (int i = B; i--;) dot += r[i] * c[i];
    __syncthreads();
  }
  P[y * width + x] = dot;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int blocks = width / B;
  both_rows<<<dim3(blocks, blocks), dim3(B, B)>>>(M, N, P, width);
}
