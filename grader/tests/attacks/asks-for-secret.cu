#if __has_include("@SECRET@") || __has_include("/etc/passwd")
#error ATTACK SUCCEEDED
#endif

void solve(const float*, const float*, float*, int) {}
