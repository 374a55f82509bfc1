__global__ void nothing() {}

void solve(const float* M, const float* N, float* P, int width) {
  for (long i = 0; i < 1000000000; ++i) nothing<<<1, 1>>>();
}
