__global__ void product(float* P) {
  __shared__ float tile[1 << 28];
  tile[threadIdx.x] = P[threadIdx.x];
}

void solve(const float* M, const float* N, float* P, int width) {
  product<<<1, 32>>>(P);
}
