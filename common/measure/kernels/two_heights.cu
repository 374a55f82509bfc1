// Two shared arrays of odd sizes before a third one, so that its rows begin 4 bytes after a multiple of 16.
__global__ void two_heights(const float* M, const float* N, float* P, int n) {
  __shared__ float first[35], second[90], tile[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  int t = 16 * ty + tx;
  if (t < 35) first[t] = N[t];
  if (t < 90) second[t] = N[t + 7];
  tile[ty][tx] = row < n && column < n ? M[row * n + column] : 0;
  __syncthreads();
  float sum = first[t % 35] * second[t % 90];
  for (int k = 0; k < 16; ++k) sum += tile[ty][k] * tile[k][tx];
  if (row < n && column < n) P[row * n + column] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  two_heights<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(M, N, P, n);
}
