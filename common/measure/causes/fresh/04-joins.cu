// Lab 04. A product is a join of two tables on the inner key, followed by a group-by.
#include "check.h"

constexpr int PAGE = 16;  // rows of a page and keys of a page

struct Table {
  const float* cells;
  size_t tuples, attrs;
  __device__ float fetch(size_t tuple, size_t attr) const {
    return tuple < tuples && attr < attrs ? cells[tuple * attrs + attr] : 0.0f;
  }
};

struct Pages {
  float build[PAGE][PAGE];
  float probe[PAGE][PAGE];
};

// One-dimensional grid: block b works on output page b, pages counted row by row.
__global__ void hash_join(Table outer, Table inner, float* grouped, int pages_across) {
  __shared__ Pages pages;
  const int page_row = blockIdx.x / pages_across;
  const int page_col = blockIdx.x % pages_across;
  const int a = threadIdx.y, b = threadIdx.x;
  const size_t tuple = size_t(page_row) * PAGE + a;
  const size_t attr = size_t(page_col) * PAGE + b;

  float aggregate = 0.0f;
  for (size_t key = 0; key < outer.attrs; key += PAGE) {
    pages.build[a][b] = outer.fetch(tuple, key + b);
    pages.probe[a][b] = inner.fetch(key + a, attr);
    __syncthreads();
    for (int match = 0; match < PAGE; ++match) {
      aggregate += pages.build[a][match] * pages.probe[match][b];
    }
    __syncthreads();
  }
  if (tuple < outer.tuples && attr < inner.attrs) {
    grouped[tuple * inner.attrs + attr] = aggregate;
  }
}

static int pages_for(int n) { return n / PAGE + (n % PAGE ? 1 : 0); }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Table outer{M, size_t(j), size_t(k)};
  Table inner{N, size_t(k), size_t(l)};
  const int across = pages_for(l), down = pages_for(j);
  hash_join<<<across * down, dim3(PAGE, PAGE)>>>(outer, inner, P, across);
  CHECK(cudaGetLastError());
}
