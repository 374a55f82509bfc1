#include <stdexcept>
#include <string>

// A matrix that somebody else owns.
template <typename T>
class MatrixRef {
 public:
  __host__ __device__ MatrixRef(T* data, int rows, int cols) : data_(data), rows_(rows), cols_(cols) {}
  __host__ __device__ int rows() const { return rows_; }
  __host__ __device__ int cols() const { return cols_; }
  __device__ bool contains(int r, int c) const { return r < rows_ && c < cols_; }
  __device__ T& operator()(int r, int c) const { return data_[size_t(r) * cols_ + c]; }
  __device__ float get(int r, int c) const { return contains(r, c) ? (*this)(r, c) : 0.0f; }

 private:
  T* data_;
  int rows_, cols_;
};

using In = MatrixRef<const float>;
using Out = MatrixRef<float>;

template <int SIDE>
class Multiplier {
 public:
  struct Tile {
    float value[SIDE][SIDE];
  };

  __device__ Multiplier(const In& a, const In& b, Tile& ta, Tile& tb)
      : a_(a), b_(b), ta_(ta), tb_(tb), tx_(threadIdx.x), ty_(threadIdx.y) {
    row_ = blockIdx.y * SIDE + ty_;
    col_ = blockIdx.x * SIDE + tx_;
  }

  __device__ void run(const Out& out) {
    float sum = 0.0f;
    for (int start = 0; start < a_.cols(); start += SIDE) {
      load(start);
      __syncthreads();
      sum += dot();
      __syncthreads();
    }
    if (out.contains(row_, col_)) out(row_, col_) = sum;
  }

 private:
  __device__ void load(int start) {
    ta_.value[ty_][tx_] = a_.get(row_, start + tx_);
    tb_.value[ty_][tx_] = b_.get(start + ty_, col_);
  }

  __device__ float dot() const {
    float part = 0.0f;
    for (int i = 0; i < SIDE; ++i) part += ta_.value[ty_][i] * tb_.value[i][tx_];
    return part;
  }

  const In& a_;
  const In& b_;
  Tile& ta_;
  Tile& tb_;
  int tx_, ty_, row_, col_;
};

template <int SIDE>
__global__ void multiply(In a, In b, Out out) {
  using M = Multiplier<SIDE>;
  __shared__ typename M::Tile ta, tb;
  M(a, b, ta, tb).run(out);
}

static void ok(cudaError_t code, const std::string& what) {
  if (code != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(code));
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int side = 16;
  const In a(M, j, k), b(N, k, l);
  const Out out(P, j, l);
  auto blocks = [](int size) { return unsigned((size + side - 1) / side); };
  multiply<side><<<dim3(blocks(out.cols()), blocks(out.rows())), dim3(side, side)>>>(a, b, out);
  ok(cudaGetLastError(), "multiply");
}
