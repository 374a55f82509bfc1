typedef struct { int row, col; } Index2;

typedef struct {
  float left[16][16];
  float right[16][16];
} Tiles;

static __device__ Index2 index_of(int place) {
  Index2 at;
  at.row = place >> 4;
  at.col = place & 0xf;
  return at;
}

static __device__ float element(const float* a, int row, int col, int n) {
  return (row < n) & (col < n) ? a[row * n + col] : 0.f;
}

extern "C" __global__ void packed(const float* a, const float* b, float* c, int n) {
  extern __shared__ char bytes[];
  Tiles* const tiles = (Tiles*)bytes;
  const Index2 at = index_of(threadIdx.x);
  Index2 first;
  first.row = blockIdx.x / ((n + 15) / 16) * 16;
  first.col = blockIdx.x % ((n + 15) / 16) * 16;
  float sum = 0.f;
  int step = 0;
again:
  __syncthreads();
  tiles->left[at.row][at.col] = element(a, first.row + at.row, step + at.col, n);
  tiles->right[at.row][at.col] = element(b, step + at.row, first.col + at.col, n);
  __syncthreads();
  for (int i = 0; i < 16; i++) sum += tiles->left[at.row][i] * tiles->right[i][at.col];
  step += 16;
  if (step < n) goto again;
  if (first.row + at.row < n && first.col + at.col < n) c[(first.row + at.row) * n + first.col + at.col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  int tiles = (width + 15) / 16;
  packed<<<tiles * tiles, 256, sizeof(Tiles)>>>(M, N, P, width);
}
