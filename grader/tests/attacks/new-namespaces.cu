#include <stdexcept>
#include <string>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

void solve(const float*, const float*, float*, int) {
  // Inside a namespace of its own it would be root again.
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) throw std::runtime_error("ATTACK SUCCEEDED");
  if (mount("none", "/tmp", "tmpfs", 0, nullptr) == 0) throw std::runtime_error("ATTACK SUCCEEDED");
  if (setuid(0) == 0 && getuid() == 0) throw std::runtime_error("ATTACK SUCCEEDED");
}
