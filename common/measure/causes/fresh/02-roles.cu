// Which of the two operands a helper is about is a template parameter.
enum class Side { left, right };

struct Spot {
  int y, x;
};

__host__ __device__ constexpr int edge() {
  return 16;
}

__host__ __device__ constexpr int slot(Side side) {
  return side == Side::left ? 0 : 1;
}

template <Side S>
__device__ Spot source(Spot thread, int step) {
  Spot spot = thread;
  switch (S) {
    case Side::left:
      spot.y += blockIdx.y * edge();
      spot.x += step * edge();
      break;
    case Side::right:
      spot.y += step * edge();
      spot.x += blockIdx.x * edge();
      break;
  }
  return spot;
}

__device__ Spot whoami() {
  Spot s;
  s.y = threadIdx.x / edge();
  s.x = threadIdx.x % edge();
  return s;
}

__device__ float pick(const float* A, const Spot& s, int pitch) {
  return A[s.y * pitch + s.x];
}

__global__ void roles_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float tile[2][edge()][edge()];
  const Spot t = whoami();
  const int steps = width / edge();
  float out = 0.0f;
  int step = 0;
  while (step < steps) {
    tile[slot(Side::left)][t.y][t.x] = pick(M, source<Side::left>(t, step), width);
    tile[slot(Side::right)][t.y][t.x] = pick(N, source<Side::right>(t, step), width);
    __syncthreads();
    int i = edge();
    while (i-- > 0) out += tile[slot(Side::left)][t.y][i] * tile[slot(Side::right)][i][t.x];
    __syncthreads();
    ++step;
  }
  const Spot home = {int(blockIdx.y) * edge() + t.y, int(blockIdx.x) * edge() + t.x};
  P[home.y * width + home.x] = out;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int side = width / edge();
  roles_kernel<<<dim3(side, side), edge() * edge()>>>(M, N, P, width);
}
