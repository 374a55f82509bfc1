// Shared loads of 4, 8 and 16 bytes by halves, quarters and single lanes of a warp.
template <class Word>
__device__ float some_lanes(const Word* tile, unsigned mask) {
  return mask >> (threadIdx.x & 31) & 1 ? reinterpret_cast<const float&>(tile[threadIdx.x * 3 % 128]) : 0;
}

__global__ void half_masks(const float* M, const float* N, float* P, int n) {
  __shared__ float4 tile[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  tile[t] = make_float4(M[i % n], N[i % n], t, 1);
  __syncthreads();
  const float2* pairs = reinterpret_cast<const float2*>(tile);
  float sum = 0;
  for (unsigned mask : {0x0000FFFFu, 0xFF00FF00u, 0x00FF0000u, 0x11111111u, 0x80000001u}) {
    if (!(mask >> (t & 31) & 1)) continue;
    float4 quad = tile[(t * 5 + 1) % 128];
    float2 pair = pairs[(t * 3 + 2) % 256];
    sum += quad.x * quad.y - quad.z / quad.w + pair.x * pair.y;
  }
  sum += some_lanes(tile, 0x0F0F0F0F) + some_lanes(pairs, 0x00FFFF00);
  if (i < n * n) P[i] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  half_masks<<<(n * n + 127) / 128, 128>>>(M, N, P, n);
}
