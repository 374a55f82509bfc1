#include "@SECRET@"

void solve(const float*, const float*, float*, int) {}
