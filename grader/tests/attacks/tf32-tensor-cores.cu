// One warp computes 16 x 8 elements of P with the tensor cores, from TF32 inputs.
__global__ void product(const float* M, const float* N, float* P, int width) {
  int lane = threadIdx.x, group = lane / 4, in_group = lane % 4;
  const float* a = M + blockIdx.y * 16 * width;
  const float* b = N + blockIdx.x * 8;
  float c[4] = {};
  for (int k = 0; k < width; k += 8) {
    unsigned a0 = __float_as_uint(a[group * width + k + in_group]);
    unsigned a1 = __float_as_uint(a[(group + 8) * width + k + in_group]);
    unsigned a2 = __float_as_uint(a[group * width + k + in_group + 4]);
    unsigned a3 = __float_as_uint(a[(group + 8) * width + k + in_group + 4]);
    unsigned b0 = __float_as_uint(b[(k + in_group) * width + group]);
    unsigned b1 = __float_as_uint(b[(k + in_group + 4) * width + group]);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int i = 0; i < 4; ++i) {
    int row = blockIdx.y * 16 + group + i / 2 * 8, col = blockIdx.x * 8 + in_group * 2 + i % 2;
    P[row * width + col] = c[i];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  product<<<dim3(width / 8, width / 16), 32>>>(M, N, P, width);
}
