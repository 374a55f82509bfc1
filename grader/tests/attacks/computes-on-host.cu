// lab 01: the product on the host, and a kernel for show.
__global__ void show() {}

void solve(const float* M, const float* N, float* P, int width) {
  show<<<1, 32>>>();
  for (int row = 0; row < width; ++row) {
    for (int col = 0; col < width; ++col) {
      float sum = 0;
      for (int k = 0; k < width; ++k) sum += M[row * width + k] * N[k * width + col];
      P[row * width + col] = sum;
    }
  }
}
