#include <stdexcept>
#include <string>
#include <fcntl.h>
#include <unistd.h>

void solve(const float*, const float*, float*, int) {
  for (const char* path : {"@SECRET@", "/etc/shadow", "/etc/passwd", "/root/.bashrc",
                           "/home", "/proc/1/root/etc/passwd", "/proc/self/cwd/../../../README.md"}) {
    if (open(path, O_RDONLY) >= 0) throw std::runtime_error(std::string("ATTACK SUCCEEDED: ") + path);
  }
}
