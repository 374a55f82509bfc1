// A dot product per warp: shuffles in all four modes, votes, ballots and match.
__global__ void shuffles(const float* M, const float* N, float* P, int n) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= n * n) return;  // whole warps
  int row = warp / n, column = warp % n;
  float sum = 0;
  for (int k = lane; k < n && k < 96; k += 32) sum += M[row * n + k] * N[k * n + column];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  float first = __shfl_sync(0xffffffffu, sum, 0);
  float mixed = __shfl_xor_sync(0xffffffffu, sum, 5, 8) + __shfl_up_sync(0xffffffffu, sum, 3, 16);
  unsigned positive = __ballot_sync(0xffffffffu, mixed > 0);
  int any = __any_sync(0xffffffffu, lane == 7 && mixed < -1), all = __all_sync(0xffffffffu, first == first);
  if (lane == 0) P[warp] = first + 0.001f * __popc(positive) + any + 2 * all;
}

void solve(const float* M, const float* N, float* P, int n) {
  shuffles<<<(n * n + 7) / 8, 256>>>(M, N, P, n);
}
