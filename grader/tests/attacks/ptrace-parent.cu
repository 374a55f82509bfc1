#include <stdexcept>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

void solve(const float*, const float*, float*, int) {
  for (pid_t target : {getppid(), pid_t(1), pid_t(2), pid_t(3)}) {
    if (target == getpid()) continue;
    if (ptrace(PTRACE_ATTACH, target, nullptr, nullptr) == 0)
      throw std::runtime_error("ATTACK SUCCEEDED");
    if (ptrace(PTRACE_SEIZE, target, nullptr, nullptr) == 0)
      throw std::runtime_error("ATTACK SUCCEEDED");
  }
}
