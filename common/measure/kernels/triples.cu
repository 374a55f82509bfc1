// Elements of three floats: 12 bytes apart, in global and in shared memory.
struct Triple {
  float x, y, z;
};

__global__ void triples(const Triple* M, const float* N, float* P, int count, int n) {
  __shared__ Triple tile[96];
  int t = threadIdx.x, i = blockIdx.x * 96 + t;
  tile[t] = i < count ? M[i] : Triple{0, 0, 0};
  __syncthreads();
  Triple a = tile[t], b = tile[(t * 5 + 1) % 96];
  if (i < count) {
    P[3 * i] = a.x * b.y + N[i];
    P[3 * i + 1] = a.y * b.z;
    P[3 * i + 2] = a.z * b.x;
  }
}

void solve(const float* M, const float* N, float* P, int n) {
  int count = n * n / 3;
  triples<<<(count + 95) / 96, 96>>>(reinterpret_cast<const Triple*>(M), N, P, count, n);
}
