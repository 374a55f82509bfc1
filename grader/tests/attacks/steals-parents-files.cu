#include <stdexcept>
#include <string>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

void solve(const float*, const float*, float*, int) {
  for (pid_t target : {getppid(), pid_t(1), pid_t(2), pid_t(3)}) {
    if (target == getpid()) continue;
    for (int fd = 0; fd < 64; ++fd) {
      std::string path = "/proc/" + std::to_string(target) + "/fd/" + std::to_string(fd);
      int file = open(path.c_str(), O_RDWR);
      if (file >= 0 && access(("/proc/self/fd/" + std::to_string(file)).c_str(), W_OK) == 0)
        throw std::runtime_error("ATTACK SUCCEEDED: " + path);
    }
  }
}
