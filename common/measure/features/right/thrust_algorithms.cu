// Thrust: sort, sort by key, scan, reduce by key, unique, partition, transform with iterators, set
// operations, minmax, gather.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_scan.h>
#include <thrust/unique.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "../feature.h"

struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Squared {
  __host__ __device__ double operator()(double v) const { return v * v; }
};
struct Mix {
  template <class T>
  __host__ __device__ int operator()(T t) const {
    return thrust::get<0>(t) * 2 + thrust::get<1>(t);
  }
};

int main() {
  const int n = 3000;
  auto h = random_ints(n, 500);
  thrust::device_vector<int> d(h.begin(), h.end());
  auto host = [](const thrust::device_vector<int>& v) {
    std::vector<int> o(v.size());
    thrust::copy(v.begin(), v.end(), o.begin());
    return o;
  };
  auto sorted = h;
  std::sort(sorted.begin(), sorted.end());
  auto a = d;
  thrust::sort(a.begin(), a.end());
  expect("sort", host(a) == sorted);
  auto b = d;
  thrust::sort(b.begin(), b.end(), thrust::greater<int>());
  expect("sort down", host(b) == std::vector<int>(sorted.rbegin(), sorted.rend()));
  thrust::device_vector<int> at(n);
  thrust::sequence(at.begin(), at.end());
  auto keys = d;
  thrust::stable_sort_by_key(keys.begin(), keys.end(), at.begin());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return h[x] < h[y]; });
  expect("sort by key", host(at) == order);
  std::vector<int> sums(n);
  std::partial_sum(h.begin(), h.end(), sums.begin());
  thrust::inclusive_scan(d.begin(), d.end(), b.begin());
  expect("scan", host(b) == sums);
  thrust::exclusive_scan(d.begin(), d.end(), b.begin(), 100);
  std::vector<int> before(n, 100);
  for (int i = 1; i < n; ++i) before[i] = sums[i - 1] + 100;
  expect("exclusive scan", host(b) == before);
  expect("reduce", thrust::reduce(d.begin(), d.end()) == sums.back());
  thrust::device_vector<int> k2(n), v2(n);
  auto ends = thrust::reduce_by_key(a.begin(), a.end(), thrust::constant_iterator<int>(1),
                                    k2.begin(), v2.begin());
  std::map<int, int> counted;
  for (int x : h) ++counted[x];
  bool right = ends.first - k2.begin() == (long)counted.size();
  auto hk = host(k2), hv = host(v2);
  int i = 0;
  for (auto [key, count] : counted) right &= hk[i] == key && hv[i] == count, ++i;
  expect("reduce by key", right);
  auto u = a;
  u.erase(thrust::unique(u.begin(), u.end()), u.end());
  expect("unique", u.size() == counted.size());
  auto p = d;
  auto middle = thrust::stable_partition(p.begin(), p.end(), Even());
  auto hp = h;
  std::stable_partition(hp.begin(), hp.end(), Even());
  expect("partition",
         host(p) == hp && middle - p.begin() == std::count_if(h.begin(), h.end(), Even()));
  auto z =
      thrust::make_zip_iterator(thrust::make_tuple(d.begin(), thrust::counting_iterator<int>(5)));
  thrust::transform(z, z + n, b.begin(), Mix());
  right = true;
  auto hb = host(b);
  for (int j = 0; j < n; ++j) right &= hb[j] == 2 * h[j] + 5 + j;
  expect("transform", right);
  auto mm = thrust::minmax_element(d.begin(), d.end());
  expect("minmax", *mm.first == sorted.front() && *mm.second == sorted.back());
  thrust::gather(at.begin(), at.end(), d.begin(), b.begin());
  expect("gather", host(b) == sorted);
  thrust::device_vector<int> both(2 * n);
  auto end = thrust::set_union(a.begin(), a.begin() + 1000, a.begin() + 500, a.end(), both.begin());
  std::vector<int> hs;
  std::set_union(sorted.begin(), sorted.begin() + 1000, sorted.begin() + 500, sorted.end(),
                 std::back_inserter(hs));
  both.resize(end - both.begin());
  expect("union", host(both) == hs);
  expect("inner product", thrust::inner_product(d.begin(), d.end(), d.begin(), 0ll) ==
                              std::inner_product(h.begin(), h.end(), h.begin(), 0ll));
  thrust::device_vector<double> x(n);
  thrust::transform(d.begin(), d.end(), x.begin(), [] __device__(int v) { return v * 0.5; });
  double total =
      thrust::transform_reduce(x.begin(), x.end(), Squared(), 0.0, thrust::plus<double>());
  double expected = 0;
  for (int v : h) expected += v * 0.5 * v * 0.5;
  expect("transform and reduce", total == expected);
  return finish();
}
