// Sides are passed as a box; what lies outside is replaced by zero in one function.
constexpr unsigned SIDE = 16;

struct Box {
  unsigned height, width;
  __device__ bool holds(unsigned y, unsigned x) const { return y < height && x < width; }
  __device__ unsigned offset(unsigned y, unsigned x) const { return y * width + x; }
};

__device__ float at_or_zero(const float* data, Box box, unsigned y, unsigned x) {
  if (!box.holds(y, x)) return 0.0f;
  return data[box.offset(y, x)];
}

__global__ void inset_product(const float* a, const float* b, float* c, Box box) {
  __shared__ float ta[SIDE][SIDE], tb[SIDE][SIDE];
  unsigned ly = threadIdx.y, lx = threadIdx.x;
  unsigned gy = blockDim.y * blockIdx.y + ly, gx = blockDim.x * blockIdx.x + lx;
  float acc = 0.0f;
  unsigned done = 0;
  do {
    ta[ly][lx] = at_or_zero(a, box, gy, done + lx);
    tb[ly][lx] = at_or_zero(b, box, done + ly, gx);
    __syncthreads();
#pragma unroll
    for (unsigned q = 0; q < SIDE; ++q) acc = fmaf(ta[ly][q], tb[q][lx], acc);
    __syncthreads();
    done += SIDE;
  } while (done < box.width);
  if (box.holds(gy, gx)) c[box.offset(gy, gx)] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned w = static_cast<unsigned>(width);
  const unsigned blocks = w / SIDE + (w % SIDE != 0);
  inset_product<<<dim3(blocks, blocks), dim3(SIDE, SIDE)>>>(M, N, P, Box{w, w});
}
