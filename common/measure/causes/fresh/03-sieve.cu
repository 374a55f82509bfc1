#define BS 16

// a half-open range of indices
struct Range {
  int from, to;
  __device__ bool has(int i) const { return from <= i && i < to; }
  __device__ int size() const { return to - from; }
};

__device__ Range piece(int which, int limit) {
  Range r;
  r.from = which * BS;
  r.to = r.from + BS > limit ? limit : r.from + BS;
  return r;
}

// all bits of v, or none of them
__device__ float keep(float v, bool yes) {
  return __uint_as_float(__float_as_uint(v) & -(unsigned)yes);
}

__device__ int inside(int i, int n) {
  return i < n ? i : n - 1;
}

__global__ void sieve(const float* M, const float* N, float* P, int n) {
  __shared__ float left[BS * BS], right[BS * BS];
  const int tid = threadIdx.y * BS + threadIdx.x;
  const Range rows = piece(blockIdx.y, n), cols = piece(blockIdx.x, n);
  const int y = rows.from + threadIdx.y, x = cols.from + threadIdx.x;

  float sum = 0;
  int turn = 0;
  for (Range terms = piece(turn, n); terms.size() > 0; terms = piece(++turn, n)) {
    const int mk = terms.from + threadIdx.x, nk = terms.from + threadIdx.y;
    left[tid] = keep(M[inside(y, n) * n + inside(mk, n)], rows.has(y) && terms.has(mk));
    right[tid] = keep(N[inside(nk, n) * n + inside(x, n)], terms.has(nk) && cols.has(x));
    __syncthreads();
    for (int i = 0; i < terms.size(); i++) sum += left[threadIdx.y * BS + i] * right[i * BS + threadIdx.x];
    __syncthreads();
  }
  if (rows.has(y) & cols.has(x)) P[y * n + x] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  int side = width / BS + (width % BS != 0);
  sieve<<<dim3(side, side), dim3(BS, BS)>>>(M, N, P, width);
}
