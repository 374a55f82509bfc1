#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>

void solve(const float*, const float*, float*, int) {
  for (auto what : {RLIMIT_NPROC, RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_CPU}) {
    rlimit limit;
    getrlimit(what, &limit);
    if (limit.rlim_max == RLIM_INFINITY)
      throw std::runtime_error("ATTACK SUCCEEDED: no limit " + std::to_string(what));
    limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    if (setrlimit(what, &limit) == 0) throw std::runtime_error("ATTACK SUCCEEDED");
  }
  if (nice(-5) != -1) throw std::runtime_error("ATTACK SUCCEEDED: nice");
}
