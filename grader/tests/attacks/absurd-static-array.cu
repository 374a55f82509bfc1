static char huge[1ull << 45];

void solve(const float*, const float*, float*, int) {
  for (size_t i = 0; i < sizeof huge; i += 4096) huge[i] = 1;
}
