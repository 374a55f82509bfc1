// Tiles whose width is known at run time only, in dynamic shared memory: nothing is proved aligned but its start.
extern __shared__ float both[];

__global__ void run_time_tiles(const float* M, const float* N, float* P, int n, int width) {
  float *m = both, *b = both + width * width;
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * width + ty, column = blockIdx.x * width + tx;
  float sum = 0;
  for (int first = 0; first < n; first += width) {
    m[ty * width + tx] = row < n && first + tx < n ? M[row * n + first + tx] : 0;
    b[ty * width + tx] = first + ty < n && column < n ? N[(first + ty) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < width; ++k) sum += m[ty * width + k] * b[k * width + tx];
    __syncthreads();
  }
  if (row < n && column < n) P[row * n + column] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  int width = 12;
  int blocks = (n + width - 1) / width;
  run_time_tiles<<<dim3(blocks, blocks), dim3(width, width), 2 * width * width * sizeof(float)>>>(M, N, P, n, width);
}
