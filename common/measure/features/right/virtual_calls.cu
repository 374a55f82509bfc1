// Objects with virtual functions made on the device, tables of function pointers, recursion,
// lambdas, placement and new/delete.
#include <new>

#include "../feature.h"

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float a;
  __device__ explicit Square(float a) : a(a) {}
  __device__ float area() const override { return a * a; }
};
struct Circle : Square {
  using Square::Square;
  __device__ float area() const override { return 3 * Square::area(); }
};

using Op = float (*)(float, float);
__device__ float plus(float a, float b) {
  return a + b;
}
__device__ float times(float a, float b) {
  return a * b;
}
__device__ float less(float a, float b) {
  return a - b;
}
__device__ Op d_ops[3] = {plus, times, less};

__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void make(Shape** s, int n) {
  int i = threadIdx.x;
  if (i < n) s[i] = i % 3 ? static_cast<Shape*>(new Square(i)) : new Circle(i);
}

__global__ void areas(Shape** s, float* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = s[i]->area();
}

__global__ void end(Shape** s, int n) {
  int i = threadIdx.x;
  if (i < n) delete s[i];
}

template <class F>
__global__ void each(float* a, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = f(a[i], i);
}

__global__ void by_table(const float* in, float* out, int n) {
  int i = threadIdx.x;
  Op op = d_ops[i % 3];
  if (i < n) out[i] = op(in[i], 2.0f) + op(1.0f, in[i]);
}

__global__ void deep(int* out) {
  out[threadIdx.x] = ackermann(2, threadIdx.x % 5);
}

__global__ void placed(int* out) {
  __shared__ alignas(8) unsigned char room[32 * sizeof(Square)];
  Shape* s = new (room + sizeof(Square) * threadIdx.x) Square(threadIdx.x + 1);
  __syncthreads();
  out[threadIdx.x] = int(s->area());
}

int main() {
  const int n = 48;
  Shape** s;
  OK(cudaMalloc(&s, n * sizeof *s));
  float* out = to_device(std::vector<float>(n));
  make<<<1, 64>>>(s, n);
  areas<<<1, 64>>>(s, out, n);
  auto o = from_device(out, n);
  bool right = true;
  for (int i = 0; i < n; ++i) right &= o[i] == (i % 3 ? 1.0f : 3.0f) * i * i;
  expect("virtual functions", right);
  end<<<1, 64>>>(s, n);
  auto v = random_floats(n);
  float* in = to_device(v);
  by_table<<<1, n>>>(in, out, n);
  o = from_device(out, n);
  right = true;
  for (int i = 0; i < n; ++i)
    right &= o[i] == (i % 3 == 0   ? (v[i] + 2) + (1 + v[i])
                      : i % 3 == 1 ? v[i] * 2 + v[i]
                                   : (v[i] - 2) + (1 - v[i]));
  expect("table of functions", right);
  const float f = 3;
  each<<<1, n>>>(in, n, [=] __device__(float x, int i) { return x * f + i; });
  o = from_device(in, n);
  right = true;
  for (int i = 0; i < n; ++i) right &= o[i] == __builtin_fmaf(v[i], 3, i);
  expect("lambda", right);
  int* d = to_device(std::vector<int>(32));
  deep<<<1, 32>>>(d);
  auto r = from_device(d, 32);
  right = true;
  for (int i = 0; i < 32; ++i) right &= r[i] == 2 * (i % 5) + 3;
  expect("recursion", right);
  placed<<<1, 32>>>(d);
  r = from_device(d, 32);
  right = true;
  for (int i = 0; i < 32; ++i) right &= r[i] == (i + 1) * (i + 1);
  expect("placement", right);
  OK(cudaFree(s));
  OK(cudaFree(out));
  OK(cudaFree(in));
  OK(cudaFree(d));
  return finish();
}
