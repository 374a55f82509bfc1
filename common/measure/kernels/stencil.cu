// Five-point stencil, blocks of 30 x 7, tile with a border of one: rows of 32 words, halos by a few lanes.
__global__ void stencil(const float* M, const float* N, float* P, int n) {
  __shared__ float tile[9][32];
  int x = blockIdx.x * 30 + threadIdx.x, y = blockIdx.y * 7 + threadIdx.y;
  auto at = [&](int row, int column) {
    return row >= 0 && row < n && column >= 0 && column < n ? M[row * n + column] : 0;
  };
  int c = threadIdx.x + 1, r = threadIdx.y + 1;
  tile[r][c] = at(y, x);
  if (threadIdx.x == 0) tile[r][0] = at(y, x - 1);
  if (threadIdx.x == 29) tile[r][31] = at(y, x + 1);
  if (threadIdx.y == 0) tile[0][c] = at(y - 1, x);
  if (threadIdx.y == 6) tile[8][c] = at(y + 1, x);
  __syncthreads();
  if (x < n && y < n)
    P[y * n + x] = tile[r][c] * N[y * n + x] - tile[r][c - 1] - tile[r][c + 1] - tile[r - 1][c] - tile[r + 1][c];
}

void solve(const float* M, const float* N, float* P, int n) {
  stencil<<<dim3((n + 29) / 30, (n + 6) / 7), dim3(30, 7)>>>(M, N, P, n);
}
