void solve(const float*, const float*, float*, int) {
  volatile bool forever = true;
  while (forever) {
  }
}
